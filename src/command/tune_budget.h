/* SPDX-License-Identifier: MIT */
/*
 * tune_budget: how long `shmtune tune` may take: what --budget gives each
 * problem, and how --total is shared among them.
 */
#ifndef SHMT_COMMAND_TUNE_BUDGET_H
#define SHMT_COMMAND_TUNE_BUDGET_H

#include "command/command.h"

struct shmt_command_budget {
    double seconds;      /* for a problem, of the device's clock; INFINITY */
    uint64_t count;      /* candidates; UINT64_MAX: any */
    bool usual;          /* not given by the user */
    double total_s;      /* for all of the command; INFINITY: any */
    double end_s;        /* on shmt_clock_s */
    size_t problems;     /* that have not begun */
    size_t devices;
};

/* Reads "60s", "2m", "500", "all" or NULL (what is usual with `strategy`), and
 * --total: a time or NULL. */
enum shmtune_status
shmt_command_budget_parse(const char *budget, const char *total,
                          const char *strategy,
                          struct shmt_command_budget *out,
                          struct shmt_error *err);

/* So many problems are to be tuned on so many GPUs; `all`: of all built-in
 * kernels, which have a total unless the user gave a budget.  The command began
 * at `began_s` on shmt_clock_s. */
void shmt_command_budget_begin(struct shmt_command_budget *budget,
                               size_t problems, size_t devices, bool all,
                               double began_s);

/* Seconds for the next problem, from now on: never more than its share of what
 * is left of the total, where so many problems are left, with this one, to so
 * many devices.  SHMTUNE_INTERRUPTED when nothing is left. */
enum shmtune_status
shmt_command_budget_next(struct shmt_command_budget *budget, size_t left,
                         size_t devices, double *seconds,
                         struct shmt_error *err);

/* "118 problems: 9 min in all (--total), at most 15 s each (--budget)"; empty
 * when time is no limit or there is one problem. */
void shmt_command_budget_tell(const struct shmt_command_budget *budget,
                              struct shmt_text *text);

#endif
