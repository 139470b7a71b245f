/* SPDX-License-Identifier: MIT */
/*
 * token: splits a source into words and signs.  Comments are left out, and so
 * is what stands behind `#if 0`.
 */
#include "source/token.h"

#include <ctype.h>
#include <stdlib.h>

/* Where the reading is. */
struct scan {
    struct shmt_source_tokens *tokens;
    const char *begin, *at;   /* the text, and where in it */
    const char *line_start;
    int line;
    bool fresh;               /* nothing but blanks on this line so far */
    size_t off;               /* depth within an #if 0, 0: outside */
};

static void step(struct scan *scan)
{
    if (*scan->at == '\n') {
        scan->line++;
        scan->line_start = scan->at + 1;
        scan->fresh = true;
    }
    scan->at++;
}

static void step_to(struct scan *scan, const char *end)
{
    while (scan->at < end)
        step(scan);
}

/* Over an end of line that is taken away: what follows is on the same line. */
static void step_on(struct scan *scan, size_t splice)
{
    const bool fresh = scan->fresh;

    step_to(scan, scan->at + splice);
    scan->fresh = fresh;
}

static bool take(struct scan *scan, enum shmt_source_word word,
                 const char *end)
{
    struct shmt_source_tokens *tokens = scan->tokens;

    if (!shmt_array_reserve(&tokens->items, &tokens->room, tokens->count + 1,
                            sizeof *tokens->items))
        return false;
    if (scan->off == 0)
        tokens->items[tokens->count++] = (struct shmt_source_token){
            word, scan->at, (size_t)(end - scan->at), scan->line,
            (int)(scan->at - scan->line_start) + 1
        };
    scan->fresh = false;
    step_to(scan, end);
    return true;
}

/* Follows `#if 0` to its #else or #endif. */
static void follow(struct scan *scan, const char *end)
{
    const char *word = scan->at + 1 + strspn(scan->at + 1, " \t");
    const size_t length = shmt_text_name_length(word);
    const char *what = word + length + strspn(word + length, " \t");
    const bool opens = length >= 2 && strncmp(word, "if", 2) == 0;
    const bool closes = length == 5 && strncmp(word, "endif", 5) == 0;
    const bool turns = length >= 4 && strncmp(word, "el", 2) == 0;

    if (scan->off > 0) {
        scan->off += opens;
        scan->off -= closes || (turns && scan->off == 1);
    } else if (length == 2 && opens && what < end && *what == '0' &&
               shmt_text_name_length(what) == 1) {
        scan->off = 1;
    }
}

static bool take_directive(struct scan *scan)
{
    const char *end = shmt_code_end_of_line(scan->begin, scan->at);
    const bool was_on = scan->off == 0;

    if (!scan->tokens->whole)
        follow(scan, end);
    if (!was_on || scan->off > 0) {
        step_to(scan, end);
        return true;
    }
    return take(scan, SHMT_SOURCE_DIRECTIVE, end);
}

static const char *behind_number(const char *at)
{
    while (isalnum((unsigned char)*at) || *at == '.' || *at == '_' ||
           (*at == '\'' && isalnum((unsigned char)at[1])) ||
           ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]) != NULL))
        at++;
    return at;
}

static bool take_one(struct scan *scan)
{
    const char *at = scan->at;
    const size_t name = shmt_text_name_length(at);

    if (*at == '#' && scan->fresh)
        return take_directive(scan);
    if (*at == '"' || *at == '\'' || (*at == 'R' && at[1] == '"'))
        return take(scan, SHMT_SOURCE_STRING,
                    shmt_code_behind_quotes(scan->begin, at + (*at == 'R')));
    if (isdigit((unsigned char)*at) ||
        (*at == '.' && isdigit((unsigned char)at[1])))
        return take(scan, SHMT_SOURCE_NUMBER, behind_number(at + 1));
    if (name > 0)
        return take(scan, SHMT_SOURCE_NAME, at + name);
    if (strncmp(at, "<<<", 3) == 0 || strncmp(at, ">>>", 3) == 0)
        return take(scan, SHMT_SOURCE_SIGN, at + 3);
    return take(scan, SHMT_SOURCE_SIGN, at + 1);
}

bool shmt_source_split(struct shmt_source_tokens *tokens, const char *text)
{
    struct scan scan = {
        .tokens = tokens, .begin = text, .at = text, .line_start = text,
        .line = 1, .fresh = true
    };

    while (*scan.at != '\0') {
        const char *comment = shmt_code_behind_comment(scan.at);
        const size_t splice = shmt_code_splice(scan.at);

        if (comment != scan.at)
            step_to(&scan, comment);
        else if (splice > 0)
            step_on(&scan, splice);
        else if (isspace((unsigned char)*scan.at) || *scan.at == '\\')
            step(&scan);
        else if (!take_one(&scan))
            break;
    }
    scan.off = 0;
    if (*scan.at != '\0' || !take(&scan, SHMT_SOURCE_END, scan.at)) {
        shmt_arena_fail(tokens->arena);
        return false;
    }
    tokens->count--;
    return true;
}

bool shmt_source_is(const struct shmt_source_token *token, const char *text)
{
    return token->word != SHMT_SOURCE_DIRECTIVE &&
           token->word != SHMT_SOURCE_END &&
           strlen(text) == token->length &&
           memcmp(token->at, text, token->length) == 0;
}

bool shmt_source_is_any(const struct shmt_source_token *token,
                        const char *const *texts)
{
    while (*texts != NULL && !shmt_source_is(token, *texts))
        texts++;
    return *texts != NULL;
}

const char *shmt_source_copy(const struct shmt_source_tokens *tokens,
                             size_t k)
{
    const struct shmt_source_token *const token = shmt_source_at(tokens, k);

    return shmt_arena_copy(tokens->arena, token->at, token->length);
}

bool shmt_source_same(const struct shmt_source_token *a,
                      const struct shmt_source_token *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

int shmt_source_order(const char *a, size_t a_length, const char *b,
                      size_t b_length)
{
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

size_t shmt_source_behind(const struct shmt_source_tokens *tokens,
                          size_t open, size_t end)
{
    const char *const opening = tokens->items[open].at;
    const char closing = *opening == '(' ? ')'
                         : *opening == '[' ? ']'
                         : *opening == '{' ? '}' : '>';
    size_t depth = 0;

    for (size_t k = open; k < end; k++) {
        const struct shmt_source_token *token = &tokens->items[k];

        if (token->word != SHMT_SOURCE_SIGN || token->length != 1)
            continue;
        depth += *token->at == *opening;
        if (*token->at == closing && --depth == 0)
            return k + 1;
    }
    return end;
}

const char *shmt_source_join(const struct shmt_source_tokens *tokens,
                             size_t from, size_t to)
{
    struct shmt_text text = {0};

    for (size_t k = from; k < to; k++) {
        const struct shmt_source_token *token = &tokens->items[k];

        if (token->word == SHMT_SOURCE_DIRECTIVE)
            continue;
        if (k > from && token->at > token[-1].at + token[-1].length)
            shmt_text_add(&text, " ");
        shmt_text_add_bytes(&text, token->at, token->length);
    }
    return shmt_text_keep(&text, tokens->arena);
}
