/* SPDX-License-Identifier: MIT */
/*
 * init_expr: geometry and bytes as host code writes them, (n + block - 1) /
 * block, said in the expressions of a spec.  Called by init_plan.c, init_type.c
 * and init_global.c.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/init.h"

bool shmt_init_number(const char *value, int64_t *out)
{
    char *end;
    long long number;

    while (*value == '(' || *value == ' ')
        value++;
    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    number = strtoll(value, &end, 0);
    end += strspn(end, "uUlL) ");
    *out = number;
    return *end == '\0' && errno == 0 && number <= INT32_MAX;
}

bool shmt_init_is_dimension(const struct shmt_signature_parameter *parameter)
{
    return !parameter->pointer && shmt_kernel_may_name(parameter->name) &&
           parameter->kind == SHMT_SIGNATURE_ELEMENT &&
           !shmt_element_is_real(parameter->element) &&
           shmt_element_bytes(parameter->element) >= 4;
}

/* -- names ----------------------------------------------------------------- */

/* The spec's own name for a name of the host's: a macro, an extent of the
 * block, or a dimension. */
static const char *find_name(const void *context, const char *name)
{
    const struct shmt_init_draft *const draft = context;
    int64_t number;

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strcmp(name, draft->macros[k].name) == 0 &&
            shmt_init_number(draft->macros[k].value, &number))
            return draft->macros[k].name;
    for (size_t k = 0; k < draft->thread_count; k++)
        if (strcmp(name, draft->threads[k].name) == 0 ||
            (draft->threads[k].from != NULL &&
             strcmp(name, draft->threads[k].from) == 0))
            return draft->threads[k].name;
    for (size_t k = 0; k < draft->dimension_count; k++)
        if (strcmp(name, draft->dimensions[k].from) == 0)
            return draft->dimensions[k].name;
    return NULL;
}

/* "p_rows" of "p.rows"; NULL: no name of a spec. */
static const char *legal(const struct shmt_init_draft *draft,
                         const char *name)
{
    char *const copy = shmt_arena_copy(draft->arena, name, strlen(name));

    for (char *at = copy; at != NULL && *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    return copy != NULL && shmt_kernel_may_name(copy) ? copy : NULL;
}

const char *shmt_init_otherwise(const struct shmt_init_draft *draft,
                                const char *name)
{
    int64_t number;

    for (size_t k = draft->source.variable_count; k-- > 0;) {
        const struct shmt_source_variable *one = &draft->source.variables[k];
        const char *const end = strrchr(one->value, ':');

        if (strcmp(one->name, name) == 0 && strchr(one->value, '?') != NULL &&
            end != NULL && shmt_init_number(end + 1, &number) && number > 0)
            return end + 1 + strspn(end + 1, " ");
    }
    return NULL;
}

const struct shmt_init_dimension *
shmt_init_dimension(const struct shmt_init_draft *draft, const char *name,
                    size_t length)
{
    for (size_t k = 0; k < draft->dimension_count; k++)
        if (strlen(draft->dimensions[k].name) == length &&
            memcmp(draft->dimensions[k].name, name, length) == 0)
            return &draft->dimensions[k];
    return NULL;
}

/* A name that means something else in the spec is none. */
static const char *open_name(const void *context, const char *name)
{
    const struct shmt_init_draft *const draft = context;
    const char *const own = legal(draft, name);
    const struct shmt_init_dimension *const there =
        own == NULL ? NULL : shmt_init_dimension(draft, own, strlen(own));

    return there == NULL || strcmp(there->from, own) == 0 ? own : NULL;
}

/* A name in capitals that the source declares nowhere. */
static bool is_macro(const struct shmt_init_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->source.variable_count; k++)
        if (strcmp(draft->source.variables[k].name, name) == 0)
            return false;
    return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* Whether the word is one of an expression, or is there already. */
static bool is_there(const struct shmt_init_draft *draft, const char *word,
                     size_t length)
{
    static const char *const own[] = {"ceildiv", "min", "max", "if", "else",
                                      "and", "or", "not"};

    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        if (strlen(own[k]) == length && memcmp(own[k], word, length) == 0)
            return true;
    for (size_t k = 0; k < draft->macro_count; k++)
        if (strlen(draft->macros[k].name) == length &&
            memcmp(draft->macros[k].name, word, length) == 0)
            return true;
    for (size_t k = 0; k < draft->thread_count; k++)
        if (strlen(draft->threads[k].name) == length &&
            memcmp(draft->threads[k].name, word, length) == 0)
            return true;
    return shmt_init_dimension(draft, word, length) != NULL;
}

/* Names of the expression that are new, as dimensions, or with `axis` as an
 * extent of the block.  False: there is no room. */
static bool keep_names(struct shmt_init_draft *draft, const char *said,
                       int axis)
{
    enum { USUAL = 256 };

    for (const char *at = said; *at != '\0';) {
        const size_t length = shmt_text_name_length(at);
        const char *name;

        if (length == 0 || isdigit((unsigned char)*at) ||
            is_there(draft, at, length)) {
            at += length > 0 ? length : 1;
            continue;
        }
        name = shmt_arena_copy(draft->arena, at, length);
        at += length;
        if (name == NULL ||
            (axis < 0 ? draft->dimension_count == SHMT_KERNEL_DIMENSIONS
                      : draft->thread_count == 3))
            return false;
        if (axis < 0)
            draft->dimensions[draft->dimension_count++] =
                (struct shmt_init_dimension){
                    name, name, shmt_init_otherwise(draft, name)};
        else
            draft->threads[draft->thread_count++] =
                (struct shmt_init_threads){name, name, USUAL, axis, true,
                                           is_macro(draft, name), 0};
    }
    return true;
}

/* -- expressions ----------------------------------------------------------- */

static const char *say(const struct shmt_init_draft *draft, const char *code,
                       int axis, int line,
                       const struct shmt_source_names *names)
{
    struct shmt_text text = {0};

    const bool said = shmt_source_extent(&draft->source, code, line, axis,
                                         names, &text);

    if (said || text.failed)
        return shmt_text_keep(&text, draft->arena);
    shmt_text_free(&text);
    return NULL;
}

/* With its new names, as keep_names has them.  Where it cannot be said, it
 * leaves none. */
static const char *say_open(struct shmt_init_draft *draft, const char *code,
                            int axis, bool threads, int line,
                            const struct shmt_source_names *names)
{
    const size_t dimension_count = draft->dimension_count;
    const size_t thread_count = draft->thread_count;
    const char *const out = say(draft, code, axis, line, names);

    if (out == NULL || keep_names(draft, out, threads ? axis : -1))
        return out;
    draft->dimension_count = dimension_count;
    draft->thread_count = thread_count;
    return NULL;
}

/* Of what a template of the host's stands for there. */
static size_t bytes_there(const void *context, const char *type)
{
    const struct shmt_init_draft *const draft = context;
    const char *const own = shmt_init_resolved(draft, type);
    const struct shmt_source_names names = {.find = find_name,
                                            .context = draft};
    const struct shmt_source_structure *const structure =
        shmt_init_structure(draft, strncmp(own, "struct ", 7) == 0 ? own + 7
                                                                  : own);
    struct shmt_text code = {0};
    const char *said = NULL;

    if (structure != NULL)
        return structure->bytes;
    shmt_text_addf(&code, "sizeof(%s)", own);
    if (code.failed)
        shmt_arena_fail(draft->arena);
    else if (strcmp(own, type) != 0)
        said = say(draft, shmt_text_string(&code), 0, 0, &names);
    shmt_text_free(&code);
    return said == NULL ? 0 : strtoul(said, NULL, 10);
}

static int line_of(const struct shmt_init_draft *draft)
{
    return draft->launch == NULL ? 0 : draft->launch->line;
}

const char *shmt_init_expr(const struct shmt_init_draft *draft,
                           const char *code)
{
    const struct shmt_source_names names = {.find = find_name,
                                            .context = draft,
                                            .bytes = bytes_there};

    return say(draft, code, 0, line_of(draft), &names);
}

const char *shmt_init_extent(struct shmt_init_draft *draft, const char *code,
                             int axis, bool threads)
{
    const bool opens = !threads || draft->asks_block;
    const struct shmt_source_names names = {.find = find_name,
                                            .context = draft,
                                            .open = opens ? open_name : NULL,
                                            .bytes = bytes_there};

    return say_open(draft, code, axis, threads, line_of(draft), &names);
}

/* -- counts ---------------------------------------------------------------- */

/* Behind casts and parentheses, and of `vector.data()` the vector. */
static bool is_argument(const char *argument, const char *name)
{
    const size_t all = strlen(argument), length = strlen(name);

    if (strcmp(argument, name) == 0)
        return true;
    if (strstr(argument, "raw_pointer_cast") != NULL)
        return shmt_text_mentions(argument, name, 1) > 0;
    return all > length + 1 && argument[0] == '(' &&
           argument[all - length - 1] == ')' &&
           strcmp(argument + all - length, name) == 0;
}

/* The last before the launch that has the name, else the first behind it. */
static const struct shmt_source_allocation *
allocation_as(const struct shmt_init_draft *draft, const char *name)
{
    const struct shmt_source_allocation *found = NULL;

    for (size_t n = 0; n < draft->source.allocation_count; n++) {
        const struct shmt_source_allocation *one =
            &draft->source.allocations[n];

        if (is_argument(name, one->name) &&
            (found == NULL || one->line <= draft->launch->line))
            found = one;
    }
    return found;
}

const char *shmt_init_called(const struct shmt_init_draft *draft,
                             const char *name)
{
    for (size_t k = draft->source.variable_count; k-- > 0;)
        if (draft->source.variables[k].called > 0 &&
            draft->source.variables[k].line <= draft->launch->line &&
            draft->source.variables[k].until >= draft->launch->line &&
            strcmp(draft->source.variables[k].name, name) == 0)
            return draft->source.variables[k].value;
    return NULL;
}

const struct shmt_source_allocation *
shmt_init_allocation(const struct shmt_init_draft *draft, size_t k)
{
    enum { HOPS = 4 };
    const struct shmt_source_launch *launch = draft->launch;
    const struct shmt_source_allocation *found = NULL;
    const char *name;

    if (launch == NULL ||
        launch->argument_count != draft->kernel->signature.count)
        return NULL;
    name = launch->arguments[k];
    for (int hop = 0; hop < HOPS && name != NULL && found == NULL; hop++) {
        found = allocation_as(draft, name);
        name = shmt_init_called(draft, name);
    }
    return found;
}

/* What a count is made from: the type that its bytes are of. */
struct counted {
    struct shmt_init_draft *draft;
    const struct shmt_signature_parameter *parameter;
    size_t bytes;
};

/* What is measured is as long whatever the parameters are: one is the number
 * that the source has. */
static const char *find_counted(const void *context, const char *name)
{
    const struct counted *const counted = context;
    const struct shmt_init_draft *const draft = counted->draft;

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strcmp(name, draft->macros[k].name) == 0)
            return NULL;
    for (size_t k = 0; k < draft->thread_count; k++)
        if (strcmp(name, draft->threads[k].name) == 0 ||
            (draft->threads[k].from != NULL &&
             strcmp(name, draft->threads[k].from) == 0))
            return NULL;
    return find_name(draft, name);
}

static const char *open_counted(const void *context, const char *name)
{
    const struct counted *const counted = context;
    const struct shmt_init_draft *const draft = counted->draft;
    const size_t length = strlen(name);

    return is_there(draft, name, length) &&
                   shmt_init_dimension(draft, name, length) == NULL
               ? NULL : open_name(draft, name);
}

/* A type that is not one of ours is the parameter's, if its type has it. */
static size_t bytes_of(const void *context, const char *type)
{
    const struct counted *const counted = context;

    return shmt_text_mentions(counted->parameter->type, type, 1) > 0
               ? counted->bytes : bytes_there(counted->draft, type);
}

const char *shmt_init_count(struct shmt_init_draft *draft, size_t k)
{
    const struct shmt_signature_parameter *parameter =
        &draft->signature.parameters[k];
    const struct shmt_source_allocation *one = shmt_init_allocation(draft, k);
    const bool known = parameter->kind == SHMT_SIGNATURE_ELEMENT ||
                       parameter->kind == SHMT_SIGNATURE_VECTOR ||
                       parameter->kind == SHMT_SIGNATURE_BITS;
    const size_t lanes = parameter->kind == SHMT_SIGNATURE_VECTOR &&
                                 parameter->lanes > 1
                             ? (size_t)parameter->lanes : 1;
    const size_t element = known ? shmt_element_bytes(parameter->element) : 1;
    const struct counted counted = {draft, parameter, element * lanes};
    const struct shmt_source_names names = {find_counted, &counted,
                                            open_counted, bytes_of};
    struct shmt_text code = {0};
    const char *out = NULL;

    if (one == NULL || element == 0)
        return NULL;
    if (one->bytes[0] != '\0')
        shmt_text_addf(&code, SHMT_SOURCE_ELEMENTS "(%s, %zu)", one->bytes,
                       element);
    else
        shmt_text_addf(&code, "(%s) * %zu", one->count, lanes);
    if (code.failed)
        shmt_arena_fail(draft->arena);
    else
        out = say_open(draft, shmt_text_string(&code), 0, false, one->line,
                       &names);
    shmt_text_free(&code);
    return out;
}
