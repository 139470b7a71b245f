/* SPDX-License-Identifier: MIT */
/*
 * ends: the parameters of which a winner has the least or the largest number,
 * where the next one beyond would be allowed: the best may lie there.  Called
 * by commands.
 */
#ifndef SHMT_TUNE_ENDS_H
#define SHMT_TUNE_ENDS_H

#include "kernel/kernel.h"
#include "tune/run.h"

/* A bit for each parameter. */
struct shmt_tune_ends {
    uint64_t least, largest;
};

/* Of integers in ascending order, three at least; those where what is tied with
 * the winner is at the same end.  Allowed is what the constraints and the
 * device allow with the winner's other values, and no block of less than a
 * warp. */
struct shmt_tune_ends
shmt_tune_ends_of(const struct shmt_kernel *kernel,
                  const struct shmtune_device *device,
                  const struct shmt_tune_outcome *outcome);

/* The next number beyond: as many times as the last step, or as far; 0: there
 * is none. */
int64_t shmt_tune_ends_next(const struct shmt_parameter *parameter,
                            bool largest);

#endif
