/* SPDX-License-Identifier: MIT */
/*
 * tune_budget: how long `shmtune tune` may search for each problem.
 */
#ifndef SHMT_COMMAND_TUNE_BUDGET_H
#define SHMT_COMMAND_TUNE_BUDGET_H

#include "command/command.h"

struct shmt_tune_budget {
    double seconds;      /* of the device's clock; INFINITY: any */
    uint64_t count;      /* candidates; UINT64_MAX: any */
    bool usual;          /* nobody asked for one */
};

/* "60s", "2m", "500", "all", or NULL: what is usual with `strategy`. */
enum shmtune_status shmt_tune_budget_parse(const char *text,
                                           const char *strategy,
                                           struct shmt_tune_budget *out,
                                           struct shmt_error *err);

/* For all built-in kernels together: a usual one is cut so that they end in
 * minutes, however many problems they list. */
void shmt_tune_budget_share(struct shmt_tune_budget *budget, size_t problems);

#endif
