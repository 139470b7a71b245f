/* SPDX-License-Identifier: MIT */
/*
 * said: see said.h.  Of whole numbers a quotient is `//`, of reals it is none
 * yet: its ceiling is `ceildiv`, its floor `//`.  What C divides so that it is
 * rounded up, (a + b - 1) / b, is `ceildiv` too.
 */
#include "source/said.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

const struct shmt_source_said shmt_source_unsaid;

/* -- texts ---------------------------------------------------------------- */

struct shmt_source_said
shmt_source_say(struct shmt_arena *arena, enum shmt_source_kind kind,
                enum shmt_source_level level, const char *const texts[])
{
    struct shmt_source_said said = {kind, level, NULL, NULL};
    struct shmt_text text = {0};

    for (; *texts != NULL; texts++)
        shmt_text_add(&text, *texts);
    if (text.length <= SHMT_SOURCE_SAID)
        said.text = shmt_text_keep(&text, arena);
    shmt_text_free(&text);
    return said.text == NULL ? shmt_source_unsaid : said;
}

struct shmt_source_said shmt_source_say_number(struct shmt_arena *arena,
                                               enum shmt_source_kind kind,
                                               int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)value);
    return shmt_source_say(arena, kind, SHMT_SOURCE_ATOM,
                           (const char *const[]){text, NULL});
}

/* In parentheses, unless it binds as tightly; NULL: it is too long. */
static const char *as(struct shmt_arena *arena,
                      const struct shmt_source_said *one,
                      enum shmt_source_level level)
{
    return one->level >= level
               ? one->text
               : shmt_source_say(arena, one->kind, SHMT_SOURCE_ATOM,
                                 (const char *const[]){"(", one->text, ")",
                                                       NULL}).text;
}

static struct shmt_source_said
join(struct shmt_arena *arena, enum shmt_source_level level,
     const struct shmt_source_said *a, const char *between,
     const struct shmt_source_said *b, enum shmt_source_level left,
     enum shmt_source_level right)
{
    const enum shmt_source_kind kind =
        a->kind == SHMT_SOURCE_REAL || b->kind == SHMT_SOURCE_REAL
            ? SHMT_SOURCE_REAL : SHMT_SOURCE_WHOLE;
    const char *const one = as(arena, a, left);
    const char *const other = as(arena, b, right);

    return one == NULL || other == NULL
               ? shmt_source_unsaid
               : shmt_source_say(arena, kind, level,
                                 (const char *const[]){one, between, other,
                                                       NULL});
}

bool shmt_source_is_said(const struct shmt_source_said *one)
{
    return one->kind == SHMT_SOURCE_WHOLE || one->kind == SHMT_SOURCE_REAL;
}

struct shmt_source_said
shmt_source_say_sign(struct shmt_arena *arena, const char *sign,
                     const struct shmt_source_said *one)
{
    const bool negates = *sign == '-';
    const char *const text =
        !shmt_source_is_said(one)
            ? NULL
            : as(arena, one, negates ? SHMT_SOURCE_SIGNED
                                     : SHMT_SOURCE_COMPARE);

    return text == NULL
               ? shmt_source_unsaid
               : shmt_source_say(arena,
                                 negates ? one->kind : SHMT_SOURCE_WHOLE,
                                 negates ? SHMT_SOURCE_SIGNED
                                         : SHMT_SOURCE_NOT,
                                 (const char *const[]){sign, text, NULL});
}

struct shmt_source_said
shmt_source_say_choice(struct shmt_arena *arena,
                       const struct shmt_source_said *condition,
                       const struct shmt_source_said *a,
                       const struct shmt_source_said *b)
{
    struct shmt_source_said one;

    if (!shmt_source_is_said(condition) || !shmt_source_is_said(a) ||
        !shmt_source_is_said(b))
        return shmt_source_unsaid;
    one = join(arena, SHMT_SOURCE_OR, a, " if ", condition, SHMT_SOURCE_OR,
               SHMT_SOURCE_OR);
    return one.kind == SHMT_SOURCE_NONE
               ? one : join(arena, SHMT_SOURCE_CHOICE, &one, " else ", b,
                            SHMT_SOURCE_OR, SHMT_SOURCE_OR);
}

struct shmt_source_said
shmt_source_say_ceiling(struct shmt_arena *arena, const char *a,
                        const char *b)
{
    return shmt_source_say(arena, SHMT_SOURCE_WHOLE, SHMT_SOURCE_ATOM,
                           (const char *const[]){"ceildiv(", a, ", ", b, ")",
                                                 NULL});
}

/* -- operations ----------------------------------------------------------- */

/* As those of one product or one sum. */
static struct shmt_source_said product(struct shmt_arena *arena,
                                       const struct shmt_source_said *a,
                                       const char *between,
                                       const struct shmt_source_said *b)
{
    return join(arena, SHMT_SOURCE_PRODUCT, a, between, b,
                SHMT_SOURCE_PRODUCT, SHMT_SOURCE_SIGNED);
}

/* The sum without that end; NULL: it has another. */
static const char *without(struct shmt_arena *arena,
                           const struct shmt_source_said *sum,
                           const struct shmt_text *end)
{
    const size_t length = strlen(sum->text);

    if (end->failed)
        shmt_arena_fail(arena);
    return !end->failed && length > end->length &&
                   sum->level == SHMT_SOURCE_SUM &&
                   strcmp(sum->text + length - end->length,
                          shmt_text_string(end)) == 0
               ? shmt_arena_copy(arena, sum->text, length - end->length)
               : NULL;
}

/* The sum a without the end "+ b - 1", or "+ 255" for 256; NULL: it has
 * another. */
static const char *without_rest(struct shmt_arena *arena,
                                const struct shmt_source_said *a,
                                const char *b)
{
    struct shmt_text end = {0};
    const char *found;
    char *rest;
    const long long divisor = strtoll(b, &rest, 10);

    shmt_text_addf(&end, " + %s - 1", b);
    found = without(arena, a, &end);
    if (found == NULL && rest > b && *rest == '\0') {
        shmt_text_clear(&end);
        shmt_text_addf(&end, " + %lld", divisor - 1);
        found = without(arena, a, &end);
    }
    shmt_text_free(&end);
    return found;
}

/* A name or a number. */
static bool is_word(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' ||
           text[shmt_text_name_length(text)] == '\0';
}

static bool is_one(const struct shmt_source_said *one)
{
    return strcmp(one->text, "1") == 0;
}

/* Digits at the beginning or the end of a product, as a factor of all of it; 0:
 * there are none. */
static size_t factor_of(const char *text, bool first, long long *number)
{
    const size_t length = strlen(text);
    size_t digits = 0;

    while (digits < length &&
           isdigit((unsigned char)text[first ? digits : length - 1 - digits]))
        digits++;
    if (digits == 0 || digits > 18 ||
        (first && digits < length &&
         (strncmp(text + digits, " * ", 3) != 0 ||
          strpbrk(text, "/%") != NULL)) ||
        (!first && digits < length &&
         (length < digits + 3 ||
          strncmp(text + length - digits - 3, " * ", 3) != 0)))
        return 0;
    *number = strtoll(first ? text : text + length - digits, NULL, 10);
    return digits;
}

/* n * 8 / 4 without a division, and 4096 / 4; NONE: it has one. */
static struct shmt_source_said
divide_exactly(struct shmt_arena *arena, const struct shmt_source_said *a,
               const struct shmt_source_said *b)
{
    const size_t length = strlen(a->text);
    char *end;
    const long long divisor = strtoll(b->text, &end, 10);
    struct shmt_source_said one = {SHMT_SOURCE_WHOLE, a->level, NULL, NULL};
    struct shmt_source_said by;
    long long number;
    bool first = false;
    size_t digits = factor_of(a->text, first, &number);

    if (digits == 0)
        digits = factor_of(a->text, first = true, &number);
    if (is_one(b))
        return *a;
    if (*end != '\0' || divisor < 1 || a->level < SHMT_SOURCE_PRODUCT ||
        digits == 0 || number % divisor != 0)
        return shmt_source_unsaid;
    by = shmt_source_say_number(arena, SHMT_SOURCE_WHOLE, number / divisor);
    if (digits == length || by.kind == SHMT_SOURCE_NONE)
        return by;
    one.text = shmt_arena_copy(arena, first ? a->text + digits + 3 : a->text,
                               length - digits - 3);
    if (one.text == NULL)
        return shmt_source_unsaid;
    if (is_word(one.text))
        one.level = SHMT_SOURCE_ATOM;
    return number == divisor ? one
           : first           ? product(arena, &by, " * ", &one)
                             : product(arena, &one, " * ", &by);
}

/* Of whole numbers. */
static struct shmt_source_said quotient(struct shmt_arena *arena,
                                        const struct shmt_source_said *a,
                                        const struct shmt_source_said *b)
{
    const char *const by = as(arena, b, SHMT_SOURCE_SIGNED);
    const char *over = without_rest(arena, a, b->text);

    if (over == NULL && by != NULL)
        over = without_rest(arena, a, by);
    return over != NULL ? shmt_source_say_ceiling(arena, over, b->text)
                        : product(arena, a, " // ", b);
}

struct shmt_source_said
shmt_source_say_elements(struct shmt_arena *arena,
                         const struct shmt_source_said *bytes,
                         const struct shmt_source_said *one)
{
    const struct shmt_source_said exact = divide_exactly(arena, bytes, one);

    return exact.kind != SHMT_SOURCE_NONE ? exact
                                          : quotient(arena, bytes, one);
}

struct shmt_source_said shmt_source_say_cut(struct shmt_arena *arena,
                                            struct shmt_source_said one)
{
    const bool divides = one.kind == SHMT_SOURCE_QUOTIENT;
    const bool plain = divides && is_word(one.by);
    const struct shmt_source_said by = {SHMT_SOURCE_WHOLE,
                                        plain ? SHMT_SOURCE_ATOM
                                              : SHMT_SOURCE_CHOICE,
                                        one.by, NULL};

    if (one.kind != SHMT_SOURCE_NONE)
        one.kind = SHMT_SOURCE_WHOLE;
    return divides ? product(arena, &one, " // ", &by) : one;
}

static struct shmt_source_said divide(struct shmt_arena *arena,
                                      const struct shmt_source_said *a,
                                      const struct shmt_source_said *b)
{
    return a->kind == SHMT_SOURCE_WHOLE && b->kind == SHMT_SOURCE_WHOLE
               ? quotient(arena, a, b)
               : (struct shmt_source_said){SHMT_SOURCE_QUOTIENT, a->level,
                                           a->text, b->text};
}

/* A number whose product with another one is one of 64 bits. */
static bool is_small(const struct shmt_source_said *one)
{
    return one->kind == SHMT_SOURCE_WHOLE && strlen(one->text) <= 9 &&
           one->text[strspn(one->text, "0123456789")] == '\0';
}

/* n * 1.0 is how n becomes real. */
static struct shmt_source_said multiply(struct shmt_arena *arena,
                                        const struct shmt_source_said *a,
                                        const struct shmt_source_said *b)
{
    struct shmt_source_said one = is_one(a) ? *b : *a;

    if (is_small(a) && is_small(b))
        return shmt_source_say_number(arena, one.kind,
                                      strtoll(a->text, NULL, 10) *
                                          strtoll(b->text, NULL, 10));
    if (!is_one(a) && !is_one(b))
        return product(arena, a, " * ", b);
    if (a->kind == SHMT_SOURCE_REAL || b->kind == SHMT_SOURCE_REAL)
        one.kind = SHMT_SOURCE_REAL;
    return one;
}

/* By a number of bits; `between` is what a power of two does. */
static struct shmt_source_said shift(struct shmt_arena *arena,
                                     const struct shmt_source_said *a,
                                     const char *between,
                                     const struct shmt_source_said *b)
{
    char *end;
    const long long bits = strtoll(b->text, &end, 10);
    struct shmt_source_said power;

    if (*end != '\0' || bits < 0 || bits > 40 ||
        a->kind == SHMT_SOURCE_REAL)
        return shmt_source_unsaid;
    power = shmt_source_say_number(arena, SHMT_SOURCE_WHOLE,
                                   (int64_t)1 << bits);
    return power.kind == SHMT_SOURCE_NONE ? power
           : between[1] == '*' ? multiply(arena, a, &power)
                               : product(arena, a, between, &power);
}

enum { SHIFTS = 5 };

static const struct shmt_source_operator operators[] = {
    {"||", SHMT_SOURCE_OR, 1, " or "},
    {"&&", SHMT_SOURCE_AND, 2, " and "},
    {"==", SHMT_SOURCE_COMPARE, 3, " == "},
    {"!=", SHMT_SOURCE_COMPARE, 3, " != "},
    {"<=", SHMT_SOURCE_COMPARE, 4, " <= "},
    {">=", SHMT_SOURCE_COMPARE, 4, " >= "},
    {"<<", SHMT_SOURCE_PRODUCT, SHIFTS, " * "},
    {">>", SHMT_SOURCE_PRODUCT, SHIFTS, " // "},
    {"<", SHMT_SOURCE_COMPARE, 4, " < "},
    {">", SHMT_SOURCE_COMPARE, 4, " > "},
    {"+", SHMT_SOURCE_SUM, 6, " + "},
    {"-", SHMT_SOURCE_SUM, 6, " - "},
    {"*", SHMT_SOURCE_PRODUCT, 7, " * "},
    {"/", SHMT_SOURCE_PRODUCT, 7, " // "},
    {"%", SHMT_SOURCE_PRODUCT, 7, " % "}
};

const struct shmt_source_operator *shmt_source_operator(size_t k)
{
    return k < sizeof operators / sizeof *operators ? &operators[k] : NULL;
}

struct shmt_source_said
shmt_source_operate(struct shmt_arena *arena,
                    const struct shmt_source_operator *operator,
                    const struct shmt_source_said *a,
                    const struct shmt_source_said *b)
{
    const enum shmt_source_level level = operator->level;
    struct shmt_source_said out;

    if (!shmt_source_is_said(a) || !shmt_source_is_said(b) ||
        (operator->signs[0] == '%' && (a->kind == SHMT_SOURCE_REAL ||
                                       b->kind == SHMT_SOURCE_REAL)))
        return shmt_source_unsaid;
    if (operator->signs[0] == '/')
        return divide(arena, a, b);
    if (operator->signs[0] == '*')
        return multiply(arena, a, b);
    if (operator->tightness == SHIFTS)
        return shift(arena, a, operator->said, b);
    out = join(arena, level, a, operator->said, b,
               level == SHMT_SOURCE_COMPARE ? SHMT_SOURCE_SUM : level,
               (enum shmt_source_level)(level + 1));
    if (level <= SHMT_SOURCE_COMPARE && out.kind == SHMT_SOURCE_REAL)
        out.kind = SHMT_SOURCE_WHOLE;
    return out;
}
