/* SPDX-License-Identifier: MIT */
/*
 * swarm: particle swarm optimisation (Kennedy and Eberhart, 1995) over the
 * ranks of parameter values.  Particles move in turn, each pulled towards its
 * own best position and the best of the swarm.  A particle whose position is
 * still being measured moves on from it.
 */
#include <math.h>
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/registry.h"

enum { PARTICLES, INERTIA, OWN, SOCIAL, SCATTER };

static const struct shmt_strategy_option options[] = {
    {"particles", 20, 2, 1000, "in the swarm"},
    {"inertia", 0.5, 0, 1, "part of the velocity that is kept"},
    {"own", 1.5, 0, 5, "pull of the best place a particle knows"},
    {"social", 1.5, 0, 5, "pull of the best place the swarm knows"},
    {"scatter", 8, 1, 1000,
     "moves to known places in a row until a particle starts anew"},
    {NULL, 0, 0, 0, NULL}
};

struct particle {
    double place[SHMT_SPACE_PARAMETERS];
    double speed[SHMT_SPACE_PARAMETERS];
    uint64_t best;
    double cost;         /* of best; INFINITY: none yet */
    size_t stale;        /* moves in a row to places that were known */
};

struct state {
    const struct shmt_search_view *view;
    size_t parameters, count, turn;
    uint64_t best;
    double cost;
    struct shmt_map in_flight;  /* in flight -> particle */
    struct particle particles[];    /* [count] */
};

static void destroy(void *opaque)
{
    struct state *const state = opaque;

    shmt_map_free(&state->in_flight);
    free(state);
}

static void *create(const struct shmt_search_view *view)
{
    const size_t count = (size_t)view->options[PARTICLES];
    struct state *state =
        calloc(1, sizeof *state + count * sizeof *state->particles);

    if (state == NULL)
        return NULL;
    state->view = view;
    state->parameters = shmt_space_parameters(view->space);
    state->count = count;
    state->cost = INFINITY;
    for (size_t k = 0; k < state->count; k++) {
        state->particles[k].cost = INFINITY;
        state->particles[k].stale = SIZE_MAX;
    }
    return state;
}

static double last_of(const struct state *state, size_t parameter)
{
    return (double)shmt_space_parameter(state->view->space,
                                        parameter)->count - 1;
}

static void settle(const struct state *state, struct particle *particle,
                   uint64_t index)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_space_configuration(state->view->space, index, config);
    for (size_t p = 0; p < state->parameters; p++)
        particle->place[p] = config[p];
}

/* A random place, at a random speed. */
static uint64_t start(struct state *state, struct particle *particle)
{
    const struct shmt_search_view *const view = state->view;
    const bool first = view->start != UINT64_MAX
                       && !view->seen(view->session, view->start);
    const uint64_t index =
        first ? view->start
              : shmt_random_below(view->random,
                                  shmt_space_count(view->space));

    particle->cost = INFINITY;
    particle->stale = 0;
    settle(state, particle, index);
    for (size_t p = 0; p < state->parameters; p++)
        particle->speed[p] = (shmt_random_unit(view->random) - 0.5)
                             * last_of(state, p);
    return index;
}

static uint64_t move(struct state *state, struct particle *particle)
{
    const struct shmt_search_view *const view = state->view;
    shmt_config own[SHMT_SPACE_PARAMETERS], social[SHMT_SPACE_PARAMETERS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint64_t index;

    shmt_space_configuration(view->space, state->best, social);
    shmt_space_configuration(
        view->space, isfinite(particle->cost) ? particle->best : state->best,
        own);
    for (size_t p = 0; p < state->parameters; p++) {
        const double last = last_of(state, p);
        double *const speed = &particle->speed[p];
        double *const place = &particle->place[p];

        *speed = view->options[INERTIA] * *speed
                 + view->options[OWN] * shmt_random_unit(view->random)
                       * (own[p] - *place)
                 + view->options[SOCIAL] * shmt_random_unit(view->random)
                       * (social[p] - *place);
        *place = fmin(last, fmax(0, *place + *speed));
        config[p] = (shmt_config)fmin(
            last, floor(*place + shmt_random_unit(view->random)));
    }
    index = shmt_space_nearest(view->space, config);
    particle->stale = view->seen(view->session, index)
                          ? particle->stale + 1 : 0;
    return index;
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const size_t turn = state->turn++ % state->count;
    struct particle *const particle = &state->particles[turn];

    if (!isfinite(state->cost)
        || particle->stale >= (size_t)state->view->options[SCATTER])
        *index = start(state, particle);
    else
        *index = move(state, particle);
    if (!state->view->seen(state->view->session, *index))
        (void)shmt_map_set(&state->in_flight, *index, (uint32_t)turn);
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;
    const uint32_t flight = shmt_map_find(&state->in_flight, index);

    if (cost < state->cost) {
        state->cost = cost;
        state->best = index;
    }
    if (flight != SHMT_MAP_NONE &&
        cost < state->particles[flight].cost) {
        state->particles[flight].cost = cost;
        state->particles[flight].best = index;
    }
}

const struct shmt_strategy shmt_strategy_swarm = {
    .name = "swarm",
    .summary = "particle swarm optimisation over the ranks of values",
    .options = options,
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
};
