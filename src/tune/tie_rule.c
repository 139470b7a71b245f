/* SPDX-License-Identifier: MIT */
/*
 * tie_rule: the rule that chooses a winner (tie_rule.h), as a pure function of
 * the times of the passes.  Called by finals.c and tests.  Slower "in nearly
 * every pass" works like a sign test: samples on a GPU are correlated within a
 * pass, so passes are compared, not samples.
 */
#include "tune/tie_rule.h"

#include "base/base.h"

/* Within 1 % two times count as equal; beyond 5 % they differ, however noisy
 * they are. */
static const double tie_factor = 1.01, noise_factor = 1.05;
/* Events are stamped in steps of 32 ns: three of them. */
static const double steps_us = 0.1;

/* Whether `one` was slower in nearly every pass: all but one of seven. */
static bool is_slower(const struct shmt_tune_finalist *one,
                      const struct shmt_tune_finalist *best, size_t passes)
{
    size_t slower = 0;
    for (size_t p = 0; p < passes; p++)
        slower += one->pass_us[p] > best->pass_us[p];
    return slower + passes / 7 >= passes;
}

static bool is_equal(const struct shmt_tune_finalist *one,
                     const struct shmt_tune_finalist *best)
{
    return one == best || one->middle_us <= best->middle_us * tie_factor ||
           one->middle_us - best->middle_us < steps_us;
}

static bool is_tied(const struct shmt_tune_finalist *one,
                    const struct shmt_tune_finalist *best, size_t passes)
{
    return is_equal(one, best) ||
           (one->middle_us <= best->middle_us * noise_factor &&
            !is_slower(one, best, passes));
}

bool shmt_tune_prefers(const struct shmt_tune_finalist *a,
                       const struct shmt_tune_finalist *b)
{
    if (a->is_default != b->is_default)
        return a->is_default;
    if (a->spill_bytes != b->spill_bytes)
        return a->spill_bytes < b->spill_bytes;
    if (a->shared_bytes != b->shared_bytes)
        return a->shared_bytes < b->shared_bytes;
    return a->index < b->index;
}

_Static_assert((int)SHMT_TUNE_PASSES <= (int)SHMT_MIDDLE_MOST,
               "all passes have a middle");

size_t shmt_tune_choose_winner(struct shmt_tune_finalist *finalists,
                               size_t count,
                               size_t passes)
{
    const struct shmt_tune_finalist *best = &finalists[0];
    size_t winner = 0;

    for (size_t k = 0; k < count; k++) {
        finalists[k].middle_us = shmt_middle(finalists[k].pass_us, passes);
        if (finalists[k].middle_us < best->middle_us)
            best = &finalists[k];
    }
    for (size_t k = 0; k < count; k++)
        finalists[k].tied = is_tied(&finalists[k], best, passes);
    winner = (size_t)(best - finalists);
    for (size_t k = 0; k < count; k++)
        if (finalists[k].tied &&
            (finalists[k].is_default || is_equal(&finalists[k], best)) &&
            shmt_tune_prefers(&finalists[k], &finalists[winner]))
            winner = k;
    return winner;
}
