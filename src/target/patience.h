/* SPDX-License-Identifier: MIT */
/*
 * patience: how long a measurement of a problem may take before it is treated
 * as a hang, by what is known of those before it.
 *
 * Called by target/live.c alone.
 */
#ifndef SHMT_TARGET_PATIENCE_H
#define SHMT_TARGET_PATIENCE_H

#include "target/pool.h"

/* Of one target. */
struct shmt_target_patience {
    double measure_s;      /* what one may take, */
    double first_s;        /* and one more that sets the problem up; */
    double answer_s;       /* of it, a program that says what is right */
    bool needs_setup;      /* the next measurement has to set the problem up */
    double setup_s;        /* seconds that the first measurement took, with
                              setting up; < 0: not known */
    double expected_s;     /* the same, by earlier runs */
    double longest_s;      /* that a measurement took; < 0: none */
};

/* A problem of which nothing is known. */
void shmt_target_patience_begin(struct shmt_target_patience *patience);

/* Seconds for the next measurement, by that measure worker. */
double shmt_target_patience_s(const struct shmt_target_patience *patience,
                              const struct shmt_pool_measurer *measurer);

/* A measurement has ended, */
void shmt_target_patience_ended(struct shmt_target_patience *patience,
                                const struct shmt_result *result,
                                double took_s);
/* or was killed: its result. */
void shmt_target_patience_killed(const struct shmt_target_patience *patience,
                                 struct shmt_pool_measurer *measurer,
                                 struct shmt_result *out);

#endif
