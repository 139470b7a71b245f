/* SPDX-License-Identifier: MIT */
/*
 * preprocess: a source as a compiler reads it, as far as declarations need:
 * conditions, macros without parameters, typedefs of one name.  Called by
 * command/ for the types of drafts.
 */
#include "source/token.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 32, CONDITIONS = 256, ROOM = 1 << 20, TIMES = 2, WORDS = 16 };

struct macro {
    struct macro *next;        /* of this bucket */
    const char *name, *body;
    bool function, gone;
};

enum { BUCKETS = 1024 };

/* One #if: whether it is read now, whether one of its sides has been, and
 * whether what it stands in is read. */
struct condition {
    bool on, done, outside;
};

struct work {
    struct shmt_arena *arena;
    struct macro *buckets[BUCKETS];
    struct condition conditions[CONDITIONS];
    size_t condition_count, deeper;   /* deeper ones are read whole */
    struct shmt_text text;
    size_t grown, most;               /* bytes that macros have become */
    bool failed;
};

/* -- macros ---------------------------------------------------------------- */

static struct macro **bucket_of(struct work *work, const char *name,
                                size_t length)
{
    unsigned hash = 2166136261u;

    for (size_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)name[k]) * 16777619u;
    return &work->buckets[hash % BUCKETS];
}

static struct macro *find(struct work *work, const char *name, size_t length)
{
    struct macro *one = *bucket_of(work, name, length);

    while (one != NULL && (strlen(one->name) != length ||
                           memcmp(one->name, name, length) != 0))
        one = one->next;
    return one == NULL || one->gone ? NULL : one;
}

static void define(struct work *work, const char *name, size_t length,
                   const char *body, bool function)
{
    struct macro **bucket = bucket_of(work, name, length);
    struct macro *one = shmt_arena_alloc(work->arena, 1, sizeof *one);
    const char *copy = shmt_arena_copy(work->arena, name, length);

    work->failed |= one == NULL || copy == NULL || body == NULL;
    if (work->failed)
        return;
    *one = (struct macro){*bucket, copy, body, function, false};
    *bucket = one;
}

static void define_own(struct work *work, const char *name,
                          const char *body)
{
    define(work, name, strlen(name), body, false);
}

/* "NAME BODY", behind #define. */
static void read_define(struct work *work, const char *at, const char *end)
{
    const size_t length = shmt_text_name_length(at);

    if (length > 0)
        define(work, at, length,
               shmt_source_value(work->arena, at + length +
                                 strspn(at + length, " \t"), end),
               at[length] == '(');
}

/* Adds the word, or what it stands for, `depth` macros deep. */
static void add_word(struct work *work, struct shmt_text *text,
                     const struct shmt_source_token *token, int depth)
{
    struct macro *macro = token->word == SHMT_SOURCE_NAME
                              ? find(work, token->at, token->length)
                              : NULL;
    struct shmt_source_tokens body = {.arena = work->arena};

    if (macro == NULL || macro->function || depth == DEEPEST ||
        work->grown > work->most) {
        work->grown += depth > 0 ? token->length : 0;
        shmt_text_add_bytes(text, token->at, token->length);
        return;
    }
    work->grown++;             /* one that becomes nothing takes time too */
    work->failed |= !shmt_source_split(&body, macro->body);
    macro->gone = true;        /* within itself */
    for (size_t k = 0; !work->failed && k < body.count; k++) {
        if (k > 0)
            shmt_text_add(text, " ");
        add_word(work, text, &body.items[k], depth + 1);
    }
    macro->gone = false;
    free(body.items);
}

/* -- conditions ------------------------------------------------------------ */

/* `defined NAME` and `defined(NAME)`: whether, and how many tokens. */
static bool is_defined(struct work *work,
                       const struct shmt_source_tokens *tokens, size_t k,
                       size_t *count)
{
    const bool braced = k + 1 < tokens->count &&
                        shmt_source_is(&tokens->items[k + 1], "(");
    const size_t at = k + 1 + braced;

    *count = 2 + 2 * (size_t)braced;
    if (at >= tokens->count)
        return false;
    return find(work, tokens->items[at].at, tokens->items[at].length) != NULL;
}

static bool holds(struct work *work, const char *from, const char *end)
{
    struct shmt_source_tokens tokens = {.arena = work->arena};
    struct shmt_text text = {0};
    const char *value = shmt_source_value(work->arena, from, end);
    size_t count;
    bool out;

    work->failed |= value == NULL || !shmt_source_split(&tokens, value);
    for (size_t k = 0; !work->failed && k < tokens.count; k += count) {
        count = 1;
        if (k > 0 && tokens.items[k].at >
                         tokens.items[k - 1].at + tokens.items[k - 1].length)
            shmt_text_add(&text, " ");
        if (shmt_source_is(&tokens.items[k], "defined"))
            shmt_text_add(&text,
                          is_defined(work, &tokens, k, &count) ? "1" : "0");
        else
            add_word(work, &text, &tokens.items[k], 0);
    }
    work->failed |= text.failed;
    out = !work->failed && shmt_source_condition(shmt_text_string(&text));
    shmt_text_free(&text);
    free(tokens.items);
    return out;
}

static bool is_on(const struct work *work)
{
    return work->condition_count == 0 ||
           work->conditions[work->condition_count - 1].on;
}

static void open_condition(struct work *work, bool holds)
{
    const bool outside = is_on(work);

    if (work->condition_count == CONDITIONS || work->deeper > 0)
        work->deeper++;
    else
        work->conditions[work->condition_count++] = (struct condition){
            .on = outside && holds, .done = holds, .outside = outside};
}

static void turn_condition(struct work *work, bool holds)
{
    struct condition *one;

    if (work->condition_count == 0 || work->deeper > 0)
        return;
    one = &work->conditions[work->condition_count - 1];
    one->on = one->outside && !one->done && holds;
    one->done |= holds;
}

static void close_condition(struct work *work)
{
    if (work->deeper > 0)
        work->deeper--;
    else if (work->condition_count > 0)
        work->condition_count--;
}

/* Whether a side that is not read anyway need not be computed. */
static bool is_open(const struct work *work)
{
    return work->condition_count > 0 &&
           work->conditions[work->condition_count - 1].outside &&
           !work->conditions[work->condition_count - 1].done;
}

static void obey(struct work *work, const struct shmt_source_token *token)
{
    const char *at, *end = token->at + token->length;
    struct macro *macro;

    if (shmt_source_directs(token, "ifdef", &at))
        open_condition(work, find(work, at, shmt_text_name_length(at)) != NULL);
    else if (shmt_source_directs(token, "ifndef", &at))
        open_condition(work, find(work, at, shmt_text_name_length(at)) == NULL);
    else if (shmt_source_directs(token, "if", &at))
        open_condition(work, is_on(work) && holds(work, at, end));
    else if (shmt_source_directs(token, "elif", &at))
        turn_condition(work, is_open(work) && holds(work, at, end));
    else if (shmt_source_directs(token, "else", &at))
        turn_condition(work, true);
    else if (shmt_source_directs(token, "endif", &at))
        close_condition(work);
    else if (is_on(work) && shmt_source_directs(token, "define", &at))
        read_define(work, at, end);
    else if (is_on(work) && shmt_source_directs(token, "undef", &at)) {
        macro = find(work, at, shmt_text_name_length(at));
        while (macro != NULL) {
            macro->gone = true;
            macro = find(work, at, shmt_text_name_length(at));
        }
    } else if (is_on(work) && shmt_source_directs(token, "include", &at)) {
        shmt_text_add(&work->text, "\n");
        shmt_text_add_bytes(&work->text, token->at, token->length);
    }
}

/* -- the text -------------------------------------------------------------- */

/* The `;` behind words from `from` on; 0: something else is there. */
static size_t end_of_words(const struct shmt_source_tokens *tokens,
                           size_t from)
{
    size_t to = from;

    while (to < tokens->count && to < from + WORDS &&
           tokens->items[to].word == SHMT_SOURCE_NAME)
        to++;
    return to < tokens->count && shmt_source_is(&tokens->items[to], ";") ? to
                                                                         : 0;
}

/* `typedef WORDS NAME;` and `using NAME = WORDS;` are macros of their own; how
 * many tokens, 0: it is something else, or that of a template. */
static size_t read_typedef(struct work *work,
                           const struct shmt_source_tokens *tokens, size_t k)
{
    const bool with_equals =
        shmt_source_is(&tokens->items[k], "using") && k + 3 < tokens->count &&
        shmt_source_is(&tokens->items[k + 2], "=") &&
        (k == 0 || !shmt_source_is(&tokens->items[k - 1], ">"));
    const size_t from = with_equals ? k + 3 : k + 1;
    const size_t to = end_of_words(tokens, from);
    const size_t last = with_equals ? to : to - 1;
    const struct shmt_source_token *name;

    if (to == 0 || last <= from ||
        (!with_equals && !shmt_source_is(&tokens->items[k], "typedef")))
        return 0;
    name = &tokens->items[with_equals ? k + 1 : last];
    define(work, name->at, name->length,
           shmt_source_join(tokens, from, last), false);
    return to + 1 - k;
}

enum shmtune_status shmt_source_preprocess(struct shmt_arena *arena,
                                           const char *text, const char **out,
                                           struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena, .whole = true};
    struct work *work = calloc(1, sizeof *work);
    size_t typedef_length;
    int line = 1;

    if (work == NULL)
        return shmt_error_memory(err);
    work->arena = arena;
    work->most = TIMES * strlen(text) + ROOM;
    define_own(work, "__CUDACC__", "1");
    define_own(work, "__CUDACC_RTC__", "1");
    define_own(work, "__CUDA_ARCH__", "900");
    define_own(work, "__cplusplus", "201703L");
    work->failed |= !shmt_source_split(&tokens, text);
    for (size_t k = 0; !work->failed && k < tokens.count; k++) {
        const struct shmt_source_token *token = &tokens.items[k];

        if (token->word == SHMT_SOURCE_DIRECTIVE) {
            obey(work, token);
            line = 0;
        }
        if (token->word == SHMT_SOURCE_DIRECTIVE || !is_on(work))
            continue;
        typedef_length = read_typedef(work, &tokens, k);
        if (typedef_length > 0) {
            k += typedef_length - 1;
            continue;
        }
        shmt_text_add(&work->text, token->line > line ? "\n" : " ");
        line = token->line;
        add_word(work, &work->text, token, 0);
    }
    *out = work->failed ? NULL : shmt_text_keep(&work->text, arena);
    shmt_text_free(&work->text);
    free(tokens.items);
    free(work);
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}
