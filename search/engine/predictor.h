/* SPDX-License-Identifier: MIT */
/*
 * predictor: keeps a surrogate up to date.  It decides which observations the
 * surrogate holds and when its weights are fitted again, and adds predicted
 * costs for candidates in flight ("kriging believer", Ginsbourger et al.
 * 2010).  Where several sizes are searched together, their dimensions are
 * features too, and what others report is held where nothing is observed here.
 * For search/ only.
 */
#ifndef SHMT_ENGINE_PREDICTOR_H
#define SHMT_ENGINE_PREDICTOR_H

#include "search/engine/observations.h"
#include "search/engine/surrogate.h"

struct shmt_predictor;

/* `sizes` and `launches` may be NULL.  NULL when there is no memory. */
struct shmt_predictor *
shmt_predictor_new(const struct shmt_observations *observations,
                   double clip, const struct shmt_search_sizes *sizes,
                   const struct shmt_search_launches *launches,
                   struct shmt_random *random);
void shmt_predictor_free(struct shmt_predictor *predictor);

/* A row for the surrogate. */
void shmt_predictor_row(struct shmt_predictor *predictor, uint64_t index,
                        uint8_t *row);

/* What another size reports: over the cost of the default there, to be compared
 * once that of the default here is known, its logarithm. */
void shmt_predictor_hear(struct shmt_predictor *predictor, uint64_t index,
                         size_t size, double cost);
void shmt_predictor_set_default(struct shmt_predictor *predictor, double cost);
/* How many reports there are that can be compared. */
size_t shmt_predictor_heard(const struct shmt_predictor *predictor);

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

/* Expected improvement (of the logarithm of the cost) over the best less a
 * margin, for at most SHMT_SURROGATE_BATCH rows. */
void shmt_predictor_improvement(struct shmt_predictor *predictor,
                                const uint8_t *const *rows, size_t count,
                                double margin, double *improvement);

#endif
