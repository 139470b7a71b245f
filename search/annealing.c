/* SPDX-License-Identifier: MIT */
/*
 * annealing: simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983) over
 * the neighbours of a configuration.  A step is accepted by the ratio of the
 * costs, not by their difference, so that one temperature suits kernels that
 * take a microsecond and kernels that take a second.
 */
#include <math.h>
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/registry.h"

enum { TEMPERATURE, COOLING, FLOOR };

static const struct shmt_strategy_option options[] = {
    {"temperature", 0.05, 0.001, 10,
     "at the start: a step that is e^temperature times slower is taken with "
     "probability 1/e"},
    {"cooling", 0.95, 0.5, 1, "factor of the temperature after each result"},
    {"floor", 0.0003, 1e-6, 1, "below this temperature a new walk begins"},
    {NULL, 0, 0, 0, NULL}
};

struct state {
    const struct shmt_search_view *view;
    double temperature;
    uint64_t here;          /* UINT64_MAX: nowhere yet */
    double cost;
    size_t room;
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
    state->here = UINT64_MAX;
    state->cost = INFINITY;
    state->temperature = view->options[TEMPERATURE];
    return state;
}

static void restart(struct state *state)
{
    state->here = UINT64_MAX;
    state->cost = INFINITY;
    state->temperature = state->view->options[TEMPERATURE];
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;
    size_t count, fresh = 0;

    if (state->here == UINT64_MAX) {
        *index = view->start != UINT64_MAX &&
                         !view->seen(view->session, view->start)
                     ? view->start
                     : shmt_random_below(view->random,
                                         shmt_space_count(view->space));
        return SHMT_SEARCH_CANDIDATE;
    }
    count = shmt_neighbours_list(view->space, state->here, state->neighbours,
                                 state->room);
    for (size_t k = 0; k < count; k++)
        if (!view->seen(view->session, state->neighbours[k]))
            state->neighbours[fresh++] = state->neighbours[k];
    if (fresh == 0) {
        restart(state);
        *index = shmt_random_below(view->random,
                                   shmt_space_count(view->space));
        return SHMT_SEARCH_CANDIDATE;
    }
    *index = state->neighbours[shmt_random_below(view->random, fresh)];
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;
    const double *const option = state->view->options;
    bool taken = cost <= state->cost;

    if (!taken && isfinite(cost))
        taken = shmt_random_unit(state->view->random) <
                exp(-log(cost / state->cost) / state->temperature);
    if (taken && isfinite(cost)) {
        state->here = index;
        state->cost = cost;
    }
    state->temperature *= option[COOLING];
    if (state->temperature < option[FLOOR])
        restart(state);
}

const struct shmt_strategy shmt_strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over neighbours, begun anew when cold",
    .options = options,
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
};
