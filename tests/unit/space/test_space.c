/* SPDX-License-Identifier: MIT */
/*
 * space: diagrams hold exactly the configurations that satisfy the
 * constraints, as found by trying every one: chosen spaces, large ones, and
 * what cannot be one.
 */
#include <time.h>

#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void chosen_spaces_agree(void)
{
    const char *const *const spaces[] = {
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "x != 0 and y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "x == 0 or y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0", "x > 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0 and x > 0"),
        TEXTS("a=1,2,4,8", "b=1,2,4,8", "c=1,2,4,8", NULL,
              "8 <= a * b * c <= 64", "a * b * c * 4 <= 128"),
        TEXTS("a=1,2,3", "b=4,5", NULL, "a in [1, 3] and b not in (5,)"),
        TEXTS("m=static,dynamic", "t=8,16,32", "p=0,1", NULL,
              "m == 'dynamic' or t * (t + p) * 4 <= 2048"),
        TEXTS("a=9223372036854775807,1", "b=1,2", NULL, "a * b > 0"),
        TEXTS("a=9223372036854775807,1", "b=1,2", NULL,
              "b == 1 or a * b > 0", "a + b < 4"),
        TEXTS("a=1.5,2.5", "b=1,2,3", NULL, "a * b == 3"),
        TEXTS("a=1,2,3,4", "b=0,1,2", NULL, "2 ** (a - b) >= 2"),
        TEXTS("a=1,2,3,4", "b=0,1,2", NULL, "a or 'word'", "a - b"),
        TEXTS("a=1,2,3", NULL, "a < 0"),
        TEXTS("a=1,2,3", NULL, "n % 0 == 1"),
        TEXTS("a=1,2,3", NULL, "n % 0 == 1", "a > 5"),
        TEXTS("a=5", "b=6", NULL, "a < b"),
        TEXTS("a=5", "b=6", NULL, "a > b"),
        TEXTS("a=5", "b=6", NULL, "a % (b - 6) == 1"),
        TEXTS("a=0,1,2,3,4,5", "b=0,1,2,3,4,5", "c=0,1,2,3,4,5", NULL,
              "min(a, b, c) + max(a, b, c) == 5", "abs(a - b) <= 2"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", NULL,
              "(a if a > b else b) * 2 <= n - a"),
        TEXTS("a=-4,-2,1,3", "b=-3,2,4", "c=1,2", NULL,
              "a // b + a % b >= -2 * c", "a * b * c < 12"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", "c=1,2,3,4", "d=1,2,3,4", NULL,
              "a != b", "c != a", "a != d", "b != c and d != b", "c != d"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", "c=1,2,3,4", "d=1,2,3,4,5", NULL,
              "a != b and a != c and b != c", "d != a", "d != b", "c < d"),
        TEXTS("a=1,2,3,4", "b=2,3,4,5", "c=1,2,3,4", "d=1,2,3,4", NULL,
              "a != b + 1", "a != c", "b != c", "d != a", "d != b + 1",
              "d != c or a == 2"),
        /* Quotients that only -1 makes large, kept from level to level. */
        TEXTS("a=-8,-7,-6", "b=-3,-1,2,3", "c=-4,-3,-2,-1,0,1,2,3,4,5,6,7,8",
              "d=1,2,3", NULL, "a // b == c * d", "a // b != d"),
        TEXTS("a=6,7,8", "b=-3,-1,2,3", "c=-8,-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4",
              "d=1,2,3", NULL, "ceildiv(a, b) == c", "a // b - d != c"),
        /* Sums that only the quotient by -1 lets overflow. */
        TEXTS("a=-9223372036854775807,1", "b=-3,-1,2", "c=1,2", NULL,
              "a // b + c > 0"),
        TEXTS("a=-9223372036854775807,1", "b=-3,-1,2", "c=-1,0", NULL,
              "a // b + c > 0"),
    };
    static struct made made;

    for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++) {
        make(&made, spaces[k]);
        CHECK(agrees(&made));
        if (check_failed)
            printf("# space %zu\n", k);
    }
}

static void faults_name_a_configuration(void)
{
    static struct made made;
    struct shmt_space *space;

    make(&made, TEXTS("x=0,1,2", "y=5,6", NULL, "y < 6", "y % x == 0"));
    CHECK_INT(shmt_space_build(&made.definition, &space, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "space.yaml:2:5: division by zero");
    CHECK_HAS(err.text, "y = 5, x = 0");
}

static void large_spaces_stay_small(void)
{
    static struct made made;
    struct shmt_space *space;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index = 0;
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 20, "1,2,3,4,5,6,7,8");
    add_constraint(&made, "p0 + p1 + p2 + p3 + p4 + p5 + p6 <= 24");
    add_constraint(&made, "p7 * p8 * p9 <= 64 and p7 % p19 == 0");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK(shmt_space_count(space) > UINT64_C(1) << 50);
    CHECK(shmt_space_bytes(space) < 100000);
    for (int k = 0; k < 1000; k++) {
        const uint64_t wanted = random_next() % shmt_space_count(space);

        shmt_space_configuration(space, wanted, config);
        CHECK(shmt_space_index(space, config, &index) && index == wanted);
        CHECK(judge(&made, config) == 1);
    }
    shmt_space_free(space);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

static void too_large_spaces_are_refused(void)
{
    static struct made made;
    struct shmt_space *space;
    struct shmt_space_stage stages[2];

    begin(&made);
    add_alike(&made, 64, "1,2,3,4,5,6,7,8");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "2^64 - 1 configurations or more");
    add_constraint(&made, "p0 == p1");
    CHECK_INT(shmt_space_funnel(&made.definition, stages, &err), SHMTUNE_OK);
    CHECK(stages[0].count == UINT64_MAX && stages[0].exact);
    CHECK(stages[1].count == UINT64_MAX && stages[1].exact);
}

/* Steps do not hang on the machine: what makes a build worse makes more. */
static bool is_built_within(struct made *made, uint64_t steps)
{
    const struct shmt_space_limits limits = {.steps = steps, .exact = true};
    struct shmt_space *space = NULL;
    bool built;

    made->definition.limits = &limits;
    built = shmt_space_build(&made->definition, &space, &err) == SHMTUNE_OK;
    shmt_space_free(space);
    made->definition.limits = NULL;
    return built;
}

static void check_steps(struct made *made, uint64_t steps)
{
    CHECK(is_built_within(made, steps));
    CHECK(!is_built_within(made, steps / 2));
}

static void few_of_many_are_found(void)
{
    static struct made made;
    struct shmt_space *space;
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 10, "0,1,2,3,4,5,6,7,8,9");
    add_constraint(&made, "p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 "
                          ">= 89");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 11);
    shmt_space_free(space);
    check_steps(&made, 26000);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

/* "p=" and so many numbers from `from` on, `step` apart; a `step` that has
 * no common measure with `count` turns them round. */
static void add_many(struct made *made, const char *name, int count, int from,
                     int step)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s=", name);
    for (int k = 0; k < count; k++)
        shmt_text_addf(&text, "%s%d", k == 0 ? "" : ",",
                       from + k * step % count);
    add_parameter(made, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* Of a parameter of many values bounds refuse stretches, whatever their order,
 * and none in which a configuration is, or one without a value. */
static void many_values_are_refused_together(void)
{
    const char *const constraints[] = {
        "a * b == c", "c == a * b or a > 6", "c % (a + 1) == b",
        "c // (b - 3) > a", "c - 40 * a == 7 * b and c % 3 == 0",
        "min(a, c) + b == 9", "c * c <= 900 * a", "c != a * b or b == 2",
        "(c if a > b else c * 2) == 60 + a", "abs(c - 500) <= a - b",
        "c % a == 0", "c % (a * b) == b - 1", "c % (b * 40) == 3 - a",
        "(900 + a) % (c + 61) == 0", "(2520 * b) % (c + 61) == a",
        "(c + 61) % (a * a) == 0 or b % (c + 61) == 1",
        "(c - 500) % (b * 40) == 3 - a", "(a - c) % (b * 60) == 1",
        "(c - 1100) % (a + 5) == b - 1", "(b - 9) % (c + 61) == c + 56"};
    static struct made made;

    for (size_t k = 0; k < sizeof constraints / sizeof *constraints; k++)
        for (int step = 1; step <= 7; step += 6) {
            begin(&made);
            add_parameter(&made, "a=1,2,3,5,8,-4");
            add_many(&made, "c", 1100, -60, step);
            add_parameter(&made, "b=2,3,12");
            add_constraint(&made, constraints[k]);
            CHECK(agrees(&made));
            if (check_failed)
                printf("# %s, in steps of %d\n", constraints[k], step);
        }
}

/* Two give the third: it is found, not tried. */
static void what_follows_is_found(void)
{
    static struct made made;
    struct shmt_space *space;
    uint64_t pairs = 0;

    begin(&made);
    add_many(&made, "a", 8192, 1, 1);
    add_many(&made, "b", 8192, 1, 1);
    add_many(&made, "c", 8192, 1, 1);
    add_constraint(&made, "a * b == c");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    for (uint64_t a = 1; a <= 8192; a++)
        pairs += 8192 / a;
    CHECK(!shmt_space_is_drawn(space));
    CHECK_INT(shmt_space_count(space), pairs);
    shmt_space_free(space);
    check_steps(&made, 70000000);
}

/* Multiples are not tried between each other, nor large divisors, below 0
 * either. */
static void divisors_are_found(void)
{
    const char *const constraints[] = {"a % b == 0", "b % a == 0",
                                       "(a - 8193) % b == 0",
                                       "(b - 8193) % a == 0"};
    static struct made made;
    struct shmt_space *space;
    uint64_t pairs = 0;

    for (uint64_t a = 1; a <= 8192; a++)
        pairs += 8192 / a;
    for (size_t k = 0; k < sizeof constraints / sizeof *constraints; k++) {
        begin(&made);
        add_many(&made, "a", 8192, 1, 1);
        add_many(&made, "b", 8192, 1, 1);
        add_constraint(&made, constraints[k]);
        CHECK_INT(shmt_space_build(&made.definition, &space, &err),
                  SHMTUNE_OK);
        CHECK(!shmt_space_is_drawn(space));
        CHECK_INT(shmt_space_count(space), pairs);
        shmt_space_free(space);
        check_steps(&made, 40000000);
    }
}

/* Not one state for each order in which the values are taken. */
static void parameters_that_all_differ_are_few_states(void)
{
    static struct made made;
    struct shmt_space *space;
    struct shmt_text text = {0};
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 10, "0,1,2,3,4,5,6,7,8,9");
    for (int p = 0; p < 10; p++)
        for (int q = 0; q < p; q++) {
            shmt_text_clear(&text);
            shmt_text_addf(&text, "p%d != p%d", p, q);
            add_constraint(&made, shmt_text_string(&text));
        }
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 3628800);
    CHECK(shmt_space_bytes(space) < 200000);
    shmt_space_free(space);
    check_steps(&made, 350000);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    shmt_text_free(&text);
}

/* A chain that runs to and fro between the first half of the parameters and
 * the second: in the declared order each of the first half is open at once. */
static void parameters_are_ordered_by_what_binds_them(void)
{
    enum { HALF = 10 };
    static struct made made;
    struct shmt_space *space;
    struct shmt_text text = {0};
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 2 * HALF, "1,2,3,5,8,13");
    for (int k = 0; k < HALF; k++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, "p%d * p%d %% 7 < 3", k, HALF + k);
        add_constraint(&made, shmt_text_string(&text));
        shmt_text_clear(&text);
        shmt_text_addf(&text, "p%d + 2 * p%d != 9", HALF + k, (k + 1) % HALF);
        if (k + 1 < HALF)
            add_constraint(&made, shmt_text_string(&text));
    }
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK(shmt_space_bytes(space) < 20000);
    shmt_space_free(space);
    check_steps(&made, 12000000);
    /* Counted to the batch, though the clock is seldom looked at. */
    CHECK(!is_built_within(&made, 1300000));
    CHECK_HAS(err.text, "(1.3e+06 of 1.3e+06 steps)");
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    shmt_text_free(&text);
}

/* Products of numbers that have no common measure: without bounds of what is
 * left there is a state for each. */
static void few_of_many_products_are_found(void)
{
    static struct made made;
    struct shmt_space *space;
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 6, "1.03,1.57,2.11,2.77,3.31,3.97,4.51,5.23,5.87,6.41");
    add_constraint(&made, "p0 * p1 * p2 * p3 * p4 * p5 > 63000.0 and "
                          "p0 + p1 + p2 + p3 + p4 + p5 > 1.0");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 7);
    shmt_space_free(space);
    check_steps(&made, 800000);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

static void the_funnel_counts_prefixes(void)
{
    static struct made made;
    struct shmt_space_stage stages[4];
    static const uint64_t expected[] = {64, 32, 8, 8};

    make(&made, TEXTS("a=1,2,3,4", "b=0,1,2,3", "c=1,2,3,4", NULL,
                      "a % 2 == 0", "b != 0 and c % 4 == 0 and b < 2 or "
                      "b == 3 and c == 1 or b == 2 and c < 3",
                      "12 % b == 0"));
    CHECK_INT(shmt_space_funnel(&made.definition, stages, &err), SHMTUNE_OK);
    for (size_t k = 0; k < 4; k++) {
        CHECK(stages[k].exact);
        CHECK_INT(stages[k].count, expected[k]);
    }
}

static void empty_domains_give_empty_spaces(void)
{
    static struct made made;
    struct shmt_space *space;
    shmt_config config[2] = {0, 0};
    uint64_t index;

    make(&made, TEXTS("a=1,2,3", "b=4", NULL, "a > b"));
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 0);
    CHECK(!shmt_space_index(space, config, &index));
    shmt_space_free(space);
    made.parameters[0].count = 0;
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 0);
    CHECK(!shmt_space_index(space, config, &index));
    shmt_space_free(space);
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(chosen_spaces_agree);
    CHECK_RUN(faults_name_a_configuration);
    CHECK_RUN(large_spaces_stay_small);
    CHECK_RUN(too_large_spaces_are_refused);
    CHECK_RUN(few_of_many_are_found);
    CHECK_RUN(many_values_are_refused_together);
    CHECK_RUN(divisors_are_found);
    CHECK_RUN(what_follows_is_found);
    CHECK_RUN(parameters_that_all_differ_are_few_states);
    CHECK_RUN(parameters_are_ordered_by_what_binds_them);
    CHECK_RUN(few_of_many_products_are_found);
    CHECK_RUN(the_funnel_counts_prefixes);
    CHECK_RUN(empty_domains_give_empty_spaces);
    shmt_arena_free(arena);
    return CHECK_END();
}
