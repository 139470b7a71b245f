/* SPDX-License-Identifier: MIT */
/*
 * select: the search behind shmtune_select, which shmtune_explain follows
 * step by step.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_SELECT_H
#define SHMT_RUNTIME_SELECT_H

#include "base/base.h"
#include "runtime/library.h"

struct shmt_select_request {
    const struct shmtune_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_text *trace;   /* NULL, or gets a line for each tuning that
                                  is considered; only this allocates */
};

/* Whether no required pointer is NULL. */
bool shmt_select_complete(const struct shmt_select_request *request);

/* The exact hit; false, and nothing written, when there is none. */
bool shmt_select_exact(const struct shmt_select_request *request,
                       struct shmtune_choice *out);

/* As shmtune_select where there is none; `question` is known to be complete
 * and the problem to be one of the kernel's. */
enum shmtune_status
shmt_select_search(const struct shmt_select_request *request,
                   struct shmtune_choice *out);

/* Checks the arguments of shmtune_select when there is no exact match. */
enum shmtune_status shmt_select_check(const struct shmt_select_request *request,
                                      struct shmt_error *err);

#endif
