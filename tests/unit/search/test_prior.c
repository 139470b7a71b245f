/* SPDX-License-Identifier: MIT */
/*
 * prior: what other runs found brings a search there at once; where it
 * misleads, the search is not lost by it; what is not of this space does no
 * harm.
 */
#include <math.h>

#include "search/search.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;
static struct shmt_error err;

enum { PARAMETERS = 5, SEEDS = 9, MOST = 600 };

/* a to d have values 1..8, e is a word of three. */
static struct shmt_space *make_space(const char *constraint)
{
    static const char *const names[PARAMETERS] = {"a", "b", "c", "d", "e"};
    static const char *const words[] = {"row", "column", "tile"};
    struct shmt_parameter *const parameters =
        shmt_arena_alloc(arena, PARAMETERS, sizeof *parameters);
    struct shmt_expr_symbol symbols[PARAMETERS];
    struct shmt_expr_scope scope = {.count = PARAMETERS, .symbols = symbols};
    struct shmt_expr **const constraints =
        shmt_arena_alloc(arena, 1, sizeof *constraints);
    struct shmt_space_definition definition = {
        .parameter_count = PARAMETERS, .parameters = parameters,
        .constraints = constraints};
    struct shmt_space *space = NULL;

    for (size_t p = 0; p < PARAMETERS; p++) {
        const size_t count = p < 4 ? 8 : 3;
        struct shmt_value *const values =
            shmt_arena_alloc(arena, count, sizeof *values);

        for (size_t k = 0; k < count; k++)
            values[k] = p < 4 ? (struct shmt_value){.type = SHMT_VALUE_INT,
                                                    .i = (int64_t)k + 1}
                              : (struct shmt_value){.type = SHMT_VALUE_WORD,
                                                    .w = words[k]};
        parameters[p] = (struct shmt_parameter){
            .name = names[p], .type = values[0].type, .count = count,
            .values = values, .ordered = p < 4};
        symbols[p] = (struct shmt_expr_symbol){names[p], values[0].type};
    }
    if (constraint != NULL) {
        CHECK_INT(shmt_expr_compile(arena, (struct shmt_place){"x", 1, 1, 0},
                                    constraint, &scope, &constraints[0],
                                    &err),
                  SHMTUNE_OK);
        definition.constraint_count = 1;
    }
    CHECK_INT(shmt_space_build(&definition, &space, &err), SHMTUNE_OK);
    return space;
}

/* A valley with its floor where the two devices want it. */
static double cost_of(const shmt_config *config, const int *best)
{
    double cost = 100;

    for (size_t p = 0; p < 4; p++)
        cost *= 1 + 0.2 * abs((int)config[p] - best[p]);
    return cost * (config[4] == best[4] ? 1 : 1.4);
}

static const int here[PARAMETERS] = {5, 2, 6, 1, 2};
static const int near[PARAMETERS] = {5, 3, 6, 1, 2};
static const int wrong[PARAMETERS] = {0, 7, 0, 7, 0};

/* Every `step`th configuration of a space with its costs on another device. */
static struct shmt_search_prior *make_prior(const struct shmt_space *space,
                                            const int *best, size_t step)
{
    const size_t count = (size_t)shmt_space_count(space);
    struct shmt_search_prior *const prior =
        shmt_arena_alloc(arena, 1, sizeof *prior);
    struct shmt_search_example *const examples =
        shmt_arena_alloc(arena, count, sizeof *examples);

    *prior = (struct shmt_search_prior){.source_count = 1,
                                        .examples = examples};
    for (size_t k = 0; k < count; k += step) {
        shmt_config *const config =
            shmt_arena_alloc(arena, PARAMETERS, sizeof *config);

        shmt_space_configuration(space, k, config);
        examples[prior->count++] = (struct shmt_search_example){
            .cost = best == NULL ? INFINITY : cost_of(config, best),
            .config = config};
    }
    return prior;
}

/* Evaluations until one is within 5 % of the optimum. */
static int evaluations(const struct shmt_space *space,
                       const struct shmt_search_prior *prior, uint64_t seed)
{
    const struct shmt_session_options options = {
        .strategy = "model", .start = UINT64_MAX, .budget = UINT64_MAX,
        .seed = seed, .prior = prior};
    struct shmt_session *session = NULL;
    uint64_t index;
    int count = 0;

    CHECK_INT(shmt_session_open(&options, space, &session, &err), SHMTUNE_OK);
    while (count < MOST && shmt_session_ask(session, &index) ==
                               SHMT_SEARCH_CANDIDATE) {
        shmt_config config[PARAMETERS];

        shmt_space_configuration(space, index, config);
        count++;
        if (cost_of(config, here) <= 105)
            break;
        shmt_session_tell(session, index, cost_of(config, here));
    }
    shmt_session_close(session);
    return count;
}

static int median(const struct shmt_space *space,
                  const struct shmt_search_prior *prior)
{
    int counts[SEEDS];

    for (int k = 0; k < SEEDS; k++) {
        int at = k;
        const int count = evaluations(space, prior, (uint64_t)k + 1);

        for (; at > 0 && counts[at - 1] > count; at--)
            counts[at] = counts[at - 1];
        counts[at] = count;
    }
    printf("# median of %d: %d\n", SEEDS, counts[SEEDS / 2]);
    return counts[SEEDS / 2];
}

static void a_good_prior_helps(void)
{
    struct shmt_space *space = make_space(NULL);

    CHECK(median(space, NULL) > 12);
    CHECK(median(space, make_prior(space, here, 1)) == 1);
    CHECK(median(space, make_prior(space, near, 1)) <= 5);
    CHECK(median(space, make_prior(space, near, 29)) <= 10);
    shmt_space_free(space);
}

static void a_few_winners_help(void)
{
    struct shmt_space *space = make_space(NULL);
    shmt_config winner[PARAMETERS], other[PARAMETERS];
    struct shmt_search_example examples[2] = {
        {.cost = 1, .config = winner}, {.cost = 1.1, .config = other}};
    struct shmt_search_prior prior = {
        .source_count = 1, .count = 2, .winners = {true},
        .examples = examples};

    for (size_t p = 0; p < PARAMETERS; p++) {
        winner[p] = (shmt_config)near[p];
        other[p] = (shmt_config)here[p];
    }
    CHECK(median(space, &prior) <= 2);
    prior.count = 1;
    CHECK(median(space, &prior) <= 16);
    shmt_space_free(space);
}

static void a_misleading_prior_is_unlearnt(void)
{
    struct shmt_space *space = make_space(NULL);
    const int cold = median(space, NULL);
    const int misled = median(space, make_prior(space, wrong, 1));

    CHECK(misled <= 2 * cold + 6);
    CHECK(median(space, make_prior(space, NULL, 1)) <= 2 * cold + 6);
    shmt_space_free(space);
}

/* A search that follows other runs, which mislead, as long as it does. */
static struct shmt_session *begin_misled(const struct shmt_space *space)
{
    const struct shmt_session_options options = {
        .strategy = "model:guided=1000", .start = UINT64_MAX,
        .budget = UINT64_MAX, .seed = 1,
        .prior = make_prior(space, wrong, 1)};
    struct shmt_session *session = NULL;

    CHECK_INT(shmt_session_open(&options, space, &session, &err), SHMTUNE_OK);
    return session;
}

/* The next candidate, and what it cost the other runs. */
static double next_of(struct shmt_session *session,
                      const struct shmt_space *space, uint64_t *index)
{
    shmt_config config[PARAMETERS];

    CHECK_INT(shmt_session_ask(session, index), SHMT_SEARCH_CANDIDATE);
    shmt_space_configuration(space, *index, config);
    return cost_of(config, wrong);
}

/* Where the best of a source is bad, and what is like it, the next best of it
 * are tried all the same. */
static void the_best_of_a_source_are_tried(void)
{
    struct shmt_space *space = make_space(NULL);
    struct shmt_session *session = begin_misled(space);
    uint64_t index;
    int found = 0;

    for (int k = 0; k < 12; k++) {
        const double there = next_of(session, space, &index);

        found += there < 121;
        shmt_session_tell(session, index, 1e4 / there);
    }
    CHECK_INT(found, 5);
    shmt_session_close(session);
    shmt_space_free(space);
}

/* When none of it was any better for a while, the rest of the space is looked
 * at: nothing else leads so far away from what a source has. */
static void what_misleads_is_left(void)
{
    struct shmt_space *space = make_space(NULL);
    struct shmt_session *session = begin_misled(space);
    uint64_t index;
    double early = 0, late = 0;

    for (int k = 0; k < 40; k++) {
        double *const most = k < 13 ? &early : &late;

        *most = fmax(*most, next_of(session, space, &index));
        shmt_session_tell(session, index, k == 0 ? 100 : 150);
    }
    CHECK(early < 400 && late > 800);
    shmt_session_close(session);
    shmt_space_free(space);
}

static void of_two_sources_the_better_one_is_followed(void)
{
    struct shmt_space *space = make_space(NULL);
    struct shmt_search_prior *const good = make_prior(space, near, 1);
    struct shmt_search_prior *const bad = make_prior(space, wrong, 1);
    struct shmt_search_example *const both = shmt_arena_alloc(
        arena, good->count + bad->count, sizeof *both);
    const struct shmt_search_prior prior = {
        .source_count = 2, .count = good->count + bad->count,
        .examples = both};

    memcpy(both, bad->examples, bad->count * sizeof *both);
    memcpy(both + bad->count, good->examples, good->count * sizeof *both);
    for (size_t k = 0; k < good->count; k++)
        both[bad->count + k].source = 1;
    CHECK(median(space, &prior) <= 20);
    shmt_space_free(space);
}

/* The other run had no constraint: half of what it knows is not here. */
static void a_source_of_another_space_helps(void)
{
    struct shmt_space *space = make_space("a + b + c >= 16");
    struct shmt_space *whole = make_space(NULL);

    CHECK(shmt_space_count(space) < shmt_space_count(whole) / 2);
    CHECK(median(space, make_prior(whole, near, 1)) <= 5);
    CHECK(median(whole, make_prior(space, near, 1)) <= 10);
    shmt_space_free(whole);
    shmt_space_free(space);
}

/* Seven in flight, told in another order: every configuration comes out once,
 * and the same way again. */
static uint64_t exhaust(const struct shmt_space *space,
                        const struct shmt_search_prior *prior, bool fail)
{
    const struct shmt_session_options options = {
        .strategy = "model", .start = 3, .budget = UINT64_MAX, .seed = 5,
        .prior = prior};
    const uint64_t count = shmt_space_count(space);
    unsigned char *const out = calloc(count, 1);
    struct shmt_session *session = NULL;
    uint64_t flying[7], hash = 0, given = 0, index;
    size_t flights = 0;
    enum shmt_search_ask answer;

    CHECK_INT(shmt_session_open(&options, space, &session, &err), SHMTUNE_OK);
    while ((answer = shmt_session_ask(session, &index)) != SHMT_SEARCH_DONE ||
           flights > 0) {
        if (answer == SHMT_SEARCH_CANDIDATE) {
            CHECK(index < count && out[index]++ == 0);
            hash = (hash ^ index) * UINT64_C(0x100000001b3);
            flying[flights++] = index;
            given++;
        }
        if (flights == 7 || answer != SHMT_SEARCH_CANDIDATE) {
            const size_t k = shmt_session_pick(session, flying, flights);
            shmt_config config[PARAMETERS];

            shmt_space_configuration(space, flying[k], config);
            shmt_session_tell(session, flying[k],
                              fail ? INFINITY : cost_of(config, here));
            flying[k] = flying[--flights];
        }
    }
    CHECK_INT(given, count);
    shmt_session_close(session);
    free(out);
    return hash;
}

static void every_configuration_comes_out_once(void)
{
    struct shmt_space *space = make_space("a * b == 12 and c != d");
    struct shmt_search_prior *const prior = make_prior(space, near, 2);

    CHECK(exhaust(space, prior, false) == exhaust(space, prior, false));
    CHECK(exhaust(space, prior, false) != exhaust(space, NULL, false));
    exhaust(space, prior, true);
    shmt_space_free(space);
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(a_good_prior_helps);
    CHECK_RUN(a_few_winners_help);
    CHECK_RUN(a_misleading_prior_is_unlearnt);
    CHECK_RUN(the_best_of_a_source_are_tried);
    CHECK_RUN(what_misleads_is_left);
    CHECK_RUN(of_two_sources_the_better_one_is_followed);
    CHECK_RUN(a_source_of_another_space_helps);
    CHECK_RUN(every_configuration_comes_out_once);
    shmt_arena_free(arena);
    return CHECK_END();
}
