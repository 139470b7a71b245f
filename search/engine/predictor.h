/* SPDX-License-Identifier: MIT */
/*
 * predictor: keeps a surrogate up to date.  It decides which observations the
 * surrogate holds and when its weights are fitted again, and adds predicted
 * costs for candidates in flight ("kriging believer", Ginsbourger et al.
 * 2010).  For search/ only.
 */
#ifndef SHMT_ENGINE_PREDICTOR_H
#define SHMT_ENGINE_PREDICTOR_H

#include "search/engine/observations.h"
#include "search/engine/surrogate.h"

struct shmt_predictor;

/* Looks at the first `features` of a row.  NULL when there is no memory. */
struct shmt_predictor *
shmt_predictor_new(const struct shmt_observations *observations,
                   size_t features,
                   double clip, struct shmt_random *random);
void shmt_predictor_free(struct shmt_predictor *predictor);

/* Adds the observations made since the last call, then the candidates in
 * flight, `pending` (the latest, if there are many).  The cost of these is
 * assumed to be the predicted one, so that the next candidate lies
 * elsewhere. */
void shmt_predictor_update(struct shmt_predictor *predictor,
                           const uint64_t *pending,
                           size_t count);

enum { SHMT_PREDICTOR_BATCH = SHMT_SURROGATE_BATCH };
/* The predicted costs (logarithms) of at most SHMT_PREDICTOR_BATCH rows.  Much
 * cheaper than the expected improvement. */
void shmt_predictor_means(struct shmt_predictor *predictor,
                          const uint8_t *const *rows, size_t count,
                          float *mean);
/* The predicted cost of a candidate that differs from the base in one feature,
 * which is cheaper still. */
void shmt_predictor_set_base(struct shmt_predictor *predictor,
                             const uint8_t *row);
double shmt_predictor_mean_changed(struct shmt_predictor *predictor,
                                   size_t feature,
                                   uint8_t level);

/* Expected improvement (of the logarithm of the cost) over the best, for at
 * most SHMT_PREDICTOR_BATCH rows. */
void shmt_predictor_improvement(struct shmt_predictor *predictor,
                                const uint8_t *const *rows,
                                size_t count, double *improvement);

#endif
