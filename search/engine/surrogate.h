/* SPDX-License-Identifier: MIT */
/*
 * surrogate: a Gaussian process over small ordinal features.  It predicts the
 * cost of a candidate, with a deviation, from those that were measured.
 *
 * Its covariance is a product over features, one table each: equal levels 1,
 * different ones exp(-weight * distance).  The distance has a constant part
 * (any change of a parameter may change everything), for ordered features a
 * part proportional to the difference, and for divisible ones the difference
 * in divisibility.  The weights and the share of divisibility are fitted.
 * Adding an observation costs n^2, predicting n^2 / 2.  For search/ only.
 */
#ifndef SHMT_ENGINE_SURROGATE_H
#define SHMT_ENGINE_SURROGATE_H

#include "search/search.h"

enum { SHMT_SURROGATE_LEVELS = 64 };

struct shmt_surrogate_feature {
    uint16_t levels;         /* 2 to SHMT_SURROGATE_LEVELS */
    bool ordered, divisible;
    bool size;               /* of the problem: it matters less, as a rule */
    bool follows;            /* from others, which say that it is another */
    float along[SHMT_SURROGATE_LEVELS]; /* 0 to 1, in any order */
    float divisibility[SHMT_SURROGATE_LEVELS]; /* 0 to 1 */
};

/* Most features: one a parameter and a dimension, and two of the launch. */
enum { SHMT_SURROGATE_FEATURES = SHMT_SPACE_PARAMETERS +
                                 SHMT_SEARCH_DIMENSIONS + 2 };

struct shmt_surrogate;

/* Of at most `room` observations.  `features` must outlive it.  NULL when
 * there is no memory. */
struct shmt_surrogate *
shmt_surrogate_new(size_t count, const struct shmt_surrogate_feature *features,
                   size_t room);
void shmt_surrogate_free(struct shmt_surrogate *surrogate);

/* Drops the observations from position `count` on. */
void shmt_surrogate_keep(struct shmt_surrogate *surrogate, size_t count);
/* One more observation; there must be room.  Until the next solve its target
 * is its own prediction: means do not change, deviations become smaller around
 * it. */
void shmt_surrogate_add(struct shmt_surrogate *surrogate,
                        const uint8_t *row);
/* Targets of all observations. */
void shmt_surrogate_solve(struct shmt_surrogate *surrogate,
                          const float *targets);

/* Fits weights and noise to the observations by a random walk that accepts
 * what increases the likelihood.  Afterwards all observations must be added
 * again: keep(0), then add. */
void shmt_surrogate_tune(struct shmt_surrogate *surrogate,
                         const float *targets, struct shmt_random *random);

/* Makes `row` the base of mean_changed: the mean at a row that differs from it
 * in a few features, which costs only a small part of the work. */
void shmt_surrogate_set_base(struct shmt_surrogate *surrogate,
                             const uint8_t *row);
float shmt_surrogate_mean_changed(struct shmt_surrogate *surrogate,
                                  const uint8_t *row);

enum { SHMT_SURROGATE_BATCH = 8 };
/* Means at up to SHMT_SURROGATE_BATCH rows. */
void shmt_surrogate_means(struct shmt_surrogate *surrogate,
                          const uint8_t *const *rows, size_t count,
                          float *mean);
/* Mean and deviation at up to SHMT_SURROGATE_BATCH rows. */
void shmt_surrogate_predict(struct shmt_surrogate *surrogate,
                            const uint8_t *const *rows, size_t count,
                            float *mean, float *deviation);

#endif
