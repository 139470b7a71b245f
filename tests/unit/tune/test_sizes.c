/* SPDX-License-Identifier: MIT */
/* What the runs of several sizes of a kernel tell each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"
#include "tune/sizes.h"
#include "tune/state.h"

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
/* -- offers --------------------------------------------------------------- */

static bool compiled;

static bool says_compiled(struct shmt_target *target,
                          const shmt_config *config)
{
    (void)target;
    (void)config;
    return compiled;
}

/* Whether what leads at another size is tried, by a strategy that expects
 * nothing of it (`random`) or everything (`model`, before its first result). */
static bool is_tried(const char *strategy, bool is_compiled)
{
    static const struct shmt_target_operations operations = {
        .is_compiled = says_compiled};
    struct shmt_target target = {.operations = &operations, .kernel = toy};
    struct shmt_tune_options options = {.size = 0};
    struct shmt_tune_outcome outcome = {0};
    struct shmt_tune *const tune = calloc(1, sizeof *tune);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index = UINT64_MAX;
    bool tried = false;

    if (tune == NULL)
        return false;
    compiled = is_compiled;
    *tune = (struct shmt_tune){.phase = SHMT_TUNE_SEARCH, .target = &target,
                               .options = &options, .outcome = &outcome};
    CHECK_INT(shmt_sizes_new(toy, problems, 3, &tune->sizes, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_space(toy, problems[0], NULL, &outcome.space, &err),
              SHMTUNE_OK);
    tune->search_sizes = shmt_sizes_of_search(tune->sizes, 0);
    CHECK_INT(shmt_session_open(&(struct shmt_session_options){
                                    .strategy = strategy,
                                    .start = UINT64_MAX,
                                    .budget = UINT64_MAX,
                                    .sizes = &tune->search_sizes},
                                outcome.space, &tune->session, &err),
              SHMTUNE_OK);
    shmt_space_configuration(outcome.space, 7, config);
    shmt_sizes_tell(tune->sizes, 1, 0.5, config);
    shmt_tune_hear_sizes(tune);
    tried = shmt_tune_next_offer(tune, &index);
    CHECK_INT(index, tried ? 7 : UINT64_MAX);
    shmt_session_close(tune->session);
    shmt_space_free(outcome.space);
    shmt_sizes_free(tune->sizes);
    free(tune);
    return tried;
}

/* A measurement alone is worth it at once; a compilation is when the strategy
 * expects something of it. */
static void what_leads_elsewhere_is_tried(void)
{
    CHECK(is_tried("random", true));
    CHECK(!is_tried("random", false));
    CHECK(is_tried("model", true));
    CHECK(is_tried("model", false));
}

/* -- settling ------------------------------------------------------------- */

static double clock_s;

static double now_of(const struct shmt_target *target)
{
    (void)target;
    return clock_s;
}

/* Whether it has settled after so many candidates more, none of which is
 * faster, and which take so long each. */
static bool settles(struct shmt_tune *tune, size_t count, double each_s)
{
    const struct shmt_ledger_entry slow = {
        .result = {.verdict = SHMT_VERDICT_OK, .time_us = 100}};

    for (size_t k = 0; k < count; k++) {
        clock_s += each_s;
        tune->outcome->tried++;
        shmt_tune_tell_sizes(tune, &slow);
    }
    return shmt_tune_has_settled(tune);
}

/* Of forty seconds, which are its share, it takes half without a gain, and at
 * least as many candidates as before that. */
static void a_search_settles_by_candidates_and_time(void)
{
    static const struct shmt_target_operations operations = {.now = now_of};
    struct shmt_target target = {.operations = &operations, .kernel = toy};
    struct shmt_tune_options options = {.size = 0, .yields = true};
    struct shmt_tune_outcome outcome = {0};
    struct shmt_tune *const tune = calloc(1, sizeof *tune);
    const struct shmt_ledger_entry fast = {
        .result = {.verdict = SHMT_VERDICT_OK, .time_us = 50}};

    if (tune == NULL)
        return;
    *tune = (struct shmt_tune){.target = &target, .options = &options,
                               .outcome = &outcome, .share_s = 40};
    CHECK_INT(shmt_sizes_new(toy, problems, 3, &tune->sizes, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_space(toy, problems[0], NULL, &outcome.space, &err),
              SHMTUNE_OK);
    CHECK(!settles(tune, 40, 1));      /* too few candidates */
    CHECK(settles(tune, 9, 1));
    tune->outcome->tried++;
    shmt_tune_tell_sizes(tune, &fast);
    CHECK(!settles(tune, 49, 0.1));    /* fewer than before, and too soon */
    CHECK(!settles(tune, 100, 0.1));   /* too soon */
    CHECK(settles(tune, 10, 0.6));
    options.yields = false;            /* nobody waits */
    CHECK(!shmt_tune_has_settled(tune));
    shmt_space_free(outcome.space);
    shmt_sizes_free(tune->sizes);
    free(tune);
}

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
    CHECK_RUN(what_leads_elsewhere_is_tried);
    CHECK_RUN(a_search_settles_by_candidates_and_time);
    CHECK_RUN(memory_is_added_up);
    shmt_kernel_free(toy);
    return CHECK_END();
}
