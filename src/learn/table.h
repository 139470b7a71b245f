/* SPDX-License-Identifier: MIT */
/*
 * table: what was measured: the times of some configurations at some sizes.
 */
#ifndef SHMT_LEARN_TABLE_H
#define SHMT_LEARN_TABLE_H

#include "kernel/kernel.h"

enum {
    SHMT_LEARN_CONFIGS = 256,
    SHMT_LEARN_SAMPLES = 24,      /* of a configuration at a size, */
    SHMT_LEARN_PASSES = 8         /* in so many passes */
};

/* A configuration at a size. */
struct shmt_learn_cell {
    uint8_t count;                /* samples */
    uint8_t passes;               /* that they come from */
    uint8_t ends[SHMT_LEARN_PASSES];   /* how many there are after each */
    bool failed;                  /* it may not run here, or did not */
    double time_us;               /* their middle; 0: there are none */
    float samples_us[SHMT_LEARN_SAMPLES];
};

struct shmt_learn_size {
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    bool done;                    /* all that was wanted is measured */
    uint16_t nearest;             /* what the rule of the nearest size takes;
                                     SHMT_LEARN_CONFIGS: nothing of these */
    double took_s;                /* to measure it all */
    struct shmt_learn_cell *cells;   /* [config_count] */
};

/* Starts as {.kernel = ...}; shmt_learn_table_free ends it. */
struct shmt_learn_table {
    const struct shmt_kernel *kernel;
    int multiprocessors;          /* of the device; 0: not known */
    /* From where sizes are drawn, beyond which nothing is learnt; 0 of a
     * dimension: what was measured. */
    int64_t least[SHMT_KERNEL_DIMENSIONS], most[SHMT_KERNEL_DIMENSIONS];
    size_t config_count;
    shmt_config (*configs)[SHMT_SPACE_PARAMETERS];
    size_t size_count, size_room;
    struct shmt_learn_size *sizes;
};

/* The number of a configuration, which is added where it is new; *k is
 * SHMT_LEARN_CONFIGS where there is no room, or where it is new and there are
 * sizes.  False: there is no memory. */
bool shmt_learn_table_config(struct shmt_learn_table *table,
                             const shmt_config *config, size_t *k);

/* The size, which is added where it is new; NULL: there is no memory. */
struct shmt_learn_size *
shmt_learn_table_size(struct shmt_learn_table *table, const int64_t *problem);

/* Forgets what was measured at a size, as at a new one: what the constraints
 * forbid there failed, as that needs no measurement. */
void shmt_learn_table_forget(const struct shmt_learn_table *table,
                             struct shmt_learn_size *size);

/* Forgets the sizes, and not the configurations. */
void shmt_learn_table_clear(struct shmt_learn_table *table);
void shmt_learn_table_free(struct shmt_learn_table *table);

/* Adds what one more pass has measured. */
void shmt_learn_keep(struct shmt_learn_cell *cell, const float *samples_us,
                     size_t count);

/* The middle of a cell in microseconds; INFINITY where it failed, NAN where
 * nobody measured. */
double shmt_learn_time(const struct shmt_learn_cell *cell);

/* Whether the constraints let the configuration run at a size. */
bool shmt_learn_may_run(const struct shmt_learn_table *table,
                        const int64_t *problem, size_t config);

/* Doublings between two problems, over all dimensions. */
double shmt_learn_distance(const struct shmt_kernel *kernel, const int64_t *a,
                           const int64_t *b);

/* The sizes that are done nearest to a problem, at most `most`, nearest first;
 * returns how many. */
size_t shmt_learn_around(const struct shmt_learn_table *table,
                         const int64_t *problem, size_t most,
                         const struct shmt_learn_size **out);

/* How long measuring took at half of the sizes that are done, at most; INFINITY
 * where fewer than `least` are, or where there is no memory. */
double shmt_learn_typical_s(const struct shmt_learn_table *table,
                            size_t least);

/* The least time at a size; INFINITY: none. */
double shmt_learn_best(const struct shmt_learn_table *table,
                       const struct shmt_learn_size *size);

/* A configuration beside the best of a size.  The least of many noisy times is
 * too small, so the earlier passes say which the best is, of those that were
 * measured in all passes, and the later ones how long it takes: of both, but
 * where something was in the way of these. */
struct shmt_learn_judged {
    size_t best;
    double best_us;               /* INFINITY: there is none */
    double chosen_us;             /* INFINITY: failed; NAN: not measured */
};

/* `best` is one of the first `count` configurations of the table. */
struct shmt_learn_judged shmt_learn_judge(const struct shmt_learn_size *size,
                                          size_t count, size_t chosen);

#endif
