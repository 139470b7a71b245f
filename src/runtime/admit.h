/* SPDX-License-Identifier: MIT */
/*
 * admit: may this configuration run on this device for this problem?  Asked
 * of every tuned entry when it is opened and of every choice that is not an
 * exact hit.  Private to runtime; allocates nothing unless it has to say why
 * not.
 */
#ifndef SHMT_RUNTIME_ADMIT_H
#define SHMT_RUNTIME_ADMIT_H

#include "device/device.h"
#include "kernel/kernel.h"

/* Every size within its dimension; else SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_admit_problem(const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       struct shmt_error *err);

/* Constraints, geometry, shared memory and resident blocks, the problem being
 * one of the kernel's.  SHMTUNE_NO_CONFIGURATION with the first thing that
 * does not hold. */
enum shmtune_status shmt_admit_check(const struct shmt_fit_launches *ask,
                                     struct shmt_error *err);

#endif
