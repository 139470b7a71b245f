/* SPDX-License-Identifier: MIT */
/*
 * genetic: a steady-state genetic algorithm.  Two parents are chosen by
 * tournament; uniform crossover takes each parameter from one of them; some
 * parameters mutate; the child is repaired to the nearest valid configuration.
 * It replaces the slowest member if it is faster.  Each ask makes a child, so
 * any number may be in flight.
 */
#include <math.h>
#include <stdlib.h>

#include "search/registry.h"

enum { POPULATION, TOURNAMENT, MUTATION };

static const struct shmt_strategy_option options[] = {
    {"population", 20, 2, 1000, "members"},
    {"tournament", 3, 1, 100, "members that a parent is the best of"},
    {"mutation", 0.12, 0, 1, "share of the parameters drawn anew"},
    {NULL, 0, 0, 0, NULL}
};

struct member {
    uint64_t index;
    double cost;
};

struct state {
    const struct shmt_search_view *view;
    size_t asked, count, room;
    struct member members[];    /* [room] */
};

static void *create(const struct shmt_search_view *view)
{
    const size_t room = (size_t)view->options[POPULATION];
    struct state *state =
        calloc(1, sizeof *state + room * sizeof *state->members);

    if (state == NULL)
        return NULL;
    state->view = view;
    state->room = room;
    return state;
}

static uint64_t parent(const struct state *state)
{
    const struct shmt_search_view *const view = state->view;
    const struct member *best = NULL;

    for (int k = 0; k < (int)view->options[TOURNAMENT]; k++) {
        const struct member *one =
            &state->members[shmt_random_below(view->random, state->count)];

        if (best == NULL || one->cost < best->cost)
            best = one;
    }
    return best->index;
}

static uint64_t child(const struct state *state)
{
    const struct shmt_search_view *const view = state->view;
    shmt_config one[SHMT_SPACE_PARAMETERS], other[SHMT_SPACE_PARAMETERS];

    shmt_space_configuration(view->space, parent(state), one);
    shmt_space_configuration(view->space, parent(state), other);
    for (size_t p = 0; p < shmt_space_parameters(view->space); p++) {
        if (shmt_random_next(view->random) & 1)
            one[p] = other[p];
        if (shmt_random_unit(view->random) < view->options[MUTATION])
            one[p] = (shmt_config)shmt_random_below(
                view->random, shmt_space_parameter(view->space, p)->count);
    }
    return shmt_space_nearest(view->space, one);
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;

    if (view->start != UINT64_MAX &&
        !view->seen(view->session, view->start))
        *index = view->start;
    else if (state->asked < state->room || state->count < 2)
        *index = shmt_random_below(view->random,
                                   shmt_space_count(view->space));
    else
        *index = child(state);
    state->asked++;
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;
    struct member *slowest = &state->members[0];

    if (!isfinite(cost))
        return;
    if (state->count < state->room) {
        state->members[state->count++] =
            (struct member){index, cost};
        return;
    }
    for (size_t k = 1; k < state->count; k++)
        if (state->members[k].cost > slowest->cost)
            slowest = &state->members[k];
    if (cost < slowest->cost)
        *slowest = (struct member){index, cost};
}

const struct shmt_strategy shmt_strategy_genetic = {
    .name = "genetic",
    .summary = "a steady-state genetic algorithm",
    .options = options,
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
};
