/* SPDX-License-Identifier: MIT */
/*
 * model: Bayesian optimisation.  A few candidates that cover pairs of values,
 * then always the one with the largest expected improvement among the
 * neighbours of the best so far, in two parameters where one alone is not
 * valid, those of what is expected to be best of these, and some at random.  Of
 * the compiled candidates that wait for the GPU it picks the one with the
 * largest expected improvement.  Where other runs are known, a guide
 * (engine/guide.h) has the first candidates, and then every second one.  What
 * is heard of other sizes of the kernel is in the model as well, with the size
 * as a feature.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/engine/engine.h"
#include "search/registry.h"

enum { INITIAL, ELITES, RANDOM, CLIP, THRIFT, MARGIN, GUIDED };

enum {
    PENDING = 64,
    DRAWS = 100,         /* random configurations from which a covering one
                            is chosen */
    MOST_NEIGHBOURS = 64, /* of one elite that are considered, at random */
    MOST_ELITES = 64,
    MOST_PAIRS = 256,
    PAIRS = 64,          /* of them that are considered */
    STEPS_ON = 4,        /* of the shortlist, whose neighbours are, too */
    SHORTLIST_NEAR = 48,
    SHORTLIST_FAR = 16,
    SHORTLIST = 48,      /* room */
    BOLD = 100,          /* candidates until there is no margin any more */
    EXPECTED = 8,        /* times others tell of a value that they have */
    TRIES = 4            /* of one that they do not have */
};

static const struct shmt_strategy_option options[] = {
    {"initial", 0, 0, 1000,
     "candidates before the first that is modelled; 0: one for 400 "
     "configurations, 3 to 10, at most an eighth of a known budget"},
    {"elites", 10, 1, MOST_ELITES,
     "best results whose neighbours are considered"},
    {"random", 100, 0, 10000, "random candidates that are considered"},
    {"clip", 0.6, 0, 1,
     "quantile of the costs above which one is as bad as the other"},
    {"thrift", 1, 0, 2,
     "power of the seconds that an improvement is divided by; 0: they do not "
     "count"},
    {"margin", 0.05, 0, 1,
     "part of the best that an improvement has to exceed at first, and less "
     "and less until 100 candidates are known, or half of a known budget"},
    {"guided", 6, 0, 1000,
     "where other runs are known, candidates that come from them alone; then "
     "every second one does"},
    {NULL, 0, 0, 0, NULL}
};

/* Seconds that differ by less than this, a deviation of their logarithms, are
 * taken to be the same. */
static const double LEAST_SPREAD = 0.2;

/* How often each value of a parameter was tried here, and others told of
 * it. */
struct values {
    size_t tried[UINT8_MAX + 1], told[UINT8_MAX + 1];
};

struct state {
    const struct shmt_search_view *view;
    struct shmt_observations observations;
    struct shmt_coverage *coverage;
    struct shmt_predictor *predictor;
    struct shmt_guide *guide;        /* NULL: there is no prior */
    size_t guided;                   /* candidates that it proposed */
    struct shmt_observations spent;  /* seconds in the place of costs */
    struct shmt_predictor *clock;
    struct shmt_random drawn;        /* by the clock, so that where it is not
                                        needed nothing changes */
    double spent_sum, spent_squares; /* of their logarithms */
    size_t initial, asked;           /* the start counts, whoever tries it */
    size_t given;                    /* results that it did not ask for */
    uint64_t pending[PENDING];       /* handed out and not told, the latest
                                        last */
    size_t pending_count;
    uint64_t *neighbours;
    size_t room;
    uint64_t pairs[MOST_PAIRS];   /* of neighbours of one configuration */
    uint64_t pairs_of;
    size_t pair_count;
    struct values *values;   /* [parameters]; NULL: there is one size */
    size_t told;             /* by others */
};

struct candidate {
    uint64_t index;
    double mean;
};

/* The candidates with the best predicted means, best first.  Only for these
 * the deviation is computed, which costs more. */
struct shortlist {
    struct candidate items[SHORTLIST];
    size_t count, most;
};

static void destroy(void *opaque)
{
    struct state *const state = opaque;

    shmt_observations_end(&state->observations);
    shmt_observations_end(&state->spent);
    shmt_predictor_free(state->clock);
    shmt_coverage_free(state->coverage);
    shmt_guide_free(state->guide);
    shmt_predictor_free(state->predictor);
    free(state->neighbours);
    free(state->values);
    free(state);
}

/* The number of initial candidates.  In a small space each one is a large part
 * of the budget; in a large space more of them keep the model from a region
 * that only looks good.  A known budget gives an eighth of itself. */
static size_t initial_of(const struct shmt_search_view *view)
{
    const double share = (double)shmt_space_count(view->space) / 400;
    const double most = fmax((double)view->budget / 8, 2);

    return view->options[INITIAL] > 0
               ? (size_t)view->options[INITIAL]
               : (size_t)fmin(fmin(fmax(share, 3), 10), most);
}

/* False when there is no memory. */
static bool make_guide(struct state *state)
{
    const struct shmt_search_view *const view = state->view;

    if (view->prior == NULL || view->prior->count == 0)
        return true;
    state->guide = shmt_guide_new(view, &state->observations);
    return state->guide != NULL;
}

static void *create(const struct shmt_search_view *view)
{
    struct state *const state = calloc(1, sizeof *state);

    if (state == NULL)
        return NULL;
    state->view = view;
    state->initial = initial_of(view);
    state->pairs_of = UINT64_MAX;
    shmt_observations_begin(&state->observations, view->space);
    for (size_t p = 0; p < shmt_space_parameters(view->space); p++)
        state->room += shmt_space_parameter(view->space, p)->count;
    shmt_observations_begin(&state->spent, view->space);
    shmt_random_seed(&state->drawn, 1);
    state->clock = shmt_predictor_new(&state->spent, 1, NULL, NULL,
                                      &state->drawn);
    state->neighbours = calloc(state->room + 1, sizeof *state->neighbours);
    if (view->sizes != NULL)
        state->values = calloc(state->observations.parameters + 1,
                               sizeof *state->values);
    state->coverage = shmt_coverage_new(view);
    state->predictor = shmt_predictor_new(
        &state->observations, view->options[CLIP], view->sizes,
        view->launches, view->random);
    if (state->neighbours == NULL || state->coverage == NULL
        || (view->sizes != NULL && state->values == NULL)
        || state->predictor == NULL || state->clock == NULL
        || !make_guide(state)) {
        destroy(state);
        return NULL;
    }
    return state;
}

static void shortlist_add(struct shortlist *list, uint64_t index, double mean)
{
    size_t at = list->count;

    if (list->count == list->most
        && list->items[list->most - 1].mean <= mean)
        return;
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].index == index)
            return;
    if (list->count < list->most)
        list->count++;
    else
        at--;
    for (; at > 0 && list->items[at - 1].mean > mean; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = (struct candidate){index, mean};
}

/* Candidates that are judged together. */
struct batch {
    uint64_t indices[SHMT_SURROGATE_BATCH];
    uint8_t rows[SHMT_SURROGATE_BATCH][SHMT_SURROGATE_FEATURES];
    const uint8_t *places[SHMT_SURROGATE_BATCH];
    size_t count;
};

static void batch_add(const struct state *state, struct batch *batch,
                      uint64_t index)
{
    batch->indices[batch->count] = index;
    batch->places[batch->count] = batch->rows[batch->count];
    shmt_predictor_row(state->predictor, index, batch->rows[batch->count++]);
}

/* Whether candidates are known to differ in the seconds they take. */
static bool differ(const struct state *state)
{
    const double n = (double)state->spent.count;

    return state->spent.count > 2 && state->view->options[THRIFT] > 0 &&
           state->spent_squares * n - state->spent_sum * state->spent_sum >
               n * n * LEAST_SPREAD * LEAST_SPREAD;
}

/* Makes improvements of a candidate those of a second; what is compiled already
 * takes less. */
static void divide(const struct state *state, const struct batch *batch,
                   double *improvement)
{
    const struct shmt_search_view *const view = state->view;
    float mean[SHMT_SURROGATE_BATCH];

    if (differ(state))
        shmt_surrogate_means(shmt_predictor_surrogate(state->clock),
                             batch->places, batch->count, mean);
    else
        for (size_t k = 0; k < batch->count; k++)
            mean[k] = (float)(state->spent_sum / (double)state->spent.count);
    for (size_t k = 0; k < batch->count; k++) {
        const double ready_s =
            view->compiled_s == NULL
                ? -1 : view->compiled_s(view->context, batch->indices[k]);

        improvement[k] *= exp(-view->options[THRIFT] *
                              (ready_s > 0 ? log(ready_s) : mean[k]));
    }
}

/* Whether seconds are known, and count. */
static bool are_counted(const struct state *state)
{
    return differ(state) ||
           (state->view->compiled_s != NULL && state->spent.count > 2 &&
            state->view->options[THRIFT] > 0);
}

/* Whether there is something to predict costs from. */
static bool can_predict(const struct state *state)
{
    return state->observations.valid +
               (shmt_predictor_heard(state->predictor) > 0) > 1;
}

/* Near the best so far there is always a candidate that is a little better for
 * certain.  While little is known, those are left for later: where many are
 * compiled at a time, a search would try all of them before it sees another
 * region. */
static double margin_of(const struct state *state)
{
    const size_t own = state->observations.count > state->asked
                           ? state->observations.count : state->asked;
    const double known =
        (double)(own + shmt_predictor_heard(state->predictor));
    const double most = fmin(BOLD, (double)state->view->budget / 2);

    return state->view->options[MARGIN] * fmax(0, 1 - known / most);
}

/* What is looked for. */
struct wanted {
    bool of_a_second;    /* or improvement altogether */
    double margin;
};

/* The one of `indices` with the largest expected improvement. */
static size_t best_improvement(const struct state *state,
                               struct wanted wanted,
                               const uint64_t *indices, size_t count)
{
    double most = -1;
    size_t best = 0;

    for (size_t from = 0; from < count; from += SHMT_SURROGATE_BATCH) {
        double improvement[SHMT_SURROGATE_BATCH];
        struct batch batch = {.count = 0};

        while (batch.count < SHMT_SURROGATE_BATCH
               && from + batch.count < count)
            batch_add(state, &batch, indices[from + batch.count]);
        shmt_predictor_improvement(state->predictor, batch.places,
                                   batch.count, wanted.margin, improvement);
        if (wanted.of_a_second)
            divide(state, &batch, improvement);
        for (size_t k = 0; k < batch.count; k++)
            if (improvement[k] > most) {
                most = improvement[k];
                best = from + k;
            }
    }
    return best;
}

/* Positions of the best observations, best first. */
static size_t find_elites(const struct state *state, size_t *elites)
{
    const struct shmt_observations *const o = &state->observations;
    const size_t most = (size_t)state->view->options[ELITES];
    size_t count = 0;

    for (size_t k = 0; k < o->count; k++) {
        size_t at = count;

        if (!isfinite(o->list[k].cost)
            || (count == most
                && o->list[elites[most - 1]].cost <= o->list[k].cost))
            continue;
        if (count < most)
            count++;
        else
            at--;
        for (; at > 0 && o->list[elites[at - 1]].cost > o->list[k].cost; at--)
            elites[at] = elites[at - 1];
        elites[at] = k;
    }
    return count;
}

static void shortlist_neighbours(struct state *state, uint64_t index,
                                 struct shortlist *list)
{
    const struct shmt_search_view *const view = state->view;
    struct shmt_surrogate *const surrogate =
        shmt_predictor_surrogate(state->predictor);
    uint8_t here[SHMT_SURROGATE_FEATURES], there[SHMT_SURROGATE_FEATURES];
    size_t count = shmt_space_neighbours(view->space, index,
                                         SHMT_SPACE_HAMMING,
                                         state->neighbours, state->room);

    shmt_predictor_row(state->predictor, index, here);
    shmt_surrogate_set_base(surrogate, here);
    for (size_t k = 0; k < MOST_NEIGHBOURS && count > 0; k++) {
        const size_t drawn = count > MOST_NEIGHBOURS - k
                                 ? shmt_random_below(view->random, count) : 0;
        const uint64_t neighbour = state->neighbours[drawn];

        state->neighbours[drawn] = state->neighbours[--count];
        if (view->seen(view->session, neighbour))
            continue;
        shmt_predictor_row(state->predictor, neighbour, there);
        shortlist_add(list, neighbour,
                      shmt_surrogate_mean_changed(surrogate, there));
    }
}

static void shortlist_batch(struct state *state, struct batch *batch,
                            struct shortlist *list)
{
    float mean[SHMT_SURROGATE_BATCH];

    shmt_surrogate_means(shmt_predictor_surrogate(state->predictor),
                         batch->places, batch->count, mean);
    for (size_t k = 0; k < batch->count; k++)
        shortlist_add(list, batch->indices[k], mean[k]);
    batch->count = 0;
}

/* A random configuration; false: it was tried, or is being. */
static bool draw_new(const struct state *state, uint64_t *index)
{
    const struct shmt_search_view *const view = state->view;

    *index = shmt_random_below(view->random, shmt_space_count(view->space));
    return !view->seen(view->session, *index);
}

/* Lists the neighbours of the best by two values at once. */
static void find_pairs(struct state *state)
{
    const struct shmt_observations *const o = &state->observations;

    if (o->valid == 0 || state->pairs_of == o->list[o->best].index)
        return;
    state->pairs_of = o->list[o->best].index;
    state->pair_count =
        shmt_neighbours_pairs(state->view->space, state->pairs_of,
                              state->pairs, MOST_PAIRS, state->view->random);
}

/* What no single step from the best leads to.  Some of them, at random. */
static void shortlist_pairs(struct state *state, struct shortlist *list)
{
    const struct shmt_search_view *const view = state->view;
    struct batch batch = {.count = 0};
    size_t left;

    find_pairs(state);
    left = state->pair_count;
    for (size_t k = 0; k < PAIRS && left > 0; k++) {
        const size_t at = shmt_random_below(view->random, left--);
        const uint64_t index = state->pairs[at];

        state->pairs[at] = state->pairs[left];
        state->pairs[left] = index;
        if (view->seen(view->session, index))
            continue;
        batch_add(state, &batch, index);
        if (batch.count == SHMT_SURROGATE_BATCH)
            shortlist_batch(state, &batch, list);
    }
    shortlist_batch(state, &batch, list);
}

/* A second step, from where the first is expected to lead. */
static void shortlist_further(struct state *state, struct shortlist *list)
{
    const struct shortlist first = *list;

    for (size_t k = 0; k < first.count && k < STEPS_ON; k++)
        shortlist_neighbours(state, first.items[k].index, list);
}

static void shortlist_random(struct state *state, struct shortlist *list)
{
    struct batch batch = {.count = 0};

    for (size_t k = 0; k < (size_t)state->view->options[RANDOM]; k++) {
        uint64_t index;

        if (!draw_new(state, &index))
            continue;
        batch_add(state, &batch, index);
        if (batch.count == SHMT_SURROGATE_BATCH)
            shortlist_batch(state, &batch, list);
    }
    shortlist_batch(state, &batch, list);
}

static uint64_t choose(struct state *state)
{
    const struct wanted wanted = {are_counted(state), margin_of(state)};
    const struct shmt_observations *const o = &state->observations;
    struct shortlist near = {.most = SHORTLIST_NEAR};
    struct shortlist far = {.most = SHORTLIST_FAR};
    uint64_t indices[SHORTLIST_NEAR + SHORTLIST_FAR];
    size_t elites[MOST_ELITES], count = find_elites(state, elites), n = 0;

    shmt_predictor_update(state->predictor, state->pending,
                          state->pending_count);
    if (wanted.of_a_second && differ(state))
        shmt_predictor_update(state->clock, NULL, 0);
    for (size_t k = 0; k < count; k++)
        shortlist_neighbours(state, o->list[elites[k]].index, &near);
    shortlist_pairs(state, &near);
    shortlist_further(state, &near);
    shortlist_random(state, &far);
    for (size_t k = 0; k < near.count; k++)
        indices[n++] = near.items[k].index;
    for (size_t k = 0; k < far.count; k++)
        indices[n++] = far.items[k].index;
    return n == 0 ? shmt_coverage_draw(state->coverage, DRAWS)
                  : indices[best_improvement(state, wanted, indices, n)];
}

/* -- values that others do not have --------------------------------------- */

static void note_values(struct state *state, uint64_t index, bool here)
{
    uint8_t row[SHMT_SPACE_PARAMETERS];

    if (state->values == NULL)
        return;
    state->told += !here;
    shmt_observations_row(&state->observations, index, row);
    for (size_t p = 0; p < state->observations.parameters; p++)
        if (here)
            state->values[p].tried[row[p]]++;
        else
            state->values[p].told[row[p]]++;
}

/* Random configurations. */
struct drawn {
    uint64_t indices[DRAWS];
    uint8_t rows[DRAWS][SHMT_SPACE_PARAMETERS];
    size_t count;
};

static void draw_some(const struct state *state, struct drawn *drawn)
{
    uint64_t index;

    drawn->count = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        if (!draw_new(state, &index))
            continue;
        shmt_observations_row(&state->observations, index,
                              drawn->rows[drawn->count]);
        drawn->indices[drawn->count++] = index;
    }
}

/* Whether others would have told of a value by now, of which there are `with`
 * among `count`, if they had it; and it was hardly tried here. */
static bool is_own(const struct state *state, size_t p, size_t v, size_t with,
                   size_t count)
{
    return state->values[p].told[v] == 0 && state->values[p].tried[v] < TRIES &&
           state->told * with >= EXPECTED * count;
}

/* Of such values the one that most have, for its tries.  False: there is
 * none. */
static bool find_own(const struct state *state, const struct drawn *drawn,
                     size_t *parameter, uint8_t *value)
{
    double most = 0;

    for (size_t p = 0; p < state->observations.parameters; p++) {
        size_t with[UINT8_MAX + 1] = {0};

        for (size_t k = 0; k < drawn->count; k++)
            with[drawn->rows[k][p]]++;
        for (size_t v = 0; v <= UINT8_MAX; v++) {
            const double part = (double)with[v] /
                                (double)(1 + state->values[p].tried[v]);

            if (part <= most || !is_own(state, p, v, with[v], drawn->count))
                continue;
            most = part;
            *parameter = p;
            *value = (uint8_t)v;
        }
    }
    return most > 0;
}

/* The constraints may leave a value to this size alone.  Nobody else tries it
 * then, and what others tell makes the model sure of the rest: so every second
 * candidate is the best of those with such a value, for a while.  False: there
 * is none. */
static bool choose_own(struct state *state, uint64_t *index)
{
    struct drawn drawn;
    size_t parameter = 0, count = 0;
    uint8_t value = 0;

    if (state->told < EXPECTED || state->asked % 2 == 1)
        return false;
    draw_some(state, &drawn);
    if (!find_own(state, &drawn, &parameter, &value))
        return false;
    for (size_t k = 0; k < drawn.count; k++)
        if (drawn.rows[k][parameter] == value)
            drawn.indices[count++] = drawn.indices[k];
    shmt_predictor_update(state->predictor, state->pending,
                          state->pending_count);
    *index = drawn.indices[best_improvement(
        state, (struct wanted){false, 0}, drawn.indices, count)];
    return true;
}

/* Whether it was there. */
static bool remove_pending(struct state *state, uint64_t index)
{
    for (size_t k = 0; k < state->pending_count; k++)
        if (state->pending[k] == index) {
            memmove(state->pending + k, state->pending + k + 1,
                    (--state->pending_count - k) * sizeof *state->pending);
            return true;
        }
    return false;
}

static void note_asked(struct state *state, uint64_t index)
{
    state->asked++;
    note_values(state, index, true);
    shmt_coverage_note(state->coverage, index);
    if (state->pending_count == PENDING)
        memmove(state->pending, state->pending + 1,
                --state->pending_count * sizeof *state->pending);
    state->pending[state->pending_count++] = index;
}

/* Whether the guide has the next candidate.  The others are the model's, which
 * knows nothing of other runs: where they mislead, not more is lost than every
 * second candidate, and that for a while. */
static bool follow(struct state *state, uint64_t *index)
{
    const size_t first = (size_t)state->view->options[GUIDED];
    const bool alone = state->guided < first;

    if (state->guide == NULL ||
        state->observations.count >= SHMT_GUIDE_OBSERVATIONS ||
        (!alone && state->asked % 2 == 1) ||
        !shmt_guide_ask(state->guide, state->pending, state->pending_count,
                        index))
        return false;
    state->guided++;
    return true;
}

static enum shmt_search_ask ask(void *opaque, uint64_t *index)
{
    struct state *const state = opaque;
    const struct shmt_search_view *const view = state->view;
    const bool starts = view->start != UINT64_MAX &&
                        !view->seen(view->session, view->start);

    if (state->asked == 0 && view->start != UINT64_MAX && !starts)
        note_asked(state, view->start);
    if (starts)
        *index = view->start;
    else if (follow(state, index))
        ;
    else if (state->asked + state->given +
                     shmt_predictor_heard(state->predictor) <
                 state->initial
             || !can_predict(state))
        *index = shmt_coverage_draw(state->coverage, DRAWS);
    else if (!choose_own(state, index))
        *index = choose(state);
    note_asked(state, *index);
    return SHMT_SEARCH_CANDIDATE;
}

static void tell(void *opaque, uint64_t index, double cost)
{
    struct state *const state = opaque;

    if (!remove_pending(state, index)) {
        state->given += index != state->view->start;
        note_values(state, index, true);
        shmt_coverage_note(state->coverage, index);
    }
    shmt_observations_tell(&state->observations, index, cost);
    if (index == state->view->start && isfinite(cost) && cost > 0)
        shmt_predictor_set_default(state->predictor, log(cost));
}

static void hear(void *opaque, uint64_t index, size_t size, double cost)
{
    struct state *const state = opaque;

    note_values(state, index, false);
    shmt_predictor_hear(state->predictor, index, size, cost);
}

static double worth(void *opaque, uint64_t index)
{
    const struct state *const state = opaque;
    struct batch batch = {.count = 0};
    double improvement = 0;

    if (!can_predict(state))
        return 1;
    shmt_predictor_update(state->predictor, NULL, 0);
    batch_add(state, &batch, index);
    shmt_predictor_improvement(state->predictor, batch.places, 1, 0,
                               &improvement);
    return improvement;
}

static void took(void *opaque, uint64_t index, double seconds)
{
    struct state *const state = opaque;

    if (!shmt_observations_tell(&state->spent, index, seconds))
        return;
    state->spent_sum += log(seconds);
    state->spent_squares += log(seconds) * log(seconds);
}

static size_t pick(void *opaque, const uint64_t *indices, size_t count)
{
    struct state *const state = opaque;

    if (!can_predict(state))
        return 0;
    shmt_predictor_update(state->predictor, NULL, 0);
    /* What it took to compile them is spent. */
    return best_improvement(state, (struct wanted){false, 0}, indices, count);
}

const struct shmt_strategy shmt_strategy_model = {
    .name = "model",
    .summary = "Bayesian optimisation with a Gaussian process over "
               "parameters",
    .learns = true,
    .options = options,
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
    .took = took,
    .hear = hear,
    .worth = worth,
    .pick = pick,
};
