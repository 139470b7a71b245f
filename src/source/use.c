/* SPDX-License-Identifier: MIT */
/*
 * use: what the body of a function does with variables of the source; of what
 * its parameters point to see pointer.c.
 */
#include "source/token.h"

#include <string.h>

static bool is_one_of(const struct shmt_source_token *token, const char *signs)
{
    return token->word == SHMT_SOURCE_SIGN && token->length == 1 &&
           strchr(signs, token->at[0]) != NULL;
}

static bool is_twice(const struct shmt_source_tokens *tokens, size_t k,
                     const char *sign)
{
    return shmt_source_at_is(tokens, k, sign) &&
           shmt_source_at_is(tokens, k + 1, sign);
}

/* `.name`, `->name`: of something else. */
static bool is_member(const struct shmt_source_tokens *tokens, size_t k)
{
    return k > 1 && (shmt_source_at_is(tokens, k - 1, ".") ||
                     (shmt_source_at_is(tokens, k - 1, ">") &&
                      shmt_source_at_is(tokens, k - 2, "-")));
}

/* `atomicAdd(&name`, where `&` is at k. */
static bool is_atomic(const struct shmt_source_tokens *tokens, size_t k)
{
    static const char atomic[] = "atomic";

    return k > 1 && shmt_source_at_is(tokens, k - 1, "(") &&
           shmt_source_at(tokens, k - 2)->length > sizeof atomic - 1 &&
           memcmp(shmt_source_at(tokens, k - 2)->at, atomic,
                  sizeof atomic - 1) == 0;
}

size_t shmt_source_behind_element(const struct shmt_source_tokens *tokens,
                                  size_t k, size_t to)
{
    for (;;) {
        if (k < to && shmt_source_at_is(tokens, k, "["))
            k = shmt_source_behind(tokens, k, to);
        else if (k + 1 < to && shmt_source_at_is(tokens, k, ".") &&
                 shmt_source_at(tokens, k + 1)->word == SHMT_SOURCE_NAME)
            k += 2;
        else
            return k;
    }
}

unsigned shmt_source_use_behind(const struct shmt_source_tokens *tokens,
                                size_t k, size_t to)
{
    const bool next = k + 1 < to;

    if (k >= to)
        return SHMT_SOURCE_UNKNOWN;
    if (shmt_source_at_is(tokens, k, "="))
        return next && shmt_source_at_is(tokens, k + 1, "=")
                   ? SHMT_SOURCE_READ : SHMT_SOURCE_WRITTEN;
    if (next && (is_twice(tokens, k, "+") || is_twice(tokens, k, "-") ||
                 (is_one_of(shmt_source_at(tokens, k), "+-*/%&|^") &&
                  shmt_source_at_is(tokens, k + 1, "=")) ||
                 ((is_twice(tokens, k, "<") || is_twice(tokens, k, ">")) &&
                  k + 2 < to && shmt_source_at_is(tokens, k + 2, "="))))
        return SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN;
    return SHMT_SOURCE_READ;
}

/* Where the name at k begins, with namespaces before it. */
static size_t begin_of(const struct shmt_source_tokens *tokens, size_t k)
{
    while (k > 3 && is_twice(tokens, k - 2, ":") &&
           shmt_source_at(tokens, k - 3)->word == SHMT_SOURCE_NAME)
        k -= 3;
    return k > 2 && is_twice(tokens, k - 2, ":") ? k - 2 : k;
}

/* What is done where a variable's name stands at k. */
static unsigned use_at(const struct shmt_source_tokens *tokens, size_t k,
                       size_t to, bool array)
{
    const size_t first = begin_of(tokens, k);

    if (array && (k + 1 >= to || !shmt_source_at_is(tokens, k + 1, "[")))
        return SHMT_SOURCE_UNKNOWN;
    if (shmt_source_at_is(tokens, first - 1, "&") &&
        (first < 2 || !shmt_source_at_is(tokens, first - 2, "&")))
        return is_atomic(tokens, first - 1)
                   ? SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN
                   : SHMT_SOURCE_UNKNOWN;
    if (first > 1 && (is_twice(tokens, first - 2, "+") ||
                      is_twice(tokens, first - 2, "-")))
        return SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN;
    return shmt_source_use_behind(
        tokens, shmt_source_behind_element(tokens, k + 1, to), to);
}

/* `float name`: another one, that the body declares. */
static bool is_declared(const struct shmt_source_tokens *tokens, size_t k)
{
    static const char *const words[] = {"return", "else", "do", "case",
                                        "throw", NULL};
    const struct shmt_source_token *before = shmt_source_at(tokens, k - 1);

    return before->word == SHMT_SOURCE_NAME &&
           !shmt_source_is_any(before, words);
}

unsigned shmt_source_use_global(const struct shmt_source_tokens *tokens,
                                size_t from, size_t to, const char *name,
                                bool array, bool *used)
{
    unsigned out = 0;

    *used = false;
    for (size_t k = from + 1; k < to; k++) {
        unsigned use;

        /* A definition in the body may do anything with it. */
        if (shmt_source_at(tokens, k)->word == SHMT_SOURCE_DIRECTIVE) {
            const char *const text = shmt_source_at(tokens, k)->at;
            const char *const found = strstr(text, name);

            *used |= found != NULL &&
                     (size_t)(found - text) < shmt_source_at(tokens, k)->length;
            if (*used)
                return SHMT_SOURCE_UNKNOWN;
            continue;
        }
        if (shmt_source_at(tokens, k)->word != SHMT_SOURCE_NAME ||
            !shmt_source_at_is(tokens, k, name) || is_member(tokens, k))
            continue;
        if (is_declared(tokens, k))
            return out;
        *used = true;
        use = use_at(tokens, k, to, array);
        if (use == SHMT_SOURCE_UNKNOWN)
            return use;
        out |= use;
    }
    return out;
}
