/* SPDX-License-Identifier: MIT */
/*
 * alike: is that device this one, or of its kind?  Inline, because an exact
 * hit asks it.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_ALIKE_H
#define SHMT_RUNTIME_ALIKE_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "shmtune.h"

/* What decides whether and how well a configuration runs.  In the order in
 * which devices differ most often. */
#define SHMT_LIMIT_LIST(X)                                                   \
    X(multiprocessors) X(shared_per_block_optin)                             \
    X(shared_per_multiprocessor) X(shared_per_block)                         \
    X(shared_reserved_per_block) X(registers_per_multiprocessor)             \
    X(registers_per_block) X(max_threads_per_multiprocessor)                 \
    X(max_blocks_per_multiprocessor) X(max_threads_per_block) X(warp_size)   \
    X(max_grid_y)

static inline bool shmt_same_capability(const struct shmtune_device *tuned,
                                        const struct shmtune_device *device)
{
    return tuned->compute_major == device->compute_major &&
           tuned->compute_minor == device->compute_minor;
}

/* A limit that is not known (0) is taken to be the same; a name must be. */
static inline bool shmt_same_device(const struct shmtune_device *tuned,
                                    const struct shmtune_device *device)
{
#define SHMT_LIMIT_AGREES(limit)                                             \
    && (tuned->limit == device->limit || device->limit == 0)
    return shmt_same_capability(tuned, device)
               SHMT_LIMIT_LIST(SHMT_LIMIT_AGREES) &&
           strcmp(tuned->name, device->name) == 0;
#undef SHMT_LIMIT_AGREES
}

/* log2 of what memory moves, as a number to compare with another one; 0: not
 * known. */
static inline double shmt_memory_rate(const struct shmtune_device *device)
{
    const double rate =
        (double)device->memory_clock_khz * device->memory_bus_bits;

    return rate > 1 ? log2(rate) : 0;
}

#endif
