/* SPDX-License-Identifier: MIT */
/*
 * draft_compile: which proposed values the source of a captured kernel does not
 * compile with: a stencil's radius that a table has to have the length of, a
 * number that is asserted.  They are left out of the draft.  Called by
 * capture.c and draft_parameters.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/compile.h"
#include "command/draft.h"

static struct shmt_draft_number *find(struct shmt_draft *draft,
                                      const char *name)
{
    for (size_t k = 0; k < draft->number_count; k++)
        if (strcmp(draft->numbers[k].name, name) == 0)
            return &draft->numbers[k];
    return NULL;
}

static bool is_refused(const struct shmt_draft_number *one, int64_t value)
{
    for (size_t k = 0; k < one->refused_count; k++)
        if (one->refused[k] == value)
            return true;
    return false;
}

size_t shmt_draft_drop_refused(const struct shmt_draft_number *one,
                               int64_t *values, size_t count)
{
    size_t kept = 0;

    for (size_t k = 0; k < count; k++)
        if (!is_refused(one, values[k]))
            values[kept++] = values[k];
    return kept;
}

static void keep(struct shmt_draft *draft, const struct shmt_kernel *kernel,
                 const struct shmt_compiler_refused *refused)
{
    for (size_t k = 0; k < refused->count; k++) {
        const struct shmt_compiler_refusal *const one = &refused->refusals[k];
        const struct shmt_parameter *const parameter =
            &kernel->parameters[one->parameter];
        struct shmt_draft_number *const number = find(draft, parameter->name);

        if (number == NULL || number->refused_count == SHMT_DRAFT_REFUSED)
            continue;
        if (number->refused_count == 0)
            number->why = one->why;
        number->refused[number->refused_count++] =
            parameter->values[one->value].i;
    }
}

/* What an earlier draft has found, if its numbers are the same; false: they are
 * not. */
static bool take_over(struct shmt_draft *draft, const struct shmt_draft *from)
{
    if (from == NULL || from->number_count != draft->number_count)
        return false;
    for (size_t k = 0; k < draft->number_count; k++)
        if (strcmp(draft->numbers[k].name, from->numbers[k].name) != 0 ||
            draft->numbers[k].value != from->numbers[k].value)
            return false;
    memcpy(draft->numbers, from->numbers,
           draft->number_count * sizeof draft->numbers[0]);
    return true;
}

enum shmtune_status shmt_draft_compile(struct shmt_draft *draft,
                                       const struct shmt_draft *earlier,
                                       const char *folder, const char *arch,
                                       double most_s, struct shmt_error *err)
{
    const struct shmt_compiler_options options = SHMT_COMPILER_USUAL;
    const char *const path =
        shmt_path_join(draft->arena, folder, "kernel.yaml");
    struct shmt_compiler_refused refused;
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status;

    if (take_over(draft, earlier))
        return SHMTUNE_OK;
    if (path == NULL)
        return shmt_error_memory(err);
    status = shmt_kernel_read(path, &kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_compiler_refused(kernel, arch, &options, most_s,
                                       draft->arena, &refused, err);
    if (status == SHMTUNE_OK)
        keep(draft, kernel, &refused);
    shmt_kernel_free(kernel);
    return status;
}

/* -- what is said --------------------------------------------------------- */

static void add_values(const struct shmt_draft_number *one,
                       struct shmt_text *text)
{
    for (size_t k = 0; k < one->refused_count; k++)
        shmt_text_addf(text, "%s %lld", k == 0 ? "" : ",",
                       (long long)one->refused[k]);
}

void shmt_draft_add_refused(const struct shmt_draft_number *one,
                            struct shmt_text *text)
{
    if (one->refused_count == 0)
        return;
    shmt_text_add(text, "  # Left out, since the source does not compile with "
                  "them and the other numbers\n  # as they are:");
    add_values(one, text);
    shmt_text_add(text, "; of the first it says\n  #   ");
    shmt_text_add_visible(text, one->why);
    shmt_text_add(text, "\n");
}

bool shmt_draft_tell_refused(const struct shmt_draft *draft,
                             struct shmt_text *text)
{
    size_t count = 0;

    for (size_t k = 0; k < draft->number_count; k++) {
        const struct shmt_draft_number *const one = &draft->numbers[k];

        if (one->refused_count == 0)
            continue;
        shmt_text_addf(text, "%s%s", count++ == 0
                           ? "left out, since the source does not compile "
                             "with it: " : "; ", one->name);
        add_values(one, text);
    }
    return count > 0;
}
