/* SPDX-License-Identifier: MIT */
/*
 * coverage: which pairs of parameter values have been tried together.  Bad
 * luck with a few parameters hides a good region from every local move, and
 * the best regions are mostly a matter of two parameters at a time; so first
 * candidates, and some later ones, are drawn to try pairs that were not tried.
 * For search/ only.
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

/* The best for the coverage of `draws` random configurations; one that was
 * seen only when all of them were. */
uint64_t shmt_coverage_draw(const struct shmt_coverage *coverage,
                            size_t draws);

#endif
