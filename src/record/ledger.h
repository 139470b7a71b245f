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
    bool known;         /* has a result: is not tried */
    bool journaled;     /* that result is in the journal */
    bool settled;       /* this run came by it, and counted it */
    int tries;          /* begun in a journal, and never heard of again */
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

/* Those that this run came by and that have a cost, into `entries`, which has
 * room for all: by cost, then by index.  How many. */
size_t shmt_ledger_fastest(const struct shmt_ledger *ledger,
                           struct shmt_ledger_entry **entries);
/* For qsort over entries: by cost, then by index. */
int shmt_ledger_compare(const void *a, const void *b);

/* What a strategy is told: microseconds, or INFINITY. */
double shmt_ledger_cost(const struct shmt_result *result);

#endif
