/* SPDX-License-Identifier: MIT */
/*
 * condition: what an #if comes to: whole numbers with the operators of C, by
 * precedence climbing.  Called by preprocess.c, which has replaced the macros.
 * What decides nothing, as the right side of `1 ||`, may divide by zero.
 */
#include "source/token.h"

#include <ctype.h>
#include <stdlib.h>

enum { DEEPEST = 64 };

struct reader {
    const char *at;
    int depth;
    int unused;               /* in how many operands that decide nothing */
    bool failed;
};

static const struct operation {
    const char *sign;
    int rank;
} operations[] = {   /* longer signs first */
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3}, {"^", 4}, {"&", 5}, {"<", 7}, {">", 7},
    {"+", 9}, {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10},
};

static void skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

static const struct operation *next_operation(struct reader *reader)
{
    skip_blanks(reader);
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++)
        if (strncmp(reader->at, operations[k].sign,
                    strlen(operations[k].sign)) == 0)
            return &operations[k];
    return NULL;
}

/* In unsigned arithmetic, so that nothing overflows. */
static long long apply(struct reader *reader, const char *sign, long long a,
                       long long b)
{
    const unsigned long long x = (unsigned long long)a,
                             y = (unsigned long long)b;

    switch (sign[0]) {
    case '|': return sign[1] == '|' ? a != 0 || b != 0 : a | b;
    case '&': return sign[1] == '&' ? a != 0 && b != 0 : a & b;
    case '^': return a ^ b;
    case '=': return a == b;
    case '!': return a != b;
    case '<': return sign[1] == '<'   ? (long long)(x << (y & 63))
                     : sign[1] == '=' ? a <= b
                                      : a < b;
    case '>': return sign[1] == '>'   ? (long long)(a < 0 ? ~(~x >> (y & 63))
                                                          : x >> (y & 63))
                     : sign[1] == '=' ? a >= b
                                      : a > b;
    case '+': return (long long)(x + y);
    case '-': return (long long)(x - y);
    case '*': return (long long)(x * y);
    default:
        reader->failed |= b == 0 && reader->unused == 0;
        if (b == 0 || b == -1)
            return b == 0 || sign[0] == '%' ? 0 : (long long)(0 - x);
        return sign[0] == '/' ? a / b : a % b;
    }
}

static long long read_all(struct reader *reader);

static long long read_one(struct reader *reader)
{
    long long value;
    char *end;

    skip_blanks(reader);
    reader->failed |= ++reader->depth > DEEPEST;
    if (reader->failed)
        return 0;
    switch (*reader->at) {
    case '!':
        reader->at++;
        value = !read_one(reader);
        break;
    case '~':
        reader->at++;
        value = ~read_one(reader);
        break;
    case '-':
        reader->at++;
        value = apply(reader, "-", 0, read_one(reader));
        break;
    case '+':
        reader->at++;
        value = read_one(reader);
        break;
    case '(':
        reader->at++;
        value = read_all(reader);
        skip_blanks(reader);
        reader->failed |= *reader->at != ')';
        reader->at += *reader->at == ')';
        break;
    default:
        reader->failed |= shmt_text_name_length(reader->at) == 0 &&
                          !isdigit((unsigned char)*reader->at);
        value = (long long)strtoull(reader->at, &end, 0);
        if (end > reader->at)
            end += strspn(end, "uUlL");
        else
            end += shmt_text_name_length(end);   /* defined nowhere: 0 */
        reader->at = end;
        break;
    }
    reader->depth--;
    return value;
}

static long long climb(struct reader *reader, int rank)
{
    long long value = read_one(reader);
    const struct operation *next = next_operation(reader);

    while (!reader->failed && next != NULL && next->rank >= rank) {
        const struct operation *const now = next;
        const bool decided = now->rank <= 2 && (value != 0) == (now->rank == 1);
        long long other;

        reader->at += strlen(now->sign);
        reader->failed |= ++reader->depth > DEEPEST;
        reader->unused += decided;
        other = climb(reader, now->rank + 1);
        reader->unused -= decided;
        value = apply(reader, now->sign, value, other);
        reader->depth--;
        next = next_operation(reader);
    }
    return value;
}

/* One of the two sides of `?`. */
static long long read_side(struct reader *reader, bool used)
{
    long long value;

    reader->unused += !used;
    value = read_all(reader);
    reader->unused -= !used;
    return value;
}

static long long read_all(struct reader *reader)
{
    const long long asked = climb(reader, 1);
    long long yes, no;

    skip_blanks(reader);
    if (reader->failed || *reader->at != '?')
        return asked;
    reader->at++;
    reader->failed |= ++reader->depth > DEEPEST;
    if (reader->failed)
        return 0;
    yes = read_side(reader, asked != 0);
    skip_blanks(reader);
    reader->failed |= *reader->at != ':';
    if (reader->failed)
        return 0;
    reader->at++;
    no = read_side(reader, asked == 0);
    reader->depth--;
    return asked ? yes : no;
}

bool shmt_source_condition(const char *text)
{
    struct reader reader = {.at = text};
    const long long value = read_all(&reader);

    skip_blanks(&reader);
    return !reader.failed && *reader.at == '\0' && value != 0;
}
