/* SPDX-License-Identifier: MIT */
/*
 * evolution: differential evolution (Storn and Price, 1997) over the ranks of
 * parameter values, best/1/bin by default.  Each ask makes a trial vector for
 * the next member in turn, so any number may be in flight.  A trial replaces
 * its member if it is not slower.
 */
#include <math.h>
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/registry.h"

enum { POPULATION, WEIGHT, CROSSOVER, GREED };

static const struct shmt_strategy_option options[] = {
    {"population", 24, 4, 1000, "members"},
    {"weight", 0.7, 0, 2, "of the difference between two members"},
    {"crossover", 0.6, 0, 1,
     "share of the parameters that come from the mutant"},
    {"greed", 1, 0, 1,
     "share of the mutants made from the best, not from any member"},
    {NULL, 0, 0, 0, NULL}
};

struct member {
    uint64_t index;
    double cost;
};

struct state {
    const struct shmt_search_view *view;
    size_t asked, count, room, turn;
    struct shmt_map trials;     /* in flight -> the member at stake */
    struct member members[];    /* [room] */
};

static void destroy(void *opaque)
{
    struct state *const state = opaque;

    shmt_map_free(&state->trials);
    free(state);
}

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

static const struct member *any(const struct state *state)
{
    return &state->members[shmt_random_below(state->view->random,
                                             state->count)];
}

static const struct member *best_of(const struct state *state)
{
    const struct member *best = &state->members[0];

    for (size_t k = 1; k < state->count; k++)
        if (state->members[k].cost < best->cost)
            best = &state->members[k];
    return best;
}

static uint64_t trial(const struct state *state, uint64_t target)
{
    const struct shmt_search_view *const view = state->view;
    const size_t parameters = shmt_space_parameters(view->space);
    const bool greedy =
        shmt_random_unit(view->random) < view->options[GREED];
    const struct member *const base = greedy ? best_of(state) : any(state);
    shmt_config child[SHMT_SPACE_PARAMETERS], from[SHMT_SPACE_PARAMETERS];
    shmt_config plus[SHMT_SPACE_PARAMETERS], minus[SHMT_SPACE_PARAMETERS];
    const size_t always = shmt_random_below(view->random, parameters);

    shmt_space_configuration(view->space, target, child);
    shmt_space_configuration(view->space, base->index, from);
    shmt_space_configuration(view->space, any(state)->index, plus);
    shmt_space_configuration(view->space, any(state)->index, minus);
    for (size_t p = 0; p < parameters; p++) {
        const double last =
            (double)shmt_space_parameter(view->space, p)->count - 1;
        /* Stochastic rounding: with ordinary rounding small differences would
         * always vanish. */
        const double value =
            floor(from[p]
                  + view->options[WEIGHT] * ((double)plus[p] - minus[p])
                  + shmt_random_unit(view->random));

        if (p == always
            || shmt_random_unit(view->random) < view->options[CROSSOVER])
            child[p] = (shmt_config)fmin(last, fmax(0, value));
    }
    return shmt_space_nearest(view->space, child);
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;
    uint32_t target = UINT32_MAX;

    if (view->start != UINT64_MAX
        && !view->seen(view->session, view->start)) {
        *index = view->start;
    } else if (state->asked < state->room || state->count < 4) {
        *index = shmt_random_below(view->random,
                                   shmt_space_count(view->space));
    } else {
        target = (uint32_t)(state->turn++ % state->count);
        *index = trial(state, state->members[target].index);
    }
    if (view->seen(view->session, *index))
        return SHMT_SEARCH_CANDIDATE;
    state->asked++;
    /* If the trial's member could not be remembered (no memory), the trial may
     * only replace the slowest. */
    if (target != UINT32_MAX)
        (void)shmt_map_set(&state->trials, *index, target);
    return SHMT_SEARCH_CANDIDATE;
}

static struct member *slowest_of(struct state *state)
{
    struct member *slowest = &state->members[0];

    for (size_t k = 1; k < state->count; k++)
        if (state->members[k].cost > slowest->cost)
            slowest = &state->members[k];
    return slowest;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;
    const uint32_t target = shmt_map_find(&state->trials, index);
    struct member *member;

    if (!isfinite(cost))
        return;
    if (state->count < state->room) {
        state->members[state->count++] =
            (struct member){index, cost};
        return;
    }
    member = target != SHMT_MAP_NONE ? &state->members[target]
                                     : slowest_of(state);
    if (cost <= member->cost)
        *member = (struct member){index, cost};
}

const struct shmt_strategy shmt_strategy_evolution = {
    .name = "evolution",
    .summary = "differential evolution over the ranks of values",
    .options = options,
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
};
