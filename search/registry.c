/* SPDX-License-Identifier: MIT */
/*
 * registry: finds a strategy in the list by its place or its name, and knows
 * the name of the default.
 */
#include <string.h>

#include "search/registry.h"

const char shmt_strategy_default[] = "model";

static const struct shmt_strategy *const strategies[] = {
#define STRATEGY(name) &shmt_strategy_##name,
    SHMT_STRATEGY_LIST(STRATEGY)
#undef STRATEGY
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
