/* SPDX-License-Identifier: MIT */
/*
 * guide: see guide.h.  The logarithm of a cost is modelled as a constant, plus
 * a share of what each source leads to expect, plus what differs here: a
 * Gaussian process over the parameters, whose covariance is in part a sum over
 * them (a value that is worse here is worse with most others), in part a
 * product.  How large the difference is, is fitted; the shares are learned, so
 * that a source that misleads is left behind.
 *
 * Candidates come from a pool: those the prior promises most, and neighbours
 * of what is best here.
 */
#include "search/engine/guide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/engine/prior.h"

enum {
    POOL = 2048,
    ALL = 65536,         /* a space of so many is looked through */
    NEAR_BEST = 32,      /* examples whose neighbours are considered */
    DRAWS = 1024,
    ADDED = 512,         /* neighbours of what is best here */
    ROOM = POOL + ADDED,
    MOST = SHMT_GUIDE_OBSERVATIONS + 16   /* with those in flight */
};

/* Settings of the model, on logarithms of costs.  They were chosen on
 * published recordings of five kernels (docs/searching.md). */
static const double WEIGHT = 0.4;         /* of a change of one parameter */
static const double STEP = 0.3, SLOPE = 1.4;
static const double ADDED_UP = 0.4;       /* share of the sum over parameters */
static const double DIFFERENCE = 0.2;     /* deviation from the sources that is
                                             usual, */
static const double UNUSUAL = 0.5;        /* and of its logarithm */
static const double NOISE = 0.02;
static const double SHARE = 0.3;          /* deviation of a source's share */
static const double CONSTANT = 3;         /* and of the constant */
/* Costs are clipped at this quantile, or so far above the least. */
static const double CLIP = 0.5, LEAST_CLIP = 0.2;
static const double WORTH = 0.01;         /* least improvement that counts */

/* Of the first COPYING candidates every COPIED-th is the best that a source
 * has, whatever was learned: where few configurations are good, a difference
 * that is learned from bad ones can lead away from them. */
enum { COPYING = 12, COPIED = 3 };

/* When IN_VAIN of its candidates in a row were no better than what was known,
 * after the first COPYING, there is no more to learn from others.  Better is
 * what is less by so much, of the logarithm. */
enum { IN_VAIN = 4 };
static const double BETTER = 0.003;

struct item {
    uint64_t index;
    float mean;          /* over the sources */
};

struct shmt_guide {
    const struct shmt_search_view *view;
    const struct shmt_observations *observations;
    struct shmt_prior *prior;
    size_t sources, width;
    float *tables;       /* [width][levels][levels] */
    size_t at[SHMT_SPACE_PARAMETERS];   /* of a feature in tables */
    /* The pool. */
    size_t count;
    uint64_t *indices;   /* [ROOM] */
    uint8_t *rows;       /* [ROOM][width] */
    float *means;        /* [ROOM][sources] */
    float *covariances;  /* [MOST][ROOM] with what is held */
    /* What is held: observations, and behind them those in flight. */
    size_t held, told;
    uint64_t held_index[MOST];
    uint8_t *held_rows;  /* [MOST][width] */
    float *held_means;   /* [MOST][sources] */
    double own[MOST][MOST];     /* covariances among them */
    double factor[MOST][MOST];
    double half[MOST];
    float *solved;       /* [MOST][ROOM] */
    uint64_t *neighbours;
    size_t room;
    uint64_t expanded;   /* the last best whose neighbours were added */
    uint64_t proposed[MOST];
    size_t proposed_count;
    size_t judged, in_vain;  /* of them: have a cost, and were no better, the
                                last in a row */
    double least;            /* of all costs that were told */
};

void shmt_guide_free(struct shmt_guide *guide)
{
    if (guide == NULL)
        return;
    shmt_prior_free(guide->prior);
    free(guide->tables);
    free(guide->indices);
    free(guide->rows);
    free(guide->means);
    free(guide->covariances);
    free(guide->held_rows);
    free(guide->held_means);
    free(guide->solved);
    free(guide->neighbours);
    free(guide);
}

static bool make_tables(struct shmt_guide *guide)
{
    size_t size = 0;

    for (size_t p = 0; p < guide->width; p++) {
        const size_t levels = guide->observations->features[p].levels;

        guide->at[p] = size;
        size += levels * levels;
    }
    guide->tables = malloc((size + 1) * sizeof *guide->tables);
    if (guide->tables == NULL)
        return false;
    for (size_t p = 0; p < guide->width; p++) {
        const struct shmt_surrogate_feature *const shape =
            &guide->observations->features[p];
        const size_t levels = shape->levels;

        for (size_t a = 0; a < levels; a++)
            for (size_t b = 0; b < levels; b++) {
                const double far =
                    shape->ordered
                        ? STEP + SLOPE * fabs(shape->along[a] - shape->along[b])
                        : 1;

                guide->tables[guide->at[p] + a * levels + b] =
                    a == b ? 1 : (float)exp(-WEIGHT * far);
            }
    }
    return true;
}

static float covariance(const struct shmt_guide *guide, const uint8_t *a,
                        const uint8_t *b)
{
    const float share = (float)ADDED_UP;
    float sum = 0, product = 1;

    for (size_t p = 0; p < guide->width; p++) {
        const float one =
            guide->tables[guide->at[p] +
                          a[p] * guide->observations->features[p].levels +
                          b[p]];

        sum += one;
        product *= one;
    }
    return share * sum / (float)guide->width + (1 - share) * product;
}

static void pool_add(struct shmt_guide *guide, uint64_t index)
{
    const size_t k = guide->count++;

    guide->indices[k] = index;
    shmt_observations_row(guide->observations, index,
                          guide->rows + k * guide->width);
    shmt_prior_means(guide->prior, index, guide->rows + k * guide->width,
                     guide->means + k * guide->sources);
    for (size_t i = 0; i < guide->held; i++)
        guide->covariances[i * ROOM + k] =
            covariance(guide, guide->held_rows + i * guide->width,
                       guide->rows + k * guide->width);
}

static int compare_items(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->mean != y->mean)
        return x->mean < y->mean ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void judge(struct shmt_guide *guide, uint64_t index, struct item *item)
{
    uint8_t row[SHMT_SPACE_PARAMETERS];
    float means[SHMT_SEARCH_SOURCES], sum = 0;

    shmt_observations_row(guide->observations, index, row);
    shmt_prior_means(guide->prior, index, row, means);
    for (size_t s = 0; s < guide->sources; s++)
        sum += means[s];
    *item = (struct item){index, sum / (float)guide->sources};
}

/* What may enter the pool: the whole space if it is small, else the examples,
 * neighbours of the best of them, and some at random. */
static struct item *collect(struct shmt_guide *guide, size_t *out)
{
    const struct shmt_space *const space = guide->view->space;
    const uint64_t all = shmt_space_count(space);
    const uint64_t *best;
    const size_t examples = shmt_prior_best(guide->prior, &best);
    const size_t near = examples < NEAR_BEST ? examples : NEAR_BEST;
    const size_t most =
        all <= ALL ? (size_t)all : examples + near * guide->room + DRAWS;
    struct item *const items = malloc((most + 1) * sizeof *items);
    size_t count = 0;

    if (items == NULL)
        return NULL;
    if (all <= ALL) {
        for (uint64_t k = 0; k < all; k++)
            judge(guide, k, &items[count++]);
    } else {
        struct shmt_random random;

        shmt_random_seed(&random, 1);
        for (size_t k = 0; k < examples; k++)
            judge(guide, best[k], &items[count++]);
        for (size_t k = 0; k < near; k++) {
            const size_t n = shmt_space_neighbours(
                space, best[k], SHMT_SPACE_HAMMING, guide->neighbours,
                guide->room);

            for (size_t j = 0; j < n; j++)
                judge(guide, guide->neighbours[j], &items[count++]);
        }
        for (size_t k = 0; k < DRAWS; k++)
            judge(guide, shmt_random_below(&random, all), &items[count++]);
    }
    *out = count;
    return items;
}

static bool fill_pool(struct shmt_guide *guide)
{
    size_t count;
    struct item *const items = collect(guide, &count);

    if (items == NULL)
        return false;
    qsort(items, count, sizeof *items, compare_items);
    for (size_t k = 0; k < count && guide->count < POOL; k++)
        if (k == 0 || items[k].index != items[k - 1].index)
            pool_add(guide, items[k].index);
    free(items);
    return true;
}

struct shmt_guide *
shmt_guide_new(const struct shmt_search_view *view,
               const struct shmt_observations *observations)
{
    struct shmt_guide *const guide = calloc(1, sizeof *guide);

    if (guide == NULL)
        return NULL;
    guide->view = view;
    guide->observations = observations;
    guide->width = observations->parameters;
    guide->expanded = UINT64_MAX;
    guide->least = INFINITY;
    guide->prior = shmt_prior_new(view, observations);
    if (guide->prior == NULL) {
        free(guide);
        return NULL;
    }
    guide->sources = shmt_prior_sources(guide->prior);
    for (size_t p = 0; p < shmt_space_parameters(view->space); p++)
        guide->room += shmt_space_parameter(view->space, p)->count;
    guide->neighbours = calloc(guide->room + 1, sizeof *guide->neighbours);
    guide->indices = malloc(ROOM * sizeof *guide->indices);
    guide->rows = malloc(ROOM * guide->width + 1);
    guide->means = malloc(ROOM * guide->sources * sizeof *guide->means + 1);
    guide->covariances = malloc(MOST * ROOM * sizeof *guide->covariances);
    guide->held_rows = malloc(MOST * guide->width + 1);
    guide->held_means =
        malloc(MOST * guide->sources * sizeof *guide->held_means + 1);
    guide->solved = malloc(MOST * ROOM * sizeof *guide->solved);
    if (guide->neighbours == NULL || guide->indices == NULL ||
        guide->rows == NULL || guide->means == NULL ||
        guide->covariances == NULL || guide->held_rows == NULL ||
        guide->held_means == NULL || guide->solved == NULL ||
        !make_tables(guide) || !fill_pool(guide)) {
        shmt_guide_free(guide);
        return NULL;
    }
    return guide;
}

/* -- what is held --------------------------------------------------------- */

static void hold(struct shmt_guide *guide, uint64_t index)
{
    const size_t i = guide->held++;
    uint8_t *const row = guide->held_rows + i * guide->width;

    guide->held_index[i] = index;
    shmt_observations_row(guide->observations, index, row);
    shmt_prior_means(guide->prior, index, row,
                     guide->held_means + i * guide->sources);
    for (size_t j = 0; j <= i; j++)
        guide->own[i][j] = guide->own[j][i] =
            covariance(guide, row, guide->held_rows + j * guide->width);
    for (size_t k = 0; k < guide->count; k++)
        guide->covariances[i * ROOM + k] =
            covariance(guide, row, guide->rows + k * guide->width);
}

/* Notes a cost, and of a candidate of the guide whether it was any better. */
static void note(struct shmt_guide *guide, uint64_t index, double cost)
{
    const bool better = cost < guide->least - BETTER;
    size_t k = 0;

    if (better)
        guide->least = cost;
    while (k < guide->proposed_count && guide->proposed[k] != index)
        k++;
    if (k == guide->proposed_count)
        return;
    guide->judged++;
    guide->in_vain = better ? 0 : guide->in_vain + 1;
}

static void hold_told(struct shmt_guide *guide)
{
    const struct shmt_observations *const o = guide->observations;

    guide->held = guide->told;
    while (o->valid > 0 && guide->told < o->count &&
           guide->held < SHMT_GUIDE_OBSERVATIONS) {
        const struct shmt_observation *const one = &o->list[guide->told++];

        note(guide, one->index, one->cost);
        hold(guide, one->index);
    }
}

static void hold_pending(struct shmt_guide *guide, const uint64_t *pending,
                         size_t pending_count)
{
    for (size_t k = 0; k < pending_count && guide->held < MOST; k++)
        hold(guide, pending[k]);
}

static float promised(const float *means, size_t sources)
{
    float sum = 0;

    for (size_t s = 0; s < sources; s++)
        sum += means[s];
    return sum / (float)sources;
}

/* The part of a covariance that comes from the shares of the sources and from
 * the constant. */
static double linear(const struct shmt_guide *guide, const float *a,
                     const float *b)
{
    double sum = CONSTANT * CONSTANT;

    for (size_t s = 0; s < guide->sources; s++)
        sum += SHARE * SHARE * a[s] * b[s] / (double)guide->sources;
    return sum;
}

/* -- fitting --------------------------------------------------------------- */

/* Factors the covariance of the first `count` that are held; returns the log
 * likelihood of the targets. */
static double factor(struct shmt_guide *guide, const double *targets,
                     size_t count, double deviation)
{
    double likelihood = 0;

    for (size_t i = 0; i < count; i++) {
        double sum = targets[i];

        for (size_t j = 0; j <= i; j++) {
            double value =
                linear(guide, guide->held_means + i * guide->sources,
                       guide->held_means + j * guide->sources) +
                deviation * deviation * guide->own[i][j] +
                (i == j ? NOISE * NOISE : 0);

            for (size_t k = 0; k < j; k++)
                value -= guide->factor[i][k] * guide->factor[j][k];
            guide->factor[i][j] = i == j ? sqrt(fmax(value, 1e-9))
                                         : value / guide->factor[j][j];
        }
        for (size_t k = 0; k < i; k++)
            sum -= guide->factor[i][k] * guide->half[k];
        guide->half[i] = sum / guide->factor[i][i];
        likelihood -= guide->half[i] * guide->half[i] / 2 +
                      log(guide->factor[i][i]);
    }
    return likelihood;
}

static double fit(struct shmt_guide *guide, const double *targets)
{
    static const double tried[] = {0.04, 0.08, 0.15, 0.25, 0.4};
    double best = -INFINITY, deviation = DIFFERENCE;

    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        const double unusual =
            log(tried[k] / DIFFERENCE) / UNUSUAL;
        const double reached =
            factor(guide, targets, guide->told, tried[k]) -
            unusual * unusual / 2;

        if (reached > best) {
            best = reached;
            deviation = tried[k];
        }
    }
    return deviation;
}

/* The costs that are held, less what is promised and less `*mean`; *least is
 * the least of them, or of what is promised of those in flight. */
static void set_targets(const struct shmt_guide *guide, double *targets,
                        double *mean, double *least)
{
    const struct shmt_observations *const o = guide->observations;
    double top;

    *mean = *least = 0;
    if (o->valid == 0)
        return;
    *least = o->list[o->best].cost;
    top = fmax(shmt_observations_quantile(o, CLIP),
               *least + LEAST_CLIP);
    for (size_t i = 0; i < guide->told; i++) {
        targets[i] = fmin(o->list[i].cost, top) -
                     promised(guide->held_means + i * guide->sources,
                              guide->sources);
        *mean += targets[i] / (double)guide->told;
    }
    for (size_t i = 0; i < guide->told; i++)
        targets[i] -= *mean;
}

/* Those in flight: each is taken to cost what is predicted, which leaves `half`
 * 0 there. */
static void add_pending(struct shmt_guide *guide, double *targets,
                        double deviation)
{
    for (size_t n = guide->told; n < guide->held; n++)
        targets[n] = 0;
    factor(guide, targets, guide->held, deviation);
    for (size_t n = guide->told; n < guide->held; n++)
        guide->half[n] = 0;
}

static double improvement(double least, double mean, double deviation)
{
    const double u = (least - mean) / deviation;

    return deviation * (u * 0.5 * erfc(-u / sqrt(2)) +
                        exp(-u * u / 2) / sqrt(2 * 3.14159265358979));
}

/* Position in the pool of the one with the largest expected improvement. */
static size_t best_improvement(struct shmt_guide *guide, double deviation,
                               double mean, double least)
{
    const struct shmt_search_view *const view = guide->view;
    double most = -1;
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < guide->held; i++) {
        float *const row = guide->solved + i * ROOM;
        const float scale = (float)(deviation * deviation);

        for (size_t k = 0; k < guide->count; k++)
            row[k] = (float)linear(guide,
                                   guide->held_means + i * guide->sources,
                                   guide->means + k * guide->sources) +
                     scale * guide->covariances[i * ROOM + k];
        for (size_t j = 0; j < i; j++) {
            const float *const other = guide->solved + j * ROOM;
            const float times = (float)guide->factor[i][j];

            for (size_t k = 0; k < guide->count; k++)
                row[k] -= times * other[k];
        }
        for (size_t k = 0; k < guide->count; k++)
            row[k] /= (float)guide->factor[i][i];
    }
    for (size_t k = 0; k < guide->count; k++) {
        const float *const means = guide->means + k * guide->sources;
        double expected = mean + promised(means, guide->sources);
        double variance =
            linear(guide, means, means) + deviation * deviation, gain;

        if (view->seen(view->session, guide->indices[k]))
            continue;
        for (size_t i = 0; i < guide->held; i++) {
            const double one = guide->solved[i * ROOM + k];

            expected += one * guide->half[i];
            variance -= one * one;
        }
        gain = improvement(least, expected, sqrt(fmax(variance, 1e-8)));
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}

/* The neighbours of the best observation join the pool. */
static void expand(struct shmt_guide *guide)
{
    const struct shmt_observations *const o = guide->observations;
    const uint64_t best =
        o->valid > 0 ? o->list[o->best].index : UINT64_MAX;
    size_t n;

    if (o->valid == 0 || best == guide->expanded ||
        shmt_space_count(guide->view->space) <= guide->count)
        return;
    guide->expanded = best;
    n = shmt_space_neighbours(guide->view->space, best, SHMT_SPACE_HAMMING,
                              guide->neighbours, guide->room);
    for (size_t j = 0; j < n && guide->count < ROOM; j++) {
        bool there = false;

        for (size_t k = 0; k < guide->count && !there; k++)
            there = guide->indices[k] == guide->neighbours[j];
        if (!there)
            pool_add(guide, guide->neighbours[j]);
    }
}

/* Position of the first that is not tried here yet. */
static size_t first_new(const struct shmt_guide *guide,
                        const uint64_t *indices, size_t count)
{
    const struct shmt_search_view *const view = guide->view;

    for (size_t k = 0; k < count; k++)
        if (!view->seen(view->session, indices[k]))
            return k;
    return SIZE_MAX;
}

/* The best that a source has, of what is not tried here yet. */
static bool copy(const struct shmt_guide *guide, uint64_t *index)
{
    const uint64_t *best;
    const size_t count = shmt_prior_best(guide->prior, &best);
    const size_t k = first_new(guide, best, count);

    if (k != SIZE_MAX)
        *index = best[k];
    return k != SIZE_MAX;
}

static bool is_spent(const struct shmt_guide *guide)
{
    return guide->judged > COPYING && guide->in_vain >= IN_VAIN;
}

/* The next candidate, by what is held and is in flight. */
static bool propose(struct shmt_guide *guide, const uint64_t *pending,
                    size_t pending_count, uint64_t *index)
{
    const size_t number = guide->proposed_count + 1;
    double targets[MOST], mean, least, deviation;
    size_t found;

    if (number <= COPYING && number % COPIED == 0 && copy(guide, index))
        return true;
    if (guide->observations->valid == 0 && pending_count == 0) {
        /* Nothing is known of this device yet: what is promised most. */
        found = first_new(guide, guide->indices, guide->count);
    } else {
        expand(guide);
        hold_pending(guide, pending, pending_count);
        set_targets(guide, targets, &mean, &least);
        deviation = fit(guide, targets);
        add_pending(guide, targets, deviation);
        found = best_improvement(guide, deviation, mean,
                                 least - WORTH);
    }
    if (found != SIZE_MAX)
        *index = guide->indices[found];
    return found != SIZE_MAX;
}

bool shmt_guide_ask(struct shmt_guide *guide, const uint64_t *pending,
                    size_t pending_count, uint64_t *index)
{
    hold_told(guide);
    if (is_spent(guide) || guide->proposed_count == MOST ||
        !propose(guide, pending, pending_count, index))
        return false;
    guide->proposed[guide->proposed_count++] = *index;
    return true;
}
