/* SPDX-License-Identifier: MIT */
/* random: the numbers that its authors publish, and how they spread. */
#include <math.h>

#include "base/base.h"
#include "tests/support/check.h"

static void generator_gives_the_published_numbers(void)
{
    struct shmt_random random;
    double sum = 0, squares = 0;
    size_t bins[7] = {0};

    /* splitmix64 from 1234567, as its author's program prints it. */
    CHECK(shmt_random_at(1234567, 0) == UINT64_C(6457827717110365317));
    CHECK(shmt_random_at(1234567, 3) == UINT64_C(4593380528125082431));
    shmt_random_seed(&random, 1234567);
    CHECK(random.state[0] == UINT64_C(6457827717110365317));
    CHECK(random.state[1] == UINT64_C(3203168211198807973));
    CHECK(random.state[2] == UINT64_C(9817491932198370423));
    CHECK(random.state[3] == UINT64_C(4593380528125082431));
    /* xoshiro256** from 1, 2, 3, 4. */
    random = (struct shmt_random){{1, 2, 3, 4}};
    CHECK(shmt_random_next(&random) == 11520);
    CHECK(shmt_random_next(&random) == 0);
    CHECK(shmt_random_next(&random) == 1509978240);
    CHECK(shmt_random_next(&random) == UINT64_C(1215971899390074240));
    for (int k = 0; k < 70000; k++) {
        const double normal = shmt_random_normal(&random);

        sum += normal;
        squares += normal * normal;
        bins[shmt_random_below(&random, 7)]++;
    }
    CHECK(fabs(sum / 70000) < 0.02);
    CHECK(fabs(squares / 70000 - 1) < 0.03);
    for (int k = 0; k < 7; k++)
        CHECK(bins[k] > 9600 && bins[k] < 10400);
    CHECK_INT(shmt_random_below(&random, 1), 0);
    CHECK_INT(shmt_random_below(&random, 0), 0);
}

/* Bounds that do not divide 2^64 by far: no part comes up more often. */
static void numbers_below_large_bounds_are_even(void)
{
    const uint64_t third = UINT64_C(1) << 62;
    struct shmt_random random;
    int thirds[3] = {0};

    shmt_random_seed(&random, 3);
    for (int k = 0; k < 30000; k++) {
        const uint64_t draw = shmt_random_below(&random, 3 * third);

        CHECK(draw < 3 * third);
        thirds[draw / third % 3]++;
    }
    for (int k = 0; k < 3; k++)
        CHECK(thirds[k] > 9600 && thirds[k] < 10400);
}

int main(void)
{
    CHECK_RUN(generator_gives_the_published_numbers);
    CHECK_RUN(numbers_below_large_bounds_are_even);
    return CHECK_END();
}
