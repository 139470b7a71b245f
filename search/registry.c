/* SPDX-License-Identifier: MIT */
/*
 * registry: the list of all strategies, in the order in which `shmtune list`
 * shows them, and the name of the default.  A new strategy is one file and one
 * line here.
 */
#include <string.h>

#include "search/strategies.h"

const char shmt_strategy_default[] = "model";

static const struct shmt_strategy *const strategies[] = {
    &shmt_strategy_model,
    &shmt_strategy_random_search,
    &shmt_strategy_exhaustive,
    &shmt_strategy_hill,
    &shmt_strategy_annealing,
    &shmt_strategy_genetic,
    &shmt_strategy_evolution,
    &shmt_strategy_swarm,
};

const struct shmt_strategy *shmt_strategy_at(size_t k)
{
    return k < sizeof strategies / sizeof *strategies ? strategies[k] : NULL;
}

const struct shmt_strategy *shmt_strategy_find(const char *name,
                                               size_t length)
{
    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++)
        if (strlen(shmt_strategy_at(k)->name) == length
            && memcmp(shmt_strategy_at(k)->name, name, length) == 0)
            return shmt_strategy_at(k);
    return NULL;
}
