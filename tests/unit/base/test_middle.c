/* SPDX-License-Identifier: MIT */
/* Where a few measurements lie. */
#include "base/base.h"
#include "tests/support/check.h"

#define CHECK_NEAR(got, want)                                                \
    CHECK((got) > (want) - 1e-9 && (got) < (want) + 1e-9)
#define CHECK_MIDDLE(want, ...)                                              \
    do {                                                                     \
        const double values[] = {__VA_ARGS__};                               \
        CHECK_NEAR(shmt_middle(values, sizeof values / sizeof *values),      \
                   want);                                                    \
    } while (0)

static void of_a_few(void)
{
    CHECK_MIDDLE(5, 5);
    CHECK_MIDDLE(4, 5, 3);
    CHECK_MIDDLE(4, 5, 1, 4);
    CHECK_MIDDLE(3, 5, 1, 4, 2);
    CHECK_MIDDLE(-2, -2, -2, -2);
}

/* As samples of a short kernel do; the median is 14 or 16. */
static void of_two_in_turns_it_lies_between(void)
{
    CHECK_MIDDLE(15, 16, 14, 16, 14, 16, 14, 16);
    CHECK_MIDDLE(15, 14, 16, 14, 16, 14, 16, 14);
    CHECK_MIDDLE(15, 14, 16, 14, 16, 14);
}

static void what_is_far_off_hardly_counts(void)
{
    CHECK_MIDDLE(10, 900, 10, 10);
    CHECK_MIDDLE(10, 10, 10, 900, 10);
    CHECK_MIDDLE(10, 10, 10, 10, 10, 10, 10, 900);
    CHECK_MIDDLE(10, 10, 10, 10, 10, 10, 10, 10, 900, 900);
}

static void of_as_many_as_there_may_be(void)
{
    double values[SHMT_MIDDLE_MOST];

    for (size_t k = 0; k < SHMT_MIDDLE_MOST; k++)
        values[k] = (double)(k * 37 % SHMT_MIDDLE_MOST);
    CHECK_NEAR(shmt_middle(values, SHMT_MIDDLE_MOST),
               (SHMT_MIDDLE_MOST - 1) / 2.0);
}

int main(void)
{
    CHECK_RUN(of_a_few);
    CHECK_RUN(of_two_in_turns_it_lies_between);
    CHECK_RUN(what_is_far_off_hardly_counts);
    CHECK_RUN(of_as_many_as_there_may_be);
    return CHECK_END();
}
