/* SPDX-License-Identifier: MIT */
/*
 * global: the __constant__ and __device__ variables that a source declares
 * outside of functions, and what a kernel does with them: in its body, and in
 * the functions that this calls.
 */
#include "source/token.h"

#include <stdlib.h>
#include <string.h>

/* Of a source with more functions, or variables, the first are looked at. */
enum { MOST_FUNCTIONS = 1024, MOST_GLOBALS = 256 };

struct function {
    struct shmt_source_function at;
    bool called;
};

struct reader {
    const struct shmt_source_tokens *tokens;
    struct shmt_source_place place;
    size_t function_count;
    struct function *functions;
    size_t global_count;
    struct shmt_source_global *globals;
};

/* -- functions ------------------------------------------------------------ */

static void find_functions(struct reader *reader)
{
    const struct shmt_source_tokens *tokens = reader->tokens;

    for (size_t k = 0; k < tokens->count &&
                       reader->function_count < MOST_FUNCTIONS; k++) {
        struct function *out = &reader->functions[reader->function_count];

        *out = (struct function){.called = false};
        if (!shmt_source_function(tokens, k, &out->at))
            continue;
        reader->function_count++;
        k = out->at.body;
    }
}

/* Marks what the body of one calls. */
static bool mark_calls(struct reader *reader, const struct function *caller)
{
    const struct shmt_source_tokens *tokens = reader->tokens;
    bool more = false;

    for (size_t k = caller->at.body; k < caller->at.end; k++) {
        const struct shmt_source_token *token = shmt_source_at(tokens, k);

        for (size_t n = 0; token->word == SHMT_SOURCE_NAME &&
                           n < reader->function_count; n++) {
            struct function *one = &reader->functions[n];

            if (one->called ||
                !shmt_source_same(token,
                                  shmt_source_at(tokens, one->at.name)))
                continue;
            one->called = true;
            more = true;
        }
    }
    return more;
}

/* The kernel, and all that it calls. */
static void follow_calls(struct reader *reader,
                         const struct shmt_source_kernel *kernel)
{
    bool seen[MOST_FUNCTIONS] = {false};
    bool more = true;

    for (size_t n = 0; n < reader->function_count; n++) {
        const struct shmt_source_token *name =
            shmt_source_at(reader->tokens, reader->functions[n].at.name);

        reader->functions[n].called =
            name->line == kernel->line && name->column == kernel->column;
    }
    while (more) {
        more = false;
        for (size_t n = 0; n < reader->function_count; n++) {
            if (!reader->functions[n].called || seen[n])
                continue;
            seen[n] = true;
            more |= mark_calls(reader, &reader->functions[n]);
        }
    }
}

/* -- declarations --------------------------------------------------------- */

static const char *const before_type[] = {
    "static", "extern", "inline", "constexpr", "const", "volatile",
    "__constant__", "__device__", "__managed__", NULL};

/* Behind alignas(16), __align__(16), [[...]]; k where there is none. */
static size_t behind_attribute(const struct shmt_source_tokens *tokens,
                               size_t k)
{
    static const char *const words[] = {"alignas", "__align__",
                                        "__attribute__", NULL};

    if (shmt_source_is_any(shmt_source_at(tokens, k), words) &&
        shmt_source_at_is(tokens, k + 1, "("))
        return shmt_source_behind(tokens, k + 1, tokens->count);
    return shmt_source_at_is(tokens, k, "[")
               ? shmt_source_behind(tokens, k, tokens->count) : k;
}

/* Where the type begins of a declaration whose first words are at k; *out has
 * what they say. */
static size_t read_words(const struct shmt_source_tokens *tokens, size_t k,
                         struct shmt_source_global *out)
{
    for (;;) {
        const size_t behind = behind_attribute(tokens, k);

        if (behind != k) {
            k = behind;
            continue;
        }
        if (!shmt_source_is_any(shmt_source_at(tokens, k), before_type))
            return k;
        out->constant |= shmt_source_at_is(tokens, k, "__constant__");
        out->fixed |= shmt_source_at_is(tokens, k, "const") ||
                      shmt_source_at_is(tokens, k, "__managed__") ||
                      shmt_source_at_is(tokens, k, "constexpr");
        k++;
    }
}

/* The name of the first variable behind the type at k; `count`: it is none, but
 * a function or a type. */
static size_t find_name(const struct shmt_source_tokens *tokens, size_t k)
{
    size_t angles = 0, name = tokens->count;

    for (; k < tokens->count; k++) {
        const struct shmt_source_token *const token = shmt_source_at(tokens, k);

        if (shmt_source_is(token, "<"))
            angles++;
        else if (shmt_source_is(token, ">"))
            angles -= angles > 0;
        else if (angles > 0)
            continue;
        else if (token->word == SHMT_SOURCE_NAME)
            name = k;
        else if (shmt_source_is(token, ";") || shmt_source_is(token, "=") ||
                 shmt_source_is(token, "[") || shmt_source_is(token, "{") ||
                 shmt_source_is(token, ","))
            return name;
        else if (!shmt_source_is(token, "*") && !shmt_source_is(token, ":"))
            return tokens->count;
    }
    return tokens->count;
}

/* "4 * (N + 1)" of `[4][N + 1]` at k, and where that ends; NULL: not said.
 * false: there is no memory. */
static bool read_extents(const struct shmt_source_tokens *tokens, size_t k,
                         size_t *end, const char **out)
{
    struct shmt_text text = {0};
    bool said = true;

    while (shmt_source_at_is(tokens, k, "[")) {
        const size_t behind = shmt_source_behind(tokens, k, tokens->count);
        const bool word = behind == k + 3;
        const char *extent =
            shmt_source_join(tokens, k + 1, behind > k + 1 ? behind - 1
                                                           : behind);

        if (extent == NULL)
            return false;
        said = said && extent[0] != '\0';
        shmt_text_addf(&text, word ? "%s%s" : "%s(%s)",
                       text.length == 0 ? "" : " * ", extent);
        k = behind;
    }
    *end = k;
    *out = !said             ? NULL
           : text.length == 0 ? "1"
                              : shmt_arena_copy(tokens->arena, text.data,
                                                text.length);
    shmt_text_free(&text);
    return !said || *out != NULL;
}

/* `= VALUE` or `{VALUE}` at k: where it ends. */
static size_t behind_value(const struct shmt_source_tokens *tokens, size_t k)
{
    while (k < tokens->count && !shmt_source_at_is(tokens, k, ",") &&
           !shmt_source_at_is(tokens, k, ";"))
        k = shmt_source_at_is(tokens, k, "{") ||
                    shmt_source_at_is(tokens, k, "(") ||
                    shmt_source_at_is(tokens, k, "[")
                ? shmt_source_behind(tokens, k, tokens->count) : k + 1;
    return k;
}

static bool add_global(struct reader *reader,
                       const struct shmt_source_global *one)
{
    for (size_t k = 0; k < reader->global_count; k++) {
        struct shmt_source_global *const other = &reader->globals[k];

        if (strcmp(other->qualified, one->qualified) != 0)
            continue;
        if (other->value == NULL)    /* one of them is declared extern */
            other->value = one->value;
        return true;
    }
    if (reader->global_count < MOST_GLOBALS)
        reader->globals[reader->global_count++] = *one;
    return true;
}

/* One variable, whose name is at k; *end is behind it.  Several of one
 * declaration have the type of the first. */
static bool read_variable(struct reader *reader, size_t type, size_t k,
                          size_t *end, struct shmt_source_global *one)
{
    const struct shmt_source_tokens *tokens = reader->tokens;
    struct shmt_text path = {0};
    size_t value;

    one->value = NULL;
    one->name = shmt_source_copy(tokens, k);
    shmt_text_add(&path, shmt_source_path(&reader->place));
    shmt_text_add(&path, one->name == NULL ? "" : one->name);
    one->qualified = shmt_text_keep(&path, tokens->arena);
    if (one->name == NULL || one->qualified == NULL ||
        (one->declared.type == NULL &&
         !shmt_source_parameter(tokens, type, k + 1, &one->declared)) ||
        !read_extents(tokens, k + 1, &value, &one->count))
        return false;
    *end = behind_value(tokens, value);
    if (*end > value) {
        value += shmt_source_at_is(tokens, value, "=");
        one->value = shmt_source_join(tokens, value, *end);
        if (one->value == NULL)
            return false;
    }
    return add_global(reader, one);
}

/* The declaration whose __constant__ or __device__ is at *k; *k is then at its
 * end, or where it was.  Words before it stand before: they may be `static`. */
static bool read_declaration(struct reader *reader, size_t *k)
{
    const struct shmt_source_tokens *tokens = reader->tokens;
    struct shmt_source_global one = {0};
    size_t first = *k, type, name, end;
    bool done = true;

    while (first > 0 &&
           shmt_source_is_any(shmt_source_at(tokens, first - 1), before_type))
        first--;
    type = read_words(tokens, first, &one);
    name = find_name(tokens, type);
    if (name <= type || name == tokens->count)
        return true;
    end = name;
    do {
        done = read_variable(reader, type, name, &end, &one);
        *k = end;
        one.declared.pointer = false;
        for (name = end + 1; shmt_source_at_is(tokens, name, "*"); name++)
            one.declared.pointer = true;
    } while (done && shmt_source_at_is(tokens, end, ",") &&
             shmt_source_at(tokens, name)->word == SHMT_SOURCE_NAME);
    return done;
}

/* Behind the braces at k, unless they are a namespace's or those of
 * `extern "C"`; k for these. */
static size_t behind_body(const struct reader *reader, size_t k)
{
    const struct shmt_source_tokens *tokens = reader->tokens;

    return k == reader->place.opens ||
                   (k > 0 &&
                    shmt_source_at(tokens, k - 1)->word == SHMT_SOURCE_STRING)
               ? k : shmt_source_behind(tokens, k, tokens->count);
}

static bool find_globals(struct reader *reader)
{
    const struct shmt_source_tokens *tokens = reader->tokens;
    bool done = true;

    for (size_t k = 0; done && k < tokens->count; k++) {
        if (shmt_source_at_is(tokens, k, "{")) {
            const size_t behind = behind_body(reader, k);

            if (behind > k) {
                k = behind - 1;
                continue;
            }
        }
        if (shmt_source_at_is(tokens, k, "__constant__") ||
            shmt_source_at_is(tokens, k, "__device__"))
            done = read_declaration(reader, &k);
        done = done && shmt_source_pass(tokens, k, &reader->place);
    }
    return done;
}

/* -- what is done with them ----------------------------------------------- */

static bool is_parameter(const struct shmt_source_kernel *kernel,
                         const char *name)
{
    for (size_t k = 0; k < kernel->signature.count; k++)
        if (strcmp(kernel->signature.parameters[k].name, name) == 0)
            return true;
    return false;
}

static void find_uses(const struct reader *reader,
                      const struct shmt_source_kernel *kernel)
{
    for (size_t g = 0; g < reader->global_count; g++) {
        struct shmt_source_global *const one = &reader->globals[g];
        const bool array = one->count == NULL || strcmp(one->count, "1") != 0;

        for (size_t n = 0; n < reader->function_count; n++) {
            const struct function *const body = &reader->functions[n];
            bool used = false;
            unsigned use;

            if (!body->called ||
                (is_parameter(kernel, one->name) &&
                 shmt_source_at(reader->tokens, body->at.name)->line ==
                     kernel->line))
                continue;
            use = shmt_source_use_global(reader->tokens, body->at.body,
                                         body->at.end,
                                         one->name, array, &used);
            one->unknown |= used && use == SHMT_SOURCE_UNKNOWN;
            one->used |= used;
            one->declared.use |= use;
        }
        if (one->unknown)
            one->declared.use = SHMT_SOURCE_UNKNOWN;
    }
}

enum shmtune_status
shmt_source_globals(struct shmt_arena *arena, const char *text,
                    const struct shmt_source_kernel *kernel,
                    const struct shmt_source_global **out, size_t *count,
                    struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct reader reader = {.tokens = &tokens,
                            .place = {.opens = SIZE_MAX}};
    bool done = shmt_source_split(&tokens, text);

    reader.globals = shmt_arena_alloc(arena, MOST_GLOBALS,
                                      sizeof *reader.globals);
    reader.functions = malloc(MOST_FUNCTIONS * sizeof *reader.functions);
    done = done && reader.globals != NULL && reader.functions != NULL &&
           find_globals(&reader);
    if (done && reader.global_count > 0 && kernel != NULL) {
        find_functions(&reader);
        follow_calls(&reader, kernel);
        find_uses(&reader, kernel);
    }
    free(reader.functions);
    free(tokens.items);
    if (!done)
        return shmt_error_memory(err);
    *out = reader.globals;
    *count = reader.global_count;
    return SHMTUNE_OK;
}
