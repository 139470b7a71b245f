/* SPDX-License-Identifier: MIT */
/*
 * init_macro: the macros of a source that its spec may give other values:
 * those that the kernel or its launch names, behind #ifndef, or plain
 * definitions and constants that reach the block, an array in shared memory or
 * the launch bounds.  Called by init.c.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/init.h"
#include "kernel/kernel.h"

bool shmt_init_is_macro(const struct shmt_init_draft *draft, const char *name)
{
    for (size_t k = 0; name != NULL && k < draft->macro_count; k++)
        if (strcmp(draft->macros[k].name, name) == 0)
            return true;
    return false;
}

/* M_PI, FLT_MAX: nothing to tune. */
static bool is_real(const char *value)
{
    int64_t number;

    while (*value == '(' || *value == '-' || *value == ' ')
        value++;
    return (isdigit((unsigned char)*value) || *value == '.') &&
           strpbrk(value, ".eE") != NULL && strncmp(value, "0x", 2) != 0 &&
           !shmt_init_number(value, &number);
}

static bool is_type(const char *value)
{
    static const char *const types[] = {"float", "double", "int", "unsigned",
                                        "long", "short", "char", "half",
                                        "__half", "size_t"};

    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (strncmp(value, types[k], strlen(types[k])) == 0)
            return true;
    return false;
}

/* -- what a definition reaches --------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\n");
}

const char *shmt_init_factor(const char *at, size_t *length)
{
    at = skip_blanks(at);
    if (*at != '*')
        return NULL;
    at = skip_blanks(at + 1);
    *length = shmt_text_name_length(at);
    return at;
}

const char *shmt_init_factor_before(const char *text, const char *at,
                                    size_t *length)
{
    const char *from, *end;

    while (at > text && strchr(" \t\n", at[-1]) != NULL)
        at--;
    if (at == text || *--at != '*')
        return NULL;
    while (at > text && strchr(" \t\n", at[-1]) != NULL)
        at--;
    for (from = end = at; from > text && shmt_text_name_length(from - 1) > 0;)
        from--;
    *length = (size_t)(end - from);
    return from;
}

static bool is_named(const char *word, size_t length, const char *name)
{
    return word != NULL && length == strlen(name) &&
           memcmp(word, name, length) == 0;
}

/* Behind `blockIdx.x`: whether the name is a factor of it. */
static bool is_factor(const char *at, const char *name)
{
    const char *word;
    size_t length;

    while ((word = shmt_init_factor(at, &length)) != NULL && length > 0) {
        if (is_named(word, length, name))
            return true;
        at = word + length;
    }
    return false;
}

/* Whether the name and a `*` stand right before `at`. */
static bool stands_before(const char *text, const char *at, const char *name)
{
    size_t length = 0;
    const char *const word = shmt_init_factor_before(text, at, &length);

    return is_named(word, length, name);
}

static bool multiplies_block(const char *text, const char *name)
{
    static const char index[] = "blockIdx.x";       /* or .y, .z */
    const size_t length = sizeof index - 1;

    for (const char *at = text; (at = strstr(at, "blockIdx.")) != NULL;
         at += length)
        if (strlen(at) <= length || is_factor(at + length, name) ||
            stands_before(text, at, name))
            return strlen(at) > length;
    return false;
}

static const char *reaches_kernel(const struct shmt_init_draft *draft,
                                  const char *name)
{
    return multiplies_block(draft->parts, name)
               ? "it multiplies the block's index"
               : shmt_source_reaches(draft->parts, name);
}

/* Whether the text names the variable, or that of "threads.x". */
static bool names(const char *text, const char *variable)
{
    char own[128];

    snprintf(own, sizeof own, "%.*s", (int)strcspn(variable, "."), variable);
    return shmt_text_mentions(text, own, 1) > 0;
}

/* Whether a variable still has that value at the launch: none has been given to
 * it behind, or between. */
static bool holds(const struct shmt_init_draft *draft, size_t which)
{
    const struct shmt_source_variable *const all = draft->source.variables;
    const struct shmt_source_variable *const one = &all[which];
    const int launch = draft->launch->line;

    if (one->called > 0)
        return true;
    for (size_t k = 0; k < draft->source.variable_count; k++)
        if (all[k].called == 0 && all[k].line > one->line &&
            all[k].line <= launch && strcmp(all[k].name, one->name) == 0)
            return false;
    return one->line <= launch;
}

/* `<<<grid, NAME>>>`, or `dim3 threads(NAME, 8)`, `threads.x = NAME` for
 * that. */
static bool is_launched(const struct shmt_init_draft *draft, const char *name)
{
    const char *const block =
        draft->launch == NULL ? "" : draft->launch->block;

    if (shmt_text_mentions(block, name, 1) > 0)
        return true;
    for (size_t k = 0; k < draft->source.variable_count; k++)
        if (names(block, draft->source.variables[k].name) &&
            holds(draft, k) &&
            shmt_text_mentions(draft->source.variables[k].value, name, 1) > 0)
            return true;
    return false;
}

static const char *reached_by(const struct shmt_init_draft *draft,
                              const char *name)
{
    return is_launched(draft, name) ? "it is an extent of the block"
                                    : reaches_kernel(draft, name);
}

static bool is_own_macro(const struct shmt_init_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->file.macro_count; k++)
        if (strcmp(draft->file.macros[k].name, name) == 0)
            return true;
    return false;
}

/* A macro of another kernel, or of the host, changes nothing of this one; of
 * one of the file that nobody names nothing is known. */
static bool is_used(const struct shmt_init_draft *draft, const char *name,
                    const char *value)
{
    int64_t number;

    return (shmt_text_mentions(draft->parts, name, 1) > 0 ||
            shmt_text_mentions(draft->launching, name, 1) > 0 ||
            (is_own_macro(draft, name) &&
             shmt_source_only_defines(draft->text, name))) &&
           !(shmt_init_number(value, &number) &&
             shmt_source_is_warp(name, number));
}

/* -- all of them ----------------------------------------------------------- */

static void add(struct shmt_init_draft *draft, struct shmt_init_macro macro)
{
    macro.most = is_launched(draft, macro.name) ? SHMT_INIT_BLOCK : INT64_MAX;
    if (!shmt_init_is_macro(draft, macro.name))
        draft->macros[draft->macro_count++] = macro;
}

/* Behind #ifndef; what is given for it is no text of a type. */
static void add_optional(struct shmt_init_draft *draft)
{
    const struct shmt_source *const source = &draft->source;

    for (size_t k = 0; k < source->macro_count; k++) {
        const char *const name = source->macros[k].name;
        const char *const given = shmt_init_given(draft, name);
        int64_t number;

        if (!is_used(draft, name, source->macros[k].value))
            continue;
        if (given != NULL ? shmt_init_number(given, &number)
                          : !is_real(source->macros[k].value) &&
                                !is_type(source->macros[k].value))
            add(draft, (struct shmt_init_macro){
                           .name = name, .given = given != NULL,
                           .value = given != NULL ? given
                                                  : source->macros[k].value});
    }
}

static void add_plain(struct shmt_init_draft *draft)
{
    const struct shmt_source *const source = &draft->source;
    int64_t number;

    for (size_t k = 0; k < source->define_count; k++) {
        const struct shmt_source_define *const one = &source->defines[k];
        const bool given = shmt_init_given(draft, one->name) != NULL;
        const char *const reaches =
            one->takes || !shmt_kernel_may_name(one->name) ||
                    !shmt_init_number(one->value, &number) ||
                    !is_used(draft, one->name, one->value)
                ? NULL : reached_by(draft, one->name);

        if (reaches != NULL)
            add(draft, (struct shmt_init_macro){
                           .name = one->name, .value = one->value,
                           .reaches = reaches, .given = given});
    }
}

/* One that the kernel is made of, where the source has no other of the name. */
static bool add_constant(struct shmt_init_draft *draft,
                         const struct shmt_kernel_constant *one)
{
    const int64_t number = shmt_kernel_constant_value(one);
    const char *const name =
        shmt_arena_copy(draft->arena, one->name, one->length);
    const char *const value =
        shmt_arena_copy(draft->arena, one->value,
                        strspn(one->value, "0123456789"));
    const char *reaches;

    if (name == NULL || value == NULL)
        return false;
    reaches = shmt_kernel_may_name(name) && is_used(draft, name, value) &&
                      shmt_kernel_is_constant(draft->own, name, number)
                  ? reached_by(draft, name) : NULL;
    if (reaches != NULL)
        add(draft, (struct shmt_init_macro){
                       .name = name, .value = value, .reaches = reaches,
                       .constant = true});
    return true;
}

static bool add_constants(struct shmt_init_draft *draft)
{
    const char *const end = draft->parts + strlen(draft->parts);
    struct shmt_kernel_constants scan = {.begin = draft->parts,
                                         .at = draft->parts};
    struct shmt_kernel_constant one;

    while (draft->macro_count < draft->macro_room &&
           shmt_kernel_next_constant(&scan, end, &one))
        if (!add_constant(draft, &one))
            return false;
    return true;
}

static bool is_defined(const struct shmt_init_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->source.define_count; k++)
        if (strcmp(draft->source.defines[k].name, name) == 0)
            return true;
    return false;
}

static enum shmt_source_reach where_of(const struct shmt_init_draft *draft,
                                       const char *name)
{
    return multiplies_block(draft->parts, name)
               ? SHMT_SOURCE_NOWHERE
               : shmt_source_reach_of(draft->parts, name);
}

/* Names that the kernel uses and nobody declares; those of the toolkit's
 * headers reach no block and no array. */
static enum shmtune_status add_undeclared(struct shmt_init_draft *draft,
                                          struct shmt_error *err)
{
    enum { WARP = 32 };
    const char *const *names;
    size_t count;
    const enum shmtune_status status = shmt_source_undeclared(
        draft->arena, draft->text, draft->parts, &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count &&
                       draft->macro_count < draft->macro_room; k++) {
        const char *const reaches = is_defined(draft, names[k])
                                        ? NULL
                                        : reaches_kernel(draft, names[k]);

        if (reaches != NULL && shmt_kernel_may_name(names[k]) &&
            !shmt_source_is_warp(names[k], WARP))
            add(draft, (struct shmt_init_macro){
                           .name = names[k], .value = "1", .reaches = reaches,
                           .undeclared = true,
                           .reach = where_of(draft, names[k])});
    }
    return status;
}

enum shmtune_status shmt_init_find_macros(struct shmt_init_draft *draft,
                                          struct shmt_error *err)
{
    enum { CONSTANTS = 64 };

    draft->macro_room = draft->source.macro_count +
                        draft->source.define_count + CONSTANTS;
    draft->macros = shmt_arena_alloc(draft->arena, draft->macro_room,
                                     sizeof *draft->macros);
    draft->parts = shmt_source_slice(draft->arena, draft->text,
                                     draft->kernel);
    draft->launching = shmt_source_launching(draft->arena, &draft->source,
                                             draft->kernel->name);
    if (draft->macros == NULL || draft->parts == NULL ||
        draft->launching == NULL)
        return shmt_error_memory(err);
    for (int axis = 0; axis < 3; axis++)
        draft->asks_block |= shmt_source_asks_block(draft->parts, axis);
    add_optional(draft);
    add_plain(draft);
    if (!add_constants(draft))
        return shmt_error_memory(err);
    return draft->lacks ? SHMTUNE_OK : add_undeclared(draft, err);
}

const char *shmt_init_constant(const struct shmt_init_draft *draft)
{
    int64_t number;

    for (size_t k = 0; k < draft->source.variable_count; k++)
        if (shmt_init_number(draft->source.variables[k].value, &number) &&
            reaches_kernel(draft, draft->source.variables[k].name) != NULL)
            return draft->source.variables[k].name;
    return NULL;
}
