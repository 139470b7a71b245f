/* SPDX-License-Identifier: MIT */
/*
 * select: the search behind shmtune_select, which shmtune_explain follows
 * step by step.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_SELECT_H
#define SHMT_RUNTIME_SELECT_H

#include "base/base.h"
#include "runtime/library.h"

struct shmt_question {
    const struct shmtune_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_text *trace;   /* NULL, or gets a line for each tuning that is
                                  considered; the one use of memory */
};

/* Nothing of it is NULL that is needed. */
bool shmt_select_complete(const struct shmt_question *question);

/* The exact hit; false, and nothing written, when there is none. */
bool shmt_select_exact(const struct shmt_question *question,
                       struct shmtune_choice *out);

/* As shmtune_select where there is none; `question` is known to be complete
 * and the problem to be one of the kernel's. */
enum shmtune_status shmt_select_search(const struct shmt_question *question,
                                       struct shmtune_choice *out);

/* The arguments of shmtune_select, exact hits apart. */
enum shmtune_status shmt_select_check(const struct shmt_question *question,
                                      struct shmt_error *err);

#endif
