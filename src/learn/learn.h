/* SPDX-License-Identifier: MIT */
/*
 * learn: learns from measurements which of the tuned configurations of a
 * kernel does best at which sizes, as a small tree of comparisons (record/
 * dispatch.h).  Draws the sizes (draw.h), measures the configurations there
 * and keeps every measurement in journals (measure.h), and grows the tree.
 */
#ifndef SHMT_LEARN_H
#define SHMT_LEARN_H

#include "learn/draw.h"
#include "learn/measure.h"
#include "learn/table.h"
#include "record/record.h"

/* What the configurations chosen for many sizes reach of the best time. */
struct shmt_learn_figures {
    size_t count;
    double mean, low;            /* mean and first percentile, of 1 */
};

struct shmt_learn_outcome {
    struct shmt_learn_figures held_out;   /* the tree, by cross-validation */
    struct shmt_learn_figures nearest;    /* the nearest size's rule, there */
    double lead;                 /* of the tree, in standard errors */
    bool better;                 /* the tree's mean is above the other's, and
                                    still is where the worst count more, and
                                    leads by more than chance does */
};

/* Of trees that were grown on 12 to 24 sizes and seemed better most were worse
 * at others; none was that led by so many standard errors. */
enum { SHMT_LEARN_LEAD = 2 };

/* Learns from the sizes of the run's table that are done.  *out is in `arena`,
 * its texts are the kernel's; NULL where fewer than SHMT_LEARN_LEAST sizes are
 * done.  SHMTUNE_INTERRUPTED: the run's `stop` was set.  Pure: the same table
 * and seed give the same dispatch; nothing is measured. */
enum { SHMT_LEARN_LEAST = 12 };
enum shmtune_status shmt_learn_dispatch(const struct shmt_learn_run *run,
                                        struct shmt_arena *arena,
                                        struct shmt_dispatch **out,
                                        struct shmt_learn_outcome *outcome,
                                        struct shmt_error *err);

/* Mean and first percentile of shares, which are sorted. */
struct shmt_learn_figures shmt_learn_figures_of(double *shares, size_t count);

#endif
