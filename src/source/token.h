/* SPDX-License-Identifier: MIT */
/*
 * token: the words and signs of a source.  For the files of source/ alone.
 */
#ifndef SHMT_SOURCE_TOKEN_H
#define SHMT_SOURCE_TOKEN_H

#include "source/source.h"

enum shmt_source_word {
    SHMT_SOURCE_NAME,
    SHMT_SOURCE_NUMBER,
    SHMT_SOURCE_STRING,       /* of characters too */
    SHMT_SOURCE_SIGN,         /* one character, or <<< or >>> */
    SHMT_SOURCE_DIRECTIVE,    /* a line of the preprocessor, from its # on */
    SHMT_SOURCE_END
};

struct shmt_source_token {
    enum shmt_source_word word;
    const char *at;
    size_t length;
    int line, column;
};

/* Those of a text, with one END behind the last. */
struct shmt_source_tokens {
    struct shmt_arena *arena;
    bool whole;                /* `#if 0` is read as any other condition */
    size_t count, room;
    struct shmt_source_token *items;   /* on the heap */
};
/* false: there is no memory. */
bool shmt_source_split(struct shmt_source_tokens *tokens, const char *text);

bool shmt_source_is(const struct shmt_source_token *token, const char *text);
/* Whether it has one of these texts, of which NULL is behind the last. */
bool shmt_source_is_any(const struct shmt_source_token *token,
                        const char *const *texts);
/* The token at k; before the first and behind the last: END. */
static inline const struct shmt_source_token *
shmt_source_at(const struct shmt_source_tokens *tokens, size_t k)
{
    return &tokens->items[k < tokens->count ? k : tokens->count];
}
static inline bool shmt_source_at_is(const struct shmt_source_tokens *tokens,
                                     size_t k, const char *text)
{
    return shmt_source_is(shmt_source_at(tokens, k), text);
}
/* Its text; NULL: there is no memory. */
const char *shmt_source_copy(const struct shmt_source_tokens *tokens,
                             size_t k);
/* Whether both have the same text. */
bool shmt_source_same(const struct shmt_source_token *a,
                      const struct shmt_source_token *b);
/* For sorting names: below, at or above 0. */
int shmt_source_order(const char *a, size_t a_length, const char *b,
                      size_t b_length);
/* The token behind the bracket that closes the one at `open`; `end` when it is
 * not closed before. */
size_t shmt_source_behind(const struct shmt_source_tokens *tokens,
                          size_t open, size_t end);
/* Tokens [from, to) as one text, with a blank between words; NULL: there is no
 * memory. */
const char *shmt_source_join(const struct shmt_source_tokens *tokens,
                             size_t from, size_t to);

/* type.c: the declaration of a parameter.  false: there is no memory. */
bool shmt_source_parameter(const struct shmt_source_tokens *tokens,
                           size_t from, size_t to,
                           struct shmt_signature_parameter *out);
/* What a type is called in CUDA, "float4" as well; false: not one of ours. */
bool shmt_source_type(const char *name, size_t length,
                      struct shmt_signature_parameter *out);

/* macro.c: whether a directive has this word; what stands behind it. */
bool shmt_source_directs(const struct shmt_source_token *token,
                         const char *word, const char **behind);
/* The text without comments and line ends, and without blanks around it; NULL:
 * there is no memory. */
const char *shmt_source_value(struct shmt_arena *arena, const char *from,
                              const char *end);

/* scope.c: where a reader of tokens is, at first {.opens = SIZE_MAX}. */
struct shmt_source_place {
    const struct shmt_source_scope *scope;
    const struct shmt_source_branch *branch;
    size_t opens;              /* the `{` of the next namespace */
    const char *opened;        /* and its path */
};
/* To be called with each token in turn.  false: there is no memory. */
bool shmt_source_pass(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_place *place);
/* The namespaces there, "a::b::", or "". */
const char *shmt_source_path(const struct shmt_source_place *place);

/* function.c: a function that is defined: tokens of its name, of what stands
 * within its parentheses, [from, to), and of its body, [body, end). */
struct shmt_source_function {
    size_t name, from, to, body, end;
};
/* The one whose name is at k; of `head` all but where it ends.  false: none
 * is. */
bool shmt_source_function(const struct shmt_source_tokens *tokens, size_t k,
                          struct shmt_source_function *out);
bool shmt_source_head(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_function *out);
/* The `template` before the word at k in its declaration; `count`: there is
 * none. */
size_t shmt_source_template(const struct shmt_source_tokens *tokens, size_t k);
/* The names of what is declared in a list, each the last of its item before a
 * `=` or a `[`; NULL: there is no memory. */
const char *const *
shmt_source_names_in(const struct shmt_source_tokens *tokens, size_t from,
                     size_t to, size_t *count);

/* pointer.c: what the body in tokens [from, to) does with what a parameter
 * points to: READ, WRITTEN, both, or UNKNOWN, where it is used otherwise. */
unsigned shmt_source_use(const struct shmt_source_tokens *tokens, size_t from,
                         size_t to, const char *name);
/* use.c: behind the indices at k, and members of that. */
size_t shmt_source_behind_element(const struct shmt_source_tokens *tokens,
                                  size_t k, size_t to);
/* What is done to an element by what stands behind it, at k. */
unsigned shmt_source_use_behind(const struct shmt_source_tokens *tokens,
                                size_t k, size_t to);

/* The same of a variable that is an array, or not; *used: it is named there. */
unsigned shmt_source_use_global(const struct shmt_source_tokens *tokens,
                                size_t from, size_t to, const char *name,
                                bool array, bool *used);

/* condition.c: what `#if TEXT` comes to, its macros replaced; what is no
 * number of C is 0, and what cannot be read is false. */
bool shmt_source_condition(const char *text);

/* declare.c, macro.c, define.c, host.c, allocate.c: the parts of what is read.
 * false: there is no memory. */
bool shmt_source_kernels(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out);
bool shmt_source_macros(const struct shmt_source_tokens *tokens,
                        struct shmt_source *out);
bool shmt_source_defines(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out);
bool shmt_source_host(const struct shmt_source_tokens *tokens,
                      struct shmt_source *out);
/* host.c: where the item of a list that begins at `from` ends. */
size_t shmt_source_end_of_item(const struct shmt_source_tokens *tokens,
                               size_t from, size_t to);
/* Texts of the items of the list from `from` to `to`; NULL: there is no
 * memory. */
const char *const *shmt_source_items(const struct shmt_source_tokens *tokens,
                                     size_t from, size_t to, size_t *count);
/* caller.c: once the launches and variables are there. */
bool shmt_source_callers(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out);
bool shmt_source_allocations(const struct shmt_source_tokens *tokens,
                             struct shmt_source *out);

#endif
