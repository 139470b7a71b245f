/* SPDX-License-Identifier: MIT */
/*
 * filter: which candidates leave the funnel without being run: the verdicts of
 * device/fit.h's answers, and what the user wants.  Pure functions.
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

/* SPILLS or LOW_OCCUPANCY. */
void shmt_filter_policy(const struct shmt_policy *policy,
                        struct shmt_result *result);

/* What the launches of a candidate are held against. */
struct shmt_filter {
    const struct shmt_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_policy policy;
};

/* Into a result, which is cleared: TOO_LARGE where a launch does not fit the
 * device whatever the compiler makes of it (device/fit.h).  A geometry that
 * cannot be computed is TOO_LARGE with the expression's message: a candidate's
 * failure, not ours.  Whether it is still OK. */
bool shmt_filter_before(const struct shmt_filter *filter,
                        const shmt_choice *choice, struct shmt_result *result);
/* Into the compiler's, which is OK: the lowest occupancy of the launches where
 * it is known, else what was recorded stays; NOT_RESIDENT, SPEC_MISMATCH, or
 * what shmt_filter_policy says.  Whether it is still OK. */
bool shmt_filter_after(const struct shmt_filter *filter,
                       const shmt_choice *choice, struct shmt_result *result);

#endif
