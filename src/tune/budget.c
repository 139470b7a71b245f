/* SPDX-License-Identifier: MIT */
/*
 * budget: makes a run end on time.  Says how much of the budget is kept for the
 * finals, when the search has to end for them, whether it may go on instead,
 * and how many finalists and passes fit into what is left.  Called by run.c,
 * pipeline.c and finals.c.
 */
#include <math.h>

#include "tune/state.h"

/* At most this share of the budget is kept for the finals, and at most this
 * share of the finals is spent on starting processes; and where it is less than
 * this of what their measurements take, each pass has one of its own. */
static const double finals_share = 0.35, restart_share = 0.4,
                    each_pass_share = 0.25;

/* The fastest are finalists, however far the first is ahead. */
enum { LEAST_FINALISTS = 8 };

/* Two at least are compared in a pass; with no time for that there is none. */
enum { LEAST_IN_A_PASS = 2 };

/* Where others wait for the device, no more are finalists than FEW, or than so
 * many seconds of the device are enough for, up to MANY: of a kernel of 15 us
 * a search cannot tell apart what is within 4 %, which can be twenty. */
static const double short_finals_s = 0.6;
enum { FEW_FINALISTS = 10, MANY_FINALISTS = 24 };

/* Of what a measurement took that set the problem up, as much is its own, at
 * least. */
static const double least_share = 0.1;

/* What starting a measure worker takes, beside setting the problem up.  Where
 * runs share one, it is not started anew (target/live.c). */
static const double worker_s = 0.3;

/* Fewer passes are held only when not even so many finalists fit. */
static const struct {
    size_t passes, finalists;
} enough[] = {
    {SHMT_TUNE_FINALS_PASSES, 8}, {5, 6}, {3, 4}, {1, 2}
};

/* Those that end together wait for each other's measurements. */
static double waits(const struct shmt_tune *tune)
{
    return tune->options->together > 1 ? (double)tune->options->together : 1;
}

/* Seconds that one measurement takes, where the problem is set up already; 0:
 * not known.  Where each has set it up anew, since others failed, it is what
 * they took more than the least of those; of one alone nothing is told
 * apart. */
static double measurement_s(const struct shmt_tune *tune)
{
    const uint64_t alone = tune->timed - tune->timed_anew;
    const double most_ms =
        tune->timed_anew > 0
            ? fmin(tune->first_ms,
                   tune->timed_anew_ms / (double)tune->timed_anew)
            : tune->first_ms;

    if (alone > 1)
        return waits(tune) *
               (tune->timed_ms - tune->first_ms - tune->timed_anew_ms) /
               1000 / (double)(alone - 1);
    return waits(tune) *
           (tune->anew > 0
                ? fmax(most_ms - tune->least_ms, least_share * most_ms)
                : most_ms) / 1000;
}

static double restart_s(const struct shmt_tune *tune)
{
    const bool shared = tune->options->together > 1;

    return tune->target->operations->restart == NULL
               ? 0 : (shared ? 0 : worker_s) +
                     waits(tune) * tune->first_ms / 1000;
}

static size_t whole(double number, size_t most)
{
    return number < (double)most ? (size_t)fmax(number, 0) : most;
}

static size_t most_finalists(const struct shmt_tune *tune)
{
    const double device_s = measurement_s(tune) / waits(tune);
    size_t most;

    if (!tune->options->yields)
        return SHMT_TUNE_FINALISTS;
    most = whole(short_finals_s / SHMT_TUNE_FINALS_PASSES /
                     fmax(device_s, 1e-9), MANY_FINALISTS);
    return most > FEW_FINALISTS ? most : FEW_FINALISTS;
}

/* Counting them again after each measurement would take long in a large
 * search. */
void shmt_tune_expect_finalists(struct shmt_tune *tune)
{
    const struct shmt_ledger *const ledger = tune->outcome->ledger;
    const double near_us = SHMT_TUNE_NEAR_FACTOR * tune->outcome->best_us;
    size_t near = 0;

    if (tune->timed > LEAST_FINALISTS && tune->timed % LEAST_FINALISTS != 0)
        return;
    for (size_t k = 0; k < shmt_ledger_count(ledger); k++)
        near += shmt_ledger_cost(&shmt_ledger_at(ledger, k)->result) <=
                near_us;
    tune->finalists = near > LEAST_FINALISTS ? near : LEAST_FINALISTS;
    if (tune->finalists > tune->timed)
        tune->finalists = tune->timed;
    if (tune->finalists > most_finalists(tune))
        tune->finalists = most_finalists(tune);
}

const char *shmt_tune_longer(const struct shmt_tune *tune)
{
    return isfinite(tune->options->spare_s) ? "--total or --budget"
                                            : "--budget";
}

double shmt_tune_budget_s(const struct shmt_tune *tune)
{
    return tune->options->budget_s + tune->more_s;
}

/* Where buffers lie elsewhere a short kernel takes longer or shorter, in each
 * pass there: seven places say more than three. */
static size_t most_restarts(const struct shmt_tune *tune)
{
    const size_t each_pass = SHMT_TUNE_FINALS_PASSES - 1;
    const double measuring_s = SHMT_TUNE_FINALS_PASSES *
                               (double)tune->finalists * measurement_s(tune);

    return (double)each_pass * restart_s(tune) <= each_pass_share * measuring_s
               ? each_pass : SHMT_TUNE_FINALS_BLOCKS - 1;
}

/* Seconds that the finals want, and may have. */
static double reserve_s(const struct shmt_tune *tune)
{
    const size_t restarts = tune->finalists > 1 ? most_restarts(tune) : 0;
    const double wanted =
        SHMT_TUNE_FINALS_PASSES * (double)tune->finalists *
            measurement_s(tune) + (double)restarts * restart_s(tune);

    return fmin(wanted, finals_share * shmt_tune_budget_s(tune));
}

double shmt_tune_search_end(const struct shmt_tune *tune)
{
    const double budget_s = shmt_tune_budget_s(tune);

    return isfinite(budget_s) ? budget_s - reserve_s(tune) : INFINITY;
}

/* A quarter at a time, so that it ends soon after there are enough.  Where
 * earlier runs have spent all of that, nothing goes on. */
void shmt_tune_go_on(struct shmt_tune *tune)
{
    const double most_s = tune->options->more_s, before_s = tune->more_s;
    const uint64_t all = tune->outcome->header.space_count;
    const uint64_t least = all < SHMT_TUNE_FEW ? all : SHMT_TUNE_FEW;
    uint64_t tried;

    if (before_s >= most_s ||
        shmt_tune_elapsed(tune) < shmt_tune_search_end(tune))
        return;
    tried = shmt_tune_count_known(tune);
    while (tried < least && tune->more_s < most_s &&
           shmt_tune_elapsed(tune) >= shmt_tune_search_end(tune))
        tune->more_s = fmin(most_s, tune->more_s +
                                        shmt_tune_budget_s(tune) / 4);
    if (before_s > 0 || tried >= least)
        return;
    if (shmt_tune_elapsed(tune) >= shmt_tune_search_end(tune)) {
        tune->more_s = 0;
        return;
    }
    shmt_tune_notice(tune, "%s: only %llu of %llu candidates in %.3g s: "
                     "the search goes on to %llu, or %.3g s; --budget sets "
                     "another end", tune->what,
                     (unsigned long long)tried, (unsigned long long)all,
                     shmt_tune_elapsed(tune), (unsigned long long)least,
                     tune->options->budget_s + most_s);
}

/* A run that resumes one which had spent its budget has its finals all the
 * same. */
double shmt_tune_finals_end(const struct shmt_tune *tune)
{
    const double budget_s = shmt_tune_budget_s(tune);
    const double share_s = finals_share * budget_s;

    return tune->spent_s > budget_s - share_s
               ? tune->spent_s + share_s : budget_s;
}

void shmt_tune_plan_finals(const struct shmt_tune *tune,
                           struct shmt_tune_finals_plan *plan)
{
    const double each_s = fmax(measurement_s(tune), 1e-9);
    double left_s = shmt_tune_finals_end(tune) - shmt_tune_elapsed(tune);
    const double least_s = LEAST_IN_A_PASS * each_s;
    const size_t most = most_restarts(tune);
    const size_t restarts =
        restart_s(tune) > 0
            ? whole(restart_share * left_s / restart_s(tune), most) : most;

    plan->finalists = most_finalists(tune);
    plan->passes = 0;
    if (left_s < least_s)
        return;
    left_s -= (double)restarts * restart_s(tune);
    plan->blocks = restarts + 1;
    for (size_t k = 0; k < sizeof enough / sizeof *enough; k++) {
        plan->passes = enough[k].passes;
        plan->finalists =
            whole(left_s / each_s / (double)plan->passes,
                  most_finalists(tune));
        if (plan->finalists >= enough[k].finalists)
            return;
    }
    plan->finalists = LEAST_IN_A_PASS;
}
