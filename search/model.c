/* SPDX-License-Identifier: MIT */
/*
 * model: Bayesian optimisation.  A few candidates that cover pairs of values,
 * then always the one with the largest expected improvement among the
 * neighbours of the best so far and some at random; now and then one more for
 * the coverage.  Of candidates that have been compiled and wait for the GPU,
 * the one with the largest expected improvement when registers, spills, shared
 * bytes and resident blocks are known as well.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "lens.h"
#include "strategies.h"

enum { INITIAL, COVER, ELITES, RANDOM, CLIP, RESOURCES };

static const struct shmt_option options[] = {
    {"initial", 6, 1, 1000, "candidates before the first that is modelled"},
    {"cover", 4, 0, 1000,
     "after n results, a candidate covers untried pairs of values with "
     "probability cover / n"},
    {"elites", 10, 1, 64, "best results whose neighbours are considered"},
    {"random", 100, 0, 10000, "random candidates that are considered"},
    {"clip", 0.5, 0, 1,
     "quantile of the costs above which one is as bad as the other"},
    {"resources", 1, 0, 1,
     "1: order what waits for the GPU by what the compiler reported as well"},
    {NULL, 0, 0, 0, NULL}
};

enum {
    PENDING = 64,
    DRAWS = 100,         /* that a covering candidate is the best of */
    MOST_NEIGHBOURS = 64 /* of one elite that are considered, at random */
};

struct state {
    const struct shmt_search_view *view;
    struct shmt_observations observations;
    struct shmt_coverage *coverage;
    struct shmt_lens *plain;         /* parameters */
    struct shmt_lens *informed;      /* and resources; NULL until needed */
    size_t asked;
    uint64_t pending[PENDING];       /* let out by ask, the latest last */
    size_t pending_count;
    uint64_t *neighbours;
    size_t room;
};

/* The best candidate of those that are shown, evaluated in batches. */
struct contest {
    struct shmt_lens *lens;
    struct state *state;
    uint64_t index[SHMT_LENS_BATCH];
    uint8_t rows[SHMT_LENS_BATCH][SHMT_OBSERVED_WIDTH];
    size_t count;
    uint64_t best;
    double most;
};

static void destroy(void *opaque)
{
    struct state *const state = opaque;

    shmt_observations_end(&state->observations);
    shmt_coverage_free(state->coverage);
    shmt_lens_free(state->plain);
    shmt_lens_free(state->informed);
    free(state->neighbours);
    free(state);
}

static void *create(const struct shmt_search_view *view)
{
    struct state *const state = calloc(1, sizeof *state);

    if (state == NULL)
        return NULL;
    state->view = view;
    shmt_observations_begin(&state->observations, view->space);
    for (size_t p = 0; p < shmt_space_parameters(view->space); p++)
        state->room += shmt_space_parameter(view->space, p)->count;
    state->neighbours = calloc(state->room + 1, sizeof *state->neighbours);
    state->coverage = shmt_coverage_new(view);
    state->plain = shmt_lens_new(&state->observations,
                                 state->observations.parameters,
                                 view->options[CLIP], view->random);
    if (state->neighbours == NULL || state->coverage == NULL
        || state->plain == NULL) {
        destroy(state);
        return NULL;
    }
    return state;
}

static void judge(struct contest *contest)
{
    const uint8_t *rows[SHMT_LENS_BATCH];
    double improvement[SHMT_LENS_BATCH];

    for (size_t k = 0; k < contest->count; k++)
        rows[k] = contest->rows[k];
    if (contest->count > 0)
        shmt_lens_improvement(contest->lens, rows, contest->count,
                              improvement);
    for (size_t k = 0; k < contest->count; k++)
        if (improvement[k] > contest->most) {
            contest->most = improvement[k];
            contest->best = contest->index[k];
        }
    contest->count = 0;
}

static void show(struct contest *contest, uint64_t index)
{
    shmt_observations_row(&contest->state->observations, index,
                          contest->rows[contest->count]);
    contest->index[contest->count++] = index;
    if (contest->count == SHMT_LENS_BATCH)
        judge(contest);
}

static void show_fresh(struct contest *contest, uint64_t index)
{
    const struct shmt_search_view *const view = contest->state->view;

    if (!view->seen(view->session, index))
        show(contest, index);
}

/* Positions of the best observations, best first. */
static size_t find_elites(const struct state *state, size_t *elites)
{
    const struct shmt_observations *const o = &state->observations;
    const size_t most = (size_t)state->view->options[ELITES];
    size_t count = 0;

    for (size_t k = 0; k < o->count; k++) {
        size_t at = count;

        if (!isfinite(o->told[k].cost)
            || (count == most
                && o->told[elites[most - 1]].cost <= o->told[k].cost))
            continue;
        if (count < most)
            count++;
        else
            at--;
        for (; at > 0 && o->told[elites[at - 1]].cost > o->told[k].cost; at--)
            elites[at] = elites[at - 1];
        elites[at] = k;
    }
    return count;
}

static void show_neighbours(struct contest *contest, uint64_t index)
{
    struct state *const state = contest->state;
    struct shmt_random *const random = state->view->random;
    size_t count = shmt_space_neighbours(state->view->space, index,
                                         SHMT_NEIGHBOUR_ANY,
                                         state->neighbours, state->room);

    for (size_t k = 0; k < MOST_NEIGHBOURS && count > 0; k++) {
        const size_t drawn =
            count > MOST_NEIGHBOURS - k ? shmt_random_below(random, count)
                                        : 0;

        show_fresh(contest, state->neighbours[drawn]);
        state->neighbours[drawn] = state->neighbours[--count];
    }
}

static uint64_t choose(struct state *state)
{
    const struct shmt_search_view *const view = state->view;
    const struct shmt_observations *const o = &state->observations;
    struct contest contest = {.lens = state->plain, .state = state,
                              .best = UINT64_MAX, .most = -1};
    size_t elites[64];
    size_t count = find_elites(state, elites);

    shmt_lens_focus(state->plain, state->pending, state->pending_count);
    for (size_t k = 0; k < count; k++)
        show_neighbours(&contest, o->told[elites[k]].index);
    for (size_t k = 0; k < (size_t)view->options[RANDOM]; k++)
        show_fresh(&contest, shmt_random_below(
                                 view->random,
                                 shmt_space_count(view->space)));
    judge(&contest);
    if (contest.best == UINT64_MAX)
        return shmt_coverage_draw(state->coverage, DRAWS);
    return contest.best;
}

static void forget(struct state *state, uint64_t index, bool *was_pending)
{
    *was_pending = false;
    for (size_t k = 0; k < state->pending_count; k++)
        if (state->pending[k] == index) {
            memmove(state->pending + k, state->pending + k + 1,
                    (--state->pending_count - k) * sizeof *state->pending);
            *was_pending = true;
            return;
        }
}

static enum shmt_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;
    const size_t told = state->observations.count;

    if (view->start != UINT64_MAX && !view->seen(view->session, view->start))
        *index = view->start;
    else if (state->asked < (size_t)view->options[INITIAL]
             || state->observations.valid < 2
             || shmt_random_unit(view->random) * (double)told
                    < view->options[COVER])
        *index = shmt_coverage_draw(state->coverage, DRAWS);
    else
        *index = choose(state);
    state->asked++;
    shmt_coverage_note(state->coverage, *index);
    if (state->pending_count == PENDING)
        memmove(state->pending, state->pending + 1,
                --state->pending_count * sizeof *state->pending);
    state->pending[state->pending_count++] = *index;
    return SHMT_ASK_CANDIDATE;
}

static void tell(void *opaque, uint64_t index,
                 const struct shmt_outcome *outcome)
{
    struct state *const state = opaque;
    bool was_pending;

    forget(state, index, &was_pending);
    if (!was_pending)
        shmt_coverage_note(state->coverage, index);
    shmt_observations_tell(&state->observations, index, outcome);
}

static void learn(void *opaque, uint64_t index,
                  const struct shmt_result *compiled)
{
    struct state *const state = opaque;

    shmt_observations_learn(&state->observations, index, compiled);
}

static size_t pick(void *opaque, const uint64_t *indices, size_t count)
{
    struct state *const state = opaque;
    const struct shmt_observations *const o = &state->observations;
    struct contest contest = {.lens = state->plain, .state = state,
                              .best = UINT64_MAX, .most = -1};

    if (o->valid < 2)
        return 0;
    if (state->view->options[RESOURCES] >= 0.5 && o->resources) {
        if (state->informed == NULL)
            state->informed = shmt_lens_new(o, o->width,
                                            state->view->options[CLIP],
                                            state->view->random);
        if (state->informed != NULL)
            contest.lens = state->informed;
    }
    shmt_lens_focus(contest.lens, NULL, 0);
    for (size_t k = 0; k < count; k++)
        show(&contest, indices[k]);
    judge(&contest);
    for (size_t k = 0; k < count; k++)
        if (indices[k] == contest.best)
            return k;
    return 0;
}

const struct shmt_strategy shmt_strategy_model = {
    .name = "model",
    .summary = "Bayesian optimisation with a Gaussian process over "
               "parameters and resources",
    .options = options,
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
    .learn = learn,
    .pick = pick,
};
