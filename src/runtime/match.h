/* SPDX-License-Identifier: MIT */
/*
 * match: is a tuning's device the given one, or one of the same compute
 * capability?  Inline, because an exact match needs it and has to be fast.
 */
#ifndef SHMT_RUNTIME_MATCH_H
#define SHMT_RUNTIME_MATCH_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "shmtune.h"

/* What decides whether and how well a configuration runs.  Sorted so that the
 * limits in which devices differ most often come first. */
#define SHMT_RUNTIME_LIMIT_LIST(X)                                           \
    X(multiprocessors) X(shared_per_block_optin)                             \
    X(shared_per_multiprocessor) X(shared_per_block)                         \
    X(shared_reserved_per_block) X(registers_per_multiprocessor)             \
    X(registers_per_block) X(max_threads_per_multiprocessor)                 \
    X(max_blocks_per_multiprocessor) X(max_threads_per_block) X(warp_size)   \
    X(max_grid_y)

static inline bool
shmt_runtime_same_capability(const struct shmtune_device *tuned,
                             const struct shmtune_device *device)
{
    return tuned->compute_major == device->compute_major &&
           tuned->compute_minor == device->compute_minor;
}

/* A limit that is not known (0) counts as equal; the names must be equal. */
static inline bool shmt_runtime_same_device(const struct shmtune_device *tuned,
                                            const struct shmtune_device *device)
{
#define SHMT_RUNTIME_LIMIT_AGREES(limit)                                     \
    && (tuned->limit == device->limit || device->limit == 0)
    return shmt_runtime_same_capability(tuned, device)
               SHMT_RUNTIME_LIMIT_LIST(SHMT_RUNTIME_LIMIT_AGREES) &&
           strcmp(tuned->name, device->name) == 0;
#undef SHMT_RUNTIME_LIMIT_AGREES
}

/* log2 of memory clock times bus width, to compare two devices by; 0: not
 * known. */
static inline double
shmt_runtime_log2_memory_rate(const struct shmtune_device *device)
{
    const double rate =
        (double)device->memory_clock_khz * device->memory_bus_bits;

    return rate > 1 ? log2(rate) : 0;
}

#endif
