/* SPDX-License-Identifier: MIT */
/*
 * ledger: every candidate of one tuning run that has a result, by its index
 * in the space, and the counts.  Filled from a journal when a run resumes.
 */
#ifndef SHMT_RECORD_LEDGER_H
#define SHMT_RECORD_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/result.h"

struct shmt_ledger_entry {
    uint64_t index;
    bool known;         /* has a result and is not tried again */
    bool journaled;     /* that result is in the journal */
    bool counted;       /* this run has counted it */
    int tries;          /* how often earlier runs began it and did not finish
                           it */
    double at_s;
    struct shmt_result result;
};

struct shmt_ledger;

/* NULL when there is no memory. */
struct shmt_ledger *shmt_ledger_new(void);
void shmt_ledger_free(struct shmt_ledger *ledger);

/* The entry of `index`, made when there is none (its result cleared); NULL
 * when there is no memory.  Entries stay where they are. */
struct shmt_ledger_entry *shmt_ledger_put(struct shmt_ledger *ledger,
                                   uint64_t index);
/* NULL when there is none. */
struct shmt_ledger_entry *shmt_ledger_find(const struct shmt_ledger *ledger,
                                    uint64_t index);

size_t shmt_ledger_count(const struct shmt_ledger *ledger);
/* In the order they were put. */
struct shmt_ledger_entry *shmt_ledger_at(const struct shmt_ledger *ledger,
                                        size_t k);

/* Writes the entries that this run has counted and that have a cost, sorted by
 * cost and then by index.  `entries` must have room for all.  Returns their
 * number. */
size_t shmt_ledger_fastest(const struct shmt_ledger *ledger,
                           struct shmt_ledger_entry **entries);
/* For qsort over entries: by cost, then by index. */
int shmt_ledger_compare(const void *a, const void *b);

/* What a strategy is told: microseconds, or INFINITY. */
double shmt_ledger_cost(const struct shmt_result *result);

#endif
