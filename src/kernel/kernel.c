/* SPDX-License-Identifier: MIT */
/*
 * kernel: what follows from a spec for one problem and one configuration.
 * Reading a spec is read.c; launches are launch.c; texts are
 * text.c.
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

void shmt_kernel_values(const struct shmt_kernel *kernel,
                        const int64_t *problem, const shmt_choice *choice,
                        struct shmt_value *values)
{
    for (size_t i = 0; i < kernel->dimension_count; i++)
        values[i] = int_value(problem[i]);
    for (size_t p = 0; p < kernel->parameter_count; p++)
        values[kernel->dimension_count + p] =
            kernel->parameters[p].values[choice[p]];
}

void shmt_kernel_default(const struct shmt_kernel *kernel,
                         shmt_choice *choice)
{
    for (size_t p = 0; p < kernel->parameter_count; p++)
        choice[p] = (shmt_choice)kernel->parameters[p].default_value;
}

enum shmtune_status shmt_kernel_admits(const struct shmt_kernel *kernel,
                                       const struct shmt_value *values,
                                       bool *admits, size_t *failed,
                                       struct shmt_error *err)
{
    struct shmt_evaluation evaluation;

    shmt_expr_begin(&evaluation, values);
    for (size_t i = 0; i < kernel->constraint_count; i++) {
        bool holds;
        const enum shmtune_status status = shmt_expr_next_bool(
            kernel->constraints[i], &evaluation, &holds, err);

        if (status != SHMTUNE_OK)
            return status;
        if (!holds) {
            if (failed != NULL)
                *failed = i;
            *admits = false;
            return SHMTUNE_OK;
        }
    }
    *admits = true;
    return SHMTUNE_OK;
}
