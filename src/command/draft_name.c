/* SPDX-License-Identifier: MIT */
/*
 * draft_name: what the arguments and memories of a captured launch are called,
 * and what a memory is made of: as the source says.  Called by draft_write.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"
#include "yaml/yaml.h"

/* Whether a draft has a parameter of this name, or may come to have one. */
static bool is_parameter(const struct shmt_draft *draft, const char *name)
{
    static const char *const words[] = {"BLOCK_", "GRID_"};
    bool found = false;

    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        const size_t length = strlen(words[k]);

        found |= strncmp(name, words[k], length) == 0 &&
                 strlen(name) == length + 1 &&
                 strchr("XYZ", name[length]) != NULL;
    }
    for (size_t k = 0; k < draft->number_count; k++)
        found |= strcmp(draft->numbers[k].name, name) == 0;
    return found;
}

static bool is_argument(const struct shmt_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->argument_count; k++)
        if (draft->arguments[k].name != NULL &&
            strcmp(draft->arguments[k].name, name) == 0)
            return true;
    return false;
}

/* Whether an argument, or a memory before the m-th, is called so. */
static bool is_taken(const struct shmt_draft *draft, size_t m,
                     const char *name)
{
    for (size_t k = 0; k < m; k++)
        if (strcmp(draft->memories[k].name, name) == 0)
            return true;
    return is_argument(draft, name);
}

/* "memory_1", or "memory_1_" where that is taken; before the m-th memory. */
static const char *make_name(struct shmt_draft *draft, const char *word,
                             size_t number, size_t m)
{
    static const char more[] = "____________________";
    char name[64];
    int tail = 0;

    do
        snprintf(name, sizeof name, "%s%zu%.*s", word, number, tail, more);
    while (is_taken(draft, m, name) && ++tail < (int)sizeof more);
    return shmt_arena_copy(draft->arena, name, strlen(name));
}

/* As the source calls them, where a spec may: what is passed need not be called
 * so. */
bool shmt_draft_name_arguments(struct shmt_draft *draft)
{
    for (size_t k = 0; k < draft->argument_count; k++)
        draft->arguments[k].name = NULL;
    for (size_t k = 0; k < draft->argument_count; k++) {
        struct shmt_draft_argument *one = &draft->arguments[k];

        if (one->declared != NULL &&
            shmt_yaml_is_word(one->declared->name) &&
            !is_parameter(draft, one->declared->name))
            one->name = one->declared->name;
    }
    for (size_t k = 0; k < draft->argument_count; k++) {
        struct shmt_draft_argument *one = &draft->arguments[k];

        if (one->name == NULL)
            one->name = make_name(draft, "argument", k + 1, 0);
        if (one->name == NULL)
            return false;
    }
    return true;
}

/* The pointer behind one into the memory, the first behind NULL; *argument has
 * it; NULL: there is none. */
static const struct shmt_draft_pointer *
next_pointer(const struct shmt_draft *draft, size_t m,
             const struct shmt_draft_pointer *last, size_t *argument)
{
    size_t k = last == NULL ? 0 : *argument;
    size_t i = last == NULL ? 0 : (size_t)(last - draft->arguments[k].pointers)
                                      + 1;

    for (; k < draft->argument_count; k++, i = 0)
        for (; i < draft->arguments[k].pointer_count; i++)
            if (draft->arguments[k].pointers[i].memory == m) {
                *argument = k;
                return &draft->arguments[k].pointers[i];
            }
    return NULL;
}

static bool may_write(const struct shmt_draft_argument *one)
{
    return one->declared == NULL || !one->declared->pointer ||
           !one->declared->constant;
}

/* What it is said to point to; bytes: it is not said. */
static enum shmt_element pointed(const struct shmt_draft_argument *one)
{
    return one->declared == NULL || !one->declared->pointer ||
                   one->declared->kind == SHMT_SIGNATURE_OTHER
               ? SHMT_ELEMENT_BYTES : one->declared->element;
}

/* Whether something that was changed lies behind this pointer, up to the next
 * one through which the launch may write; what lies before all of them belongs
 * to the first. */
static bool is_changed_behind(const struct shmt_draft *draft, size_t m,
                              uint64_t offset)
{
    const struct shmt_draft_memory *memory = &draft->memories[m];
    const struct shmt_draft_pointer *pointer = NULL;
    uint64_t from = 0, to = memory->bytes;
    size_t k;

    while ((pointer = next_pointer(draft, m, pointer, &k)) != NULL) {
        if (!may_write(&draft->arguments[k]))
            continue;
        if (pointer->offset < offset)
            from = offset;
        else if (pointer->offset > offset && pointer->offset < to)
            to = pointer->offset;
    }
    return from < memory->changed[1] && to > memory->changed[0];
}

/* Buffers of several types may share an allocation: that of what was changed
 * counts, and bytes where it is of several, or nobody says.  false: the launch
 * wrote nothing through a pointer that is known. */
static bool find_written(const struct shmt_draft *draft, size_t m,
                         enum shmt_element *out)
{
    const struct shmt_draft_pointer *pointer = NULL;
    bool found = false;
    size_t k;

    if (draft->memories[m].after == NULL)
        return false;
    while ((pointer = next_pointer(draft, m, pointer, &k)) != NULL) {
        const struct shmt_draft_argument *one = &draft->arguments[k];

        if (!may_write(one) || !is_changed_behind(draft, m, pointer->offset))
            continue;
        *out = found && *out != pointed(one) ? SHMT_ELEMENT_BYTES
                                             : pointed(one);
        if (*out == SHMT_ELEMENT_BYTES)
            return true;
        found = true;
    }
    return found;
}

/* Whether the buffer may have this type in the spec: whole elements, from each
 * pointer on too, and no NaN among what is compared, since a NaN is never
 * right. */
static bool may_be(const struct shmt_draft *draft, size_t m,
                   enum shmt_element element)
{
    const struct shmt_draft_memory *memory = &draft->memories[m];
    const struct shmt_draft_pointer *pointer = NULL;
    const uint64_t size = shmt_element_bytes(element);
    size_t k;

    if (memory->bytes % size != 0)
        return false;
    while ((pointer = next_pointer(draft, m, pointer, &k)) != NULL)
        if (pointer->offset % size != 0)
            return false;
    for (k = 0; memory->after != NULL && k < memory->nan_count; k++)
        if (strcmp(memory->nan[k], shmt_element_word(element)) == 0)
            return false;
    return true;
}

/* Whether the symbol, "mean" or "_ZN8counters4seenE", is of the variable that
 * is called "counters::seen". */
static bool is_symbol_of(const char *symbol, const char *qualified)
{
    struct shmt_text parts = {0};
    bool same = strcmp(symbol, qualified) == 0;

    for (const char *at = qualified; *at != '\0';) {
        const size_t length = strcspn(at, ":");

        shmt_text_addf(&parts, "%zu%.*s", length, (int)length, at);
        at += length + strspn(at + length, ":");
    }
    same |= strncmp(symbol, "_Z", 2) == 0 && !parts.failed &&
            strstr(symbol, shmt_text_string(&parts)) != NULL;
    shmt_text_free(&parts);
    return same;
}

/* What the source says that a variable is made of; bytes: it does not.  Of
 * several that may be it the one in most namespaces is. */
static enum shmt_element declared_as(const struct shmt_draft *draft,
                                     const char *symbol)
{
    const struct shmt_source_global *best = NULL;

    for (size_t k = 0; k < draft->global_count; k++) {
        const struct shmt_source_global *const one = &draft->globals[k];

        if (is_symbol_of(symbol, one->qualified) &&
            (best == NULL || strlen(one->qualified) > strlen(best->qualified)))
            best = one;
    }
    return best != NULL && !best->declared.pointer &&
                   (best->declared.kind == SHMT_SIGNATURE_ELEMENT ||
                    best->declared.kind == SHMT_SIGNATURE_VECTOR)
               ? best->declared.element : SHMT_ELEMENT_BYTES;
}

/* The own name of the m-th, a variable, where that is free. */
static const char *variable_name(struct shmt_draft *draft, size_t m)
{
    const char *name = shmt_draft_plain_name(draft->arena,
                                             draft->memories[m].symbol);

    return name == NULL || shmt_text_name_length(name) != strlen(name) ||
                   !shmt_yaml_is_word(name) || is_taken(draft, m, name) ||
                   is_parameter(draft, name)
               ? NULL : name;
}

/* Of a texture's memory, which no pointer leads to; NULL: the name is taken. */
static const char *name_texels(struct shmt_draft *draft, size_t m,
                               const struct shmt_draft_argument *one)
{
    struct shmt_draft_memory *memory = &draft->memories[m];
    char name[160];

    snprintf(name, sizeof name, "%.64s_data", one->name);
    for (size_t e = 0; memory->element == SHMT_ELEMENT_BYTES &&
                       e < SHMT_ELEMENT_COUNT; e++)
        if (strcmp(shmt_element_word((enum shmt_element)e),
                   one->texture.type) == 0 &&
            may_be(draft, m, (enum shmt_element)e))
            memory->element = (enum shmt_element)e;
    return strlen(name) > 64 || is_taken(draft, m, name) ||
                   is_parameter(draft, name)
               ? NULL : shmt_arena_copy(draft->arena, name, strlen(name));
}

/* The first parameter that points to its begin, and says of what, is it, if
 * that is what was written. */
bool shmt_draft_name_memory(struct shmt_draft *draft, size_t m)
{
    struct shmt_draft_memory *memory = &draft->memories[m];
    const struct shmt_draft_pointer *pointer = NULL;
    bool written = find_written(draft, m, &memory->element);
    size_t k;

    if (memory->symbol != NULL) {
        memory->element = declared_as(draft, memory->symbol);
        written = true;
    }
    if (!written || !may_be(draft, m, memory->element))
        memory->element = SHMT_ELEMENT_BYTES;
    memory->constant = memory->address == 0;
    memory->name = NULL;
    while ((pointer = next_pointer(draft, m, pointer, &k)) != NULL) {
        const struct shmt_draft_argument *one = &draft->arguments[k];
        const enum shmt_element element = pointed(one);

        memory->constant = memory->constant && !may_write(one);
        if (shmt_draft_plain_pointer(one) == NULL || pointer->offset != 0 ||
            memory->name != NULL)
            continue;
        if (element == SHMT_ELEMENT_BYTES || element == memory->element)
            memory->name = one->name;
        else if (!written && may_be(draft, m, element)) {
            memory->name = one->name;
            memory->element = element;
        }
    }
    if (memory->name == NULL && memory->symbol != NULL)
        memory->name = variable_name(draft, m);
    for (k = 0; memory->name == NULL && k < draft->argument_count; k++)
        if (draft->arguments[k].texture.type != NULL &&
            draft->arguments[k].texture.memory == m)
            memory->name = name_texels(draft, m, &draft->arguments[k]);
    if (memory->name == NULL)
        memory->name = make_name(draft, "memory_", m, m);
    return memory->name != NULL;
}
