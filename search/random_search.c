/* SPDX-License-Identifier: MIT */
/*
 * random_search: the strategy "random": configurations uniformly at random
 * without replacement, in constant memory (see engine/shuffle.h).
 */
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/registry.h"

struct state {
    const struct shmt_search_view *view;
    struct shmt_shuffle shuffle;
};

static void *create(const struct shmt_search_view *view)
{
    struct state *state = calloc(1, sizeof *state);

    if (state == NULL)
        return NULL;
    state->view = view;
    shmt_shuffle_begin(&state->shuffle, shmt_space_count(view->space),
                       view->random);
    return state;
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;

    do {
        if (!shmt_shuffle_next(&state->shuffle, index))
            return SHMT_SEARCH_DONE;
    } while (state->view->seen(state->view->session, *index));
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    (void)opaque;
    (void)index;
    (void)cost;
}

const struct shmt_strategy shmt_strategy_random_search = {
    .name = "random",
    .summary = "uniformly at random, without replacement",
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
};
