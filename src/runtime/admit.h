/* SPDX-License-Identifier: MIT */
/*
 * admit: may this configuration run on this device for this problem?  Asked
 * of every tuned entry when it is opened and of every choice that is not an
 * exact hit.  Private to runtime; allocates nothing unless it has to say why
 * not.
 */
#ifndef SHMT_RUNTIME_ADMIT_H
#define SHMT_RUNTIME_ADMIT_H

#include "kernel/kernel.h"
#include "record/record.h"

struct shmt_candidate {
    struct shmt_kernel_evaluated *evaluated;
    const struct shmt_resources *resources;   /* NULL: not known */
    const struct shmt_launch_resources *launches;   /* with resources */
};

/* Every size within its dimension; else SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_admit_problem(const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       struct shmt_error *err);

/* Constraints, geometry, shared memory and resident blocks, the problem being
 * one of the kernel's.  SHMTUNE_NO_CONFIGURATION with the first thing that
 * does not hold. */
enum shmtune_status shmt_admit_check(const struct shmtune_device *device,
                                     const struct shmt_candidate *candidate,
                                     struct shmt_error *err);

#endif
