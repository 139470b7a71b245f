/* SPDX-License-Identifier: MIT */
/*
 * score: the yardstick is what the methodology says, worked out by hand for
 * costs 1, 2, 3, ..., and strategies are measured by it as they should be.
 */
#include <math.h>

#include "score/score.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;
static struct shmt_error err;

enum { COUNT = 1001 };

/* A space of one parameter, so that an index is a value. */
static struct shmt_space *make_space(void)
{
    struct shmt_parameter *const parameter =
        shmt_arena_alloc(arena, 1, sizeof *parameter);
    struct shmt_value *const values =
        shmt_arena_alloc(arena, COUNT, sizeof *values);
    const struct shmt_space_definition definition = {
        .parameter_count = 1, .parameters = parameter};
    struct shmt_space *space = NULL;

    for (int k = 0; k < COUNT; k++)
        values[k] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = k};
    *parameter = (struct shmt_parameter){
        .name = "x", .type = SHMT_VALUE_INT, .count = COUNT, .values = values,
        .ordered = true};
    CHECK_INT(shmt_space_build(&definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), COUNT);
    return space;
}

struct bed {
    double cost[COUNT], seconds[COUNT];
    struct shmt_score_table table;
    struct shmt_score_scale *scale;
};

/* Cost `k + 1`, or its mirror image; 2 s each. */
static void fill(struct bed *bed, struct shmt_space *space, bool mirrored)
{
    for (int k = 0; k < COUNT; k++) {
        bed->cost[k] = mirrored ? COUNT - k : k + 1;
        bed->seconds[k] = 2;
    }
    bed->table = (struct shmt_score_table){space, UINT64_MAX, bed->cost,
                                           bed->seconds, NULL};
    bed->scale = NULL;
}

static struct shmt_score score(const struct bed *bed, const char *strategy,
                               size_t repeats, size_t jobs)
{
    const struct shmt_score_plan plan = {
        .strategy = strategy, .repeats = repeats, .seed = 3, .ahead = 1,
        .jobs = jobs};
    struct shmt_score result = {0};

    CHECK_INT(shmt_score_run(bed->scale, &plan, &result, &err), SHMTUNE_OK);
    return result;
}

static void budget_is_the_one_by_hand(void)
{
    struct shmt_space *space = make_space();
    struct bed bed;

    fill(&bed, space, false);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    CHECK_INT(bed.scale->valid, COUNT);
    CHECK(bed.scale->optimum == 1 && bed.scale->median == 501);
    /* 95 % of the way is 26; 975 are worse; 975 / (1002 - 975) = 36.1. */
    CHECK_INT(bed.scale->budget_evaluations, 37);
    CHECK(fabs(bed.scale->budget_s - 74) < 1e-9);
    /* 1 % of the way is 496; 505 are worse; 505 / (1002 - 505) = 1.02. */
    CHECK(fabs(bed.scale->start_s - 4) < 1e-9);
    CHECK(fabs(bed.scale->mean_s - 2) < 1e-9);
    /* Two draws: rank 668 of 1001 from the worst; 37: rank 976. */
    CHECK(fabs(bed.scale->random[0] - (1001 - 668)) < 1e-9);
    CHECK(fabs(bed.scale->random[SHMT_SCORE_POINTS - 1] - (1001 - 976))
          < 1e-9);
    for (int k = 1; k < SHMT_SCORE_POINTS; k++)
        CHECK(bed.scale->random[k] <= bed.scale->random[k - 1]);
    shmt_score_scale_free(bed.scale);
    shmt_space_free(space);
}

static void failures_cost_their_time(void)
{
    struct shmt_space *space = make_space();
    struct bed bed;
    struct shmt_score result;

    fill(&bed, space, false);
    for (int k = 0; k < COUNT; k++)
        if (k % 2 == 1)
            bed.cost[k] = INFINITY;
    for (int k = 0; k < COUNT; k++)
        bed.seconds[k] = k % 2 == 1 ? 3 : 2;
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    CHECK_INT(bed.scale->valid, 501);
    CHECK(bed.scale->median == 501);
    /* 2 s, and of a failure that comes before it half the time 3 s */
    CHECK(fabs(bed.scale->mean_s - (2 + 3 * 500.0 / 1001)) < 1e-9);
    result = score(&bed, "exhaustive", 1, 1);
    CHECK(fabs(result.evaluations - floor(bed.scale->budget_s / 2.5)) <= 1);
    shmt_score_scale_free(bed.scale);
    shmt_space_free(space);
}

static void random_scores_nothing_and_an_oracle_one(void)
{
    struct shmt_space *space = make_space();
    struct bed bed;
    struct shmt_score result;

    fill(&bed, space, false);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    result = score(&bed, "random", 400, 2);
    printf("# random %.3f, spread %.3f\n", result.score, result.spread);
    CHECK(fabs(result.score) < 0.12);
    CHECK(result.spread > 0.1 && result.spread < 3);
    CHECK(fabs(result.evaluations - 37) < 1e-9);
    /* Within 10 % of the optimum there is only the optimum. */
    CHECK(result.efforts[0].evaluations > 500);
    /* In the order of the space the optimum comes first: from the first
     * point of the curve on. */
    result = score(&bed, "exhaustive", 3, 1);
    CHECK(fabs(result.score - 1) < 1e-9);
    CHECK(result.spread < 1e-6);
    for (int k = 0; k < SHMT_SCORE_TARGETS; k++) {
        CHECK(fabs(result.efforts[k].evaluations - 1) < 1e-9);
        CHECK(fabs(result.efforts[k].seconds - 2) < 1e-9);
        CHECK_INT(result.efforts[k].reached, 3);
    }
    shmt_score_scale_free(bed.scale);
    fill(&bed, space, true);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    result = score(&bed, "exhaustive", 2, 1);
    CHECK(result.score < -2);
    CHECK(isinf(result.efforts[0].evaluations));
    CHECK_INT(result.efforts[0].reached, 0);
    CHECK(result.held[SHMT_SCORE_POINTS - 1] == COUNT - 36);
    shmt_score_scale_free(bed.scale);
    shmt_space_free(space);
}

static void threads_and_seeds_do_not_matter(void)
{
    struct shmt_space *space = make_space();
    struct bed bed;
    struct shmt_score one, other;

    fill(&bed, space, true);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        one = score(&bed, shmt_strategy_at(k)->name, 9, 1);
        other = score(&bed, shmt_strategy_at(k)->name, 9, 4);
        CHECK(memcmp(one.curve, other.curve, sizeof one.curve) == 0);
        CHECK(one.spread == other.spread);
    }
    shmt_score_scale_free(bed.scale);
    shmt_space_free(space);
}

static void what_cannot_be_scored_is_refused(void)
{
    struct shmt_space *space = make_space();
    struct shmt_score result;
    struct bed bed;

    fill(&bed, space, false);
    for (int k = 0; k < COUNT; k++)
        bed.cost[k] = 5;
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(err.text, "no faster than the median");
    for (int k = 0; k < COUNT; k++)
        bed.cost[k] = INFINITY;
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(err.text, "0 of 1001");
    fill(&bed, space, false);
    memset(bed.seconds, 0, sizeof bed.seconds);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(err.text, "no time");
    fill(&bed, space, false);
    CHECK_INT(shmt_score_scale_new(&bed.table, &bed.scale, &err), SHMTUNE_OK);
    for (int k = 0; k < 4; k++) {
        const struct shmt_score_plan plan = {
            .strategy = k == 3 ? "magic" : "random",
            .repeats = k == 0 ? 0 : 2, .ahead = k == 1 ? 0 : 1,
            .jobs = k == 2 ? 0 : 2};

        CHECK_INT(shmt_score_run(bed.scale, &plan, &result, &err),
                  SHMTUNE_INVALID_ARGUMENT);
    }
    CHECK_HAS(err.text, "magic");
    shmt_score_scale_free(bed.scale);
    shmt_space_free(space);
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(budget_is_the_one_by_hand);
    CHECK_RUN(failures_cost_their_time);
    CHECK_RUN(random_scores_nothing_and_an_oracle_one);
    CHECK_RUN(threads_and_seeds_do_not_matter);
    CHECK_RUN(what_cannot_be_scored_is_refused);
    shmt_arena_free(arena);
    return CHECK_END();
}
