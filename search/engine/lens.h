/* SPDX-License-Identifier: MIT */
/*
 * lens: a surrogate kept up to date with observations: which of them it
 * holds, when its weights are tuned again, what is believed of candidates
 * that are in flight.  For search/ only.
 */
#ifndef SHMT_ENGINE_LENS_H
#define SHMT_ENGINE_LENS_H

#include "search/engine/observations.h"
#include "search/engine/surrogate.h"

struct shmt_lens;

/* Looks at the first `features` of a row.  NULL when there is no memory. */
struct shmt_lens *
shmt_lens_new(const struct shmt_observations *observations, size_t features,
              double clip, struct shmt_random *random);
void shmt_lens_free(struct shmt_lens *lens);

/* Takes in what was told since, then `pending` (the latest of them, when they
 * are many): their cost is taken to be what is predicted, so that what is
 * asked for next lies elsewhere. */
void shmt_lens_focus(struct shmt_lens *lens, const uint64_t *pending,
                     size_t count);

/* What a candidate is expected to cost (logarithm), and one that differs from
 * it in one feature: much less work than the improvement. */
double shmt_lens_mean(struct shmt_lens *lens, const uint8_t *row);
double shmt_lens_mean_beside(struct shmt_lens *lens, size_t feature,
                             uint8_t level);

enum { SHMT_LENS_BATCH = SHMT_SURROGATE_BATCH };
/* Expected improvement (of the logarithm of the cost) over the best, for at
 * most SHMT_LENS_BATCH rows. */
void shmt_lens_improvement(struct shmt_lens *lens, const uint8_t *const *rows,
                           size_t count, double *improvement);

#endif
