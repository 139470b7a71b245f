/* SPDX-License-Identifier: MIT */
/*
 * undeclared: names that a kernel uses and its source declares nowhere: macros
 * that whoever compiles it has to give.
 */
#include "source/token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Behind these a name is used. */
static const char *const uses[] = {
    "return", "case", "else", "goto", "throw", "new", "delete", "sizeof",
    "and", "or", "not", "do", "co_yield", "co_return", NULL};
/* These are no names of a macro, whatever stands around them. */
static const char *const own[] = {
    "this", "true", "false", "nullptr", "threadIdx", "blockIdx", "blockDim",
    "gridDim", "warpSize", "sizeof", "auto", "void", NULL};

static bool is_name(const struct shmt_source_tokens *tokens, size_t k)
{
    return shmt_source_at(tokens, k)->word == SHMT_SOURCE_NAME;
}

static bool is_keyword(const struct shmt_source_token *token)
{
    return shmt_source_is_any(token, uses) || shmt_source_is_any(token, own);
}

/* A word that can be a macro for a number: no member, function or array, no
 * part of a qualified name, and no type, which a name follows. */
static bool is_number(const struct shmt_source_tokens *tokens, size_t k)
{
    return is_name(tokens, k) && !is_keyword(shmt_source_at(tokens, k)) &&
           !is_name(tokens, k + 1) && !shmt_source_at_is(tokens, k + 1, "(") &&
           !shmt_source_at_is(tokens, k + 1, "[") &&
           !shmt_source_at_is(tokens, k + 1, ":") &&
           !shmt_source_at_is(tokens, k + 1, "<") &&
           (k == 0 || (!shmt_source_at_is(tokens, k - 1, ".") &&
                       !shmt_source_at_is(tokens, k - 1, ":") &&
                       !(shmt_source_at_is(tokens, k - 1, ">") && k > 1 &&
                         shmt_source_at_is(tokens, k - 2, "-"))));
}

/* "NUM_THREADS": pointers are not called so. */
static bool is_capital(const struct shmt_source_token *token)
{
    for (size_t k = 0; k < token->length; k++)
        if (islower((unsigned char)token->at[k]))
            return false;
    return true;
}

/* `float *name`; `x * name` of a member, `blockIdx.x * name`, is a product. */
static bool is_pointer(const struct shmt_source_tokens *tokens, size_t k)
{
    return shmt_source_at_is(tokens, k - 1, "*") && k > 2 &&
           is_name(tokens, k - 2) &&
           !shmt_source_at_is(tokens, k - 3, ".") &&
           !is_capital(shmt_source_at(tokens, k));
}

/* `int a`, `tile<32> a`, `T &a`, and what follows in a list: `, a = 3`,
 * `, a[4]`. */
static bool declares(const struct shmt_source_tokens *tokens, size_t k)
{
    static const char *const behind[] = {"=", "[", ",", ";", NULL};

    if (k == 0)
        return false;
    if (is_name(tokens, k - 1))
        return !shmt_source_is_any(shmt_source_at(tokens, k - 1), uses);
    return shmt_source_at_is(tokens, k - 1, ">") ||
           shmt_source_at_is(tokens, k - 1, "&") || is_pointer(tokens, k) ||
           ((shmt_source_at_is(tokens, k - 1, ",") ||
             shmt_source_at_is(tokens, k - 1, "{")) &&
            shmt_source_is_any(shmt_source_at(tokens, k + 1), behind));
}

/* Names that are declared somewhere, or are no numbers, in order. */
struct declared {
    size_t count;
    struct shmt_source_token *items;   /* on the heap */
};

static int compare(const void *one, const void *other)
{
    const struct shmt_source_token *const a = one, *const b = other;

    return shmt_source_order(a->at, a->length, b->at, b->length);
}

/* Behind the list of the enum at k. */
static size_t pass_enum(const struct shmt_source_tokens *tokens, size_t k,
                        struct declared *out)
{
    while (k < tokens->count && !shmt_source_at_is(tokens, k, "{") &&
           !shmt_source_at_is(tokens, k, ";"))
        k++;
    for (; k < tokens->count && !shmt_source_at_is(tokens, k, "}") &&
           !shmt_source_at_is(tokens, k, ";"); k++)
        if (is_name(tokens, k))
            out->items[out->count++] = tokens->items[k];
    return k;
}

/* false: there is no memory. */
static bool find_declared(const struct shmt_source_tokens *tokens,
                          struct declared *out)
{
    out->items = malloc((tokens->count + 1) * sizeof *out->items);
    if (out->items == NULL)
        return false;
    for (size_t k = 0; k < tokens->count; k++) {
        if (shmt_source_at_is(tokens, k, "enum"))
            k = pass_enum(tokens, k, out);
        else if (is_name(tokens, k) &&
                 (declares(tokens, k) || !is_number(tokens, k)))
            out->items[out->count++] = tokens->items[k];
    }
    qsort(out->items, out->count, sizeof *out->items, compare);
    return true;
}

static bool is_listed(const char *const *list, size_t count,
                      const char *name)
{
    size_t k = 0;

    while (k < count && strcmp(list[k], name) != 0)
        k++;
    return k < count;
}

enum shmtune_status
shmt_source_undeclared(struct shmt_arena *arena, const char *text,
                       const char *part, const char *const **out,
                       size_t *count, struct shmt_error *err)
{
    struct shmt_source_tokens all = {.arena = arena}, used = {.arena = arena};
    struct declared declared = {0};
    bool done = shmt_source_split(&all, text) &&
                shmt_source_split(&used, part) &&
                find_declared(&all, &declared);
    const char **const list =
        done ? shmt_arena_alloc(arena, used.count + 1, sizeof *list) : NULL;

    *out = list;
    *count = 0;
    done = list != NULL;
    for (size_t k = 0; done && k < used.count; k++) {
        const char *name;

        if (!is_number(&used, k) ||
            bsearch(&used.items[k], declared.items, declared.count,
                    sizeof *declared.items, compare) != NULL)
            continue;
        name = shmt_source_copy(&used, k);
        done = name != NULL;
        if (done && !is_listed(list, *count, name))
            list[(*count)++] = name;
    }
    free(declared.items);
    free(all.items);
    free(used.items);
    return done ? SHMTUNE_OK : shmt_error_memory(err);
}
