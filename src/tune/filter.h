/* SPDX-License-Identifier: MIT */
/*
 * filter: who leaves the funnel without being run.  Pure functions of the
 * device, the geometry of the launches, what the compiler reported, and what
 * the user wants.
 *
 * Called by tune/run.c before and after the compiler, and by commands that
 * show what would become of a configuration.
 */
#ifndef SHMT_TUNE_FILTER_H
#define SHMT_TUNE_FILTER_H

#include "kernel/kernel.h"
#include "record/record.h"

/* What the user asks for; a candidate that cannot run at all is out in any
 * case. */
struct shmt_policy {
    int max_spill_bytes;         /* stored per thread; < 0: any */
    int min_occupancy_percent;   /* 0: any */
};

/* Limits of the device that need no compiler: threads, grid, cluster, shared
 * memory as the spec states it.  TOO_LARGE with both sides in `result`, which
 * otherwise stays as it is. */
void shmt_filter_geometry(const struct shmtune_device *device,
                          const struct shmt_geometry *geometry,
                          struct shmt_result *result);

/* Fills in the resident blocks, the occupancy and what limits it, keeping
 * the lowest of what `result` says already; then NOT_RESIDENT or
 * SPEC_MISMATCH.  result->resources are those of the compiler. */
enum shmtune_status
shmt_filter_resources(const struct shmtune_device *device,
                      const struct shmt_geometry *geometry,
                      struct shmt_result *result, struct shmt_error *err);

/* SPILLS or LOW_OCCUPANCY. */
void shmt_filter_policy(const struct shmt_policy *policy,
                        struct shmt_result *result);

/* The same for all launches of a candidate. */
struct shmt_filter {
    const struct shmt_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_policy policy;
};

/* Into a cleared result, and into the compiler's.  Several launches are
 * judged each by its own resources, the result's `launches`; where they are
 * not known, or what the device is like, in what was recorded, what the result
 * says of residency stays.  A geometry that cannot be computed is TOO_LARGE
 * with the expression's message: a candidate's failure, not ours. */
enum shmtune_status shmt_filter_before(const struct shmt_filter *filter,
                                       const shmt_choice *choice,
                                       struct shmt_result *result,
                                       struct shmt_error *err);
enum shmtune_status shmt_filter_after(const struct shmt_filter *filter,
                                      const shmt_choice *choice,
                                      struct shmt_result *result,
                                      struct shmt_error *err);

#endif
