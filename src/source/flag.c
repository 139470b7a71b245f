/* SPDX-License-Identifier: MIT */
/*
 * flag: whether 0 may be a value of a macro that is 1: where the source asks
 * whether it is set, or adds it and does nothing else, as a padding.  Of what
 * counts, the width of a vector, 0 is none.
 */
#include "source/token.h"

#include <stdlib.h>

struct uses {
    const char *name;
    size_t count, flags, sums;
};

static bool is_any(const struct shmt_source_tokens *tokens, size_t k,
                   const char *signs)
{
    return k < tokens->count &&
           tokens->items[k].word == SHMT_SOURCE_SIGN &&
           tokens->items[k].length == 1 &&
           strchr(signs, *tokens->items[k].at) != NULL;
}

static bool is_logical(const struct shmt_source_tokens *tokens, size_t k)
{
    return (shmt_source_at_is(tokens, k, "&") &&
            shmt_source_at_is(tokens, k + 1, "&")) ||
           (shmt_source_at_is(tokens, k, "|") &&
            shmt_source_at_is(tokens, k + 1, "|"));
}

/* `if (`, which ends in front of k. */
static bool asks(const struct shmt_source_tokens *tokens, size_t k)
{
    return k >= 2 && shmt_source_at_is(tokens, k - 1, "(") &&
           (shmt_source_at_is(tokens, k - 2, "if") ||
            shmt_source_at_is(tokens, k - 2, "while") ||
            shmt_source_at_is(tokens, k - 2, "constexpr"));
}

/* Tokens [from, to), in an #if where `condition`, are asked whether they are
 * not 0. */
static bool is_flag(const struct shmt_source_tokens *tokens, size_t from,
                    size_t to, bool condition)
{
    const bool joined = from >= 2 && is_logical(tokens, from - 2);
    const bool begins = joined || asks(tokens, from) ||
                        (condition && from == 0);
    const bool ends = shmt_source_at_is(tokens, to, "?") ||
                      is_logical(tokens, to) ||
                      (condition && to == tokens->count);
    const bool free_before =
        begins || from == 0 || is_any(tokens, from - 1, "(,;{?:") ||
        shmt_source_at_is(tokens, from - 1, "return") ||
        (shmt_source_at_is(tokens, from - 1, "=") &&
         (from < 2 || !is_any(tokens, from - 2, "=!<>")));

    if (from > 0 && shmt_source_at_is(tokens, from - 1, "!"))
        return true;
    if (condition && is_any(tokens, to, "=!") &&
        shmt_source_at_is(tokens, to + 1, "=") &&
        shmt_source_at_is(tokens, to + 2, "0"))
        return true;
    if (from >= 3 && shmt_source_at_is(tokens, from - 1, "=") &&
        shmt_source_at_is(tokens, from - 3, "bool"))
        return shmt_source_at_is(tokens, to, ";");
    return (begins && (ends || is_any(tokens, to, "):"))) ||
           (ends && free_before);
}

static bool is_sum(const struct shmt_source_tokens *tokens, size_t from,
                   size_t to)
{
    const bool before = from > 0 && is_any(tokens, from - 1, "+-");
    const bool behind = is_any(tokens, to, "+-");

    return (before || behind) && !is_any(tokens, to, "*/%") &&
           !(from > 0 && is_any(tokens, from - 1, "*/%"));
}

static void count_use(const struct shmt_source_tokens *tokens, size_t k,
                      bool condition, struct uses *uses)
{
    size_t from = k, to = k + 1;

    while (from > 0 && shmt_source_at_is(tokens, from - 1, "(") &&
           shmt_source_at_is(tokens, to, ")") &&
           (from == 1 || tokens->items[from - 2].word != SHMT_SOURCE_NAME)) {
        from--;
        to++;
    }
    uses->count++;
    if (is_flag(tokens, from, to, condition))
        uses->flags++;
    else if (is_sum(tokens, from, to))
        uses->sums++;
}

/* The text of a directive, which has no directive in it. */
static bool look_into(struct shmt_arena *arena, const char *from,
                      const char *end, bool condition, struct uses *uses)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    const char *text = shmt_source_value(arena, from, end);
    const bool done = text != NULL && shmt_source_split(&tokens, text);

    for (size_t k = 0; done && k < tokens.count; k++)
        if (shmt_source_at_is(&tokens, k, uses->name) &&
            !(k > 0 && shmt_source_at_is(&tokens, k - 1, "defined")) &&
            !(k > 1 && shmt_source_at_is(&tokens, k - 2, "defined")))
            count_use(&tokens, k, condition, uses);
    free(tokens.items);
    return done;
}

static bool look_at_directive(struct shmt_arena *arena,
                              const struct shmt_source_token *token,
                              struct uses *uses)
{
    const char *const end = token->at + token->length;
    const char *rest;

    if (shmt_source_directs(token, "if", &rest) ||
        shmt_source_directs(token, "elif", &rest))
        return look_into(arena, rest, end, true, uses);
    if (shmt_source_directs(token, "define", &rest))
        return look_into(arena, rest + shmt_text_name_length(rest), end, false,
                         uses);
    if (shmt_source_directs(token, "pragma", &rest))
        return look_into(arena, rest, end, false, uses);
    return true;
}

static bool look_at(const struct shmt_source_tokens *tokens, struct uses *uses)
{
    bool done = true;

    for (size_t k = 0; done && k < tokens->count; k++) {
        const struct shmt_source_token *token = &tokens->items[k];

        if (token->word == SHMT_SOURCE_DIRECTIVE)
            done = look_at_directive(tokens->arena, token, uses);
        else if (token->word == SHMT_SOURCE_NAME &&
                 shmt_source_is(token, uses->name))
            count_use(tokens, k, false, uses);
    }
    return done;
}

bool shmt_source_takes_zero(struct shmt_arena *arena, const char *text,
                            const char *name, bool *zero)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct uses uses = {.name = name};
    const bool done = shmt_source_split(&tokens, text) &&
                      look_at(&tokens, &uses);

    free(tokens.items);
    *zero = uses.flags > 0 || (uses.count > 0 && uses.sums == uses.count);
    return done;
}
