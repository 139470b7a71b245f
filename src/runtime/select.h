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

/* Checks that no required pointer is NULL.  A device that is shorter than this
 * version's is replaced by a copy in `full`, with 0 for what it lacks. */
enum shmtune_status shmt_select_accept(struct shmt_select_request *request,
                                       struct shmtune_device *full,
                                       struct shmt_error *err);

/* The exact hit; false, and nothing written, when there is none. */
bool shmt_select_exact(const struct shmt_select_request *request,
                       struct shmtune_choice *out);

/* As shmtune_select where there is none; the request was accepted and its
 * problem to be one of the kernel's. */
enum shmtune_status
shmt_select_search(const struct shmt_select_request *request,
                   struct shmtune_choice *out);

/* Checks the arguments of shmtune_select when there is no exact match. */
enum shmtune_status shmt_select_check(const struct shmt_select_request *request,
                                      struct shmt_error *err);

#endif
