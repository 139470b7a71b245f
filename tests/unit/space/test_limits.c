/* SPDX-License-Identifier: MIT */
/*
 * limits: spaces whose diagrams are too large end within the limits: whole
 * where a search finds all, else with valid configurations that were drawn, or
 * with a message that names the constraints.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

/* Steps: a second or so. */
static const struct shmt_space_limits few = {
    .steps = 20000000, .bytes = (size_t)64 << 20, .draws = 300};

static struct made made;
static struct shmt_text text;

static void constrain(void)
{
    CHECK(add_constraint(&made, shmt_text_string(&text)));
    shmt_text_clear(&text);
}

/* Three different literals a clause; with `solution`, one that all hold on. */
static void make_clauses(int count, const bool *solution)
{
    random_state = 7;
    begin(&made);
    add_alike(&made, 60, "0,1");
    while (count > 0) {
        size_t p[3];
        bool want[3], held = solution == NULL;

        for (int k = 0; k < 3; k++) {
            p[k] = below(60);
            want[k] = below(2) != 0;
            held |= solution != NULL && solution[p[k]] == want[k];
        }
        if (!held || p[0] == p[1] || p[0] == p[2] || p[1] == p[2])
            continue;
        shmt_text_addf(&text, "p%zu == %d or p%zu == %d or p%zu == %d", p[0],
                       want[0], p[1], want[1], p[2], want[2]);
        constrain();
        count--;
    }
}

/* `count` sums, each of one parameter in `of`, modulo something. */
static void make_sums(int count, int modulus, size_t of)
{
    const int parameters = modulus == 2 ? 60 : 30;

    random_state = 11;
    begin(&made);
    add_alike(&made, parameters,
              modulus == 2 ? "0,1"
                           : "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    for (int c = 0; c < count; c++) {
        shmt_text_add(&text, "(0");
        for (int p = 0; p < parameters; p++)
            if (below(of) == 0)
                shmt_text_addf(&text, " + %zu * p%d",
                               modulus == 2 ? 1 : 1 + below(96), p);
        shmt_text_addf(&text, ") %% %d == %zu", modulus + 2 * c * (modulus > 2),
                       below((size_t)modulus));
        constrain();
    }
}

/* `holes` + 1 pigeons, each in a hole of its own. */
static void make_pigeons(int holes)
{
    begin(&made);
    add_alike(&made, (holes + 1) * holes, "0,1");
    for (int i = 0; i <= holes; i++) {
        for (int h = 0; h < holes; h++)
            shmt_text_addf(&text, "%sp%d", h == 0 ? "" : " + ",
                           i * holes + h);
        shmt_text_add(&text, " >= 1");
        constrain();
    }
    for (int h = 0; h < holes; h++)
        for (int i = 0; i <= holes; i++)
            for (int k = 0; k < i; k++) {
                shmt_text_addf(&text, "p%d + p%d <= 1", i * holes + h,
                               k * holes + h);
                constrain();
            }
}

static enum shmtune_status build(const struct shmt_space_limits *limits,
                                 struct shmt_space **out)
{
    *out = NULL;
    err.text[0] = '\0';
    made.definition.limits = limits;
    return shmt_space_build(&made.definition, out, &err);
}

/* Every configuration is valid, and each has its own index. */
static bool is_sound(const struct shmt_space *space)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index;

    for (uint64_t k = 0; k < shmt_space_count(space); k++) {
        shmt_space_configuration(space, k, config);
        if (judge(&made, config) != 1 ||
            !shmt_space_index(space, config, &index) || index != k)
            return false;
    }
    return true;
}

/* As many as were wanted, and the same once more. */
static void check_drawn(uint64_t count)
{
    struct shmt_space *space, *again;
    shmt_config a[SHMT_SPACE_PARAMETERS], b[SHMT_SPACE_PARAMETERS];
    struct shmt_space_limits other = few;
    bool same = true;

    CHECK_INT(build(&few, &space), SHMTUNE_OK);
    CHECK(space != NULL && shmt_space_is_drawn(space));
    if (space == NULL)
        return;
    CHECK_INT(shmt_space_count(space), count);
    CHECK(is_sound(space));
    CHECK_INT(build(&few, &again), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(again), count);
    for (uint64_t k = 0; k < count; k++) {
        shmt_space_configuration(space, k, a);
        shmt_space_configuration(again, k, b);
        same &= memcmp(a, b, made.definition.parameter_count * sizeof *a) == 0;
    }
    CHECK(same);
    shmt_space_free(again);
    other.seed = 2;
    CHECK_INT(build(&other, &again), SHMTUNE_OK);
    shmt_space_configuration(space, 1, a);
    shmt_space_configuration(again, 1, b);
    CHECK(memcmp(a, b, made.definition.parameter_count * sizeof *a) != 0);
    shmt_space_free(again);
    shmt_space_free(space);
    other.exact = true;
    CHECK_INT(build(&other, &space), SHMTUNE_NO_MEMORY);
    CHECK_HAS(err.text, "space.yaml:");
    CHECK_HAS(err.text, "--space-seconds");
}

static void many_solutions_are_drawn(void)
{
    make_clauses(180, NULL);
    check_drawn(300);
}

static void parity_is_drawn(void)
{
    make_sums(30, 2, 8);
    check_drawn(300);
}

static void chains_of_remainders_are_drawn(void)
{
    make_sums(3, 97, 2);
    check_drawn(300);
}

/* The default configuration stays in the space. */
static void defaults_are_kept(void)
{
    bool solution[60];
    struct shmt_space *space;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index;

    random_state = 3;
    for (int p = 0; p < 60; p++)
        solution[p] = below(2) != 0;
    make_clauses(180, solution);
    for (int p = 0; p < 60; p++)
        config[p] = made.parameters[p].default_value = solution[p];
    CHECK_INT(build(&few, &space), SHMTUNE_OK);
    CHECK(shmt_space_is_drawn(space));
    CHECK(shmt_space_index(space, config, &index));
    shmt_space_free(space);
}

/* Where a search finds all there are, the space is what it always is. */
static void few_solutions_are_all_found(void)
{
    bool solution[60];
    struct shmt_space *space;

    random_state = 5;
    for (int p = 0; p < 60; p++)
        solution[p] = below(2) != 0;
    make_clauses(380, solution);
    CHECK_INT(build(&few, &space), SHMTUNE_OK);
    CHECK(!shmt_space_is_drawn(space));
    CHECK(shmt_space_count(space) >= 1 && is_sound(space));
    shmt_space_free(space);
    make_clauses(360, NULL);
    CHECK_INT(build(&few, &space), SHMTUNE_OK);
    CHECK(!shmt_space_is_drawn(space));
    CHECK_INT(shmt_space_count(space), 0);
    shmt_space_free(space);
}

/* Where nothing is found, the message says what is to blame. */
static void hopeless_spaces_are_refused(void)
{
    const struct shmt_space_limits tiny = {.steps = 300000};
    struct shmt_space *space;

    make_sums(40, 2, 2);
    CHECK_INT(build(&few, &space), SHMTUNE_NO_MEMORY);
    CHECK_HAS(err.text, "space.yaml:");
    CHECK_HAS(err.text, "more; give these parameters fewer values");
    make_pigeons(7);
    CHECK_INT(build(&tiny, &space), SHMTUNE_NO_MEMORY);
    CHECK_HAS(err.text, "space.yaml:1:3: p0 + p1 + p2 + p3 + p4 + p5 + p6");
    CHECK_HAS(err.text, "56 parameters");
    CHECK_HAS(err.text, "and 201 more");
    CHECK_HAS(err.text, "MiB");
    CHECK_HAS(err.text, "no valid configuration was found");
}

/* Bytes are limited too, and the clock. */
static void memory_and_time_are_limited(void)
{
    const struct shmt_space_limits bytes = {
        .seconds = 20.0, .steps = 100000000, .bytes = (size_t)1 << 20,
        .draws = 10};
    const struct shmt_space_limits seconds = {.seconds = 0.2, .draws = 10};
    struct shmt_space *space;
    double start;

    make_clauses(180, NULL);
    CHECK_INT(build(&bytes, &space), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 10);
    shmt_space_free(space);
    start = shmt_clock_thread_s();
    CHECK_INT(build(&seconds, &space), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 10);
    CHECK(shmt_clock_thread_s() - start < 5.0);
    shmt_space_free(space);
}

static void count_calls(void *context,
                        const struct shmt_space_progress *progress)
{
    CHECK(progress->seconds > 0.7);
    ++*(int *)context;
}

static void the_funnel_keeps_the_limits(void)
{
    static struct shmt_space_stage stages[513];
    struct shmt_space_limits limits = few;
    int calls = 0;
    const double start = shmt_clock_thread_s();

    limits.tell = count_calls;
    limits.context = &calls;
    make_clauses(300, NULL);
    made.definition.limits = &limits;
    CHECK_INT(shmt_space_funnel(&made.definition, stages, &err), SHMTUNE_OK);
    CHECK(stages[1].exact && !stages[299].exact);
    CHECK_INT(stages[1].count, (uint64_t)7 << 57);
    CHECK(shmt_clock_thread_s() - start < 20.0);
    CHECK(calls < 200);
}

/* Reals, and divisions by zero, which only the expressions can judge. */
static void what_bounds_cannot_tell_is_evaluated(void)
{
    struct shmt_space *space;

    make_clauses(170, NULL);
    add_constraint(&made, "p0 * 0.5 + p1 * 1.5 < 1.25");
    add_constraint(&made, "p2 == 0 or 6 // (p2 + p3 * p4) > 3");
    add_constraint(&made, "2 ** (p5 - p6) >= 1");
    CHECK_INT(build(&few, &space), SHMTUNE_OK);
    CHECK(shmt_space_is_drawn(space));
    CHECK_INT(shmt_space_count(space), 300);
    CHECK(is_sound(space));
    shmt_space_free(space);
}

/* Most prefixes of it are refused, which is cheap: it is enumerated. */
static void products_are_enumerated(void)
{
    enum { MOST = 512 };
    const struct shmt_space_limits limits = {.steps = 12000000};
    struct shmt_text values = {0};
    struct shmt_space *space;
    uint64_t pairs = 0;

    for (int k = 1; k <= MOST; k++) {
        shmt_text_addf(&values, k == 1 ? "%d" : ",%d", k);
        pairs += (uint64_t)(MOST / k);
    }
    begin(&made);
    add_alike(&made, 3, shmt_text_string(&values));
    shmt_text_add(&text, "p0 * p1 == p2");
    constrain();
    CHECK_INT(build(&limits, &space), SHMTUNE_OK);
    CHECK(space != NULL && !shmt_space_is_drawn(space));
    CHECK_INT(shmt_space_count(space), pairs);
    CHECK(is_sound(space));
    shmt_space_free(space);
    shmt_text_free(&values);
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(many_solutions_are_drawn);
    CHECK_RUN(parity_is_drawn);
    CHECK_RUN(products_are_enumerated);
    CHECK_RUN(chains_of_remainders_are_drawn);
    CHECK_RUN(defaults_are_kept);
    CHECK_RUN(few_solutions_are_all_found);
    CHECK_RUN(hopeless_spaces_are_refused);
    CHECK_RUN(memory_and_time_are_limited);
    CHECK_RUN(the_funnel_keeps_the_limits);
    CHECK_RUN(what_bounds_cannot_tell_is_evaluated);
    shmt_text_free(&text);
    shmt_arena_free(arena);
    return CHECK_END();
}
