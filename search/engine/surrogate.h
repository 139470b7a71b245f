/* SPDX-License-Identifier: MIT */
/*
 * surrogate: a Gaussian process over small ordinal features: what a candidate
 * is likely to cost, and how sure that is, from the ones that were measured.
 *
 * Its covariance is a product over features, one table each: equal levels 1,
 * different ones exp(-weight * distance).  The distance has a step (any
 * change of a parameter may change everything), for ordered features a slope,
 * and for grained ones how much their grains differ; weights and the grains'
 * share are learned.  Adding an observation costs n^2, predicting n^2 / 2.
 * For search/ only.
 */
#ifndef SHMT_ENGINE_SURROGATE_H
#define SHMT_ENGINE_SURROGATE_H

#include "search/search.h"

enum { SHMT_FEATURE_LEVELS = 64 };

struct shmt_feature {
    uint16_t levels;         /* 2 to SHMT_FEATURE_LEVELS */
    bool ordered, grained;
    float along[SHMT_FEATURE_LEVELS];   /* 0 to 1, in any order */
    float grain[SHMT_FEATURE_LEVELS];   /* 0 to 1 */
};

/* Most features: as many as fit in what is on the stack. */
enum { SHMT_SURROGATE_FEATURES = 80 };

struct shmt_surrogate;

/* Of at most `room` observations.  `features` must outlive it.  NULL when
 * there is no memory. */
struct shmt_surrogate *
shmt_surrogate_new(size_t count, const struct shmt_feature *features,
                   size_t room);
void shmt_surrogate_free(struct shmt_surrogate *surrogate);

/* Observations from position `count` on are forgotten. */
void shmt_surrogate_keep(struct shmt_surrogate *surrogate, size_t count);
/* One more observation; there must be room.  Until the next solve its target
 * is what was predicted for it: means stay as they are, deviations shrink
 * around it. */
void shmt_surrogate_add(struct shmt_surrogate *surrogate,
                        const uint8_t *row);
/* Targets of all observations. */
void shmt_surrogate_solve(struct shmt_surrogate *surrogate,
                          const float *targets);

/* Weights and noise for the observations that are there, by a random walk
 * upon the likelihood.  The factor must be built anew afterwards: keep(0),
 * and add. */
void shmt_surrogate_tune(struct shmt_surrogate *surrogate,
                         const float *targets, struct shmt_random *random);

/* The mean at `row`, and at what differs from that row in one feature: a
 * small part of the work. */
float shmt_surrogate_mean(struct shmt_surrogate *surrogate,
                          const uint8_t *row);
float shmt_surrogate_mean_beside(struct shmt_surrogate *surrogate,
                                 size_t feature, uint8_t level);

enum { SHMT_SURROGATE_BATCH = 8 };
/* Mean and deviation at up to SHMT_SURROGATE_BATCH rows. */
void shmt_surrogate_predict(struct shmt_surrogate *surrogate,
                            const uint8_t *const *rows, size_t count,
                            float *mean, float *deviation);

#endif
