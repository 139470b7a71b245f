/* SPDX-License-Identifier: MIT */
/*
 * host: the launches in the host code of a source, and the values of its
 * variables, from which their geometry is made.
 */
#include "source/token.h"

static const struct shmt_source_token *
at(const struct shmt_source_tokens *tokens, size_t k)
{
    return &tokens->items[k < tokens->count ? k : tokens->count];
}

/* Where the item of a list that begins at `from` ends. */
static size_t end_of_item(const struct shmt_source_tokens *tokens,
                          size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        if (shmt_source_is(at(tokens, k), ","))
            return k;
        if (shmt_source_is(at(tokens, k), "(") ||
            shmt_source_is(at(tokens, k), "{") ||
            shmt_source_is(at(tokens, k), "["))
            k = shmt_source_behind(tokens, k, to) - 1;
    }
    return to;
}

/* The name in front of the `<<<` at k, past the arguments of a template. */
static const struct shmt_source_token *
launched(const struct shmt_source_tokens *tokens, size_t k)
{
    size_t depth = 0;

    while (k-- > 0) {
        if (shmt_source_is(at(tokens, k), ";"))
            break;
        depth += shmt_source_is(at(tokens, k), ">");
        if (shmt_source_is(at(tokens, k), "<")) {
            depth -= depth > 0;
            continue;
        }
        if (depth == 0)
            return at(tokens, k)->word == SHMT_SOURCE_NAME ? at(tokens, k)
                                                           : NULL;
    }
    return NULL;
}

static bool read_arguments(const struct shmt_source_tokens *tokens,
                           size_t open, struct shmt_source_launch *out)
{
    const size_t close =
        shmt_source_behind(tokens, open, tokens->count) - 1;
    const char **arguments;
    size_t count = 0;

    for (size_t k = open + 1; k < close; k = end_of_item(tokens, k, close) + 1)
        count++;
    arguments = shmt_arena_alloc(tokens->arena, count + 1, sizeof *arguments);
    if (arguments == NULL)
        return false;
    out->argument_count = count;
    out->arguments = arguments;
    for (size_t n = 0, k = open + 1; n < count; n++) {
        const size_t end = end_of_item(tokens, k, close);

        arguments[n] = shmt_source_join(tokens, k, end);
        if (arguments[n] == NULL)
            return false;
        k = end + 1;
    }
    return true;
}

/* The launch whose `<<<` is at `open`. */
static bool read_launch(const struct shmt_source_tokens *tokens, size_t open,
                        struct shmt_source_launch *out, bool *found)
{
    const struct shmt_source_token *const name = launched(tokens, open);
    const char **const parts[] = {&out->grid, &out->block, &out->shared};
    size_t close = open;

    *found = false;
    while (close < tokens->count && !shmt_source_is(at(tokens, close), ">>>"))
        close++;
    if (name == NULL || !shmt_source_is(at(tokens, close + 1), "("))
        return true;
    *out = (struct shmt_source_launch){
        .line = name->line, .column = name->column, .grid = "", .block = "",
        .shared = ""
    };
    out->name = shmt_arena_copy(tokens->arena, name->at, name->length);
    if (out->name == NULL)
        return false;
    for (size_t n = 0, k = open + 1; n < 3 && k < close; n++) {
        const size_t end = end_of_item(tokens, k, close);

        *parts[n] = shmt_source_join(tokens, k, end);
        if (*parts[n] == NULL)
            return false;
        k = end + 1;
    }
    *found = true;
    return read_arguments(tokens, close + 1, out);
}

/* `TYPE NAME = VALUE;` and `dim3 NAME(VALUE);` */
static bool read_variable(const struct shmt_source_tokens *tokens, size_t k,
                          struct shmt_source_variable *out, bool *found)
{
    const struct shmt_source_token *const name = at(tokens, k);
    const bool dim3 = k > 0 && shmt_source_is(name - 1, "dim3");
    size_t from = k + 2, to;

    *found = false;
    if (name->word != SHMT_SOURCE_NAME || k == 0 ||
        name[-1].word != SHMT_SOURCE_NAME)
        return true;
    if (shmt_source_is(at(tokens, k + 1), "="))
        for (to = from; to < tokens->count &&
                        end_of_item(tokens, to, to + 1) > to &&
                        !shmt_source_is(at(tokens, to), ";");)
            to = shmt_source_is(at(tokens, to), "(")
                     ? shmt_source_behind(tokens, to, tokens->count)
                     : to + 1;
    else if (dim3 && (shmt_source_is(at(tokens, k + 1), "(") ||
                      shmt_source_is(at(tokens, k + 1), "{")))
        to = shmt_source_behind(tokens, k + 1, tokens->count) - 1;
    else
        return true;
    out->name = shmt_arena_copy(tokens->arena, name->at, name->length);
    out->value = shmt_source_join(tokens, from, to);
    out->line = name->line;
    *found = true;
    return out->name != NULL && out->value != NULL;
}

bool shmt_source_host(const struct shmt_source_tokens *tokens,
                      struct shmt_source *out)
{
    struct shmt_source_launch *launches;
    struct shmt_source_variable *variables;
    size_t most = 0, values = 0;
    bool done = true;

    for (size_t k = 0; k < tokens->count; k++) {
        most += shmt_source_is(at(tokens, k), "<<<");
        values += shmt_source_is(at(tokens, k), "=") ||
                  shmt_source_is(at(tokens, k), "dim3");
    }
    launches = shmt_arena_alloc(tokens->arena, most + 1, sizeof *launches);
    variables = shmt_arena_alloc(tokens->arena, values + 1,
                                 sizeof *variables);
    if (launches == NULL || variables == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        bool launch = false, variable = false;

        if (shmt_source_is(at(tokens, k), "<<<"))
            done = read_launch(tokens, k, &launches[out->launch_count],
                               &launch);
        else
            done = read_variable(tokens, k, &variables[out->variable_count],
                                 &variable);
        out->launch_count += launch;
        out->variable_count += variable;
    }
    out->launches = launches;
    out->variables = variables;
    return done;
}
