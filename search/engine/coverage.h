/* SPDX-License-Identifier: MIT */
/*
 * coverage: which pairs of parameter values have been tried together.
 * (Pairwise coverage.) A good region is mostly determined by two parameters
 * together, and an unlucky start can hide it from every local move.  So the
 * first candidates, and some later ones, are chosen to try pairs of values
 * that were not tried.  For search/ only.
 */
#ifndef SHMT_ENGINE_COVERAGE_H
#define SHMT_ENGINE_COVERAGE_H

#include "search/search.h"

struct shmt_coverage;

/* NULL when there is no memory. */
struct shmt_coverage *shmt_coverage_new(const struct shmt_search_view *view);
void shmt_coverage_free(struct shmt_coverage *coverage);

/* `index` is tried. */
void shmt_coverage_note(struct shmt_coverage *coverage, uint64_t index);

/* Draws `draws` random configurations and returns the one that covers the most
 * new pairs.  One that was handed out before is returned only if all of them
 * were. */
uint64_t shmt_coverage_draw(const struct shmt_coverage *coverage,
                            size_t draws);

#endif
