/* SPDX-License-Identifier: MIT */
/*
 * prior: see prior.h.  Where a source says nothing of a configuration, a source
 * of many examples is asked through a surrogate that is fitted to them.  One of
 * a few, or of winners alone, knows what is good and little of the rest: there
 * the expected cost grows with the distance from the nearest of them.
 */
#include "search/engine/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FITTED = 160,        /* examples that a surrogate is fitted to */
    TUNED_WITH = 96,
    FEW = 48             /* examples with a cost that a surrogate needs */
};

/* What is above this quantile of a source's costs is as bad as it, and so are
 * failures. */
static const double CEILING = 0.9;
/* Of a source of few examples: one more for a parameter that differs. */
static const double STEP = 0.15, SLOPE = 0.25, FAR = 1.5;

struct source {
    struct shmt_map known;   /* index -> position */
    size_t count, valid;
    bool dense;              /* what it does not say can be told from it */
    float *costs;            /* [count] logarithms */
    uint8_t *rows;           /* [count][parameters] */
    float ceiling;
    struct shmt_surrogate *surrogate;   /* NULL: it is not dense */
};

struct shmt_prior {
    const struct shmt_observations *shape;
    size_t source_count;
    struct source sources[SHMT_SEARCH_SOURCES];
    size_t best_count;
    uint64_t *best;
};

void shmt_prior_free(struct shmt_prior *prior)
{
    if (prior == NULL)
        return;
    for (size_t s = 0; s < prior->source_count; s++) {
        shmt_map_free(&prior->sources[s].known);
        free(prior->sources[s].costs);
        free(prior->sources[s].rows);
        shmt_surrogate_free(prior->sources[s].surrogate);
    }
    free(prior->best);
    free(prior);
}

/* Makes costs relative to the least, and no larger than the ceiling. */
static bool scale_costs(struct source *source)
{
    float *const sorted = malloc((source->count + 1) * sizeof *sorted);
    float least;

    if (sorted == NULL)
        return false;
    memcpy(sorted, source->costs, source->count * sizeof *sorted);
    qsort(sorted, source->count, sizeof *sorted, shmt_array_compare_floats);
    least = source->valid > 0 ? sorted[0] : 0;
    source->ceiling =
        !source->dense
            ? (float)FAR
            : sorted[(size_t)((double)(source->valid - 1) * CEILING)] - least;
    free(sorted);
    for (size_t k = 0; k < source->count; k++)
        source->costs[k] =
            fminf(source->costs[k] - least, source->ceiling);
    return true;
}

/* The best examples for one half of those that the surrogate holds, and a
 * uniform sample of the others; none when there is no memory. */
static size_t select_some(const struct source *source, size_t most,
                          struct shmt_random *random, size_t *selected)
{
    float *const sorted = malloc((source->count + 1) * sizeof *sorted);
    size_t good = 0, count = 0, rest, wanted;
    float limit;

    if (sorted == NULL)
        return 0;
    memcpy(sorted, source->costs, source->count * sizeof *sorted);
    qsort(sorted, source->count, sizeof *sorted, shmt_array_compare_floats);
    limit = sorted[source->count > most ? most / 2 : source->count - 1];
    free(sorted);
    for (size_t k = 0; k < source->count; k++)
        good += source->costs[k] <= limit;
    good = good < most ? good : most;
    rest = source->count - good;
    wanted = most - good;
    for (size_t k = 0; k < source->count && count < most; k++) {
        if (source->costs[k] <= limit && good > 0) {
            selected[count++] = k;
            good--;
        } else if (rest > 0 && shmt_random_below(random, rest--) < wanted) {
            selected[count++] = k;
            wanted--;
        }
    }
    return count;
}

/* False when there is no memory. */
static bool fit(const struct shmt_prior *prior, struct source *source,
                struct shmt_random *random)
{
    const size_t width = prior->shape->parameters;
    size_t selected[FITTED], count;
    float targets[FITTED];

    for (int last = 0; last < 2; last++) {
        count = select_some(source, last ? FITTED : TUNED_WITH, random,
                            selected);
        if (count == 0)
            return false;
        shmt_surrogate_keep(source->surrogate, 0);
        for (size_t k = 0; k < count; k++) {
            shmt_surrogate_add(source->surrogate,
                               source->rows + selected[k] * width);
            targets[k] = source->costs[selected[k]];
        }
        if (!last && count > 1)
            shmt_surrogate_tune(source->surrogate, targets, random);
    }
    shmt_surrogate_solve(source->surrogate, targets);
    return true;
}

static bool fill(struct shmt_prior *prior, const struct shmt_search_view *view,
                 size_t number)
{
    struct source *const source = &prior->sources[number];
    const struct shmt_search_prior *const from = view->prior;
    const size_t width = prior->shape->parameters;

    for (size_t k = 0; k < from->count; k++)
        source->count += from->examples[k].source == number;
    source->costs = malloc((source->count + 1) * sizeof *source->costs);
    source->rows = malloc(source->count * width + 1);
    if (source->costs == NULL || source->rows == NULL)
        return false;
    source->count = 0;
    for (size_t k = 0; k < from->count; k++) {
        const struct shmt_search_example *const one = &from->examples[k];
        const bool valid = isfinite(one->cost) && one->cost > 0;
        uint64_t index;

        if (one->source != number)
            continue;
        if (shmt_space_index(view->space, one->config, &index) &&
            shmt_map_find(&source->known, index) == SHMT_MAP_NONE &&
            !shmt_map_add(&source->known, index, (uint32_t)source->count))
            return false;
        shmt_observations_row_of(prior->shape, one->config,
                                 source->rows + source->count * width);
        source->costs[source->count++] =
            valid ? (float)log(one->cost) : INFINITY;
        source->valid += valid;
    }
    source->dense = source->valid >= FEW && !from->winners[number];
    return scale_costs(source);
}

struct place {
    uint64_t index;
    float mean;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;

    if (x->mean != y->mean)
        return x->mean < y->mean ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Collects the examples of the space with their mean over the sources. */
static bool sort_examples(struct shmt_prior *prior,
                          const struct shmt_search_view *view)
{
    const struct shmt_search_prior *const from = view->prior;
    struct place *const places = malloc((from->count + 1) * sizeof *places);
    uint8_t row[SHMT_SPACE_PARAMETERS];
    float means[SHMT_SEARCH_SOURCES];
    size_t count = 0;

    prior->best = malloc((from->count + 1) * sizeof *prior->best);
    if (places == NULL || prior->best == NULL) {
        free(places);
        return false;
    }
    for (size_t k = 0; k < from->count; k++) {
        struct place *const place = &places[count];

        if (from->examples[k].source >= prior->source_count ||
            !shmt_space_index(view->space, from->examples[k].config,
                              &place->index))
            continue;
        shmt_observations_row_of(prior->shape, from->examples[k].config, row);
        shmt_prior_means(prior, place->index, row, means);
        place->mean = 0;
        for (size_t s = 0; s < prior->source_count; s++)
            place->mean += means[s];
        count++;
    }
    qsort(places, count, sizeof *places, compare_places);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || places[k].index != places[k - 1].index)
            prior->best[prior->best_count++] = places[k].index;
    free(places);
    return true;
}

struct shmt_prior *shmt_prior_new(const struct shmt_search_view *view,
                                  const struct shmt_observations *shape)
{
    struct shmt_prior *const prior = calloc(1, sizeof *prior);
    struct shmt_random random;

    if (prior == NULL)
        return NULL;
    shmt_random_seed(&random, 1);
    prior->shape = shape;
    prior->source_count = view->prior->source_count < SHMT_SEARCH_SOURCES
                              ? view->prior->source_count
                              : SHMT_SEARCH_SOURCES;
    for (size_t s = 0; s < prior->source_count; s++) {
        struct source *const source = &prior->sources[s];

        if (!fill(prior, view, s))
            goto fail;
        if (!source->dense)
            continue;
        source->surrogate = shmt_surrogate_new(shape->parameters,
                                               shape->features, FITTED);
        if (source->surrogate == NULL || !fit(prior, source, &random))
            goto fail;
    }
    if (sort_examples(prior, view))
        return prior;
fail:
    shmt_prior_free(prior);
    return NULL;
}

size_t shmt_prior_sources(const struct shmt_prior *prior)
{
    return prior->source_count;
}

/* What the nearest of a few examples leads to expect. */
static float from_nearest(const struct shmt_prior *prior,
                          const struct source *source, const uint8_t *row)
{
    const size_t width = prior->shape->parameters;
    double least = source->ceiling;

    for (size_t k = 0; k < source->count; k++) {
        const uint8_t *const other = source->rows + k * width;
        double cost = source->costs[k];

        for (size_t p = 0; p < width && cost < least; p++) {
            const struct shmt_surrogate_feature *const feature =
                &prior->shape->features[p];

            if (row[p] != other[p])
                cost += STEP + SLOPE * (feature->ordered
                                            ? fabs(feature->along[row[p]] -
                                                   feature->along[other[p]])
                                            : 1);
        }
        least = fmin(least, cost);
    }
    return (float)least;
}

void shmt_prior_means(struct shmt_prior *prior, uint64_t index,
                      const uint8_t *row, float *means)
{
    for (size_t s = 0; s < prior->source_count; s++) {
        struct source *const source = &prior->sources[s];
        const uint32_t at = shmt_map_find(&source->known, index);

        if (at != SHMT_MAP_NONE) {
            means[s] = source->costs[at];
        } else if (source->surrogate != NULL) {
            shmt_surrogate_means(source->surrogate, &row, 1, &means[s]);
            means[s] = fmaxf(0, fminf(means[s], source->ceiling));
        } else {
            means[s] = from_nearest(prior, source, row);
        }
    }
}

size_t shmt_prior_best(const struct shmt_prior *prior,
                       const uint64_t **indices)
{
    *indices = prior->best;
    return prior->best_count;
}
