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

/* NULL when there is no memory. */
struct shmt_predictor *
shmt_predictor_new(const struct shmt_observations *observations,
                   double clip, struct shmt_random *random);
void shmt_predictor_free(struct shmt_predictor *predictor);

/* Adds the observations made since the last call, then the candidates in
 * flight, `pending` (the latest, if there are many).  The cost of these is
 * assumed to be the predicted one, so that the next candidate lies
 * elsewhere. */
void shmt_predictor_update(struct shmt_predictor *predictor,
                           const uint64_t *pending, size_t count);

/* With its predicted costs (logarithms), much cheaper than the expected
 * improvement. */
struct shmt_surrogate *
shmt_predictor_surrogate(const struct shmt_predictor *predictor);

/* Expected improvement (of the logarithm of the cost) over the best, for at
 * most SHMT_SURROGATE_BATCH rows. */
void shmt_predictor_improvement(struct shmt_predictor *predictor,
                                const uint8_t *const *rows,
                                size_t count, double *improvement);

#endif
