/* SPDX-License-Identifier: MIT */
/*
 * hill: greedy iterated local search.  Neighbours are tried in random order,
 * and the first faster one becomes the current configuration (first
 * improvement).  In a local optimum the search restarts from the best
 * configuration with some of its parameters drawn anew (perturbation).
 */
#include <math.h>
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/registry.h"

enum { LEAP, SAMPLES, ANYWHERE };

static const struct shmt_strategy_option options[] = {
    {"leap", 3, 1, SHMT_SPACE_PARAMETERS,
     "parameters of the best that are drawn anew at a summit"},
    {"samples", 12, 1, 1000,
     "random configurations before the first climb, which starts at the best "
     "of them"},
    {"anywhere", 0.2, 0, 1, "share of the restarts that forget the best"},
    {NULL, 0, 0, 0, NULL}
};

struct state {
    const struct shmt_search_view *view;
    size_t told;
    uint64_t here, best;    /* UINT64_MAX: none yet */
    double cost, best_cost;
    size_t count, room;
    uint64_t neighbours[];      /* [room] */
};

static void *create(const struct shmt_search_view *view)
{
    const size_t room = shmt_neighbours_room(view->space);
    struct state *state =
        calloc(1, sizeof *state + room * sizeof *state->neighbours);

    if (state == NULL)
        return NULL;
    state->room = room;
    state->view = view;
    state->here = state->best = UINT64_MAX;
    state->cost = state->best_cost = INFINITY;
    return state;
}

/* The neighbours of `here`, all of them to be tried. */
static void list_neighbours(struct state *state)
{
    state->count = shmt_neighbours_list(state->view->space, state->here,
                                        state->neighbours, state->room);
}

static uint64_t anywhere(const struct state *state)
{
    return shmt_random_below(state->view->random,
                             shmt_space_count(state->view->space));
}

/* The best with `leap` parameters drawn anew, or any configuration. */
static uint64_t leap(const struct state *state)
{
    const struct shmt_search_view *const view = state->view;
    const size_t parameters = shmt_space_parameters(view->space);
    shmt_config config[SHMT_SPACE_PARAMETERS];

    if (state->best == UINT64_MAX || parameters == 0 ||
        shmt_random_unit(view->random) < view->options[ANYWHERE])
        return anywhere(state);
    shmt_space_configuration(view->space, state->best, config);
    for (int k = 0; k < (int)view->options[LEAP]; k++) {
        size_t p = shmt_random_below(view->random, parameters);

        config[p] = (shmt_config)shmt_random_below(
            view->random, shmt_space_parameter(view->space, p)->count);
    }
    return shmt_space_nearest(view->space, config);
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;

    if (state->told < (size_t)view->options[SAMPLES]) {
        *index = view->start != UINT64_MAX &&
                         !view->seen(view->session, view->start)
                     ? view->start
                     : anywhere(state);
        return SHMT_SEARCH_CANDIDATE;
    }
    while (state->count > 0) {
        size_t k = shmt_random_below(view->random, state->count);

        *index = state->neighbours[k];
        state->neighbours[k] = state->neighbours[--state->count];
        if (!view->seen(view->session, *index))
            return SHMT_SEARCH_CANDIDATE;
    }
    /* A local optimum: the next result, good or bad, becomes the current
     * configuration. */
    state->cost = INFINITY;
    *index = leap(state);
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;

    state->told++;
    if (cost < state->best_cost) {
        state->best_cost = cost;
        state->best = index;
    }
    if (cost < state->cost) {
        state->cost = cost;
        state->here = index;
        list_neighbours(state);
    }
}

const struct shmt_strategy shmt_strategy_hill = {
    .name = "hill",
    .summary = "hill climbing over neighbours, with leaps from the best",
    .options = options,
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
};
