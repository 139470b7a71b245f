/* SPDX-License-Identifier: MIT */
/* expr: derived names mean what their expressions mean in their place. */
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "space/space.h"
#include "tests/support/check.h"

enum { NAMES = 5 };

static struct shmt_arena *arena;
static const struct shmt_expr_symbol symbols[] = {
    {"x", SHMT_VALUE_INT}, {"y", SHMT_VALUE_INT}, {"mode", SHMT_VALUE_WORD}};
static struct shmt_expr_derived derived[80];
static struct shmt_expr_scope scope = {
    .count = 3, .symbols = symbols, .derived = derived};
static struct shmt_value values[] = {
    {.type = SHMT_VALUE_INT, .i = 6}, {.type = SHMT_VALUE_INT, .i = 0},
    {.type = SHMT_VALUE_WORD, .w = "static"}};
static struct shmt_error err;

static struct shmt_expr *compile(const char *text)
{
    const struct shmt_place place = {"a.yaml", 7, 11, 0};
    struct shmt_expr *expr = NULL;

    err.text[0] = '\0';
    shmt_expr_compile(arena, place, text, &scope, &expr, &err);
    return expr;
}

/* False when it is refused. */
static bool derive(const char *name, const char *text)
{
    const struct shmt_expr *expr = compile(text);

    if (expr != NULL)
        derived[scope.derived_count++] = (struct shmt_expr_derived){name, expr};
    return expr != NULL;
}

static void forget(void)
{
    scope.derived_count = 0;
}

/* -1 with `err` when it has none. */
static long long int_of(const char *text)
{
    const struct shmt_expr *expr = compile(text);
    int64_t out = -1;

    if (expr != NULL)
        shmt_expr_eval_int(expr, values, &out, &err);
    return out;
}

static void names_are_used_like_symbols(void)
{
    forget();
    CHECK(derive("twice", "2 * x"));
    CHECK(derive("more", "twice + twice * 10"));
    CHECK(derive("alias", "more"));
    CHECK(derive("is_static", "mode == 'static'"));
    CHECK_INT(int_of("twice - twice + more"), 132);
    CHECK_INT(int_of("alias"), 132);
    CHECK_INT(int_of("min(more, twice, 99) + max(twice, alias)"), 144);
    CHECK_INT(int_of("10 <= twice <= more < 133"), 1);
    CHECK_INT(int_of("twice in [1, more, twice]"), 1);
    CHECK_INT(int_of("more not in (twice, alias)"), 0);
    CHECK_INT(int_of("1 if is_static and not twice == x else 2"), 1);
    CHECK(shmt_expr_uses(compile("more"), 0));
    CHECK(!shmt_expr_uses(compile("more"), 1));
    CHECK(shmt_expr_uses(compile("more if y else is_static"), 2));
}

/* What is one number stays one: 2 ** -three is a real at once. */
static void constants_are_folded(void)
{
    forget();
    CHECK(derive("three", "1 + 2"));
    CHECK(derive("word", "'dynamic'"));
    CHECK(derive("own", "mode"));
    CHECK_INT(int_of("2 ** three"), 8);
    CHECK_INT(int_of("own == word"), 0);
    CHECK(compile("x + word") == NULL);
    CHECK_HAS(err.text, "a.yaml:7:13: '+' has a word");
    CHECK(compile("own < x") == NULL);
    CHECK(derive("either", "mode if x else 'none'"));
    CHECK(compile("2 * either") == NULL);
    CHECK_HAS(err.text, "'*' has a word");
}

static void a_name_faults_where_it_is_used(void)
{
    forget();
    CHECK(derive("rest", "x % y"));
    CHECK(derive("late", "1 + rest"));
    CHECK_INT(int_of("late if y > 0 else 5"), 5);
    CHECK_INT(int_of("y > 0 and late > 0"), 0);
    CHECK_INT(int_of("y == 0 or rest"), 1);
    CHECK_INT(int_of("1 < 0 < rest"), 0);
    CHECK_INT(int_of("10 +  late * 2"), -1);
    CHECK_TEXT(err.text, "a.yaml:7:17: division by zero where x = 6, y = 0; "
                         "in `10 +  late * 2`");
    CHECK_INT(int_of("7 if y else rest"), -1);
    CHECK_HAS(err.text, "a.yaml:7:23: division by zero");
    /* of two mentions the one that is reached */
    CHECK_INT(int_of("(late if y else 1) + rest"), -1);
    CHECK_HAS(err.text, "a.yaml:7:32: division by zero");
    CHECK(derive("half", "x / 4"));
    CHECK_INT(int_of("half"), -1);
    CHECK_TEXT(err.text, "a.yaml:7:11: the value is 1.5, expected an integer "
                         "where x = 6; in `half`");
}

static void evaluations_are_shared(void)
{
    struct shmt_expr_evaluation evaluation;
    const struct shmt_expr *fault, *good, *flag;
    int64_t out = 0;
    bool truth = false;

    forget();
    CHECK(derive("rest", "x % y"));
    CHECK(derive("sum", "x + y"));
    fault = compile("sum + rest");
    good = compile("sum * sum");
    flag = compile("sum == 6");
    shmt_expr_begin(&evaluation, values);
    for (int k = 0; k < 2; k++) {
        CHECK_INT(shmt_expr_next_int(fault, &evaluation, &out, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "a.yaml:7:17: division by zero");
        CHECK_INT(shmt_expr_next_int(good, &evaluation, &out, &err),
                  SHMTUNE_OK);
        CHECK_INT(out, 36);
        CHECK_INT(shmt_expr_next_bool(flag, &evaluation, &truth, &err),
                  SHMTUNE_OK);
        CHECK(truth);
    }
}

/* As if each mention were the expression itself. */
static void limits_count_what_names_stand_for(void)
{
    static char names[80][16];
    struct shmt_text deep = {0};
    char text[64];
    int k;

    forget();
    CHECK(derive("d0", "x + y"));
    for (k = 1; k < 20; k++) {
        snprintf(names[k], sizeof names[k], "d%d", k);
        snprintf(text, sizeof text, "d%d * d%d", k - 1, k - 1);
        if (!derive(names[k], text))
            break;
    }
    CHECK_INT(k, 12);       /* 2 ** (k + 2) - 1 nodes */
    CHECK_HAS(err.text, "more than 10000 operators and operands");
    CHECK_INT(int_of("d11 - d11 + x"), -1);
    CHECK_HAS(err.text, "a.yaml:7:17: more than 10000");
    forget();
    shmt_text_add(&deep, "x");
    for (k = 0; k < 600; k++)
        shmt_text_add(&deep, "+y");
    CHECK(derive("deep", shmt_text_string(&deep)));
    CHECK(compile("deep + 1") != NULL);
    shmt_text_clear(&deep);
    shmt_text_add(&deep, "deep");
    for (k = 0; k < 424; k++)
        shmt_text_add(&deep, "+y");
    CHECK(compile(shmt_text_string(&deep)) == NULL);
    CHECK_HAS(err.text, "more than 1024 operators one in another");
    shmt_text_free(&deep);
    forget();
    for (k = 0; k < 64; k++) {
        snprintf(names[k], sizeof names[k], "n%d", k);
        snprintf(text, sizeof text, k == 0 ? "x + y" : "n%d + 1", k - 1);
        CHECK(derive(names[k], text));
    }
    CHECK_INT(int_of("n63 - n0"), 63);
    scope.derived_count = 65;
    CHECK(compile("x") == NULL);
    CHECK_HAS(err.text, "65 derived names, at most 64");
}

/* Each list keeps its elements in registers, and needs those of the names in
 * it: 250 more than 250. */
static void registers_are_counted(void)
{
    struct shmt_text list = {0};

    forget();
    shmt_text_add(&list, "x in [");
    for (int k = 0; k < 250; k++)
        shmt_text_addf(&list, "%sx + %d", k == 0 ? "" : ", ", k);
    shmt_text_add(&list, "]");
    CHECK(derive("inner", shmt_text_string(&list)));
    shmt_text_clear(&list);
    shmt_text_add(&list, "x in [");
    for (int k = 0; k < 250; k++)
        shmt_text_addf(&list, "%sx + %d", k == 0 ? "" : ", ", k);
    shmt_text_add(&list, ", inner]");
    CHECK_INT(int_of("inner"), 1);
    CHECK(compile(shmt_text_string(&list)) == NULL);
    CHECK_HAS(err.text, "more than 256 intermediate values at a time");
    shmt_text_free(&list);
}

static void falsehoods_are_explained_within(void)
{
    struct shmt_text text = {0};

    forget();
    CHECK(derive("small", "x + y <= 5"));
    CHECK(derive("both", "x > 1 and small"));
    shmt_expr_explain(compile("mode == 'static' and both"), values, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "6 <= 5 is false where mode = 'static', x = 6, y = 0");
    shmt_text_clear(&text);
    CHECK(derive("large", "x >= 6"));
    shmt_expr_explain(compile("not large"), values, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "not (6 >= 6) is false where x = 6");
    shmt_text_clear(&text);
    shmt_expr_explain(compile("large < y"), values, &text);
    CHECK_TEXT(shmt_text_string(&text), "1 < 0 is false where x = 6, y = 0");
    shmt_text_free(&text);
}

/* -- against the same text with brackets for names ------------------------- */

static uint64_t state = 20261121;

static size_t below(size_t bound)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)(state >> 33) % bound;
}

static struct shmt_text named[NAMES + 1], spelt[NAMES + 1];

static void add_both(size_t k, const char *text)
{
    shmt_text_add(&named[k], text);
    shmt_text_add(&spelt[k], text);
}

/* Expression k, of the names before it. */
static void make_any(size_t k, int depth)
{
    static const char *const signs[] = {
        " + ", " - ", " * ", " // ", " % ", " < ", " == ", " and ", " or ",
        " <= ", " in [1, ", " if x > 1 else "};
    const size_t sign = below(sizeof signs / sizeof signs[0]);

    if (k > 0 && below(3) == 0) {
        const size_t which = below(k);

        shmt_text_addf(&named[k], "d%zu", which);
        shmt_text_addf(&spelt[k], "(%s)", shmt_text_string(&spelt[which]));
    } else if (depth == 0 || below(4) == 0) {
        add_both(k, below(3) == 0 ? "y" : below(2) == 0 ? "x" : "3");
    } else {
        add_both(k, "(");
        make_any(k, depth - 1);
        add_both(k, signs[sign]);
        make_any(k, depth - 1);
        add_both(k, sign == 10 ? "])" : ")");
    }
}

/* "what happened where x = 1", without its place. */
static const char *cause(struct shmt_error *error)
{
    char *end = strstr(error->text, "; in `");
    char *begin = strstr(error->text, ": ");

    if (end != NULL)
        *end = '\0';
    return begin == NULL ? error->text : begin + 2;
}

static void compare_values(const struct shmt_expr *with,
                           const struct shmt_expr *without)
{
    struct shmt_value a = {0}, b = {0};
    struct shmt_error other = {0};

    for (values[0].i = 0; values[0].i < 4; values[0].i++)
        for (values[1].i = -1; values[1].i < 3; values[1].i++) {
            const enum shmtune_status status =
                shmt_expr_eval(with, values, &a, &err);

            CHECK_INT(shmt_expr_eval(without, values, &b, &other), status);
            if (status == SHMTUNE_OK)
                CHECK(a.type == b.type && shmt_value_equal(a, b));
            else
                CHECK_TEXT(cause(&err), cause(&other));
        }
}

/* The same nodes, hence the same indices. */
static void compare_spaces(struct shmt_expr *with, struct shmt_expr *without)
{
    static const struct shmt_value numbers[] = {
        {.type = SHMT_VALUE_INT, .i = 0}, {.type = SHMT_VALUE_INT, .i = 1},
        {.type = SHMT_VALUE_INT, .i = 2}, {.type = SHMT_VALUE_INT, .i = 5}};
    static const struct shmt_value words[] =
        {{.type = SHMT_VALUE_WORD, .w = "a"}};
    const struct shmt_parameter parameters[] = {
        {.name = "x", .count = 4, .values = numbers},
        {.name = "y", .count = 4, .values = numbers},
        {.name = "mode", .type = SHMT_VALUE_WORD, .count = 1, .values = words}};
    struct shmt_space_definition definition = {
        .parameter_count = 3, .parameters = parameters,
        .constraint_count = 1, .constraints = &with};
    struct shmt_space *one = NULL, *other = NULL;
    const enum shmtune_status status =
        shmt_space_build(&definition, &one, &err);

    definition.constraints = &without;
    CHECK_INT(shmt_space_build(&definition, &other, &err), status);
    if (status == SHMTUNE_OK) {
        CHECK_INT(shmt_space_count(one), shmt_space_count(other));
        CHECK_INT(shmt_space_nodes(one), shmt_space_nodes(other));
    }
    shmt_space_free(one);
    shmt_space_free(other);
}

static void names_mean_their_expressions(void)
{
    static const char *const names[NAMES] = {"d0", "d1", "d2", "d3", "d4"};
    int compared = 0;

    for (int round = 0; round < 2000; round++) {
        bool fits = true;

        forget();
        for (size_t k = 0; k <= NAMES; k++) {
            shmt_text_clear(&named[k]);
            shmt_text_clear(&spelt[k]);
        }
        for (size_t k = 0; fits && k < NAMES; k++) {
            make_any(k, 2);
            fits = derive(names[k], shmt_text_string(&named[k]));
        }
        make_any(NAMES, 3);
        if (fits && spelt[NAMES].length < 4000) {
            struct shmt_expr *with = compile(shmt_text_string(&named[NAMES]));
            struct shmt_expr *without =
                compile(shmt_text_string(&spelt[NAMES]));

            CHECK((with == NULL) == (without == NULL));
            if (with != NULL && without != NULL) {
                compare_values(with, without);
                compare_spaces(with, without);
                compared++;
            }
        }
        shmt_arena_clear(arena);
    }
    CHECK(compared > 1000);
    for (size_t k = 0; k <= NAMES; k++) {
        shmt_text_free(&named[k]);
        shmt_text_free(&spelt[k]);
    }
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return 1;
    CHECK_RUN(names_are_used_like_symbols);
    CHECK_RUN(constants_are_folded);
    CHECK_RUN(a_name_faults_where_it_is_used);
    CHECK_RUN(evaluations_are_shared);
    CHECK_RUN(limits_count_what_names_stand_for);
    CHECK_RUN(registers_are_counted);
    CHECK_RUN(falsehoods_are_explained_within);
    CHECK_RUN(names_mean_their_expressions);
    shmt_arena_free(arena);
    return CHECK_END();
}
