/* SPDX-License-Identifier: MIT */
/*
 * define: names of a source that stand for a value: macros, with parameters and
 * without, and functions that do nothing but return one.
 */
#include "source/token.h"

/* Of a function from its parentheses to the `{`, and what it returns, in
 * tokens; and parameters. */
enum { MOST_HEAD = 64, MOST_VALUE = 256, MOST_PARAMETERS = 8 };

static bool add_parameter(const struct shmt_source_tokens *tokens,
                          const char *name, size_t length,
                          const char **parameters,
                          struct shmt_source_define *out)
{
    parameters[out->parameter_count] =
        shmt_arena_copy(tokens->arena, name, length);
    return parameters[out->parameter_count++] != NULL;
}

/* -- macros --------------------------------------------------------------- */

/* "A, B)" at *at, which is then behind it.  *found: it is that. */
static bool read_names(const struct shmt_source_tokens *tokens,
                       const char **at, struct shmt_source_define *out,
                       bool *found)
{
    const char **parameters = shmt_arena_alloc(
        tokens->arena, MOST_PARAMETERS, sizeof *parameters);

    *found = false;
    out->parameters = parameters;
    out->takes = true;
    if (parameters == NULL)
        return false;
    for (;;) {
        size_t length;

        *at += strspn(*at, " \t");
        length = shmt_text_name_length(*at);
        if (length > 0 && out->parameter_count < MOST_PARAMETERS) {
            if (!add_parameter(tokens, *at, length, parameters, out))
                return false;
            *at += length;
            *at += strspn(*at, " \t");
        }
        if (**at != ',' && **at != ')')
            return true;
        if (*(*at)++ == ')')
            break;
    }
    *found = true;
    return true;
}

static bool read_macro(const struct shmt_source_tokens *tokens,
                       const struct shmt_source_token *token,
                       struct shmt_source_define *out, bool *found)
{
    const char *from;
    size_t length;

    *found = false;
    if (!shmt_source_directs(token, "define", &from))
        return true;
    length = shmt_text_name_length(from);
    if (length == 0)
        return true;
    *out = (struct shmt_source_define){
        .name = shmt_arena_copy(tokens->arena, from, length)};
    from += length;
    *found = true;
    if (*from == '(') {
        from++;
        if (!read_names(tokens, &from, out, found))
            return false;
    }
    /* One of several lines may have a value that begins behind this one. */
    if (from > token->at + token->length)
        *found = false;
    if (!*found)
        return true;
    out->value = shmt_source_value(tokens->arena, from + strspn(from, " \t"),
                                   token->at + token->length);
    return out->name != NULL && out->value != NULL;
}

/* -- functions ------------------------------------------------------------ */

/* Each parameter is called by the last name of its part. */
static bool read_parameters(const struct shmt_source_tokens *tokens,
                            size_t from, size_t to,
                            struct shmt_source_define *out)
{
    const char **parameters = shmt_arena_alloc(
        tokens->arena, MOST_PARAMETERS, sizeof *parameters);
    const struct shmt_source_token *name = NULL;

    out->parameters = parameters;
    for (size_t k = from; parameters != NULL && k <= to; k++) {
        if (shmt_source_at(tokens, k)->word == SHMT_SOURCE_NAME)
            name = shmt_source_at(tokens, k);
        if (name == NULL || (k < to && !shmt_source_at_is(tokens, k, ",")))
            continue;
        if (out->parameter_count < MOST_PARAMETERS &&
            !add_parameter(tokens, name->at, name->length, parameters, out))
            return false;
        name = NULL;
    }
    return parameters != NULL;
}

/* The `(` of the one that is closed at `close`; 0: it is not near. */
static size_t opening(const struct shmt_source_tokens *tokens, size_t close)
{
    size_t depth = 0;

    for (size_t k = close; k > 0 && close - k < MOST_HEAD; k--) {
        depth += shmt_source_at_is(tokens, k, ")");
        if (shmt_source_at_is(tokens, k, "(") && --depth == 0)
            return k;
    }
    return 0;
}

/* `NAME(...) { return VALUE; }`, whose `return` is at k. */
static bool read_function(const struct shmt_source_tokens *tokens, size_t k,
                          struct shmt_source_define *out, bool *found)
{
    size_t open, end = k + 1;

    *found = false;
    if (k < 4 || !shmt_source_at_is(tokens, k, "return") ||
        !shmt_source_at_is(tokens, k - 1, "{") ||
        !shmt_source_at_is(tokens, k - 2, ")"))
        return true;
    open = opening(tokens, k - 2);
    while (end < tokens->count && end - k < MOST_VALUE &&
           !shmt_source_at_is(tokens, end, ";"))
        end++;
    if (open == 0 ||
        shmt_source_at(tokens, open - 1)->word != SHMT_SOURCE_NAME ||
        !shmt_source_at_is(tokens, end, ";") ||
        !shmt_source_at_is(tokens, end + 1, "}"))
        return true;
    *out = (struct shmt_source_define){
        .name = shmt_source_copy(tokens, open - 1),
        .value = shmt_source_join(tokens, k + 1, end), .takes = true};
    *found = true;
    return out->name != NULL && out->value != NULL &&
           read_parameters(tokens, open + 1, k - 2, out);
}

bool shmt_source_defines(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out)
{
    struct shmt_source_define *defines;
    size_t most = 0, count = 0;
    bool done = true;

    for (size_t k = 0; k < tokens->count; k++)
        most += shmt_source_at(tokens, k)->word == SHMT_SOURCE_DIRECTIVE ||
                shmt_source_at_is(tokens, k, "return");
    defines = shmt_arena_alloc(tokens->arena, most + 1, sizeof *defines);
    if (defines == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        bool found = false;

        if (shmt_source_at(tokens, k)->word == SHMT_SOURCE_DIRECTIVE)
            done = read_macro(tokens, shmt_source_at(tokens, k),
                              &defines[count], &found);
        else
            done = read_function(tokens, k, &defines[count], &found);
        count += found;
    }
    out->defines = defines;
    out->define_count = count;
    return done;
}
