/* SPDX-License-Identifier: MIT */
/*
 * filter: rejects candidates without running them: turns the answers of
 * device/fit.h into verdicts, and applies the user's limits.  Pure functions.
 *
 * Called by a run before and after compiling, and by commands that show what
 * would happen to a configuration.
 */
#ifndef SHMT_TUNE_FILTER_H
#define SHMT_TUNE_FILTER_H

#include "figure/figure.h"
#include "kernel/kernel.h"
#include "record/record.h"

/* Limits set by the user.  A candidate that cannot run at all is rejected in
 * any case. */
struct shmt_filter_policy {
    int max_spill_bytes;         /* stored per thread; < 0: any */
    int min_occupancy_percent;   /* 0: any */
    const struct shmt_figures *figures;    /* with requirements; NULL: none */
};

/* Sets the verdict SPILLS or LOW_OCCUPANCY if the user's limits say so. */
void shmt_filter_apply_policy(const struct shmt_filter_policy *policy,
                              struct shmt_result *result);

/* What the launches of a candidate are checked against. */
struct shmt_filter {
    const struct shmt_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_filter_policy policy;
};

/* Into a result, which is cleared: TOO_LARGE where a launch does not fit the
 * device whatever the compiler makes of it (device/fit.h).  A geometry that
 * cannot be computed is TOO_LARGE with the expression's message: a candidate's
 * failure, not ours.  UNMET where the configuration alone breaks a requirement.
 * Whether it is still OK. */
bool shmt_filter_before_compile(const struct shmt_filter *filter,
                                const shmt_config *config,
                                struct shmt_result *result);
/* Into the compiler's, which is OK: the lowest occupancy of the launches where
 * it is known, else what was recorded stays; NOT_RESIDENT, SPEC_MISMATCH, what
 * shmt_filter_apply_policy says, or UNMET where what the compiler reports
 * breaks a requirement.  Whether it is still OK. */
bool shmt_filter_after_compile(const struct shmt_filter *filter,
                               const shmt_config *config,
                               struct shmt_result *result);
/* Into one that has a time: UNMET where any requirement is broken; the time
 * stays. */
bool shmt_filter_after_measure(const struct shmt_filter *filter,
                               const shmt_config *config,
                               struct shmt_result *result);

#endif
