/* SPDX-License-Identifier: MIT */
/*
 * tune_plan: checks every kernel and size of a command line before the first
 * candidate runs, and counts the problems.  Called by command/tune.c.
 */
#include "config.h"

#include "command/tune_plan.h"

#include <string.h>

bool shmt_command_plan_has_word(const struct shmt_command_plan *plan, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (strcmp(plan->words[i], plan->words[k]) == 0)
            return true;
    return false;
}

bool shmt_command_plan_has_problem(const struct shmt_command_plan *plan,
                                   const struct shmt_kernel *kernel, size_t k)
{
    const size_t bytes = kernel->dimension_count * sizeof(int64_t);
    int64_t one[SHMT_KERNEL_DIMENSIONS], other[SHMT_KERNEL_DIMENSIONS];
    struct shmt_error err;

    if (k >= plan->sizes->count ||
        shmt_command_parse_problem(kernel, plan->sizes->items[k], one, &err) !=
            SHMTUNE_OK)
        return false;
    for (size_t i = 0; i < k; i++)
        if (shmt_command_parse_problem(kernel, plan->sizes->items[i], other,
                                       &err) ==
                SHMTUNE_OK &&
            memcmp(one, other, bytes) == 0)
            return true;
    return false;
}

static enum shmtune_status check_sizes(const struct shmt_command_plan *plan,
                                       const struct shmt_kernel *kernel,
                                       size_t *problems,
                                       struct shmt_error *err)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    enum shmtune_status status = SHMTUNE_OK;

    if (plan->sizes->count == 0)
        *problems += kernel->size_count;
    for (size_t k = 0; status == SHMTUNE_OK && k < plan->sizes->count; k++) {
        status =
            shmt_command_parse_problem(kernel, plan->sizes->items[k], problem,
                                            err);
        *problems += !shmt_command_plan_has_problem(plan, kernel, k);
    }
    return status;
}

static enum shmtune_status check_words(const struct shmt_command_plan *plan,
                                       size_t *problems,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < plan->count; k++) {
        struct shmt_kernel *kernel = NULL;

        if (shmt_command_plan_has_word(plan, k))
            continue;
        status = shmt_command_kernel(plan->words[k], &kernel, err);
        if (status == SHMTUNE_OK)
            status = check_sizes(plan, kernel, problems, err);
        shmt_kernel_free(kernel);
    }
    return status;
}

static enum shmtune_status check_all(const struct shmt_command_plan *plan,
                                     const struct shmt_catalogue *catalogue,
                                     size_t *problems,
                                     struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (catalogue->refused_count > 0)
        status = shmt_kernel_read(catalogue->refused[0], &kernel, err);
    shmt_kernel_free(kernel);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++)
        status = check_sizes(plan, catalogue->kernels[k].kernel, problems,
                             err);
    return status;
}

enum shmtune_status
shmt_command_plan_check(const struct shmt_command_plan *plan,
                        const struct shmt_catalogue *catalogue,
                        size_t *problems,
                        struct shmt_error *err)
{
    size_t count = 0;
    const enum shmtune_status status =
        plan->count > 0 ? check_words(plan, &count, err)
                        : check_all(plan, catalogue, &count, err);

    if (status == SHMTUNE_OK)
        *problems = count;
    return status;
}
