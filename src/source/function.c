/* SPDX-License-Identifier: MIT */
/*
 * function: where a source defines a function, what its parameters are called,
 * and whether several have one name.
 */
#include <stdlib.h>
#include <string.h>

#include "source/source.h"
#include "source/token.h"

/* Of a function from its name to its body, in tokens. */
enum { MOST_HEAD = 512 };

bool shmt_source_head(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_function *out)
{
    static const char *const no_names[] = {"if", "for", "while", "switch",
                                           "catch", NULL};
    const size_t most = k + MOST_HEAD < tokens->count ? k + MOST_HEAD
                                                      : tokens->count;
    size_t behind;

    if (shmt_source_at(tokens, k)->word != SHMT_SOURCE_NAME ||
        !shmt_source_at_is(tokens, k + 1, "(") ||
        shmt_source_is_any(shmt_source_at(tokens, k), no_names))
        return false;
    behind = shmt_source_behind(tokens, k + 1, most);
    *out = (struct shmt_source_function){k, k + 2, behind - 1, behind, behind};
    while (shmt_source_at_is(tokens, out->body, "const") ||
           shmt_source_at_is(tokens, out->body, "noexcept"))
        out->body++;
    return shmt_source_at_is(tokens, behind - 1, ")") &&
           shmt_source_at_is(tokens, out->body, "{");
}

bool shmt_source_function(const struct shmt_source_tokens *tokens, size_t k,
                          struct shmt_source_function *out)
{
    if (!shmt_source_head(tokens, k, out))
        return false;
    out->end = shmt_source_behind(tokens, out->body, tokens->count);
    return true;
}

enum shmtune_status
shmt_source_is_overloaded(struct shmt_arena *arena, const char *text,
                          const char *name, bool *out, struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    const bool split = shmt_source_split(&tokens, text);
    struct shmt_source_function function;
    size_t count = 0;

    for (size_t k = 0; split && k < tokens.count; k++)
        count += shmt_source_at_is(&tokens, k, name) &&
                 shmt_source_function(&tokens, k, &function);
    free(tokens.items);
    *out = count > 1;
    return split ? SHMTUNE_OK : shmt_error_memory(err);
}

const char *const *
shmt_source_names_in(const struct shmt_source_tokens *tokens, size_t from,
                     size_t to, size_t *count)
{
    const char **names =
        shmt_arena_alloc(tokens->arena, to - from + 1, sizeof *names);
    const struct shmt_source_token *name = NULL;
    bool given = false;
    size_t depth = 0;

    *count = 0;
    for (size_t k = from; names != NULL && k <= to; k++) {
        const struct shmt_source_token *token = shmt_source_at(tokens, k);

        depth += k < to && (shmt_source_is(token, "<") ||
                            shmt_source_is(token, "("));
        if (depth > 0) {
            depth -= shmt_source_is(token, ">") || shmt_source_is(token, ")");
            if (k < to)
                continue;
        }
        given = given || shmt_source_is(token, "=") ||
                shmt_source_is(token, "[");
        if (k < to && token->word == SHMT_SOURCE_NAME && !given)
            name = token;
        if (k < to && !shmt_source_is(token, ","))
            continue;
        if (name != NULL) {
            names[*count] = shmt_arena_copy(tokens->arena, name->at,
                                            name->length);
            if (names[(*count)++] == NULL)
                return NULL;
        }
        name = NULL;
        given = false;
    }
    return names;
}

size_t shmt_source_template(const struct shmt_source_tokens *tokens, size_t k)
{
    while (k-- > 0) {
        if (shmt_source_at_is(tokens, k, "template"))
            return k;
        if (shmt_source_at_is(tokens, k, ";") ||
            shmt_source_at_is(tokens, k, "}") ||
            shmt_source_at_is(tokens, k, "{"))
            break;
    }
    return tokens->count;
}
