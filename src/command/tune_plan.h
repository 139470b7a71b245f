/* SPDX-License-Identifier: MIT */
/*
 * tune_plan: checks the kernels and sizes given to `shmtune tune` before the
 * first candidate runs, so that a wrong name is reported at once and not after
 * an hour.
 */
#ifndef SHMT_COMMAND_TUNE_PLAN_H
#define SHMT_COMMAND_TUNE_PLAN_H

#include "command/command.h"

struct shmt_command_plan {
    const char *const *words;      /* kernels and specs; none: all built-in */
    size_t count;
    const struct shmt_command_repeats *sizes;   /* none: the listed ones */
};

/* Every kernel is there, can be read, and has every size.  *problems: how many
 * they are together on a device that can run any. */
enum shmtune_status
shmt_command_plan_check(const struct shmt_command_plan *plan,
                        const struct shmt_catalogue *catalogue,
                        size_t *problems,
                        struct shmt_error *err);

/* The k-th word, or the k-th size, was there before. */
bool shmt_command_plan_has_word(const struct shmt_command_plan *plan, size_t k);
bool shmt_command_plan_has_problem(const struct shmt_command_plan *plan,
                                   const struct shmt_kernel *kernel, size_t k);

#endif
