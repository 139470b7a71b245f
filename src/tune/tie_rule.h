/* SPDX-License-Identifier: MIT */
/*
 * tie_rule: chooses the winner of the finals.  It is a pure function, so it
 * can be tested with numbers alone, and two runs with similar times choose the
 * same winner.
 */
#ifndef SHMT_TUNE_TIE_RULE_H
#define SHMT_TUNE_TIE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHMT_TUNE_PASSES = 16 };

struct shmt_tune_finalist {
    uint64_t index;               /* in the space: the canonical order */
    bool is_default;
    int spill_bytes;
    int64_t shared_bytes;         /* static and dynamic */
    /* The middle of each pass.  Samples within a pass are correlated (clocks,
     * temperature), so a pass counts as one observation. */
    double pass_us[SHMT_TUNE_PASSES];
    /* out */
    double middle_us;             /* of the passes */
    bool tied;                    /* cannot be distinguished from the fastest */
};

/* Position of the winner; count > 0, passes in 1..SHMT_TUNE_PASSES.
 *
 * A finalist is tied with the fastest when it is within 1 % of it or 0.1 us,
 * or within 5 % and not slower in nearly every pass.  The default wins if it is
 * tied, else of those within 1 % or 0.1 us the one with fewer spilled bytes,
 * less shared memory, the lower index: noise that hides a difference is no
 * reason to take what seems slower. */
size_t shmt_tune_choose_winner(struct shmt_tune_finalist *finalists,
                               size_t count,
                               size_t passes);

/* Whether the rule prefers `a` where both are tied. */
bool shmt_tune_prefers(const struct shmt_tune_finalist *a,
                       const struct shmt_tune_finalist *b);

#endif
