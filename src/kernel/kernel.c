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

bool shmt_kernel_is_unchanged(const struct shmt_kernel *kernel)
{
    struct shmt_kernel *now = NULL;
    const bool same =
        shmt_kernel_read(kernel->path, &now, NULL) == SHMTUNE_OK &&
        strcmp(now->digest, kernel->digest) == 0;

    shmt_kernel_free(now);
    return same;
}

enum shmtune_status shmt_kernel_space(const struct shmt_kernel *kernel,
                                      const int64_t *problem,
                                      const struct shmt_space_limits *limits,
                                      struct shmt_space **out,
                                      struct shmt_error *err)
{
    struct shmt_value fixed[SHMT_KERNEL_DIMENSIONS];
    const struct shmt_space_definition definition = {
        .parameter_count = kernel->parameter_count,
        .parameters = kernel->parameters,
        .constraint_count = kernel->constraint_count,
        .constraints = kernel->constraints,
        .fixed_count = kernel->dimension_count,
        .fixed = fixed,
        .limits = limits,
    };

    for (size_t d = 0; d < kernel->dimension_count; d++)
        fixed[d] = (struct shmt_value){.type = SHMT_VALUE_INT, .i = problem[d]};
    return shmt_space_build(&definition, out, err);
}

void shmt_kernel_default(const struct shmt_kernel *kernel,
                         shmt_config *config)
{
    for (size_t p = 0; p < kernel->parameter_count; p++)
        config[p] = (shmt_config)kernel->parameters[p].default_value;
}

uint64_t shmt_kernel_default_index(const struct shmt_kernel *kernel,
                                   const struct shmt_space *space)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index;

    shmt_kernel_default(kernel, config);
    return shmt_space_index(space, config, &index) ? index : UINT64_MAX;
}

void shmt_kernel_default_problem(const struct shmt_kernel *kernel,
                                 int64_t *problem)
{
    for (size_t d = 0; d < kernel->dimension_count; d++)
        problem[d] = kernel->dimensions[d].default_size;
}

/* Lists of ascending integers are searched by halves. */
bool shmt_kernel_find_value(const struct shmt_parameter *parameter,
                            struct shmt_value value, shmt_config *out)
{
    size_t from = 0, to = parameter->count;

    if (parameter->ordered && parameter->type == SHMT_VALUE_INT &&
        value.type == SHMT_VALUE_INT)
        while (to - from > 1) {
            const size_t half = from + (to - from) / 2;

            if (parameter->values[half].i <= value.i)
                from = half;
            else
                to = half;
        }
    for (; from < to; from++)
        if (shmt_value_equal(parameter->values[from], value)) {
            *out = (shmt_config)from;
            return true;
        }
    return false;
}
