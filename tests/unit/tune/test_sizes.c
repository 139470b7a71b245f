/* SPDX-License-Identifier: MIT */
/* What the runs of several sizes of a kernel tell each other. */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"
#include "tune/sizes.h"

static struct shmt_kernel *toy;
static int64_t problems[3][SHMT_KERNEL_DIMENSIONS];
static struct shmt_error err;

/* Each finding reaches the others once, in order, and not its own size; the
 * fastest of a size so far leads. */
static void findings_reach_the_others(void)
{
    static const double costs[] = {1, 1.5, 0.5, INFINITY};
    const shmt_config config[SHMT_SPACE_PARAMETERS] = {1};
    struct shmt_sizes *sizes = NULL;
    const struct shmt_sizes_finding *one;
    size_t read = 0, own = 0;

    CHECK_INT(shmt_sizes_new(toy, problems, 3, &sizes, &err), SHMTUNE_OK);
    CHECK(shmt_sizes_next(sizes, 0, &read) == NULL);
    for (size_t k = 0; k < 4; k++)
        shmt_sizes_tell(sizes, 1, costs[k], config);
    shmt_sizes_tell(sizes, 0, 0.9, config);
    CHECK_INT(shmt_sizes_count(sizes), 5);
    for (size_t k = 0; k < 4; k++) {
        one = shmt_sizes_next(sizes, 0, &read);
        CHECK(one != NULL);
        if (one == NULL)
            continue;
        CHECK_INT(one->size, 1);
        CHECK(one->cost <= costs[k] && one->cost >= costs[k]);
        CHECK_INT(one->leads, k == 0 || k == 2);
        CHECK_INT(one->config[0], 1);
    }
    CHECK(shmt_sizes_next(sizes, 0, &read) == NULL);
    one = shmt_sizes_next(sizes, 1, &own);
    CHECK(one != NULL && one->size == 0 && one->leads);
    CHECK(shmt_sizes_next(sizes, 1, &own) == NULL);
    shmt_sizes_free(sizes);
    shmt_sizes_free(NULL);
}

static void a_search_sees_the_sizes(void)
{
    struct shmt_sizes *sizes = NULL;
    struct shmt_search_sizes seen;

    CHECK_INT(shmt_sizes_new(toy, problems, 3, &sizes, &err), SHMTUNE_OK);
    seen = shmt_sizes_of_search(sizes, 2);
    CHECK_INT(seen.count, 3);
    CHECK_INT(seen.own, 2);
    CHECK_INT(seen.dimensions, toy->dimension_count);
    CHECK_INT(seen.list[2][0], problems[2][0]);
    shmt_sizes_free(sizes);
    CHECK_INT(shmt_sizes_new(toy, problems, SHMT_SEARCH_SIZES + 1, &sizes,
                             &err), SHMTUNE_OK);
    CHECK_INT(shmt_sizes_of_search(sizes, 0).count, 0);
    shmt_sizes_free(sizes);
}

/* An input of n floats, and an output, which is expected too. */
static void memory_is_added_up(void)
{
    const double less = shmt_sizes_bytes(toy, problems[0]);
    const double more = shmt_sizes_bytes(toy, problems[1]);
    const double each = (double)(problems[1][0] - problems[0][0]);

    printf("# %.0f and %.0f bytes\n", less, more);
    CHECK(less > 5e8);
    CHECK_INT((int64_t)(more - less), (int64_t)(3 * 4 * each));
}

int main(void)
{
    toy = fixture_kernel("toy");
    for (size_t k = 0; k < 3; k++) {
        memcpy(problems[k], toy->sizes[0], sizeof problems[k]);
        problems[k][0] = 4096 * (int64_t)(k + 1);
    }
    CHECK_RUN(findings_reach_the_others);
    CHECK_RUN(a_search_sees_the_sizes);
    CHECK_RUN(memory_is_added_up);
    shmt_kernel_free(toy);
    return CHECK_END();
}
