/* SPDX-License-Identifier: MIT */
/*
 * guide: proposes candidates from what other runs lead to expect, corrected by
 * what is observed here.  For search/ only.
 */
#ifndef SHMT_ENGINE_GUIDE_H
#define SHMT_ENGINE_GUIDE_H

#include "search/engine/observations.h"
#include "search/search.h"

/* Observations that a guide learns from; after these it has nothing to add. */
enum { SHMT_GUIDE_OBSERVATIONS = 64 };

struct shmt_guide;

/* Of the view's prior.  `observations` are those of the strategy.  NULL when
 * there is no memory. */
struct shmt_guide *
shmt_guide_new(const struct shmt_search_view *view,
               const struct shmt_observations *observations);
void shmt_guide_free(struct shmt_guide *guide);

/* The candidate with the largest expected improvement, or of the first few
 * every third the best that a source has; those in flight are taken to cost
 * what is predicted.  False: it has nothing to propose. */
bool shmt_guide_ask(struct shmt_guide *guide, const uint64_t *pending,
                    size_t pending_count, uint64_t *index);

#endif
