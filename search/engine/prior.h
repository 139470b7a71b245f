/* SPDX-License-Identifier: MIT */
/*
 * prior: what other runs lead to expect of a configuration: for each source
 * the logarithm of its cost over the least cost of that source.  For
 * search/ only.
 */
#ifndef SHMT_ENGINE_PRIOR_H
#define SHMT_ENGINE_PRIOR_H

#include "search/engine/observations.h"
#include "search/search.h"

struct shmt_prior;

/* `shape` says what rows are and must outlive the prior.  NULL when there is
 * no memory. */
struct shmt_prior *shmt_prior_new(const struct shmt_search_view *view,
                                  const struct shmt_observations *shape);
void shmt_prior_free(struct shmt_prior *prior);

size_t shmt_prior_sources(const struct shmt_prior *prior);
/* What each source leads to expect of a configuration, means[sources]: what it
 * had there, else what is near. */
void shmt_prior_means(struct shmt_prior *prior, uint64_t index,
                      const uint8_t *row, float *means);

/* The examples that are in the space, the most promising first; how many. */
size_t shmt_prior_best(const struct shmt_prior *prior,
                       const uint64_t **indices);

#endif
