/* SPDX-License-Identifier: MIT */
/*
 * init_plan: what the host's code says of a kernel's problem: its dimensions,
 * block and grid, how long its arrays are, and the values of its numbers.
 * Extents of a block that the kernel asks for are parameters.  Called by
 * init.c.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/init.h"

/* What the launch passes as parameter k; NULL: nothing is known. */
static const char *passed(const struct shmt_init_draft *draft, size_t k)
{
    return draft->launch == NULL ||
                   draft->launch->argument_count != draft->signature.count
               ? NULL : draft->launch->arguments[k];
}

static bool is_number(const char *said)
{
    return said != NULL && said[0] != '\0' &&
           said[strspn(said, "0123456789")] == '\0';
}

/* 0xdeadbeef, which is no size: a dimension ends at INT32_MAX. */
static bool is_beyond(const char *said)
{
    return is_number(said) &&
           (strlen(said) > 10 || strtoll(said, NULL, 10) > INT32_MAX);
}

/* -- dimensions ------------------------------------------------------------ */

/* Parameters that are whole numbers, unless the launch gives them a number
 * that is no size. */
static void find_dimensions(struct shmt_init_draft *draft)
{
    for (size_t k = 0; k < draft->signature.count &&
                       draft->dimension_count < SHMT_KERNEL_DIMENSIONS; k++) {
        const struct shmt_signature_parameter *one =
            &draft->signature.parameters[k];
        const char *const code = passed(draft, k);
        const char *said;

        if (!shmt_init_is_dimension(one))
            continue;
        said = code == NULL ? NULL : shmt_init_expr(draft, code);
        if (said != NULL && (said[0] == '-' || strcmp(said, "0") == 0 ||
                             is_beyond(said)))
            continue;
        draft->dimensions[draft->dimension_count++] =
            (struct shmt_init_dimension){one->name,
                                         code == NULL ? one->name : code,
                                         is_number(said) ? said
                                         : code == NULL
                                             ? NULL
                                             : shmt_init_otherwise(draft,
                                                                   code)};
    }
}

/* -- the block ------------------------------------------------------------- */

/* The parameter of the template that is given the number, from 1 on; 0: none
 * is. */
static size_t instance_with(const struct shmt_init_draft *draft,
                            const char *number)
{
    for (size_t k = 0; k < draft->kernel->template_count; k++)
        if (!draft->kernel->templates[k].is_type &&
            draft->instance[k] != NULL &&
            strcmp(draft->instance[k], number) == 0)
            return k + 1;
    return 0;
}

/* The variable that has the number for a value and stands in the block, or in
 * what that is; NULL: it is written there. */
static const char *named_as(const struct shmt_init_draft *draft,
                            const char *number)
{
    const struct shmt_source *const source = &draft->source;
    const char *const block = draft->launch->block;

    for (size_t k = source->variable_count; k-- > 0;) {
        const struct shmt_source_variable *const one = &source->variables[k];

        if (one->line > draft->launch->line || one->called > 0 ||
            strcmp(one->value, number) != 0)
            continue;
        if (shmt_text_mentions(block, one->name, 1) > 0)
            return one->name;
        for (size_t n = 0; n < source->variable_count; n++)
            if (shmt_text_mentions(block, source->variables[n].name, 1) > 0 &&
                shmt_text_mentions(source->variables[n].value, one->name,
                                   1) > 0)
                return one->name;
    }
    return NULL;
}

/* Extent `axis`, a number, as a parameter, where the kernel asks for it, or its
 * template is given it; false: it stays one. */
static bool add_threads(struct shmt_init_draft *draft, int axis,
                        const char *number)
{
    static const char *const names[] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};
    const int64_t value = strtoll(number, NULL, 10);
    const size_t instance = instance_with(draft, number);

    if ((!draft->asks_block && instance == 0) ||
        draft->thread_count == 3 || value < (axis == 0 ? 8 : 2) ||
        value > SHMT_INIT_BLOCK ||
        shmt_text_mentions(draft->text, names[axis], 1) > 0)
        return false;
    draft->threads[draft->thread_count++] =
        (struct shmt_init_threads){names[axis], named_as(draft, number),
                                   value, axis, false, false,
                                   instance};
    return true;
}

/* "[a, b]" of three; what is 1 at the end need not be said. */
static const char *list(struct shmt_init_draft *draft,
                        const char *const said[3])
{
    struct shmt_text text = {0};
    size_t count = 3;

    while (count > 1 && strcmp(said[count - 1], "1") == 0)
        count--;
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(&text, "%s\"%s\"", k == 0 ? "[" : ", ", said[k]);
    shmt_text_add(&text, "]");
    return shmt_text_keep(&text, draft->arena);
}

static void plan_block(struct shmt_init_draft *draft)
{
    const char *said[3];

    for (int axis = 0; axis < 3; axis++) {
        said[axis] = shmt_init_extent(draft, draft->launch->block, axis,
                                      true);
        if (said[axis] == NULL) {
            draft->thread_count = 0;
            return;
        }
        if (is_number(said[axis]) && add_threads(draft, axis, said[axis]))
            said[axis] = draft->threads[draft->thread_count - 1].name;
    }
    memcpy(draft->extents, said, sizeof said);
    draft->block = list(draft, said);
}

/* -- the grid and shared memory -------------------------------------------- */

/* The expression with the extent's name in the place of its number: where it
 * divides, or `all`, wherever it stands. */
static const char *with_name(struct shmt_init_draft *draft, const char *said,
                             const struct shmt_init_threads *threads,
                             bool all)
{
    struct shmt_text text = {0};
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)threads->value);
    for (const char *at = said; *at != '\0';) {
        const size_t digits = strspn(at, "0123456789");
        const size_t word = shmt_text_name_length(at);
        const bool divides =
            (at - said >= 3 && memcmp(at - 3, "// ", 3) == 0) ||
            (at - said >= 2 && memcmp(at - 2, ", ", 2) == 0 &&
             at[digits] == ')');
        const size_t length = digits > 0 ? digits : word > 0 ? word : 1;

        if (digits == strlen(number) && memcmp(at, number, digits) == 0 &&
            (divides || all))
            shmt_text_add(&text, threads->name);
        else
            shmt_text_add_bytes(&text, at, length);
        at += length;
    }
    return shmt_text_keep(&text, draft->arena);
}

bool shmt_init_has_word(const char *name, const char *const *words)
{
    char lower[64];
    size_t length = 0;

    for (; name[length] != '\0' && length + 1 < sizeof lower; length++)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = '\0';
    while (*words != NULL && strstr(lower, *words) == NULL)
        words++;
    return *words != NULL;
}

/* Whether a name is that of a grid rather than of a size. */
static bool is_of_grid(const char *name)
{
    static const char *const words[] = {"grid", "block", "blk", "dim", "gws",
                                        NULL};

    return shmt_init_has_word(name, words);
}

static void plan_grid(struct shmt_init_draft *draft)
{
    const size_t before = draft->dimension_count;
    const char *said[3];

    for (int axis = 0; axis < 3; axis++) {
        said[axis] = shmt_init_extent(draft, draft->launch->grid, axis,
                                      false);
        for (size_t k = before; said[axis] != NULL &&
                                k < draft->dimension_count; k++)
            if (strcmp(draft->dimensions[k].name, said[axis]) == 0 &&
                is_of_grid(said[axis]))
                said[axis] = NULL;
        if (said[axis] == NULL) {
            draft->dimension_count = before;
            return;
        }
        for (size_t k = 0; k < draft->thread_count; k++)
            if (!draft->threads[k].is_open && draft->threads[k].axis == axis)
                said[axis] = with_name(draft, said[axis], &draft->threads[k],
                                       false);
    }
    draft->grid = list(draft, said);
}

static void plan_shared(struct shmt_init_draft *draft)
{
    const char *code = draft->launch->shared;

    if (draft->thread_count == 1 && !draft->threads[0].is_open)
        code = with_name(draft, code, &draft->threads[0], true);
    draft->shared = shmt_init_expr(draft, code);
}

/* -- arguments ------------------------------------------------------------- */

/* `0.5f`, `1.`, `-1` as a spec writes it; NULL: it is something else. */
static const char *real_of(struct shmt_init_draft *draft, const char *code)
{
    const size_t length = strcspn(code, "fF");
    char text[40], *end;

    if (length == 0 || length + 2 > sizeof text ||
        code[length + (code[length] != '\0')] != '\0' ||
        strpbrk(code, "nNxX") != NULL)
        return NULL;
    memcpy(text, code, length);
    text[length] = '\0';
    (void)strtod(text, &end);
    if (end == text || *end != '\0')
        return NULL;
    if (end[-1] == '.') {
        end[0] = '0';
        end[1] = '\0';
    }
    return shmt_arena_copy(draft->arena, text, strlen(text));
}

/* Such a number, `true`, or a variable or macro that is one. */
static const char *literal(struct shmt_init_draft *draft, const char *code,
                           int depth)
{
    const struct shmt_source *const source = &draft->source;
    const char *const number = real_of(draft, code);

    if (number != NULL)
        return number;
    if (strcmp(code, "true") == 0 || strcmp(code, "false") == 0)
        return code[0] == 't' ? "1" : "0";
    for (size_t k = source->variable_count; depth > 0 && k-- > 0;)
        if (source->variables[k].line <= draft->launch->line &&
            strcmp(source->variables[k].name, code) == 0)
            return literal(draft, source->variables[k].value, depth - 1);
    for (size_t k = 0; depth > 0 && k < source->define_count; k++)
        if (!source->defines[k].takes &&
            strcmp(source->defines[k].name, code) == 0)
            return literal(draft, source->defines[k].value, depth - 1);
    return NULL;
}

/* Such a number as the argument's type has it: an int of 0xffffffff is -1. */
static const char *wrapped(struct shmt_init_draft *draft,
                           const struct shmt_signature_parameter *one,
                           const char *code)
{
    const char *const said = shmt_init_expr(draft, code);
    char text[32];
    int64_t value;

    if (said == NULL || !is_beyond(said) || strlen(said) > 18)
        return NULL;
    value = strtoll(said, NULL, 10);
    if (one->element == SHMT_ELEMENT_I32)
        value = (int32_t)value;
    snprintf(text, sizeof text, "%lld", (long long)value);
    return shmt_arena_copy(draft->arena, text, strlen(text));
}

static void plan_argument(struct shmt_init_draft *draft, size_t k)
{
    enum { HOPS = 4 };
    const struct shmt_signature_parameter *one =
        &draft->signature.parameters[k];
    const char *const code = passed(draft, k);

    if (one->pointer)
        draft->said[k].count = shmt_init_count(draft, k);
    else if (shmt_init_dimension(draft, one->name, strlen(one->name)) != NULL)
        draft->said[k].value = one->name;
    else if (code != NULL && one->kind != SHMT_SIGNATURE_OTHER)
        draft->said[k].value = literal(draft, code, HOPS);
    if (code != NULL && !one->pointer && draft->said[k].value == NULL &&
        one->kind != SHMT_SIGNATURE_OTHER)
        draft->said[k].value = wrapped(draft, one, code);
}

enum shmtune_status shmt_init_plan(struct shmt_init_draft *draft,
                                   struct shmt_error *err)
{
    draft->said = shmt_arena_alloc(draft->arena, draft->signature.count + 1,
                                   sizeof *draft->said);
    if (draft->said == NULL)
        return shmt_error_memory(err);
    memset(draft->said, 0,
           (draft->signature.count + 1) * sizeof *draft->said);
    find_dimensions(draft);
    if (draft->launch != NULL) {
        plan_block(draft);
        plan_grid(draft);
        plan_shared(draft);
    }
    for (size_t k = 0; k < draft->signature.count; k++)
        plan_argument(draft, k);
    return SHMTUNE_OK;
}
