/* SPDX-License-Identifier: MIT */
/*
 * search: sessions let every configuration out once and no more, a seed
 * repeats a run, failures end nothing, and the strategies find what random
 * search does not.
 */
#include <math.h>

#include "search/engine/observations.h"
#include "search/engine/shuffle.h"
#include "search/search.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;
static struct shmt_error err;

/* -- a space ------------------------------------------------------------- */

enum { PARAMETERS = 5 };

static const int64_t counts[PARAMETERS] = {8, 6, 5, 2, 3};

/* Its parameters are a..e with the values 1.. times `scale`; d and e have no
 * order. */
static struct shmt_space *make_space(int64_t scale, const char *constraint)
{
    static const char *const names[PARAMETERS] = {"a", "b", "c", "d", "e"};
    static const char *const words[] = {"row", "column", "tile"};
    struct shmt_parameter *parameters =
        shmt_arena_alloc(arena, PARAMETERS, sizeof *parameters);
    struct shmt_expr_symbol symbols[PARAMETERS];
    struct shmt_expr_scope scope = {.count = PARAMETERS, .symbols = symbols};
    struct shmt_space_definition definition = {
        .parameter_count = PARAMETERS, .parameters = parameters};
    struct shmt_expr **constraints =
        shmt_arena_alloc(arena, 1, sizeof *constraints);
    struct shmt_space *space = NULL;

    for (size_t p = 0; p < PARAMETERS; p++) {
        const size_t count = (size_t)(counts[p] * (p < 3 ? scale : 1));
        struct shmt_value *values =
            shmt_arena_alloc(arena, count, sizeof *values);

        for (size_t k = 0; k < count; k++)
            values[k] = p == 4 ? (struct shmt_value){.type = SHMT_VALUE_WORD,
                                                     .w = words[k]}
                               : (struct shmt_value){.type = SHMT_VALUE_INT,
                                                     .i = (int64_t)k + 1};
        parameters[p] = (struct shmt_parameter){
            .name = names[p], .type = values[0].type, .count = count,
            .values = values, .ordered = p < 4};
        symbols[p] = (struct shmt_expr_symbol){names[p], values[0].type};
    }
    definition.constraints = constraints;
    if (constraint != NULL
        && shmt_expr_compile(arena, (struct shmt_place){"x.yaml", 1, 1, 0},
                             constraint, &scope, &constraints[0], &err)
               == SHMTUNE_OK)
        definition.constraint_count = 1;
    CHECK_INT(definition.constraint_count, constraint != NULL);
    CHECK_INT(shmt_space_build(&definition, &space, &err), SHMTUNE_OK);
    return space;
}

/* A valley with a cliff: the best configuration is a = 3/4, b = 1/3, c = 1/2
 * of the way, d = 2, e = "tile"; a tenth fails. */
static double cost_of(const struct shmt_space *space, uint64_t index)
{
    shmt_config config[PARAMETERS];
    double cost = 10;

    shmt_space_configuration(space, index, config);
    for (size_t p = 0; p < 3; p++) {
        static const double best[3] = {0.75, 0.34, 0.5};
        const double last =
            (double)shmt_space_parameter(space, p)->count - 1;

        cost *= 1 + 2 * fabs(config[p] / last - best[p]);
    }
    cost *= config[3] == 1 ? 1 : 1.3;
    cost *= config[4] == 2 ? 1 : config[4] == 1 ? 1.2 : 1.5;
    if ((config[0] + 3 * config[1] + 5 * config[2]) % 11 == 7)
        return INFINITY;
    return cost;
}

static struct shmt_session *open_session(const char *text,
                                         const struct shmt_space *space,
                                         uint64_t start, uint64_t seed)
{
    struct shmt_session *session = NULL;

    err.text[0] = '\0';
    if (shmt_session_open(&(struct shmt_session_options){
                              .strategy = text, .start = start,
                              .budget = UINT64_MAX, .seed = seed},
                          space, &session, &err)
        != SHMTUNE_OK) {
        CHECK(!"session opens");
        printf("# %s\n", err.text);
    }
    return session;
}

/* -- what sessions stand on ---------------------------------------------- */

static void shuffle_gives_every_number_once(void)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 5, 17, 256, 257, 5000};
    struct shmt_random random;
    struct shmt_shuffle shuffle;
    uint64_t number;

    shmt_random_seed(&random, 7);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned char *given = calloc(sizes[s] + 1, 1);
        uint64_t count = 0, in_place = 0;

        shmt_shuffle_begin(&shuffle, sizes[s], &random);
        for (; shmt_shuffle_next(&shuffle, &number); count++) {
            if (number < sizes[s])
                given[number]++;
            in_place += number == count;
        }
        CHECK_INT(count, sizes[s]);
        for (uint64_t k = 0; k < sizes[s]; k++)
            CHECK_INT(given[k], 1);
        CHECK(in_place < 4 + sizes[s] / 8);
        free(given);
    }
    shmt_shuffle_begin(&shuffle, UINT64_MAX, &random);
    for (int k = 0; k < 1000; k++)
        CHECK(shmt_shuffle_next(&shuffle, &number) && number < UINT64_MAX);
}

static void refusals_name_what_is_there(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"magic", "no strategy is called \"magic\""},
        {"", "no strategy is called \"\""},
        {"hill:leaps=2", "has no option \"leaps\"; it has leap"},
        {"random:leap=2", "has no option \"leap\"; it has none"},
        {"hill:leap=0", "option leap is \"0\", expected a number from 1"},
        {"hill:leap=2x", "option leap is \"2x\""},
        {"hill:leap=nan", "option leap is \"nan\""},
        {"hill:leap", "option leap needs a value from 1"},
        {"hill:leap=", "option leap needs a value from 1"},
        {"hill:leap=2,leap=3", "option leap is given twice"},
    };
    struct shmt_space *space = make_space(1, NULL);

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_session *session = NULL;

        CHECK_INT(shmt_session_open(&(struct shmt_session_options){
                                        .strategy = cases[k].text,
                                        .budget = UINT64_MAX, .seed = 1},
                                    space, &session, &err),
                  SHMTUNE_INVALID_ARGUMENT);
        CHECK_HAS(err.text, cases[k].message);
        CHECK(session == NULL);
    }
    shmt_session_close(open_session("hill:leap=2,samples=5", space, 0, 1));
    shmt_session_close(open_session("hill:", space, 0, 1));
    shmt_session_close(NULL);
    shmt_space_free(space);
}

static void tables_of_options_are_sound(void)
{
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        const struct shmt_strategy *const s = shmt_strategy_at(k);
        size_t count = 0;

        CHECK(shmt_strategy_find(s->name, strlen(s->name)) == s);
        CHECK(s->summary != NULL && *s->summary != '\0');
        for (; s->options != NULL && s->options[count].name != NULL; count++) {
            const struct shmt_strategy_option *const o = &s->options[count];

            CHECK(o->low <= o->default_value && o->default_value <= o->high);
            CHECK(o->help != NULL && *o->help != '\0');
            for (size_t j = 0; j < count; j++)
                CHECK(strcmp(s->options[j].name, o->name) != 0);
        }
        CHECK(count <= SHMT_STRATEGY_OPTIONS);
    }
    CHECK(shmt_strategy_find(shmt_strategy_default,
                             strlen(shmt_strategy_default)) != NULL);
    CHECK(shmt_strategy_find("mod", 3) == NULL);
}

/* -- every strategy ------------------------------------------------------ */

enum { IN_FLIGHT = 7 };

/* Asks until nothing is left, with several in flight that are told out of
 * order; returns a hash of the order. */
static uint64_t exhaust(const char *name, const struct shmt_space *space,
                        uint64_t seed, bool fail)
{
    const uint64_t count = shmt_space_count(space);
    struct shmt_session *session = open_session(name, space, 11, seed);
    unsigned char *out = calloc(count, 1);
    uint64_t flying[IN_FLIGHT], hash = 0, given = 0, index;
    size_t flights = 0;
    enum shmt_search_ask answer;

    while ((answer = shmt_session_ask(session, &index)) != SHMT_SEARCH_DONE
           || flights > 0) {
        if (answer == SHMT_SEARCH_CANDIDATE) {
            CHECK(index < count && out[index] == 0);
            if (index >= count || out[index]++ != 0)
                break;
            hash = (hash ^ index) * UINT64_C(0x100000001b3);
            given++;
            flying[flights++] = index;
            CHECK_INT(shmt_session_in_flight(session), flights);
        }
        if (flights == IN_FLIGHT || answer != SHMT_SEARCH_CANDIDATE) {
            const size_t k = shmt_session_pick(session, flying, flights);

            CHECK(k < flights);
            shmt_session_tell(session, flying[k],
                              fail ? INFINITY
                                   : cost_of(space, flying[k]));
            /* Told twice: once too often. */
            shmt_session_tell(session, flying[k], 1);
            flying[k] = flying[--flights];
            CHECK_INT(shmt_session_in_flight(session), flights);
        }
    }
    CHECK_INT(given, count);
    CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_DONE);
    shmt_session_close(session);
    free(out);
    return hash;
}

static void every_configuration_comes_out_once(void)
{
    struct shmt_space *space = make_space(1, "a * b <= 12 and c != d");

    CHECK(shmt_space_count(space) > 300 && shmt_space_count(space) < 1000);
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        const char *const name = shmt_strategy_at(k)->name;

        printf("# %s\n", name);
        CHECK(exhaust(name, space, 1, false)
              == exhaust(name, space, 1, false));
        if (strcmp(name, "exhaustive") != 0)
            CHECK(exhaust(name, space, 1, false)
                  != exhaust(name, space, 2, false));
    }
    shmt_space_free(space);
}

static void nothing_but_failures_is_survived(void)
{
    struct shmt_space *space = make_space(1, "a + b == 6");

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++)
        exhaust(shmt_strategy_at(k)->name, space, 3, true);
    shmt_space_free(space);
}

static void spaces_of_one_and_none_are_ended(void)
{
    struct shmt_space *one =
        make_space(1, "a == 2 and b == 2 and c == 2 and d == 2 and e == 'row'");
    struct shmt_space *none = make_space(1, "a > 100");

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        struct shmt_session *session;
        uint64_t index = 77;

        session = open_session(shmt_strategy_at(k)->name, one, UINT64_MAX, 1);
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
        CHECK_INT(index, 0);
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_DONE);
        shmt_session_tell(session, 0, 5);
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_DONE);
        shmt_session_close(session);
        session = open_session(shmt_strategy_at(k)->name, none, 0, 1);
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_DONE);
        shmt_session_close(session);
    }
    shmt_space_free(one);
    shmt_space_free(none);
}

static void what_is_claimed_does_not_come_out(void)
{
    struct shmt_space *space = make_space(1, NULL);
    const uint64_t count = shmt_space_count(space);

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        struct shmt_session *session =
            open_session(shmt_strategy_at(k)->name, space, 4, 5);
        uint64_t index = 0, left = 0;

        for (uint64_t i = 0; i < count; i++)
            if (i % 10 != 0) {
                CHECK(shmt_session_claim(session, i));
                CHECK(!shmt_session_claim(session, i));
                shmt_session_tell(session, i, 20);
            }
        CHECK(!shmt_session_claim(session, count));
        CHECK_INT(shmt_session_in_flight(session), 0);
        while (shmt_session_ask(session, &index) == SHMT_SEARCH_CANDIDATE) {
            CHECK_INT(index % 10, 0);
            left++;
            shmt_session_tell(session, index, cost_of(space, index));
        }
        CHECK_INT(left, count / 10);
        shmt_session_close(session);
    }
    shmt_space_free(space);
}

static void the_default_configuration_comes_first(void)
{
    struct shmt_space *space = make_space(1, NULL);

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        const char *const name = shmt_strategy_at(k)->name;
        struct shmt_session *session = open_session(name, space, 1234, 5);
        uint64_t index = 0;

        if (strcmp(name, "random") != 0 && strcmp(name, "exhaustive") != 0) {
            CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
            CHECK_INT(index, 1234);
        }
        shmt_session_close(session);
    }
    shmt_space_free(space);
}

static double best_after(const char *name, const struct shmt_space *space,
                         uint64_t seed, int evaluations)
{
    struct shmt_session *session =
        open_session(name, space, UINT64_MAX, seed);
    double best = INFINITY;
    uint64_t index;

    for (int k = 0; k < evaluations
                    && shmt_session_ask(session, &index)
                           == SHMT_SEARCH_CANDIDATE; k++) {
        best = fmin(best, cost_of(space, index));
        shmt_session_tell(session, index, cost_of(space, index));
    }
    shmt_session_close(session);
    return best;
}

/* Of so many candidates of the model, how many are of the upper half of the
 * last parameter, which take `dear` times the seconds of the others. */
static size_t dear_ones(const struct shmt_space *space, const char *name,
                        uint64_t seed, double dear, uint64_t *hash)
{
    const size_t last = shmt_space_parameters(space) - 1;
    const size_t half = shmt_space_parameter(space, last)->count / 2;
    struct shmt_session *session =
        open_session(name, space, UINT64_MAX, seed);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index = 0;
    size_t count = 0;

    for (int k = 0; k < 60; k++) {
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
        shmt_space_configuration(space, index, config);
        count += config[last] >= half;
        *hash = (*hash ^ index) * UINT64_C(0x100000001b3);
        shmt_session_took(session, index, config[last] >= half ? dear : 1);
        shmt_session_took(session, index, 0);       /* nothing is known */
        shmt_session_tell(session, index, cost_of(space, index));
        shmt_session_took(session, index, 1e9);     /* too late */
    }
    shmt_session_close(session);
    return count;
}

/* Fewer of the dear ones are tried, and nothing changes where they are none. */
static void seconds_count(void)
{
    struct shmt_space *space = make_space(5, "(a + b) % 3 != 0");
    uint64_t hash[4] = {0};
    size_t dear = 0, same = 0;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        dear += dear_ones(space, "model", seed, 20, &hash[0]);
        same += dear_ones(space, "model", seed, 1.1, &hash[1]);
        dear_ones(space, "model:thrift=0", seed, 20, &hash[2]);
        dear_ones(space, "model:thrift=0", seed, 1, &hash[3]);
    }
    printf("# dear ones: %zu, %zu where they are not\n", dear, same);
    CHECK(dear * 5 < same * 4);
    CHECK(hash[1] == hash[2] && hash[2] == hash[3] && hash[0] != hash[1]);
    shmt_space_free(space);
}

/* A plateau, on which the next is always a little better, and behind a wall,
 * which is worse than it, a region that is twice as good. */
static double cost_of_plateau(const struct shmt_space *space, uint64_t index)
{
    shmt_config config[PARAMETERS];
    double slope = 1;

    shmt_space_configuration(space, index, config);
    for (size_t p = 2; p < PARAMETERS; p++)
        slope -= 0.004 * (double)config[p] /
                 (double)shmt_space_parameter(space, p)->count;
    if (config[0] < 5)
        return 10 * slope;
    return config[1] == 4 && config[2] > 1 ? 5 * slope : 14;
}

/* How many of 200 candidates of the model, 16 in flight, are tried before one
 * is in that region. */
static size_t stays_on_plateau(const struct shmt_space *space,
                               const char *name, uint64_t seed)
{
    enum { FLIGHT = 16, MOST = 200 };
    struct shmt_session *session = open_session(name, space, 0, seed);
    uint64_t flight[MOST];
    size_t asked = 0, told = 0;
    double best = INFINITY;

    while (told < MOST && best > 6) {
        while (asked < MOST && asked - told < FLIGHT &&
               shmt_session_ask(session, &flight[asked]) ==
                   SHMT_SEARCH_CANDIDATE)
            asked++;
        best = fmin(best, cost_of_plateau(space, flight[told]));
        shmt_session_tell(session, flight[told],
                          cost_of_plateau(space, flight[told]));
        told++;
    }
    shmt_session_close(session);
    return told;
}

static void a_plateau_is_left(void)
{
    enum { SEEDS = 16 };
    struct shmt_space *space = make_space(5, "a % 2 == 0 or b != 4 or c < 2");
    size_t bold = 0, timid = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bold += stays_on_plateau(space, "model", seed);
        timid += stays_on_plateau(space, "model:margin=0", seed);
    }
    printf("# left after %zu, without a margin after %zu\n", bold / SEEDS,
           timid / SEEDS);
    CHECK(bold * 4 < timid * 3);
    shmt_space_free(space);
}

/* The best of a few evaluations at one of two sizes, of which the other was
 * looked at before, or not. */
static double best_beside(const struct shmt_space *space, uint64_t seed,
                          size_t told, double *gap)
{
    static const int64_t list[2][SHMT_SEARCH_DIMENSIONS] = {{1024}, {2048}};
    static const struct shmt_search_sizes sizes = {
        .count = 2, .dimensions = 1, .list = list};
    const double usual = cost_of(space, 0);
    struct shmt_session *session = NULL;
    struct shmt_random random;
    uint64_t index = 0, good = 0, bad = 0;
    double best = INFINITY;

    CHECK_INT(shmt_session_open(&(struct shmt_session_options){
                  .strategy = "model", .start = 0, .budget = UINT64_MAX,
                  .seed = seed, .sizes = &sizes}, space, &session, &err),
              SHMTUNE_OK);
    shmt_random_seed(&random, seed);
    for (size_t k = 0; k < told; k++) {
        const uint64_t one =
            shmt_random_below(&random, shmt_space_count(space));
        const double cost = cost_of(space, one);
        shmt_session_hear(session, one, 1, cost / usual * 1.02);
        if (isfinite(cost) && cost < cost_of(space, good))
            good = one;
        if (isfinite(cost) && cost > cost_of(space, bad))
            bad = one;
    }
    CHECK_INT(shmt_session_in_flight(session), 0);
    for (int k = 0; k < 6; k++) {
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
        best = fmin(best, cost_of(space, index));
        shmt_session_tell(session, index, cost_of(space, index));
        if (k == 0)
            *gap = shmt_session_worth(session, good) -
                   shmt_session_worth(session, bad);
    }
    CHECK(told == 0 || bad == 0 || shmt_session_claim(session, bad));
    shmt_session_close(session);
    return best;
}

/* What is heard of another size is looked for first, and is no result: it can
 * be tried here. */
static void what_is_heard_counts(void)
{
    struct shmt_space *space = make_space(5, "(a + b) % 3 != 0");
    double alone = 0, beside = 0, gap;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        alone += best_beside(space, seed, 0, &gap) / 8;
        beside += best_beside(space, seed, 200, &gap) / 8;
        CHECK(gap > 0);
    }
    printf("# best of six: %.2f alone, %.2f beside another\n", alone, beside);
    CHECK(beside < 0.98 * alone);
    shmt_space_free(space);
}

/* With the last value of `e` it takes three times as long. */
static double cost_with_last(const struct shmt_space *space, uint64_t index,
                             bool *last)
{
    shmt_config config[PARAMETERS];

    shmt_space_configuration(space, index, config);
    *last = config[4] == 2;
    return cost_of(space, index) * (*last ? 3 : 1);
}

/* So many of `asked` candidates have the last value of `e`, of which another
 * size has told if it is there. */
static size_t count_last(const struct shmt_space *space, uint64_t seed,
                         bool is_there, size_t asked)
{
    static const int64_t list[2][SHMT_SEARCH_DIMENSIONS] = {{1024}, {2048}};
    static const struct shmt_search_sizes sizes = {
        .count = 2, .dimensions = 1, .list = list};
    struct shmt_session *session = NULL;
    struct shmt_random random;
    uint64_t index = 0;
    size_t count = 0;
    bool last;

    CHECK_INT(shmt_session_open(&(struct shmt_session_options){
                  .strategy = "model", .start = 0, .budget = UINT64_MAX,
                  .seed = seed, .sizes = &sizes}, space, &session, &err),
              SHMTUNE_OK);
    shmt_random_seed(&random, seed);
    for (size_t told = 0; told < 200;) {
        double cost;

        index = shmt_random_below(&random, shmt_space_count(space));
        cost = cost_with_last(space, index, &last);
        if (last && !is_there)
            continue;
        shmt_session_hear(session, index, 1,
                          cost / cost_with_last(space, 0, &last));
        told++;
    }
    for (size_t k = 0; k < asked; k++) {
        double cost;

        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
        cost = cost_with_last(space, index, &last);
        count += last;
        shmt_session_tell(session, index, cost);
    }
    shmt_session_close(session);
    return count;
}

/* Nobody else can find what only this size has: it is tried a few times,
 * however bad the first one was.  Not so what others have tried. */
static void a_value_of_one_size_is_tried(void)
{
    struct shmt_space *space = make_space(5, "(a + b) % 3 != 0");
    size_t least = SIZE_MAX, most = 0;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        const size_t alone = count_last(space, seed, false, 16);
        const size_t told = count_last(space, seed, true, 16);

        least = alone < least ? alone : least;
        most = told > most ? told : most;
    }
    printf("# of 16: %zu and more, at most %zu where it is known\n", least,
           most);
    CHECK(least >= 4);
    CHECK(most < 4);
    shmt_space_free(space);
}

static void strategies_find_what_random_does_not(void)
{
    enum { SEEDS = 8, EVALUATIONS = 120 };
    struct shmt_space *space = make_space(5, "(a + b) % 3 != 0");
    double random = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++)
        random += log(best_after("random", space, seed, EVALUATIONS) / 10);
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++) {
        const char *const name = shmt_strategy_at(k)->name;
        double sum = 0;

        if (strcmp(name, "random") == 0 || strcmp(name, "exhaustive") == 0)
            continue;
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            sum += log(best_after(name, space, seed, EVALUATIONS) / 10);
        printf("# %s: %.3f above the optimum, random %.3f\n", name,
               exp(sum / SEEDS) - 1, exp(random / SEEDS) - 1);
        CHECK(sum < 0.7 * random);
        if (strcmp(name, shmt_strategy_default) == 0)
            CHECK(sum < random / 3);
    }
    shmt_space_free(space);
}

static void vast_spaces_are_searched(void)
{
    struct shmt_space *space = make_space(150, NULL);

    /* 1200 * 900 * 750 * 2 * 3 */
    CHECK(shmt_space_count(space) == UINT64_C(4860000000));
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++)
        CHECK(isfinite(best_after(shmt_strategy_at(k)->name, space, 1,
                                  40)));
    shmt_space_free(space);
}

/* The model's answers depend on costs from its first modelled candidate on:
 * two sessions that are told opposite costs part there. */
static size_t unmodelled(const struct shmt_space *space, uint64_t budget)
{
    const struct shmt_session_options options = {
        .strategy = "model", .start = UINT64_MAX, .budget = budget, .seed = 1};
    struct shmt_session *sessions[2] = {NULL, NULL};
    uint64_t index[2] = {0, 0};
    size_t same = 0;

    for (size_t k = 0; k < 2; k++)
        CHECK_INT(shmt_session_open(&options, space, &sessions[k], &err),
                  SHMTUNE_OK);
    while (same < 40) {
        for (size_t k = 0; k < 2; k++)
            CHECK_INT(shmt_session_ask(sessions[k], &index[k]),
                      SHMT_SEARCH_CANDIDATE);
        if (index[0] != index[1])
            break;
        same++;
        shmt_session_tell(sessions[0], index[0], 1 + (double)same);
        shmt_session_tell(sessions[1], index[1], 100 - (double)same);
    }
    for (size_t k = 0; k < 2; k++)
        shmt_session_close(sessions[k]);
    return same;
}

static void initial_candidates_follow_the_budget(void)
{
    struct shmt_space *large = make_space(2, NULL);   /* 11,520 */
    struct shmt_space *small = make_space(1, NULL);   /* 1,440 */

    CHECK_INT(unmodelled(large, UINT64_MAX), 10);
    CHECK_INT(unmodelled(large, 48), 6);
    CHECK_INT(unmodelled(large, 24), 3);
    CHECK_INT(unmodelled(small, UINT64_MAX), 3);
    CHECK_INT(unmodelled(small, 48), 3);
    shmt_space_free(large);
    shmt_space_free(small);
}

/* More than the surrogate holds: compiled candidates wait for the GPU while
 * others are asked for. */
static void many_may_be_in_flight(void)
{
    enum { TOLD = 20, FLYING = 150 };
    struct shmt_space *space = make_space(1, NULL);
    struct shmt_session *session = open_session("model", space, 0, 3);
    uint64_t index, flying[FLYING];

    for (int k = 0; k < TOLD; k++) {
        CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
        shmt_session_tell(session, index, cost_of(space, index));
    }
    for (int k = 0; k < FLYING; k++)
        CHECK_INT(shmt_session_ask(session, &flying[k]),
                  SHMT_SEARCH_CANDIDATE);
    for (int k = 0; k < FLYING; k++)
        shmt_session_tell(session, flying[k], cost_of(space, flying[k]));
    CHECK_INT(shmt_session_ask(session, &index), SHMT_SEARCH_CANDIDATE);
    shmt_session_close(session);
    shmt_space_free(space);
}

/* From 1 to 8 a value lies where the mean of its rank and of its doublings
 * is. */
static void numbers_lie_between_rank_and_ratio(void)
{
    static const int64_t twos[] = {1, 2, 4, 8};
    struct shmt_space *space = make_space(1, NULL);
    struct shmt_observations observations;

    shmt_observations_begin(&observations, space);
    CHECK_INT(observations.features[0].levels, 8);
    for (int k = 0; k < 4; k++) {
        const double place =
            (double)observations.features[0].along[twos[k] - 1];

        CHECK(fabs(place - ((double)(twos[k] - 1) / 7 + k / 3.0) / 2) < 1e-6);
    }
    shmt_observations_end(&observations);
    shmt_space_free(space);
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(shuffle_gives_every_number_once);
    CHECK_RUN(refusals_name_what_is_there);
    CHECK_RUN(tables_of_options_are_sound);
    CHECK_RUN(every_configuration_comes_out_once);
    CHECK_RUN(nothing_but_failures_is_survived);
    CHECK_RUN(spaces_of_one_and_none_are_ended);
    CHECK_RUN(what_is_claimed_does_not_come_out);
    CHECK_RUN(the_default_configuration_comes_first);
    CHECK_RUN(seconds_count);
    CHECK_RUN(a_plateau_is_left);
    CHECK_RUN(what_is_heard_counts);
    CHECK_RUN(a_value_of_one_size_is_tried);
    CHECK_RUN(strategies_find_what_random_does_not);
    CHECK_RUN(vast_spaces_are_searched);
    CHECK_RUN(initial_candidates_follow_the_budget);
    CHECK_RUN(many_may_be_in_flight);
    CHECK_RUN(numbers_lie_between_rank_and_ratio);
    shmt_arena_free(arena);
    return CHECK_END();
}
