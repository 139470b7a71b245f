/* SPDX-License-Identifier: MIT */
/*
 * macro: the macros that a source lets others give: #ifndef NAME, or
 * #if !defined(NAME), #define NAME VALUE, #endif.
 */
#include "source/token.h"

bool shmt_source_directs(const struct shmt_source_token *token,
                         const char *word, const char **behind)
{
    const char *at = token->at + 1;

    if (token->word != SHMT_SOURCE_DIRECTIVE)
        return false;
    at += strspn(at, " \t");
    if (shmt_text_name_length(at) != strlen(word) ||
        strncmp(at, word, strlen(word)) != 0)
        return false;
    at += strlen(word);
    *behind = at + strspn(at, " \t");
    return true;
}

const char *shmt_source_value(struct shmt_arena *arena, const char *from,
                              const char *end)
{
    struct shmt_text text = {0};

    while (from < end) {
        if (from[0] == '/' && from + 1 < end && from[1] == '/')
            break;
        if (from[0] == '/' && from + 1 < end && from[1] == '*') {
            const char *close = strstr(from + 2, "*/");

            from = close == NULL || close + 2 > end ? end : close + 2;
            continue;
        }
        if (*from != '\\' && *from != '\n' && *from != '\r' &&
            (text.length > 0 || (*from != ' ' && *from != '\t')))
            shmt_text_add_bytes(&text, from, 1);
        from++;
    }
    while (text.length > 0 && (text.data[text.length - 1] == ' ' ||
                               text.data[text.length - 1] == '\t'))
        text.length--;
    return shmt_text_keep(&text, arena);
}

/* #ifndef NAME, #if !defined NAME, #if !defined(NAME): the place of NAME; no
 * more is asked. */
static bool asks_for_absent(const struct shmt_source_token *token,
                            const char **name)
{
    const char *const end = token->at + token->length;
    const char *at;
    bool closes;

    if (shmt_source_directs(token, "ifndef", name))
        return true;
    if (!shmt_source_directs(token, "if", &at) || *at != '!')
        return false;
    at += 1 + strspn(at + 1, " \t");
    if (shmt_text_name_length(at) != strlen("defined") ||
        strncmp(at, "defined", strlen("defined")) != 0)
        return false;
    at += strlen("defined");
    at += strspn(at, " \t");
    closes = *at == '(';
    if (closes)
        at += 1 + strspn(at + 1, " \t");
    *name = at;
    at += shmt_text_name_length(at);
    at += strspn(at, " \t");
    if (closes && *at++ != ')')
        return false;
    at += strspn(at, " \t\r");
    return at >= end || *at == '/';
}

/* The three lines at `k`.  *found is false when they are something else, as the
 * guard of a header. */
static bool read_macro(const struct shmt_source_tokens *tokens, size_t k,
                       struct shmt_source_macro *out, bool *found)
{
    const struct shmt_source_token *token = &tokens->items[k];
    const char *asked, *defined, *closing;
    size_t length;

    *found = false;
    if (k + 2 >= tokens->count ||
        !asks_for_absent(token, &asked) ||
        !shmt_source_directs(token + 1, "define", &defined) ||
        !shmt_source_directs(token + 2, "endif", &closing))
        return true;
    length = shmt_text_name_length(asked);
    if (length == 0 || shmt_text_name_length(defined) != length ||
        memcmp(asked, defined, length) != 0 || defined[length] == '(')
        return true;
    out->name = shmt_arena_copy(tokens->arena, asked, length);
    defined += length;
    out->value = shmt_source_value(tokens->arena,
                                   defined + strspn(defined, " \t"),
                                   token[1].at + token[1].length);
    out->line = token[1].line;
    out->column = token[1].column;
    *found = out->value != NULL && out->value[0] != '\0';
    return out->name != NULL && out->value != NULL;
}

bool shmt_source_macros(const struct shmt_source_tokens *tokens,
                        struct shmt_source *out)
{
    struct shmt_source_macro *macros;
    size_t most = 0, count = 0;
    bool done = true;

    for (size_t k = 0; k < tokens->count; k++)
        most += tokens->items[k].word == SHMT_SOURCE_DIRECTIVE;
    macros = shmt_arena_alloc(tokens->arena, most + 1, sizeof *macros);
    if (macros == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        bool found = false;

        done = read_macro(tokens, k, &macros[count], &found);
        count += found;
    }
    out->macros = macros;
    out->macro_count = count;
    return done;
}
