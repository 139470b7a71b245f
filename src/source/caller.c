/* SPDX-License-Identifier: MIT */
/*
 * caller: what the parameters of a function that launches a kernel are given
 * where it is called.  Each is a variable, with that for a value; of a template
 * the types, too.
 */
#include "source/token.h"

#include <stdlib.h>

enum { MOST_HEAD = 512 };

/* The one that token `inside` is in; false: none. */
static bool find_around(const struct shmt_source_tokens *tokens,
                        size_t inside, struct shmt_source_function *out)
{
    for (size_t k = 0; k < inside; k++) {
        if (!shmt_source_function(tokens, k, out))
            continue;
        if (out->end > inside)
            return out->body < inside;
        k = out->end - 1;
    }
    return false;
}

/* Whether the name at k is neither declared nor defined there. */
static bool is_called(const struct shmt_source_tokens *tokens, size_t k)
{
    static const char *const words[] = {"return", "else", "do", NULL};
    const struct shmt_source_token *before = shmt_source_at(tokens, k - 1);
    struct shmt_source_function other;

    if (shmt_source_is_any(before, words))
        return true;
    return before->word != SHMT_SOURCE_NAME && !shmt_source_is(before, "*") &&
           !shmt_source_is(before, "&") && !shmt_source_is(before, ">") &&
           !shmt_source_head(tokens, k, &other);
}

/* Where a call of the function has its `(`, and the `<` of a template, or 0.
 * False: it is not called elsewhere. */
static bool find_call(const struct shmt_source_tokens *tokens,
                      const struct shmt_source_function *function,
                      size_t *angle, size_t *open)
{
    const struct shmt_source_token *name = shmt_source_at(tokens,
                                                          function->name);

    for (size_t k = 1; k < tokens->count; k++) {
        const struct shmt_source_token *token = shmt_source_at(tokens, k);
        bool generic;

        if (k == function->name) {
            k = function->end - 1;
            continue;
        }
        if (token->word != SHMT_SOURCE_NAME || !shmt_source_same(token, name))
            continue;
        generic = shmt_source_at_is(tokens, k + 1, "<");
        *angle = generic ? k + 1 : 0;
        *open = generic ? shmt_source_behind(tokens, k + 1,
                                             k + MOST_HEAD < tokens->count
                                                 ? k + MOST_HEAD
                                                 : tokens->count)
                        : k + 1;
        if (shmt_source_at_is(tokens, *open, "(") && is_called(tokens, k))
            return true;
    }
    return false;
}

/* Those that were found, for one function behind each other. */
struct found {
    struct shmt_source_variable *list;
    size_t count, room;
};

/* `bound`: all that they have alike. */
static void bind(const char *const *names, size_t name_count,
                 const char *const *values, size_t value_count,
                 struct shmt_source_variable bound, struct found *found)
{
    for (size_t k = 0; k < name_count && k < value_count &&
                       found->count < found->room; k++) {
        bound.name = names[k];
        bound.value = values[k];
        found->list[found->count++] = bound;
    }
}

/* What the call whose `(` and `<` are there gives the function. */
static bool bind_call(const struct shmt_source_tokens *tokens,
                      const struct shmt_source_function *function,
                      size_t angle, size_t open, struct found *found)
{
    const struct shmt_source_variable bound = {
        .line = shmt_source_at(tokens, function->body)->line,
        .until = shmt_source_at(tokens, function->end - 1)->line,
        .called = shmt_source_at(tokens, open)->line};
    const size_t own = shmt_source_template(tokens, function->name);
    const char *const *names, *const *values;
    size_t name_count, value_count;

    names = shmt_source_names_in(tokens, function->from, function->to,
                                 &name_count);
    values = shmt_source_items(
        tokens, open + 1,
        shmt_source_behind(tokens, open, tokens->count) - 1, &value_count);
    if (names == NULL || values == NULL)
        return false;
    bind(names, name_count, values, value_count, bound, found);
    if (angle == 0 || !shmt_source_at_is(tokens, own + 1, "<"))
        return true;
    names = shmt_source_names_in(
        tokens, own + 2,
        shmt_source_behind(tokens, own + 1, tokens->count) - 1, &name_count);
    values = shmt_source_items(tokens, angle + 1, open - 1, &value_count);
    if (names == NULL || values == NULL)
        return false;
    bind(names, name_count, values, value_count, bound, found);
    return true;
}

/* Into the variables: behind what their own line has, which may be what they
 * are where nothing is given. */
static bool merge(struct shmt_arena *arena, const struct found *found,
                  struct shmt_source *out)
{
    struct shmt_source_variable *all = shmt_arena_alloc(
        arena, out->variable_count + found->count + 1, sizeof *all);
    size_t a = 0, b = 0, count = 0;

    if (all == NULL)
        return false;
    while (a < found->count || b < out->variable_count)
        all[count++] = b == out->variable_count ||
                               (a < found->count &&
                                found->list[a].line < out->variables[b].line)
                           ? found->list[a++] : out->variables[b++];
    out->variables = all;
    out->variable_count = count;
    return true;
}

/* Functions that launch, and what calls these: so many steps out. */
enum { STEPS = 3, FUNCTIONS = 64, ROOM = 2048 };

struct seen {
    size_t names[FUNCTIONS], count;
};

/* false: it was there, or there is no room. */
static bool see(struct seen *seen, size_t name)
{
    for (size_t k = 0; k < seen->count; k++)
        if (seen->names[k] == name)
            return false;
    if (seen->count == FUNCTIONS)
        return false;
    seen->names[seen->count++] = name;
    return true;
}

static bool follow(const struct shmt_source_tokens *tokens,
                   struct shmt_source_function function, struct seen *seen,
                   struct found *found)
{
    for (int step = 0; step < STEPS && see(seen, function.name); step++) {
        size_t angle, open;

        if (!find_call(tokens, &function, &angle, &open))
            break;
        if (!bind_call(tokens, &function, angle, open, found))
            return false;
        if (!find_around(tokens, open, &function))
            break;
    }
    return true;
}

static bool launches(const struct shmt_source_tokens *tokens,
                     const struct shmt_source_function *function)
{
    for (size_t k = function->body; k < function->end; k++)
        if (shmt_source_at_is(tokens, k, "<<<"))
            return true;
    return false;
}

static int by_line(const void *a, const void *b)
{
    const struct shmt_source_variable *const one = a, *const other = b;

    return (one->line > other->line) - (one->line < other->line);
}

bool shmt_source_callers(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out)
{
    struct found found = {.room = ROOM};
    struct seen seen = {.count = 0};
    struct shmt_source_function function;
    bool done = true;

    if (out->launch_count == 0)
        return true;
    found.list = shmt_arena_alloc(tokens->arena, found.room,
                                  sizeof *found.list);
    if (found.list == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        if (!shmt_source_function(tokens, k, &function))
            continue;
        if (launches(tokens, &function))
            done = follow(tokens, function, &seen, &found);
        k = function.end - 1;
    }
    qsort(found.list, found.count, sizeof *found.list, by_line);
    return done && merge(tokens->arena, &found, out);
}
