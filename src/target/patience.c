/* SPDX-License-Identifier: MIT */
/*
 * patience: see patience.h.  Called by target/live.c.
 */
#include "target/patience.h"

#include <math.h>

#include "target/live.h"

/* A measurement that takes this many times as long as the longest finished one
 * is treated as a hang. */
static const double factor = 50, least_s = 3;

/* Where the first measurement of a problem hung, that of the next one has this
 * share of the usual minute: most often both are of the default, at two sizes,
 * and both hang. */
static const double wary_share = 1.0 / 6;

void shmt_target_patience_begin(struct shmt_target_patience *patience)
{
    patience->needs_setup = true;
    patience->setup_s = patience->expected_s = patience->longest_s = -1;
}

static bool is_first(const struct shmt_target_patience *patience)
{
    return patience->needs_setup && patience->setup_s < 0 &&
           patience->expected_s < 0;
}

/* More where the longest measurement of another problem says so. */
static double wary_s(const struct shmt_target_patience *patience,
                     const struct shmt_pool_measurer *measurer)
{
    const double usual_s = fmin(patience->first_s, SHMT_LIVE_FIRST_S);

    return fmin(patience->first_s,
                fmax(patience->first_s - (1 - wary_share) * usual_s,
                     1 + 3 * measurer->longest_s));
}

/* Time allowed for setting a problem up.  A new worker has to do what the one
 * before it did, so its time is known; several hanging candidates then do not
 * cost the whole allowance each.  Times of earlier runs get more tolerance,
 * because the machine may be busier now. */
static double setup_s(const struct shmt_target_patience *patience,
                      const struct shmt_pool_measurer *measurer)
{
    if (!patience->needs_setup)
        return 0;
    if (patience->setup_s >= 0)
        return fmin(patience->first_s, 1 + 3 * patience->setup_s);
    if (patience->expected_s >= 0)
        return fmin(patience->first_s, 1 + 10 * patience->expected_s +
                                           patience->answer_s);
    return measurer->hung ? wary_s(patience, measurer) : patience->first_s;
}

double shmt_target_patience_s(const struct shmt_target_patience *patience,
                              const struct shmt_pool_measurer *measurer)
{
    const double longest = fmax(factor * patience->longest_s, least_s);

    return setup_s(patience, measurer) +
           (patience->longest_s > 0 ? fmin(patience->measure_s, longest)
                                    : patience->measure_s);
}

void shmt_target_patience_ended(struct shmt_target_patience *patience,
                                const struct shmt_result *result,
                                double took_s)
{
    if (patience->needs_setup)
        patience->setup_s = fmax(patience->setup_s, took_s);
    else if (shmt_verdict_stage(result->verdict) == SHMT_STAGE_TIME)
        patience->longest_s = fmax(patience->longest_s, took_s);
    patience->needs_setup = false;
}

void shmt_target_patience_killed(const struct shmt_target_patience *patience,
                                 struct shmt_pool_measurer *measurer,
                                 struct shmt_result *out)
{
    const double limit_s = shmt_target_patience_s(patience, measurer);
    const double less_s = patience->first_s - setup_s(patience, measurer);

    if (is_first(patience) && less_s > 0)
        shmt_result_set_verdict(out, SHMT_VERDICT_TIMEOUT,
                                "killed after %.3g s, because one before it "
                                "hung; tuned alone (--size) it has %.3g s",
                                limit_s, limit_s + less_s);
    else
        shmt_result_set_verdict(out, SHMT_VERDICT_TIMEOUT,
                                "killed after %.3g s", limit_s);
    measurer->hung |= is_first(patience);
}
