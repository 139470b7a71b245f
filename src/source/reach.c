/* SPDX-License-Identifier: MIT */
/*
 * reach: where a number of a source stands that makes it one to tune, and what
 * of the launch the text of a kernel asks for.
 */
#include "source/token.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that hold how many blocks there are, and rounds to find them. */
enum { NAMES = 64, ROUNDS = 4 };

/* Whether the name stands between `mark` and the next `end` anywhere. */
static bool stands_behind(const char *code, const char *mark, char end,
                          const char *name)
{
    char part[512];

    while ((code = strstr(code, mark)) != NULL) {
        const char *close = strchr(code, end);

        if (close == NULL)
            return false;
        snprintf(part, sizeof part, "%.*s", (int)(close - code), code);
        if (shmt_text_mentions(part, name, 1) > 0)
            return true;
        code = close;
    }
    return false;
}

enum shmt_source_reach shmt_source_reach_of(const char *text, const char *name)
{
    if (stands_behind(text, "__launch_bounds__", ')', name))
        return SHMT_SOURCE_IN_BOUNDS;
    if (stands_behind(text, "__shared__", ';', name))
        return SHMT_SOURCE_IN_SHARED;
    if (stands_behind(text, "#pragma unroll", '\n', name))
        return SHMT_SOURCE_IN_UNROLL;
    return SHMT_SOURCE_NOWHERE;
}

const char *shmt_source_reaches(const char *text, const char *name)
{
    static const char *const words[] = {
        [SHMT_SOURCE_IN_BOUNDS] = "it stands in the launch bounds",
        [SHMT_SOURCE_IN_SHARED] = "it stands in an array in shared memory",
        [SHMT_SOURCE_IN_UNROLL] = "it unrolls a loop"};

    return words[shmt_source_reach_of(text, name)];
}

bool shmt_source_only_defines(const char *text, const char *name)
{
    enum { DEFAULT = 2 };      /* #ifndef NAME, #define NAME VALUE */

    return shmt_text_mentions(text, name, DEFAULT + 1) <= DEFAULT;
}

int64_t shmt_source_bound(const char *text)
{
    static const char bounds[] = "__launch_bounds__";
    const char *at = strstr(text, bounds);
    char *end;
    long long bound;

    if (at == NULL)
        return 0;
    at += sizeof bounds - 1;
    at += strspn(at, " (");
    bound = strtoll(at, &end, 10);
    end += strspn(end, " ");
    return end > at && (*end == ',' || *end == ')') && bound > 0 ? bound : 0;
}

/* -- the launch ----------------------------------------------------------- */

/* Behind the word at `text`, which is a member of that letter, or all of it. */
static bool is_of_axis(const char *behind, int axis)
{
    behind += strspn(behind, " ");
    if (*behind != '.')
        return true;
    behind++;
    behind += strspn(behind, " ");
    return *behind == "xyz"[axis] || shmt_text_name_length(behind) != 1;
}

static bool asks(const char *text, const char *word, int axis)
{
    const size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if ((at == text || shmt_text_name_length(at - 1) == 0) &&
            shmt_text_name_length(at) == length &&
            is_of_axis(at + length, axis))
            return true;
    return false;
}

bool shmt_source_asks_block(const char *text, int axis)
{
    return asks(text, "blockDim", axis) ||
           shmt_text_mentions(text, "this_thread_block", 1) > 0 ||
           shmt_text_mentions(text, "this_grid", 1) > 0;
}

/* Whether blockIdx, at `at`, is multiplied by blockDim, both of an axis. */
static bool is_multiplied(const char *text, const char *at, int axis)
{
    const char dim[] = {'b', 'l', 'o', 'c', 'k', 'D', 'i', 'm', '.',
                        "xyz"[axis], '\0'};
    const size_t length = sizeof dim - 1;
    const char *behind = at + length;  /* "blockIdx.x" is as long */
    const char *before = at;

    behind += strspn(behind, " ");
    if (*behind == '*') {
        behind++;
        behind += strspn(behind, " ");
        if (strncmp(behind, dim, length) == 0)
            return true;
    }
    while (before > text && before[-1] == ' ')
        before--;
    if (before == text || *--before != '*')
        return false;
    while (before > text && before[-1] == ' ')
        before--;
    return (size_t)(before - text) >= length &&
           strncmp(before - length, dim, length) == 0;
}

/* `this_grid().thread_rank()`, and not the number of a block. */
static bool ranks_threads(const char *text)
{
    static const char *const blocks[] = {"block_rank", "block_index",
                                         "group_index", "cluster_rank"};

    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        if (shmt_text_mentions(text, blocks[k], 1) > 0)
            return false;
    return shmt_text_mentions(text, "this_grid", 1) > 0 &&
           shmt_text_mentions(text, "thread_rank", 1) > 0;
}

bool shmt_source_counts_threads(const char *text, int axis)
{
    bool found = axis == 0 && ranks_threads(text);

    for (const char *at = text; (at = strstr(at, "blockIdx")) != NULL;
         at += strlen("blockIdx")) {
        if (!is_of_axis(at + strlen("blockIdx"), axis))
            continue;
        if (!is_multiplied(text, at, axis))
            return false;
        found = true;
    }
    return found;
}

/* -- a loop over the grid ------------------------------------------------- */

struct strides {
    const struct shmt_source_tokens *tokens;
    int axis;
    size_t count;
    const struct shmt_source_token *names[NAMES];
};

static bool is(const struct strides *strides, size_t k, const char *text)
{
    return shmt_source_at_is(strides->tokens, k, text);
}

/* Whether how many blocks there are is said at k, or stands in a variable that
 * is named there. */
static bool is_blocks(const struct strides *strides, size_t k)
{
    const struct shmt_source_token *const token = &strides->tokens->items[k];

    if (token->word != SHMT_SOURCE_NAME)
        return false;
    if (is(strides, k, "this_grid"))
        return true;
    if (is(strides, k, "gridDim"))
        return is_of_axis(token->at + token->length, strides->axis);
    for (size_t n = 0; n < strides->count; n++)
        if (shmt_source_same(strides->names[n], token))
            return true;
    return false;
}

/* Whether it is in the expression at k. */
static bool has_blocks(const struct strides *strides, size_t k)
{
    size_t depth = 0;

    for (; k < strides->tokens->count && !is(strides, k, ";"); k++) {
        if (depth == 0 && (is(strides, k, ",") || is(strides, k, ")")))
            return false;
        depth += is(strides, k, "(");
        depth -= is(strides, k, ")");
        if (is_blocks(strides, k))
            return true;
    }
    return false;
}

/* The name whose value the expression behind k is: `NAME = ...`, or that of
 * `NAME(...) { return ...; }`; NULL: it is none's. */
static const struct shmt_source_token *
named_at(const struct strides *strides, size_t k)
{
    const struct shmt_source_token *const items = strides->tokens->items;
    size_t open = k;

    if (k > 0 && is(strides, k, "=") && !is(strides, k + 1, "="))
        return items[k - 1].word == SHMT_SOURCE_NAME ? &items[k - 1] : NULL;
    if (k < 3 || !is(strides, k, "return") || !is(strides, k - 1, "{") ||
        !is(strides, k - 2, ")"))
        return NULL;
    while (open > 1 && !is(strides, open, "("))
        open--;
    return items[open - 1].word == SHMT_SOURCE_NAME ? &items[open - 1] : NULL;
}

static void find_names(struct strides *strides)
{
    for (size_t k = 1; k + 1 < strides->tokens->count; k++) {
        const struct shmt_source_token *const name = named_at(strides, k);
        bool there = name == NULL || strides->count == NAMES;

        for (size_t n = 0; !there && n < strides->count; n++)
            there = shmt_source_same(strides->names[n], name);
        if (!there && has_blocks(strides, k + 1))
            strides->names[strides->count++] = name;
    }
}

/* `i += ...`, `i = i + ...`, and `n / ...`, the part of each block. */
static bool goes_on(const struct strides *strides, size_t k)
{
    const struct shmt_source_token *const items = strides->tokens->items;

    return (is(strides, k, "/") && k + 1 < strides->tokens->count &&
            is_blocks(strides, k + 1)) ||
           (is(strides, k, "+") && is(strides, k + 1, "=") &&
            has_blocks(strides, k + 2)) ||
           (k > 0 && is(strides, k, "=") && is(strides, k + 2, "+") &&
            items[k - 1].word == SHMT_SOURCE_NAME &&
            shmt_source_same(&items[k - 1], &items[k + 1]) &&
            has_blocks(strides, k + 3));
}

bool shmt_source_strides(struct shmt_arena *arena, const char *text, int axis,
                         bool *out)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct strides strides = {.tokens = &tokens, .axis = axis};
    const bool done = shmt_source_split(&tokens, text);

    *out = false;
    for (int round = 0; done && round < ROUNDS; round++)
        find_names(&strides);
    for (size_t k = 0; done && !*out && k < tokens.count; k++)
        *out = goes_on(&strides, k);
    free(tokens.items);
    return done;
}

/* -- a warp --------------------------------------------------------------- */

/* Whether the word is in the name, letters large or small. */
static bool has(const char *name, const char *word)
{
    const size_t length = strlen(word);

    for (; *name != '\0'; name++) {
        size_t k = 0;

        while (k < length && tolower((unsigned char)name[k]) == word[k])
            k++;
        if (k == length)
            return true;
    }
    return false;
}

bool shmt_source_is_warp(const char *name, int64_t value)
{
    if (value == 32 && strlen(name) == 2 && has(name, "ws"))
        return true;
    return value == 32 && (has(name, "warp") || has(name, "wave")) &&
           (strlen(name) == strlen("warp") || has(name, "siz") ||
            has(name, "sz") || has(name, "per_warp") || has(name, "perwarp") ||
            has(name, "width") || has(name, "lanes"));
}
