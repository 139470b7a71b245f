/* SPDX-License-Identifier: MIT */
/*
 * strategies: the list of all strategies; each is one file, search/NAME.c,
 * that defines `const struct shmt_strategy shmt_strategy_NAME`.
 */
#ifndef SHMT_SEARCH_REGISTRY_H
#define SHMT_SEARCH_REGISTRY_H

#include "search/search.h"

/* In the order in which `shmtune list` shows them. */
#define SHMT_STRATEGY_LIST(X)                                                \
    X(model)                                                                 \
    X(random_search)                                                         \
    X(exhaustive)                                                            \
    X(hill)                                                                  \
    X(annealing)                                                             \
    X(genetic)                                                               \
    X(evolution)                                                             \
    X(swarm)

#define SHMT_STRATEGY_DECLARE(name)                                          \
    extern const struct shmt_strategy shmt_strategy_##name;
SHMT_STRATEGY_LIST(SHMT_STRATEGY_DECLARE)
#undef SHMT_STRATEGY_DECLARE

#endif
