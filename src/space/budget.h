/* SPDX-License-Identifier: MIT */
/*
 * budget: how much of the limits a build has used.  For space/ alone.
 */
#ifndef SHMT_SPACE_BUDGET_H
#define SHMT_SPACE_BUDGET_H

#include "space/space.h"

struct shmt_budget {
    struct shmt_space_limits limits;   /* none of them 0 */
    double start, told;     /* by the clock; when progress was told last */
    uint64_t steps;         /* taken */
    uint64_t next_look;     /* at the clock, at so many steps */
    size_t held;            /* bytes of the components that are done */
    bool spent;             /* steps or seconds: nothing may follow */
    bool full;              /* a diagram met the limit of bytes */
    struct shmt_space_progress progress;
};

/* `limits` may be NULL. */
void shmt_budget_begin(struct shmt_budget *budget,
                       const struct shmt_space_limits *limits);

/* What shmt_budget_spend does when it is time to look at the clock. */
bool shmt_budget_look(struct shmt_budget *budget);

/* Takes steps: one is about what one sub-expression costs of a prefix that is
 * kept, five nanoseconds or so.
 * False: the budget is spent. */
static inline bool shmt_budget_spend(struct shmt_budget *budget,
                                     uint64_t steps)
{
    budget->steps += steps;
    return budget->steps < budget->next_look || shmt_budget_look(budget);
}

/* Whether `bytes` more fit beside what is held. */
bool shmt_budget_fits(struct shmt_budget *budget, size_t bytes);

#endif
