/* SPDX-License-Identifier: MIT */
/*
 * exhaustive: the strategy that tries every configuration, in the order of the
 * space.
 */
#include <stdlib.h>

#include "search/registry.h"

struct state {
    const struct shmt_search_view *view;
    uint64_t next;
};

static void *create(const struct shmt_search_view *view)
{
    struct state *state = calloc(1, sizeof *state);

    if (state != NULL)
        state->view = view;
    return state;
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;
    const uint64_t count = shmt_space_count(view->space);

    while (state->next < count && view->seen(view->session, state->next))
        state->next++;
    if (state->next == count)
        return SHMT_SEARCH_DONE;
    *index = state->next++;
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    (void)opaque;
    (void)index;
    (void)cost;
}

const struct shmt_strategy shmt_strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, in the order of the space",
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
};
