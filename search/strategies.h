/* SPDX-License-Identifier: MIT */
/*
 * strategies: declares all strategies; each is one file.  For registry.c,
 * which puts them in order.
 */
#ifndef SHMT_SEARCH_STRATEGIES_H
#define SHMT_SEARCH_STRATEGIES_H

#include "search/search.h"

extern const struct shmt_strategy shmt_strategy_annealing;
extern const struct shmt_strategy shmt_strategy_evolution;
extern const struct shmt_strategy shmt_strategy_exhaustive;
extern const struct shmt_strategy shmt_strategy_genetic;
extern const struct shmt_strategy shmt_strategy_hill;
extern const struct shmt_strategy shmt_strategy_model;
extern const struct shmt_strategy shmt_strategy_random_search;
extern const struct shmt_strategy shmt_strategy_swarm;

#endif
