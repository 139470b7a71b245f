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
    double began_s;      /* on shmt_clock_s */
    double dealt_s;      /* what --budget comes to for the problems of a device,
                            one after another */
    bool granted;        /* one of a queue is there */
};

/* Who shares the time that is left. */
struct shmt_command_share {
    size_t left;         /* problems, with the one that begins, */
    size_t devices;      /* to so many devices; */
    size_t together;     /* so many run on a device at a time */
    double part;         /* this one's, of the mean of them */
    double busy_s;       /* given to others already, and not spent */
    bool full;           /* so many that one which ends early leaves time */
};

/* Reads "60s", "2m", "500", "all" or NULL (what is usual with `strategy`), and
 * --total: a time or NULL. */
enum shmtune_status
shmt_command_budget_parse(const char *budget, const char *total,
                          const char *strategy,
                          struct shmt_command_budget *out,
                          struct shmt_error *err);

/* So many problems are to be tuned, at `most` so many of them on one GPU;
 * `all`: of all built-in kernels, which have a total unless the user gave a
 * budget.  The command began at `began_s` on shmt_clock_s. */
void shmt_command_budget_begin(struct shmt_command_budget *budget,
                               size_t problems, size_t most, bool all,
                               double began_s);

/* A GPU is lost, and one of the others has `most` problems. */
void shmt_command_budget_lost(struct shmt_command_budget *budget, size_t most);

/* A device that was waited for in a queue is there: with the first the total
 * begins. */
void shmt_command_budget_granted(struct shmt_command_budget *budget);

/* Seconds for the next problem, from now on: what --budget gives those that run
 * together, for each of them to spend together, and never more than a share of
 * what is left of the total, or of what all budgets come to.  *most_s: without
 * the others, who may need less than their shares.  SHMTUNE_INTERRUPTED when
 * nothing is left of the total. */
enum shmtune_status
shmt_command_budget_next(struct shmt_command_budget *budget,
                         const struct shmt_command_share *share,
                         double *seconds, double *most_s,
                         struct shmt_error *err);

/* What a problem may take beside that where few candidates were tried by then:
 * no user who gave a time has it taken longer. */
double shmt_command_budget_more(const struct shmt_command_budget *budget);

/* Whether a problem that needs less leaves time that others can use. */
bool shmt_command_budget_is_short(const struct shmt_command_budget *budget,
                                  const struct shmt_command_share *share);

/* "at most 9 min in all (--total) and 15 s each (--budget)"; 0 problems: it is
 * not known how many there are.  What is usual may have more added. */
void shmt_command_budget_tell(const struct shmt_command_budget *budget,
                              struct shmt_text *text);
/* That nothing new was tried for so many problems, of which so many candidates
 * are known, since earlier runs had spent the time. */
void shmt_command_budget_tell_spent(const struct shmt_command_budget *budget,
                                    size_t problems, uint64_t known,
                                    struct shmt_text *text);

#endif
