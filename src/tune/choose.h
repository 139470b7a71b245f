/* SPDX-License-Identifier: MIT */
/*
 * choose: who wins the finals.  A pure function, so that it can be tested
 * with figures, and two runs with figures alike choose alike.
 */
#ifndef SHMT_TUNE_CHOOSE_H
#define SHMT_TUNE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHMT_CHOOSE_PASSES = 16 };

struct shmt_finalist {
    uint64_t index;               /* in the space: the canonical order */
    bool is_default;
    int spill_bytes;
    int64_t shared_bytes;         /* static and dynamic */
    /* The median of each pass.  Samples within a pass are alike (clocks,
     * temperature), so that a pass counts as one observation. */
    double pass_us[SHMT_CHOOSE_PASSES];
    /* out */
    double median_us;             /* of the passes */
    bool tied;                    /* not told from the fastest */
};

/* Position of the winner; count > 0, passes in 1..SHMT_CHOOSE_PASSES.
 *
 * A finalist is tied with the fastest when it is within 1 % of it or 0.1 us,
 * or within 5 % and not slower in nearly every pass.  Of those tied: the
 * default, else fewer spilled bytes, less shared memory, the lower index. */
size_t shmt_choose(struct shmt_finalist *finalists, size_t count,
                   size_t passes);

/* Median of `count` values, which it sorts. */
double shmt_choose_median(double *values, size_t count);

#endif
