/* SPDX-License-Identifier: MIT */
/*
 * trail: a journal as numbers to draw: the last result of each candidate,
 * sorted by its time, spread by the values of parameters and of pairs of them.
 * For the files of report/.
 */
#ifndef SHMT_REPORT_TRAIL_H
#define SHMT_REPORT_TRAIL_H

#include "kernel/kernel.h"
#include "record/record.h"

/* Tries that are drawn in any case. */
enum { SHMT_REPORT_FASTEST = 200 };

struct shmt_report_trail {
    const struct shmt_kernel *kernel;
    size_t count;                  /* candidates */
    uint64_t verdicts[SHMT_VERDICT_COUNT];
    /* The first of each verdict that has a reason, or the first; NULL. */
    const struct shmt_journal_record *examples[SHMT_VERDICT_COUNT];
    size_t timed_count;            /* verified and timed */
    const struct shmt_journal_record **fastest;    /* [timed_count] by time */
    size_t try_count;              /* earlier results too */
    const struct shmt_journal_record **tries;  /* [try_count], in the order
                                      they were made */
    double fast_us;                /* the slowest of the fastest of them */
    const struct shmt_journal_record *best, *usual;    /* or NULL */
};

enum shmtune_status shmt_report_trail_new(const struct shmt_kernel *kernel,
                                          const struct shmt_journal *journal,
                                          struct shmt_report_trail **out,
                                          struct shmt_error *err);
/* NULL is allowed. */
void shmt_report_trail_free(struct shmt_report_trail *trail);

/* A page shows so many values of a parameter at most. */
enum { SHMT_REPORT_VALUES = 12 };

/* The times of those candidates that have one value. */
struct shmt_report_spread {
    size_t value;                  /* index in the parameter's list */
    size_t count;
    double low, first, middle, third, high;
};
/* Of the values that candidates have, those with the best times, in the
 * order of the list; *all: how many there are.  False: there is no memory. */
bool shmt_report_trail_spread(const struct shmt_report_trail *trail,
                              size_t parameter,
                              struct shmt_report_spread
                                  out[SHMT_REPORT_VALUES], size_t *count,
                              size_t *all);

/* A pair of parameters: the best time with each two values, as multiples of
 * the best of all; NAN where no candidate ran.  The one with more values has
 * the rows, where their names have room. */
struct shmt_report_pair {
    size_t row, column;            /* the parameters */
    size_t row_count, column_count;
    size_t row_values[SHMT_REPORT_VALUES], column_values[SHMT_REPORT_VALUES];
    double cells[SHMT_REPORT_VALUES * SHMT_REPORT_VALUES];
    double bond;                   /* how far the two together differ from
                                      what each does alone */
};
enum { SHMT_REPORT_PAIRS = 6 };
/* The pairs with the greatest bonds; *all: of how many. */
enum shmtune_status
shmt_report_trail_pairs(const struct shmt_report_trail *trail,
                        struct shmt_report_pair out[SHMT_REPORT_PAIRS],
                        size_t *count, size_t *all, struct shmt_error *err);

#endif
