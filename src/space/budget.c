/* SPDX-License-Identifier: MIT */
/*
 * budget: counts the steps of a build, looks at the clock now and then, and
 * tells the caller how far the build is.  Every pass that can take long spends
 * from it; the steps and not the clock end most builds that are too large, so
 * that the same definition ends in the same way on every machine.
 */
#include "space/budget.h"

static const uint64_t default_steps = UINT64_C(1000000000);
static const double default_seconds = 60.0;
static const size_t default_bytes = (size_t)512 << 20;
static const size_t default_draws = 4096;

/* A million steps take some milliseconds. */
static const uint64_t look_after = UINT64_C(1) << 20;

void shmt_budget_begin(struct shmt_budget *budget,
                       const struct shmt_space_limits *limits)
{
    *budget = (struct shmt_budget){.start = shmt_clock_s()};
    if (limits != NULL)
        budget->limits = *limits;
    if (budget->limits.steps == 0)
        budget->limits.steps = budget->limits.seconds > 0.0 ? UINT64_MAX
                                                            : default_steps;
    if (!(budget->limits.seconds > 0.0))
        budget->limits.seconds = default_seconds;
    if (budget->limits.bytes == 0)
        budget->limits.bytes = default_bytes;
    if (budget->limits.draws == 0)
        budget->limits.draws = default_draws;
    if (budget->limits.seed == 0)
        budget->limits.seed = 1;
    budget->told = budget->start + 0.8;
    budget->next_look = look_after < budget->limits.steps
                            ? look_after : budget->limits.steps;
}

bool shmt_budget_look(struct shmt_budget *budget)
{
    const struct shmt_space_limits *const limits = &budget->limits;
    const double now = shmt_clock_s();

    budget->spent = budget->spent || budget->steps >= limits->steps ||
                    now - budget->start > limits->seconds;
    budget->next_look = budget->steps + look_after;
    if (budget->spent || budget->next_look > limits->steps)
        budget->next_look = budget->spent ? 0 : limits->steps;
    if (limits->tell != NULL && now - budget->told > 0.2) {
        budget->told = now;
        budget->progress.seconds = now - budget->start;
        limits->tell(limits->context, &budget->progress);
    }
    return !budget->spent;
}

bool shmt_budget_fits(struct shmt_budget *budget, size_t bytes)
{
    budget->progress.bytes = budget->held + bytes;
    if (budget->progress.bytes <= budget->limits.bytes)
        return true;
    budget->full = true;
    return false;
}
