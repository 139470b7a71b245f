/* SPDX-License-Identifier: MIT */
/*
 * check: may this configuration run on this device for this problem?  Checked
 * for every tuned entry when it is opened, and for every choice that is not an
 * exact match.  It allocates nothing unless it has to write a message.
 */
#ifndef SHMT_RUNTIME_CHECK_H
#define SHMT_RUNTIME_CHECK_H

#include "kernel/kernel.h"
#include "record/record.h"

struct shmt_runtime_candidate {
    struct shmt_kernel_evaluated *evaluated;
    const struct shmt_resources *resources;   /* NULL: not known */
    const struct shmt_resources_of_launches *launches; /* with resources */
};

/* Every size within its dimension; else SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_runtime_check_problem(const struct shmt_kernel *kernel,
                                               const int64_t *problem,
                                               struct shmt_error *err);

/* Constraints, geometry, shared memory and resident blocks, the problem being
 * one of the kernel's.  SHMTUNE_NO_CONFIGURATION with the first thing that
 * does not hold. */
enum shmtune_status
shmt_runtime_check(const struct shmtune_device *device,
                   const struct shmt_runtime_candidate *candidate,
                   struct shmt_error *err);

#endif
