/* SPDX-License-Identifier: MIT */
/*
 * kernel: a spec that was read: is it still current, its default, and its
 * space at a problem.  Reading a spec is read.c; evaluating a configuration is
 * evaluated.c; texts are text.c.
 */
#include "kernel/kernel.h"

#include <string.h>

void shmt_kernel_free(struct shmt_kernel *kernel)
{
    /* The kernel itself lies in its arena. */
    if (kernel != NULL)
        shmt_arena_free(kernel->arena);
}

bool shmt_kernel_is_current(const struct shmt_kernel *kernel)
{
    struct shmt_kernel *now = NULL;
    const bool same =
        shmt_kernel_read(kernel->path, &now, NULL) == SHMTUNE_OK &&
        strcmp(now->digest, kernel->digest) == 0;

    shmt_kernel_free(now);
    return same;
}

static struct shmt_value int_value(int64_t number)
{
    return (struct shmt_value){.type = SHMT_INT, .i = number};
}

enum shmtune_status shmt_kernel_space(const struct shmt_kernel *kernel,
                                      const int64_t *problem,
                                      struct shmt_value *values,
                                      struct shmt_space **out,
                                      struct shmt_error *err)
{
    const struct shmt_space_definition definition = {
        .parameter_count = kernel->parameter_count,
        .parameters = kernel->parameters,
        .constraint_count = kernel->constraint_count,
        .constraints = kernel->constraints,
        .fixed_count = kernel->dimension_count,
        .fixed = values,
    };

    for (size_t i = 0; i < kernel->dimension_count; i++)
        values[i] = int_value(problem[i]);
    return shmt_space_build(&definition, out, err);
}

void shmt_kernel_default(const struct shmt_kernel *kernel,
                         shmt_choice *choice)
{
    for (size_t p = 0; p < kernel->parameter_count; p++)
        choice[p] = (shmt_choice)kernel->parameters[p].default_value;
}
