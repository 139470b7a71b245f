/* SPDX-License-Identifier: MIT */
/*
 * tune_budget: how long `shmtune tune` may search for each problem.
 */
#ifndef SHMT_COMMAND_TUNE_BUDGET_H
#define SHMT_COMMAND_TUNE_BUDGET_H

#include "command/command.h"

struct shmt_budget {
    double seconds;      /* of the device's clock; INFINITY: any */
    uint64_t count;      /* candidates; UINT64_MAX: any */
    bool usual;          /* the default, not given by the user */
};

/* "60s", "2m", "500", "all", or NULL: what is usual with `strategy`. */
enum shmtune_status shmt_budget_parse(const char *text,
                                      const char *strategy,
                                      struct shmt_budget *out,
                                      struct shmt_error *err);

/* For a run of all built-in kernels: shortens the default budget so that all
 * of them together take about ten minutes. */
void shmt_budget_share(struct shmt_budget *budget, size_t problems);

#endif
