/* SPDX-License-Identifier: MIT */
/* sizes: see sizes.h. */
#include "tune/sizes.h"

/* What CUDA takes for a process. */
static const double process_bytes = 6e8;

/* Buffers of an argument: what is given or computed, what is expected, and what
 * it begins with. */
static double copies_of(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_INOUT    ? 3
           : argument->role == SHMT_ROLE_OUTPUT ? 2 : 1;
}

double shmt_sizes_bytes(const struct shmt_kernel *kernel,
                        const int64_t *problem)
{
    struct shmt_kernel_evaluated evaluated;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    double sum = process_bytes;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        config[p] = (shmt_config)kernel->parameters[p].default_value;
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *const argument = &kernel->arguments[k];
        uint64_t count = 0;
        if (argument->count != NULL &&
            shmt_kernel_argument_count(&evaluated, k, &count, NULL) ==
                SHMTUNE_OK)
            sum += copies_of(argument) * (double)count *
                   (double)shmt_element_bytes(argument->element);
    }
    return sum;
}
