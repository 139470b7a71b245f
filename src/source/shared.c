/* SPDX-License-Identifier: MIT */
/*
 * shared: how much shared memory the arrays take that each function of a source
 * declares.
 */
#include "source/token.h"

#include <stdlib.h>

static bool is_word(const struct shmt_source_tokens *tokens, size_t k)
{
    static const char *const words[] = {"volatile", "const", "static",
                                        "__shared__", NULL};

    return shmt_source_is_any(shmt_source_at(tokens, k), words);
}

/* Behind `__align__(16)`, and words that are no type, at k. */
static size_t type_at(const struct shmt_source_tokens *tokens, size_t k)
{
    for (;;) {
        const bool aligned = shmt_source_at_is(tokens, k, "__align__") ||
                             shmt_source_at_is(tokens, k, "alignas");

        if (aligned && shmt_source_at_is(tokens, k + 1, "("))
            k = shmt_source_behind(tokens, k + 1, tokens->count);
        else if (is_word(tokens, k))
            k++;
        else
            return k;
    }
}

/* The name behind the type at k; `count`: there is none. */
static size_t name_at(const struct shmt_source_tokens *tokens, size_t k)
{
    for (; k < tokens->count && !shmt_source_at_is(tokens, k, ";"); k++) {
        if (shmt_source_at_is(tokens, k, "<"))
            k = shmt_source_behind(tokens, k, tokens->count) - 1;
        else if (shmt_source_at(tokens, k)->word == SHMT_SOURCE_NAME &&
                 (shmt_source_at_is(tokens, k + 1, "[") ||
                  shmt_source_at_is(tokens, k + 1, ";") ||
                  shmt_source_at_is(tokens, k + 1, ",")))
            return k;
    }
    return tokens->count;
}

/* `TYPE a[N][M], b;` of the `__shared__` at k: what each takes, one after the
 * other. */
static bool add_arrays(const struct shmt_source_tokens *tokens, size_t k,
                       struct shmt_text *text)
{
    const size_t type = type_at(tokens, k + 1);
    size_t name = name_at(tokens, type);
    const char *const words = shmt_source_join(tokens, type, name);

    if (words == NULL)
        return false;
    if (name == tokens->count)
        return true;
    while (shmt_source_at(tokens, name)->word == SHMT_SOURCE_NAME) {
        shmt_text_addf(text, "%ssizeof(%s)", text->length == 0 ? "" : " + ",
                       words);
        for (k = name + 1; shmt_source_at_is(tokens, k, "[");) {
            const size_t behind = shmt_source_behind(tokens, k,
                                                     tokens->count);
            const char *const extent =
                shmt_source_join(tokens, k + 1, behind - 1);

            if (extent == NULL)
                return false;
            shmt_text_addf(text, " * (%s)", extent);
            k = behind;
        }
        if (!shmt_source_at_is(tokens, k, ","))
            break;
        name = k + 1;
    }
    return true;
}

/* Those of the function's body; *bytes "": none.  false: there is no memory. */
static bool read_body(const struct shmt_source_tokens *tokens,
                      const struct shmt_source_function *function,
                      const char **bytes)
{
    struct shmt_text text = {0};
    bool done = true;

    for (size_t k = function->body; done && k < function->end; k++)
        if (shmt_source_at_is(tokens, k, "__shared__") &&
            !shmt_source_at_is(tokens, k - 1, "extern"))
            done = add_arrays(tokens, k, &text);
    *bytes = done ? shmt_text_keep(&text, tokens->arena) : NULL;
    shmt_text_free(&text);
    return *bytes != NULL;
}

static bool find(const struct shmt_source_tokens *tokens,
                 const struct shmt_source_shared **out, size_t *count)
{
    struct shmt_source_shared *list;
    size_t most = 1;

    for (size_t k = 0; k < tokens->count; k++)
        most += shmt_source_at_is(tokens, k, "__shared__");
    list = shmt_arena_alloc(tokens->arena, most, sizeof *list);
    *out = list;
    *count = 0;
    for (size_t k = 0; list != NULL && k < tokens->count; k++) {
        struct shmt_source_function function;
        const char *bytes;

        if (!shmt_source_function(tokens, k, &function))
            continue;
        if (!read_body(tokens, &function, &bytes))
            return false;
        if (bytes[0] != '\0' && *count < most)
            list[(*count)++] = (struct shmt_source_shared){
                bytes, shmt_source_at(tokens, function.end - 1)->line};
        k = function.end - 1;
    }
    return list != NULL;
}

enum shmtune_status
shmt_source_shared_arrays(struct shmt_arena *arena, const char *text,
                          const struct shmt_source_shared **out, size_t *count,
                          struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    const bool done =
        shmt_source_split(&tokens, text) && find(&tokens, out, count);

    free(tokens.items);
    return done ? SHMTUNE_OK : shmt_error_memory(err);
}
