/* SPDX-License-Identifier: MIT */
/* bounds: what is said of an expression holds at every value in the bounds, and
 * what is left of it gives the same values. */
#include "expr/expr.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;
static const struct shmt_expr_symbol symbols[] = {
    {"x", SHMT_VALUE_INT}, {"y", SHMT_VALUE_INT}, {"t", SHMT_VALUE_INT},
    {"mode", SHMT_VALUE_WORD}};
static struct shmt_expr_derived derived[2];
static const struct shmt_expr_scope scope = {
    .count = 4, .symbols = symbols, .derived_count = 2, .derived = derived};

static const struct shmt_value word = {.type = SHMT_VALUE_WORD,
                                       .w = "static"};

static struct shmt_expr *compile(const char *text, size_t derived_count)
{
    const struct shmt_place place = {"a.yaml", 7, 11, 0};
    struct shmt_expr_scope some = scope;
    struct shmt_expr *expr = NULL;
    struct shmt_error err = {0};

    some.derived_count = derived_count;
    if (shmt_expr_compile(arena, place, text, &some, &expr, &err) !=
        SHMTUNE_OK) {
        printf("# %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return expr;
}

/* The bounds of `text` for x and y in [low, high] each, t and mode known. */
static struct shmt_expr_bound bound(const char *text, int64_t low,
                                    int64_t high, const struct shmt_expr **left)
{
    const struct shmt_value t = {.type = SHMT_VALUE_INT, .i = 32};
    const struct shmt_expr_bound known[] = {
        shmt_expr_bound_range(low, high), shmt_expr_bound_range(low, high),
        shmt_expr_bound_value(t), shmt_expr_bound_value(word)};
    struct shmt_expr *const expr = compile(text, 2);
    struct shmt_expr_bounding state;
    struct shmt_expr_bound out;
    size_t room = 100000;

    shmt_expr_bounding_begin(&state, known);
    out = shmt_expr_bounds(expr, &state);
    if (left != NULL)
        CHECK(shmt_expr_fold(arena, expr, &state, &room, left));
    return out;
}

static void fill(struct shmt_value *values, int64_t x, int64_t y)
{
    values[0] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = x};
    values[1] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = y};
    values[2] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = 32};
    values[3] = word;
}

/* Whether a value is one that the bounds allow. */
static bool allows(const struct shmt_expr_bound *bound, bool failed,
                   const struct shmt_value *value)
{
    if (bound->kind == SHMT_EXPR_ANY)
        return true;
    if (failed)
        return false;
    if (bound->kind == SHMT_EXPR_EXACT)
        return shmt_value_equal(bound->value, *value);
    return value->type == SHMT_VALUE_INT && value->i >= bound->low &&
           value->i <= bound->high;
}

/* Counts where an expression gives what its bounds deny, or what is left of it
 * gives another value. */
static int wrong_of(const char *text, int64_t low, int64_t high)
{
    const struct shmt_expr *left = NULL;
    const struct shmt_expr_bound all = bound(text, low, high, &left);
    const struct shmt_expr *const expr = compile(text, 2);
    int wrong = left == NULL;

    for (int64_t x = low; x <= high; x++)
        for (int64_t y = low; y <= high; y++) {
            struct shmt_value values[4], whole, rest;
            bool failed;

            fill(values, x, y);
            failed = shmt_expr_eval(expr, values, &whole, NULL) !=
                     SHMTUNE_OK;
            wrong += !allows(&all, failed, &whole);
            if (left == NULL)
                continue;
            /* It uses no symbol that is known. */
            values[2].i = -77777;
            values[3].w = "nothing";
            if (shmt_expr_eval(left, values, &rest, NULL) != SHMTUNE_OK)
                wrong += !failed;
            else
                wrong += failed || !shmt_value_equal(whole, rest);
        }
    if (wrong > 0)
        printf("# %s: %d of [%lld, %lld]\n", text, wrong, (long long)low,
               (long long)high);
    return wrong;
}

static const char *const texts[] = {
    "x", "x + y", "x - y", "x * y", "x // y", "x % y", "ceildiv(x, y)",
    "roundup(x, y)", "roundup(x, 4)", "min(x, y, 3)", "max(x, y, 0)",
    "abs(x)", "-x", "x ** 2", "2 ** x", "x / y", "x == y", "x != y", "x < y",
    "x <= 3", "x > y", "x >= y + 100", "0 < x < y", "x < 2 or y // x > 1",
    "x > 0 and y // x < 9", "x and y", "x or y", "not x", "not (x < 100)",
    "x in (1, 2, 3)", "x not in (1, y)", "100 in (x, y)",
    "x if x < y else y", "1 // x if x > 0 else 0", "t if x > -100 else 1 // 0",
    "mode == 'static' and x < t", "mode == 'dynamic' or tiles <= 2",
    "tiles * 2", "whole == 1 or x % 4 == 0", "mode == 'static'",
    "x % 4 == 0 or t > 40", "t <= 64 and x * t <= 64", "x + 0.5",
    "ceildiv(x, t) * ceildiv(y, t) <= 1", "x % t", "(x * y) % 7 // 2",
    "min(x, y) <= max(x, y)", "0 <= abs(x)", "1 // x and y < 3",
    "1 // x == 9 or y < 100", "1 // x < 9 < y", "(10 * x + 3) % 10",
    "min(20 * x + 2, 30 * y + 5) % 10", "(x - y * 4) % 4", "(y - 3 * x) % 64",
    "(6 * x if y < 2 else 3 - 12 * y) % 6", "(6 * x if t > 9 else y) % 6",
    "(tiles * 4 + 1) % 4", "max(x * x, y * y + 1) % 8", "x * x * y % 5",
    "(x * 3 // y) % 3", "(2 * x + abs(y)) % 2", "(4 * x + y) % 4 % 3",
    "1 // ((2 * x + 4 * y) % 2)", "(3 * x) % (y % 3 + 2)", "(7 * x + 1) % 65",
    "4 % (x * 2 + 1)", "(2 * x + 0.5) % 2",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void what_is_said_holds(void)
{
    static const int64_t bounds[][2] = {{-3, 5}, {1, 9}, {0, 6}, {4, 4},
                                        {-7, -1}, {2, 3}};
    int wrong = 0;

    for (size_t k = 0; k < TEXTS; k++)
        for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++)
            wrong += wrong_of(texts[k], bounds[b][0], bounds[b][1]);
    CHECK_INT(wrong, 0);
}

static int truth(const char *text, int64_t low, int64_t high)
{
    const struct shmt_expr_bound out = bound(text, low, high, NULL);

    return shmt_expr_bound_truth(&out);
}

/* And it says something. */
static void much_is_known(void)
{
    const struct shmt_expr_bound product = bound("x * y", 1, 1000, NULL);

    CHECK_INT(product.kind, SHMT_EXPR_RANGE);
    CHECK_INT(product.low, 1);
    CHECK_INT(product.high, 1000000);
    CHECK_INT(truth("tiles * 4 <= 4096", 1, 1000), 1);
    CHECK_INT(truth("tiles * 4 <= 4096", 1, 2000), -1);
    CHECK_INT(truth("x >= 1 and y <= 1000 and mode == 'static'", 1, 1000), 1);
    CHECK_INT(truth("x < 1 or mode == 'dynamic'", 1, 1000), 0);
    CHECK_INT(truth("x % 4 == 0", 1, 1000), -1);
    CHECK_INT(truth("x // (y - 5) > 0", 1, 1000), -1);
}

static void check_range(const char *text, int64_t low, int64_t high)
{
    const struct shmt_expr_bound found = bound(text, 1, 1000, NULL);

    CHECK(found.kind != SHMT_EXPR_ANY);
    CHECK_INT((long)found.low, (long)low);
    CHECK_INT((long)found.high, (long)high);
}

/* What a number is made of decides about its remainders. */
static void remainders_are_known(void)
{
    check_range("(10 * x + 3) % 10", 3, 3);
    check_range("min(20 * x + 2, 30 * y + 5, 10 * y + 8) % 10", 2, 8);
    check_range("(6 * x if y < 2 else 3 - 12 * y) % 6", 0, 3);
    check_range("(6 * x if t > 9 else y) % 6", 0, 0);
    check_range("(5 - 4 * tiles) % 4", 1, 1);
    check_range("(64 * x + 63) % 64", 63, 63);
    /* Not by more than 64, by 1 or by what is not known. */
    check_range("(65 * x + 3) % 65", 0, 64);
    check_range("(10 * x + 3) % (y * 10)", 0, 9999);
    check_range("x % 1", 0, 0);
}

/* Beyond 64 bits nothing is known, and nothing is claimed. */
static void an_overflow_is_anything(void)
{
    const int64_t high = INT64_C(1) << 62;

    CHECK_INT(bound("x * y", 1, high, NULL).kind, SHMT_EXPR_ANY);
    CHECK_INT(bound("x + y + x", 1, high, NULL).kind, SHMT_EXPR_ANY);
    CHECK_INT(bound("-x", INT64_MIN, 0, NULL).kind, SHMT_EXPR_ANY);
    CHECK_INT(truth("x * y > 0", 1, high), -1);
}

static void what_does_not_fit_is_not_left(void)
{
    const struct shmt_expr_bound known[] = {
        shmt_expr_bound_range(1, 9), shmt_expr_bound_range(1, 9),
        shmt_expr_bound_range(32, 32), shmt_expr_bound_value(word)};
    struct shmt_expr_bounding state;
    const struct shmt_expr *left;
    size_t room = 10;

    shmt_expr_bounding_begin(&state, known);
    CHECK(shmt_expr_fold(arena, compile("x < y", 2), &state, &room, &left));
    CHECK(left == NULL);
    CHECK_INT((long)room, 10);
    room = 100000;
    CHECK(shmt_expr_fold(arena, compile("x < y", 2), &state, &room, &left));
    CHECK(left != NULL);
    CHECK(room < 100000);
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    derived[0] = (struct shmt_expr_derived){
        "tiles", compile("ceildiv(x, t) * ceildiv(y, t)", 0)};
    derived[1] = (struct shmt_expr_derived){
        "whole", compile("tiles if mode == 'dynamic' else t // 32", 1)};
    CHECK_RUN(what_is_said_holds);
    CHECK_RUN(much_is_known);
    CHECK_RUN(remainders_are_known);
    CHECK_RUN(an_overflow_is_anything);
    CHECK_RUN(what_does_not_fit_is_not_left);
    shmt_arena_free(arena);
    return CHECK_END();
}
