/* SPDX-License-Identifier: MIT */
/*
 * scan: the tokens of an expression: Python's, as far as the language
 * goes.  Used by parse.c alone.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "expr/tree.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           is_digit(c);
}

static int digit_of(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static bool fail(struct shmt_expr_scan *scan, const char *problem)
{
    scan->problem = problem;
    return false;
}

/* Digits of `base`, with single underscores between them; the sum in
 * *value. */
static bool whole(struct shmt_expr_scan *scan, unsigned base,
                  uint64_t *value)
{
    const char *text = scan->text;
    uint64_t sum = 0;
    bool over = false;
    size_t digits = 0;

    while (digit_of(text[scan->at]) < (int)base ||
           (text[scan->at] == '_' && digits > 0)) {
        if (text[scan->at] == '_') {
            scan->at++;
            if (digit_of(text[scan->at]) >= (int)base)
                return fail(scan, "'_' must stand between two digits");
        }
        over |= __builtin_mul_overflow(sum, (uint64_t)base, &sum);
        over |= __builtin_add_overflow(
            sum, (uint64_t)digit_of(text[scan->at]), &sum);
        scan->at++;
        digits++;
    }
    if (digits == 0)
        return fail(scan, "digits are missing");
    if (over || sum > (uint64_t)INT64_MAX + 1)
        return fail(scan, "the integer is beyond 64 bits");
    *value = sum;
    return true;
}

static bool integer(struct shmt_expr_scan *scan, unsigned base)
{
    uint64_t value;

    if (!whole(scan, base, &value))
        return false;
    if (is_name(scan->text[scan->at]))
        return fail(scan, "a name or digit follows the number at once");
    scan->lowest = value > (uint64_t)INT64_MAX;
    scan->value = (struct shmt_value){.type = SHMT_VALUE_INT,
        .i = scan->lowest ? INT64_MIN : (int64_t)value};
    return true;
}

/* Skips digits and underscores that stand between digits. */
static void skip_digits(struct shmt_expr_scan *scan)
{
    const char *text = scan->text;

    while (is_digit(text[scan->at]) ||
           (text[scan->at] == '_' && is_digit(text[scan->at + 1]) &&
            scan->at > scan->start && is_digit(text[scan->at - 1])))
        scan->at++;
}

static bool real(struct shmt_expr_scan *scan)
{
    char digits[SHMT_TEXT_NUMBER];
    size_t used = 0;
    double value;

    for (size_t k = scan->start; k < scan->at; k++)
        if (scan->text[k] != '_') {
            if (used + 1 == sizeof digits)
                return fail(scan, "the number is too long");
            digits[used++] = scan->text[k];
        }
    digits[used] = '\0';
    value = shmt_text_real(digits);
    if (!isfinite(value))
        return fail(scan, "the number is beyond a double");
    scan->value = (struct shmt_value){.type = SHMT_VALUE_REAL, .r = value};
    return true;
}

static bool number(struct shmt_expr_scan *scan)
{
    const char *text = scan->text;
    const char mark = (char)(text[scan->at + 1] | 0x20);
    size_t end;
    bool fraction = false;

    if (text[scan->at] == '0' &&
        (mark == 'x' || mark == 'o' || mark == 'b')) {
        scan->at += 2;
        return integer(scan, mark == 'x' ? 16 : mark == 'o' ? 8 : 2);
    }
    skip_digits(scan);
    if (text[scan->at] == '.') {
        scan->at++;
        fraction = true;
        skip_digits(scan);
    }
    if (text[scan->at] == 'e' || text[scan->at] == 'E') {
        end = scan->at + 1;
        end += text[end] == '+' || text[end] == '-';
        if (is_digit(text[end])) {
            scan->at = end;
            fraction = true;
            skip_digits(scan);
        }
    }
    if (text[scan->at] == 'j' || text[scan->at] == 'J')
        return fail(scan, "imaginary numbers are not part of the language");
    if (fraction) {
        if (is_name(text[scan->at]))
            return fail(scan, "a name or digit follows the number at once");
        return real(scan);
    }
    scan->at = scan->start;
    if (!integer(scan, 10))
        return false;
    if (text[scan->start] == '0' && scan->value.i != 0)
        return fail(scan, "a decimal number may not begin with 0");
    return true;
}

static bool word(struct shmt_expr_scan *scan)
{
    const char quote = scan->text[scan->at];
    size_t at = scan->at + 1;

    for (; scan->text[at] != quote; at++) {
        if (scan->text[at] == '\\')
            return fail(scan, "'\\' is not allowed in a word");
        if ((unsigned char)scan->text[at] < 0x20)
            return fail(scan, "the word has no closing quote");
    }
    scan->at = at + 1;
    return true;
}

/* Signs of one or two characters, the longest first; those with a problem are
 * refused by name. */
static const struct {
    const char *sign;
    const char *problem;
} signs[] = {
    {"**", NULL}, {"//", NULL}, {"==", NULL}, {"!=", NULL}, {"<=", NULL},
    {">=", NULL},
    {"&&", "write 'and' for '&&'"}, {"||", "write 'or' for '||'"},
    {"<<", "shifts are not part of the language; write * 2 ** n"},
    {">>", "shifts are not part of the language; write // 2 ** n"},
    {"->", "'->' is not part of the language"},
    {":=", "assignments are not part of the language"},
    {"+", NULL}, {"-", NULL}, {"*", NULL}, {"/", NULL}, {"%", NULL},
    {"<", NULL}, {">", NULL}, {"(", NULL}, {")", NULL}, {"[", NULL},
    {"]", NULL}, {",", NULL},
    {"=", "write '==' to compare"}, {"!", "write 'not' for '!'"},
    {"?", "write 'x if condition else y' for '?:'"},
    {"&", "bit operations are not part of the language; write 'and' between "
          "conditions, x % 2 ** n for the lowest n bits of x"},
    {"|", "bit operations are not part of the language; write 'or' between "
          "conditions, '+' for bits that are not in both"},
    {"^", "write '**' for a power; bit operations are not part of the "
          "language"},
    {"~", "bit operations are not part of the language; write 'not' before a "
          "condition, -x - 1 for a number"},
    {".", "attributes are not part of the language; write a name of the spec "
          "alone"},
    {"{", "sets and mappings are not part of the language"},
    {":", "slices and lambdas are not part of the language"},
    {";", "one expression is expected"},
    {"#", "comments are not part of the language"},
    {"@", "'@' is not part of the language"},
};

static bool sign(struct shmt_expr_scan *scan)
{
    for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++) {
        const char *found = scan->text + scan->at;
        const char *one = signs[k].sign;
        const size_t length = one[1] == '\0' ? 1 : 2;

        if (found[0] != one[0] || (length == 2 && found[1] != one[1]))
            continue;
        if (signs[k].problem != NULL)
            return fail(scan, signs[k].problem);
        if (one[0] == '(' || one[0] == '[')
            scan->brackets++;
        if (one[0] == ')' || one[0] == ']')
            scan->brackets--;
        scan->at += length;
        return true;
    }
    return fail(scan, "this character is not part of the language");
}

static void skip_blanks(struct shmt_expr_scan *scan)
{
    const char *text = scan->text;
    size_t at = scan->at;

    while (text[at] == ' ' || text[at] == '\t' ||
           (text[at] == '\n' && scan->brackets > 0))
        at++;
    if (text[at] == '\n' && text[at + strspn(text + at, " \t\n")] == '\0')
        at += strlen(text + at);
    scan->at = at;
}

bool shmt_expr_scan_next(struct shmt_expr_scan *scan)
{
    bool done;
    char c;

    skip_blanks(scan);
    scan->start = scan->at;
    scan->lowest = false;
    c = scan->text[scan->at];
    if (c == '\0') {
        scan->token = SHMT_EXPR_TOKEN_END;
        scan->length = 0;
        return true;
    }
    if (is_digit(c) || (c == '.' && is_digit(scan->text[scan->at + 1]))) {
        scan->token = SHMT_EXPR_TOKEN_NUMBER;
        done = number(scan);
    } else if (is_name(c)) {
        scan->token = SHMT_EXPR_TOKEN_NAME;
        while (is_name(scan->text[scan->at]))
            scan->at++;
        c = scan->text[scan->at];
        done = c != '"' && c != '\'';
        if (!done)
            fail(scan, "a word follows a name at once");
    } else if (c == '"' || c == '\'') {
        scan->token = SHMT_EXPR_TOKEN_WORD;
        done = word(scan);
    } else {
        scan->token = SHMT_EXPR_TOKEN_SIGN;
        done = sign(scan);
    }
    scan->length = scan->at - scan->start;
    return done;
}

bool shmt_expr_scan_is(const struct shmt_expr_scan *scan, const char *text)
{
    return (scan->token == SHMT_EXPR_TOKEN_SIGN ||
            scan->token == SHMT_EXPR_TOKEN_NAME) &&
           scan->text[scan->start] == *text &&
           strlen(text) == scan->length &&
           memcmp(scan->text + scan->start, text, scan->length) == 0;
}
