/* SPDX-License-Identifier: MIT */
/* expr: what it accepts, what it means, what it refuses and where. */
#include <time.h>

#include "expr/expr.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;
static const struct shmt_expr_symbol symbols[] = {
    {"x", SHMT_VALUE_INT}, {"y", SHMT_VALUE_INT}, {"r", SHMT_VALUE_REAL},
    {"mode", SHMT_VALUE_WORD}};
static const struct shmt_expr_scope scope = {.count = 4, .symbols = symbols};
static const struct shmt_value values[] = {
    {.type = SHMT_VALUE_INT, .i = 6}, {.type = SHMT_VALUE_INT, .i = 0},
    {.type = SHMT_VALUE_REAL, .r = 2.5},
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

static long long int_of(const char *text)
{
    struct shmt_expr *expr = compile(text);
    int64_t out = -987654321;

    if (expr != NULL)
        shmt_expr_eval_int(expr, values, &out, &err);
    return out;
}

static double real_of(const char *text)
{
    struct shmt_expr *expr = compile(text);
    struct shmt_value out = {.type = SHMT_VALUE_INT, .i = 0};

    if (expr == NULL ||
        shmt_expr_eval(expr, values, &out, &err) != SHMTUNE_OK)
        return -987654321;
    CHECK_INT(out.type, SHMT_VALUE_REAL);
    return out.r;
}

static void integers_are_pythons(void)
{
    CHECK_INT(int_of("1 + 2 * 3 ** 2"), 19);
    CHECK_INT(int_of("-7 // 2"), -4);
    CHECK_INT(int_of("-7 % 3"), 2);
    CHECK_INT(int_of("7 % -3"), -2);
    CHECK_INT(int_of("-2 ** 2"), -4);
    CHECK_INT(int_of("2 ** 3 ** 2"), 512);
    CHECK_INT(int_of("0x1f + 0b101 + 0o17 + 1_000"), 1051);
    CHECK_INT(int_of("-9223372036854775808"), INT64_MIN);
    CHECK_INT(int_of("-9223372036854775808 % -1"), 0);
    CHECK_INT(int_of("-9223372036854775807 // -1"), INT64_MAX);
    CHECK_INT(int_of("-9223372036854775808 // 1"), INT64_MIN);
    CHECK_INT(int_of("min(3, x, 9) + max(1, 2)"), 5);
    CHECK_INT(int_of("ceildiv(x * 10, 7) + roundup(x, 4)"), 17);
    CHECK_INT(int_of("abs(-x) + int(-2.9) + True"), 5);
    CHECK_INT(int_of("x / 2"), 3);
}

static void reals_are_pythons(void)
{
    CHECK(real_of("7 / 2") == 3.5);
    CHECK(real_of("-7.5 // 2") == -4.0);
    CHECK(real_of("-7.5 % 2") == 0.5);
    CHECK(real_of("2 ** -2") == 0.25);
    CHECK(real_of("9007199254740993 / 3") == 3002399751580331.0);
    CHECK(real_of("9223372036854775807 / 9223372036854775806") == 1.0);
    CHECK_INT(int_of("9007199254740993 == 9007199254740992.0"), 0);
    CHECK_INT(int_of("9007199254740993 > 9007199254740992.0"), 1);
}

static void logic_gives_operands(void)
{
    CHECK_INT(int_of("0 or x"), 6);
    CHECK_INT(int_of("x and 0"), 0);
    CHECK_INT(int_of("not x"), 0);
    CHECK_INT(int_of("3 if x == 6 else 1 / 0"), 3);
    CHECK_INT(int_of("y != 0 and x % y == 0"), 0);
    CHECK_INT(int_of("1 < x <= 6 < 7 != 9"), 1);
    CHECK_INT(int_of("9 < x < 1 / y"), 0);
    CHECK_INT(int_of("x in [1, 2, x * 1] and x not in (4, 5,)"), 1);
    CHECK_INT(int_of("x in []"), 0);
    CHECK_INT(int_of("1 < x in [6]"), 1);
    CHECK_INT(int_of("mode == 'static' and mode < \"t\""), 1);
    CHECK_INT(int_of("mode == 5"), 0);
    CHECK_INT(int_of("(x\n  + 1)\n"), 7);
}

static void places_are_named(void)
{
    struct refusal {
        const char *text, *message;
    } refusals[] = {
        {"x + ", "a.yaml:7:15: found the end, expected a value"},
        {"x + zz", "a.yaml:7:15: unknown name 'zz'; known are x, "},
        {"x && y", "a.yaml:7:13: write 'and' for '&&'"},
        {"x = y", "write '=='"},
        {"pow(x, 2)", "a.yaml:7:11: unknown function 'pow'"},
        {"pow(x, 2)", "write '**' for a power or a root"},
        {"log2(x) < 3", "compare x with 2 ** n instead of log2(x) with n"},
        {"ceil(x / 2)", "write ceildiv(a, b) for a quotient rounded up"},
        {"floor(x / 2)", "write a // b for a quotient rounded down"},
        {"x & 3", "x % 2 ** n for the lowest n bits of x"},
        {"x | 3", "write 'or' between conditions, '+' for bits"},
        {"~x", "write 'not' before a condition, -x - 1 for"},
        {"x.y", "write a name of the spec alone"},
        {"min(x)", "min() has 1 operand, expected 2 or more"},
        {"(x", "found the end, expected ')'"},
        {"x y", "a.yaml:7:13: found 'y', expected an operator"},
        {"mode + 1", "a.yaml:7:16: '+' has a word for an operand"},
        {"mode < 1", "which have no order"},
        {"x in 5", "expected a list"},
        {"x in (5)", "needs a comma"},
        {"x in [1] == 1", "goes on behind a list"},
        {"9223372036854775808", "beyond 64 bits"},
        {"99999999999999999999", "beyond 64 bits"},
        {"-9223372036854775808 ** 2", "beyond 64 bits"},
        {"012", "may not begin with 0"},
        {"1__0", "'_' must stand between"},
        {"0x", "digits are missing"},
        {"1e999", "beyond a double"},
        {"3j", "imaginary"},
        {"'abc", "no closing quote"},
        {"'a\\n'", "'\\' is not allowed"},
        {"x.real", "attributes"},
        {"x if y", "found the end, expected 'else'"},
        {"lambda: 1", "found 'lambda', expected a value"},
        {"[1, 2]", "only stand behind 'in'"},
        {"x\n+ 1", "not part of the language"},
        {"x \xc3\xa9", "not part of the language"},
        {"", "found the end, expected a value"},
        {"not", "found the end"},
        {"1 + not x", "found 'not', expected a value"},
    };

    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        CHECK(compile(refusals[k].text) == NULL);
        CHECK_HAS(err.text, refusals[k].message);
    }
}

static void faults_name_values(void)
{
    struct fault {
        const char *text, *message;
    } faults[] = {
        {"x % y", "a.yaml:7:13: division by zero where x = 6, y = 0"},
        {"x / y", "division by zero"},
        {"r // 0", "division by zero where r = 2.5"},
        {"0 ** -1 + x", "division by zero"},
        {"x * 9223372036854775807", "a.yaml:7:13: overflow where x = 6"},
        {"2 ** 63 + y", "overflow"},
        {"-(-9223372036854775807 - y - 1)", "overflow"},
        {"-9223372036854775808 // -1", "overflow"},
        {"(-9223372036854775807 - y - 1) // (y - 1)",
         "overflow where y = 0"},
        {"ceildiv(-9223372036854775807 - y - 1, y - 1)",
         "overflow where y = 0"},
        {"roundup(-9223372036854775807 - y - 1, y - 1)",
         "overflow where y = 0"},
        {"(0 - x) ** 0.5", "fractional power"},
        {"(mode if x else 1) * 2", "a word where a number is needed"},
        {"1e300 ** x", "overflow"},
        {"int(r * 1e300)", "overflow"},
    };
    struct shmt_value out;
    int64_t whole;

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        struct shmt_expr *expr = compile(faults[k].text);

        CHECK(expr != NULL);
        if (expr == NULL)
            continue;
        CHECK_INT(shmt_expr_eval(expr, values, &out, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, faults[k].message);
        CHECK_INT(shmt_expr_eval(expr, values, &out, NULL),
                  SHMTUNE_INVALID_FILE);
    }
    CHECK_INT(shmt_expr_eval_int(compile("r * 1.5"), values, &whole, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "the value is 3.75, expected an integer where");
    CHECK_INT(shmt_expr_eval_int(compile("(x + 3) / 4"), values, &whole, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "the value is 2.25, expected an integer (a / b is "
                        "real; a // b rounds down, ceildiv(a, b) up) where");
}

/* x = 6, y = 0, r = 2.5, mode = 'static' */
static void reasons_have_both_sides(void)
{
    static const struct {
        const char *text, *why;
    } reasons[] = {
        {"x * 2 <= 4", "12 <= 4 is false where x = 6"},
        {"x * r > 99 + y", "15 > 99 is false where x = 6, r = 2.5, y = 0"},
        {"x * r < 0.1", "15 < 0.1 is false where x = 6, r = 2.5"},
        {"x * r < 0.1 + 0.2", "15 < 0.30000000000000004 is false"},
        {"mode == 'dynamic'", "'static' == 'dynamic' is false where mode = "
                              "'static'"},
        {"mode == 'dynamic' or x * 8 <= 40 or y",
         "'static' == 'dynamic' or 48 <= 40 or 0 is false where mode = "
         "'static', x = 6, y = 0"},
        {"x > 1 and (y == 0 and x % 4 == 0) and 1 // y",
         "2 == 0 is false where x = 6, y = 0"},
        {"1 <= x * 2 <= 11 < x", "12 <= 11 is false"},
        {"7 <= x <= 1 // y", "7 <= 6 is false"},
        {"x <= 5 if mode == 'static' else 1 // y", "6 <= 5 is false"},
        {"1 // y if y else x - 6", "0 is false"},
        {"not x == 6", "not (6 == 6) is false"},
        {"not (x and 7)", "not 7 is false"},
        {"x in [1, 2, 4]", "6 in [1, 2, 4] is false"},
        {"x not in (y, x, 7, 8, 9, 10)",
         "6 not in [0, 6, 7, 8, ...] is false"},
        {"y", "0 is false where y = 0"},
        {"y or y or y or y or y or y", "0 or 0 or 0 or 0 or ... is false"},
    };
    struct shmt_text why = {0};
    bool holds;

    for (size_t k = 0; k < sizeof reasons / sizeof reasons[0]; k++) {
        struct shmt_expr *expr = compile(reasons[k].text);

        CHECK(expr != NULL);
        if (expr == NULL)
            continue;
        CHECK_INT(shmt_expr_eval_bool(expr, values, &holds, &err),
                  SHMTUNE_OK);
        CHECK(!holds);
        shmt_text_clear(&why);
        shmt_expr_explain(expr, values, &why);
        CHECK_HAS(shmt_text_string(&why), reasons[k].why);
    }
    shmt_text_free(&why);
}

/* `count` copies of `piece`, then `end`. */
static char *repeat(const char *piece, size_t count, const char *end)
{
    const size_t length = strlen(piece);
    char *text = malloc(count * length + strlen(end) + 1);

    for (size_t k = 0; k < count; k++)
        memcpy(text + k * length, piece, length);
    strcpy(text + count * length, end);
    return text;
}

static void hostile_text_is_refused_at_once(void)
{
    struct hostile {
        const char *piece;
        size_t count;
        const char *end, *message;
    } hostile[] = {
        {"(", 1000000, "1", "more than 16384 characters"},
        {"(", 16000, "1", "nested deeper than 64"},
        {"-", 16000, "1", "nested deeper than 64"},
        {"not ", 4000, "1", "nested deeper than 64"},
        {"2**", 5000, "1", "nested deeper than 64"},
        {"1 if 1 else ", 1300, "1", "nested deeper than 64"},
        {"min(1,", 2600, "1", "nested deeper than 64"},
        {"x in [", 2600, "1", "nested deeper than 64"},
        {"x+", 8000, "x", "more than 1024 operators"},
        {"x<", 8000, "x", "more than 10000 operators"},
        {"x and ", 2700, "(", "found the end"},
        {"[", 16000, "", "list"},
    };
    const clock_t start = clock();

    for (size_t k = 0; k < sizeof hostile / sizeof hostile[0]; k++) {
        char *text = repeat(hostile[k].piece, hostile[k].count,
                            hostile[k].end);

        CHECK(compile(text) == NULL);
        CHECK_HAS(err.text, hostile[k].message);
        free(text);
    }
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
}

static void long_but_flat_text_is_fine(void)
{
    char *text = repeat("x and ", 2000, "x");

    CHECK_INT(int_of(text), 6);
    free(text);
    text = repeat("(x == 1 or y == 2) and ", 600, "1");
    CHECK_INT(int_of(text), 0);
    free(text);
    text = repeat("x*0+", 250, "1");
    CHECK_INT(int_of(text), 1);
    free(text);
    /* As many digits as a number may have, and one more. */
    text = repeat("0", 508, "1.5 * 2");
    CHECK_INT(int_of(text), 3);
    free(text);
    text = repeat("0", 509, "1.5 * 2");
    CHECK(compile(text) == NULL);
    CHECK_HAS(err.text, "the number is too long");
    free(text);
    text = repeat("x != y < ", 100, "x");
    CHECK_INT(int_of(text), 1);
    free(text);
}

/* A newline is a blank inside brackets of either kind, and ends nothing else:
 * behind them it is not part of the language. */
static void newlines_are_for_brackets(void)
{
    CHECK_INT(int_of("(x\n+ 1)"), 7);
    CHECK_INT(int_of("x in [5,\n6]"), 1);
    CHECK_INT(int_of("min(x,\n3) in [(3\n), 4]"), 1);
    CHECK(compile("x\n+ 1") == NULL);
    CHECK_HAS(err.text, "a.yaml:7:12: ");
    CHECK(compile("(x)\n+ 1") == NULL);
    CHECK(compile("x in [6]\n and 1") == NULL);
    CHECK(compile("x in [6] and x in [6]\n and 1") == NULL);
}

/* A message names the first eight values and no more. */
static void eight_values_are_named(void)
{
    static const struct shmt_expr_symbol many[] = {
        {"a", SHMT_VALUE_INT}, {"b", SHMT_VALUE_INT}, {"c", SHMT_VALUE_INT},
        {"d", SHMT_VALUE_INT}, {"e", SHMT_VALUE_INT}, {"f", SHMT_VALUE_INT},
        {"g", SHMT_VALUE_INT}, {"h", SHMT_VALUE_INT}, {"i", SHMT_VALUE_INT},
        {"j", SHMT_VALUE_INT}};
    static const struct shmt_expr_scope all = {.count = 10, .symbols = many};
    const struct shmt_place place = {"a.yaml", 7, 11, 0};
    struct shmt_value ones[10];
    struct shmt_expr *expr = NULL;
    int64_t out;

    for (int k = 0; k < 10; k++)
        ones[k] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = k};
    CHECK_INT(shmt_expr_compile(arena, place,
                                "(a + b + a + c + d + e + f + g + h + i + j) "
                                "% a", &all, &expr, &err), SHMTUNE_OK);
    CHECK(shmt_expr_eval_int(expr, ones, &out, &err) != SHMTUNE_OK);
    CHECK_HAS(err.text, "where a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, "
              "g = 6, h = 7");
    CHECK(strstr(err.text, "i = 8") == NULL);
}

static void symbols_used_are_known(void)
{
    struct shmt_expr *expr = compile("x * 2 + r");

    CHECK(shmt_expr_uses(expr, 0));
    CHECK(!shmt_expr_uses(expr, 1));
    CHECK(shmt_expr_uses(expr, 2));
    CHECK(!shmt_expr_uses(expr, 3));
    CHECK(!shmt_expr_uses(expr, 99));
    CHECK_TEXT(shmt_expr_text(expr), "x * 2 + r");
    CHECK_TEXT(shmt_expr_text(compile("(x\n + 2) \n")), "(x  + 2)");
    CHECK_INT(shmt_expr_place(expr).line, 7);
    CHECK_TEXT(shmt_expr_place(expr).file, "a.yaml");
}

static void values_are_equal_as_in_python(void)
{
    const struct shmt_value one = {.type = SHMT_VALUE_INT, .i = 1};
    const struct shmt_value same = {.type = SHMT_VALUE_REAL, .r = 1.0};
    const struct shmt_value large = {.type = SHMT_VALUE_INT, .i = INT64_MAX};
    const struct shmt_value near = {.type = SHMT_VALUE_REAL, .r = 0x1p63};

    CHECK(shmt_value_equal(one, same));
    CHECK(shmt_value_equal(same, one));
    CHECK(!shmt_value_equal(large, near));
    CHECK(!shmt_value_equal(one, values[3]));
    CHECK(shmt_value_equal(values[3], values[3]));
}

int main(void)
{
    arena = shmt_arena_new();
    CHECK_RUN(integers_are_pythons);
    CHECK_RUN(reals_are_pythons);
    CHECK_RUN(logic_gives_operands);
    CHECK_RUN(places_are_named);
    CHECK_RUN(faults_name_values);
    CHECK_RUN(reasons_have_both_sides);
    CHECK_RUN(hostile_text_is_refused_at_once);
    CHECK_RUN(long_but_flat_text_is_fine);
    CHECK_RUN(newlines_are_for_brackets);
    CHECK_RUN(eight_values_are_named);
    CHECK_RUN(symbols_used_are_known);
    CHECK_RUN(values_are_equal_as_in_python);
    shmt_arena_free(arena);
    return CHECK_END();
}
