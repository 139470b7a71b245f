/* SPDX-License-Identifier: MIT */
/*
 * nearest: among the tuned sizes of one match level, the one whose
 * configuration is used for a problem that nobody tuned.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_NEAREST_H
#define SHMT_RUNTIME_NEAREST_H

#include "runtime/library.h"
#include "runtime/sieve.h"

struct shmt_runtime_request {
    const struct shmtune_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_text *trace;   /* NULL, or gets a line for each tuning that
                                  is considered; only this allocates */
    struct shmt_runtime_devices devices;   /* where there is no exact hit */
};

struct shmt_runtime_nearest {
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *entry;
    const shmt_config *values;      /* the winner's there, or a tie's */
    double distance;                /* in doublings of a size */
};

/* Where a problem stands in distances: two coordinates a dimension, each
 * `apart` from the next. */
void shmt_runtime_place(const int64_t *problem, size_t dimensions,
                        size_t apart, float *out);

/* The level is `device`, completed from the table of architectures, or other
 * devices of its compute capability.  `sieve` has what may be spent, and then
 * what is left.  False when nothing fits.  Allocates nothing but the trace. */
bool shmt_runtime_find_nearest(const struct shmt_runtime_request *request,
                               const struct shmtune_device *device,
                               bool other_devices,
                               struct shmt_runtime_sieve *sieve,
                               struct shmt_runtime_nearest *out);

#endif
