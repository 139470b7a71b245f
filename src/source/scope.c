/* SPDX-License-Identifier: MIT */
/*
 * scope: in which namespaces the tokens of a source are, as code at its end
 * names them: an inline namespace, or one without a name, need not be said.
 */
#include "source/token.h"

/* A path is no longer: an entry of a spec is not, either. */
enum { MOST_PATH = 512 };

struct shmt_source_scope {
    const struct shmt_source_scope *outer;
    const char *path;          /* "a::b::" */
};

struct shmt_source_branch {
    const struct shmt_source_branch *outer;
    const struct shmt_source_scope *scope;   /* where the #if is */
};

/* "a::" of the namespace whose words begin at k, into the path.  The `{` that
 * opens it; `count`: it is none, but another name for one, or its use. */
static size_t read_words(const struct shmt_source_tokens *tokens, size_t k,
                         bool is_inline, struct shmt_text *path)
{
    const struct shmt_source_token *name = NULL;

    for (;; k++) {
        const struct shmt_source_token *const token = shmt_source_at(tokens, k);
        const bool ends = shmt_source_is(token, "{");

        if ((ends || shmt_source_is(token, ":")) && name != NULL) {
            if (!is_inline && path->length + name->length < MOST_PATH) {
                shmt_text_add_bytes(path, name->at, name->length);
                shmt_text_add(path, "::");
            }
            name = NULL;
            is_inline = false;
        }
        if (ends)
            return k;
        if (shmt_source_is(token, "["))
            k = shmt_source_behind(tokens, k, tokens->count) - 1;
        else if (shmt_source_is(token, "inline"))
            is_inline = true;
        else if (token->word == SHMT_SOURCE_NAME &&
                 shmt_source_is(token + 1, "("))    /* an attribute */
            k = shmt_source_behind(tokens, k + 1, tokens->count) - 1;
        else if (token->word == SHMT_SOURCE_NAME &&
                 !shmt_source_is(token, "namespace"))
            name = token;
        else if (!shmt_source_is(token, ":"))
            return tokens->count;
    }
}

static bool open_scope(const struct shmt_source_tokens *tokens, size_t k,
                       struct shmt_source_place *place)
{
    struct shmt_source_scope *const scope =
        shmt_arena_alloc(tokens->arena, 1, sizeof *scope);

    if (scope == NULL)
        return false;
    scope->outer = place->scope;
    scope->path = k == place->opens ? place->opened
                                    : shmt_source_path(place);
    place->scope = scope;
    return true;
}

static bool find_namespace(const struct shmt_source_tokens *tokens, size_t k,
                           struct shmt_source_place *place)
{
    const bool is_inline = k > 0 && shmt_source_at_is(tokens, k - 1, "inline");
    struct shmt_text path = {0};

    shmt_text_add(&path, shmt_source_path(place));
    place->opens = read_words(tokens, k + 1, is_inline, &path);
    place->opened = shmt_text_keep(&path, tokens->arena);
    return place->opened != NULL;
}

/* Each side of a condition begins where the condition does: both may open what
 * is closed once. */
static bool follow_condition(const struct shmt_source_tokens *tokens,
                             const struct shmt_source_token *token,
                             struct shmt_source_place *place)
{
    struct shmt_source_branch *branch;
    const char *rest;

    if (shmt_source_directs(token, "if", &rest) ||
        shmt_source_directs(token, "ifdef", &rest) ||
        shmt_source_directs(token, "ifndef", &rest)) {
        branch = shmt_arena_alloc(tokens->arena, 1, sizeof *branch);
        if (branch == NULL)
            return false;
        *branch = (struct shmt_source_branch){place->branch, place->scope};
        place->branch = branch;
    } else if (place->branch != NULL &&
               (shmt_source_directs(token, "else", &rest) ||
                shmt_source_directs(token, "elif", &rest))) {
        place->scope = place->branch->scope;
    } else if (place->branch != NULL &&
               shmt_source_directs(token, "endif", &rest)) {
        place->branch = place->branch->outer;
    }
    return true;
}

bool shmt_source_pass(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_place *place)
{
    const struct shmt_source_token *const token = shmt_source_at(tokens, k);

    if (token->word == SHMT_SOURCE_DIRECTIVE)
        return follow_condition(tokens, token, place);
    if (shmt_source_is(token, "namespace"))
        return find_namespace(tokens, k, place);
    if (shmt_source_is(token, "{"))
        return open_scope(tokens, k, place);
    if (shmt_source_is(token, "}") && place->scope != NULL)
        place->scope = place->scope->outer;
    return true;
}

const char *shmt_source_path(const struct shmt_source_place *place)
{
    return place->scope == NULL ? "" : place->scope->path;
}
