/* SPDX-License-Identifier: MIT */
/* sizes: see sizes.h. */
#include "tune/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shmt_sizes {
    const struct shmt_kernel *kernel;
    int64_t (*problems)[SHMT_KERNEL_DIMENSIONS];
    size_t problem_count;
    double *best;                /* of each problem */
    bool *busy;                  /* the same */
    struct shmt_sizes_finding *findings;
    size_t count, room;
};

_Static_assert((int)SHMT_SEARCH_DIMENSIONS == (int)SHMT_KERNEL_DIMENSIONS,
               "a search sees every dimension");

enum shmtune_status
shmt_sizes_new(const struct shmt_kernel *kernel,
               int64_t (*problems)[SHMT_KERNEL_DIMENSIONS], size_t count,
               struct shmt_sizes **out, struct shmt_error *err)
{
    struct shmt_sizes *const sizes = calloc(1, sizeof *sizes);
    double *const best = malloc((count + 1) * sizeof *best);
    bool *const busy = calloc(count + 1, sizeof *busy);

    if (sizes == NULL || best == NULL || busy == NULL) {
        free(sizes);
        free(best);
        free(busy);
        return shmt_error_memory(err);
    }
    for (size_t k = 0; k < count; k++)
        best[k] = INFINITY;
    sizes->kernel = kernel;
    sizes->problems = problems;
    sizes->problem_count = count;
    sizes->best = best;
    sizes->busy = busy;
    *out = sizes;
    return SHMTUNE_OK;
}

void shmt_sizes_free(struct shmt_sizes *sizes)
{
    if (sizes == NULL)
        return;
    free(sizes->best);
    free(sizes->busy);
    free(sizes->findings);
    free(sizes);
}

struct shmt_search_sizes shmt_sizes_of_search(const struct shmt_sizes *sizes,
                                              size_t own)
{
    return (struct shmt_search_sizes){
        .count = sizes->problem_count <= SHMT_SEARCH_SIZES
                     ? sizes->problem_count : 0,
        .dimensions = sizes->kernel->dimension_count,
        .own = own,
        .list = (const int64_t (*)[SHMT_SEARCH_DIMENSIONS])sizes->problems};
}

void shmt_sizes_tell(struct shmt_sizes *sizes, size_t size, double cost,
                     const shmt_config *config)
{
    struct shmt_sizes_finding *one;

    if (!shmt_array_reserve(&sizes->findings, &sizes->room, sizes->count + 1,
                            sizeof *sizes->findings))
        return;
    one = &sizes->findings[sizes->count++];
    one->size = size;
    one->cost = cost;
    one->leads = cost < sizes->best[size];
    sizes->best[size] = fmin(sizes->best[size], cost);
    memcpy(one->config, config,
           sizes->kernel->parameter_count * sizeof *config);
}

const struct shmt_sizes_finding *
shmt_sizes_next(const struct shmt_sizes *sizes, size_t own, size_t *read)
{
    while (*read < sizes->count)
        if (sizes->findings[(*read)++].size != own)
            return &sizes->findings[*read - 1];
    return NULL;
}

size_t shmt_sizes_count(const struct shmt_sizes *sizes)
{
    return sizes->count;
}

void shmt_sizes_set_busy(struct shmt_sizes *sizes, size_t size, bool busy)
{
    sizes->busy[size] = busy;
}

bool shmt_sizes_are_busy(const struct shmt_sizes *sizes)
{
    for (size_t k = 0; k < sizes->problem_count; k++)
        if (sizes->busy[k])
            return true;
    return false;
}

/* What CUDA takes for a process, counted for each run: they may be of as many
 * kernels. */
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
        struct shmt_argument_texture texture;
        uint64_t count = 0;

        if (argument->texture != NULL &&
            argument->texture->memory == SHMT_ARGUMENT_ARRAY &&
            shmt_kernel_argument_texture(&evaluated, k, &texture, NULL) ==
                SHMTUNE_OK)
            sum += (double)texture.pitch * (double)texture.extents[1] *
                   (double)texture.extents[2];
        if (argument->count != NULL &&
            shmt_kernel_argument_count(&evaluated, k, &count, NULL) ==
                SHMTUNE_OK)
            sum += copies_of(argument) * (double)count *
                   (double)shmt_element_bytes(argument->element);
    }
    return sum;
}
