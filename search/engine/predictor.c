/* SPDX-License-Identifier: MIT */
/*
 * predictor: see predictor.h.  A surrogate of a few hundred observations is
 * fast enough to be used between two measurements.  If there are more, it
 * holds the best ones and a sample of the rest, half each.  Costs above a
 * quantile are clipped: how bad the bad ones are need not be modelled.
 */
#include "search/engine/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELD = 144,          /* observations after a selection */
    ADDED = 24,          /* more until the next one */
    PENDING = 24,
    REPORTS = 48,        /* of other sizes, after a selection, */
    ROOM = HELD + ADDED + PENDING + REPORTS,
    TUNED_WITH = 112,    /* observations that weights are tuned with, */
    TUNED_REPORTS = 32,  /* with so many of them in the place of as many */
    MOST_REPORTS = 4096,
    MOST_LAUNCHED = 65536,   /* of which is remembered what they launch */
    THREADS_PARTS = 2,
    SHARED_PARTS = 8
};

/* What another size has told. */
struct report {
    uint64_t index;
    size_t size;
    double cost;         /* logarithm over the default's; INFINITY: failed */
};

/* A position in `subset` from here on is one of a report. */
static const size_t REPORT = SIZE_MAX / 2;

struct shmt_predictor {
    const struct shmt_observations *observations;
    double clip;
    struct shmt_random *random;
    struct shmt_surrogate *surrogate;
    size_t subset[ROOM];     /* positions in observations */
    size_t held_count;
    size_t read;             /* observations looked at */
    size_t tuned_at;         /* as count_known */
    uint64_t pending[PENDING];
    size_t pending_count;
    float targets[ROOM];
    double ceiling;          /* costs above it count as it */
    /* Of several sizes. */
    const struct shmt_search_sizes *sizes;   /* NULL: one */
    struct shmt_surrogate_feature *features; /* of parameters, then of the
                                                launch, then of sizes */
    size_t launch_features, size_features;
    const struct shmt_search_launches *launches;   /* NULL: not known */
    struct shmt_map launched;   /* two levels in one by index, of this size */
    uint8_t levels[SHMT_SEARCH_SIZES][SHMT_SEARCH_DIMENSIONS];   /* of each */
    struct report *reports;
    size_t report_count;
    size_t selected;         /* of them, at the last selection */
    size_t reports_held;     /* by the surrogate */
    double of_default;       /* its cost here; INFINITY: not known */
    struct shmt_map observed;
    size_t noted;            /* observations that are in it */
};

/* -- the launch ----------------------------------------------------------- */

/* Threads of all blocks in halves of a power of two, from one on, and bytes of
 * shared memory in eighths, from 1 KiB on. */
static uint32_t level_of(double octaves, double parts)
{
    return (uint32_t)fmin(fmax(floor(octaves * parts + 0.5), 0),
                          SHMT_SURROGATE_LEVELS - 1);
}

static uint32_t launched_at(const struct shmt_predictor *predictor,
                            const shmt_config *config, size_t size)
{
    const struct shmt_search_launches *const launches = predictor->launches;
    double threads = 1, bytes = 0;

    if (!launches->of(launches->context, config, size, &threads, &bytes))
        return 0;
    return level_of(log2(fmax(threads, 1)), THREADS_PARTS) |
           level_of(log2(bytes / 1024 + 1), SHARED_PARTS) << 8;
}

/* Appends what a configuration launches at a size to a row of parameters. */
static void complete_launch(struct shmt_predictor *predictor,
                            uint64_t index, size_t size, uint8_t *row)
{
    const bool own = predictor->sizes == NULL ||
                     size == predictor->sizes->own;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    uint32_t levels = SHMT_MAP_NONE;

    if (predictor->launch_features == 0)
        return;
    if (own)
        levels = shmt_map_find(&predictor->launched, index);
    if (levels == SHMT_MAP_NONE) {
        shmt_space_configuration(predictor->observations->space, index,
                                 config);
        levels = launched_at(predictor, config, size);
        if (own && predictor->launched.count >= MOST_LAUNCHED)
            shmt_map_clear(&predictor->launched);
        if (own)
            (void)shmt_map_add(&predictor->launched, index, levels);
    }
    row[predictor->observations->parameters] = (uint8_t)(levels & 0xff);
    row[predictor->observations->parameters + 1] = (uint8_t)(levels >> 8);
}

static void add_launch(struct shmt_predictor *predictor,
                       const struct shmt_search_launches *launches)
{
    struct shmt_surrogate_feature *const features =
        predictor->features + predictor->observations->parameters;

    if (launches == NULL)
        return;
    predictor->launches = launches;
    predictor->launch_features = 2;
    for (size_t k = 0; k < 2; k++) {
        features[k] = (struct shmt_surrogate_feature){
            .levels = SHMT_SURROGATE_LEVELS, .follows = true};
        for (size_t level = 0; level < SHMT_SURROGATE_LEVELS; level++)
            features[k].along[level] =
                (float)level / (k == 0 ? THREADS_PARTS : SHARED_PARTS) / 32;
    }
}

/* -- sizes ---------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* A dimension in which the sizes differ is a feature: by their logarithms. */
static void add_dimension(struct shmt_predictor *predictor, size_t d)
{
    const struct shmt_search_sizes *const sizes = predictor->sizes;
    struct shmt_surrogate_feature *const feature =
        &predictor->features[predictor->observations->parameters +
                             predictor->launch_features +
                             predictor->size_features];
    int64_t sorted[SHMT_SEARCH_SIZES];
    size_t count = 0;

    for (size_t k = 0; k < sizes->count; k++)
        sorted[k] = sizes->list[k][d];
    qsort(sorted, sizes->count, sizeof *sorted, compare_numbers);
    for (size_t k = 0; k < sizes->count; k++)
        if (count == 0 || sorted[k] != sorted[count - 1])
            sorted[count++] = sorted[k];
    if (count < 2)
        return;
    *feature = (struct shmt_surrogate_feature){
        .levels = (uint16_t)count, .ordered = true, .size = true};
    for (size_t k = 0; k < count; k++)
        feature->along[k] =
            (float)(log(fmax(1, (double)sorted[k])) /
                    log(fmax(2, (double)sorted[count - 1])));
    for (size_t k = 0; k < sizes->count; k++)
        for (size_t at = 0; at < count; at++)
            if (sorted[at] == sizes->list[k][d])
                predictor->levels[k][predictor->size_features] = (uint8_t)at;
    predictor->size_features++;
}

/* False when there is no memory. */
static bool add_sizes(struct shmt_predictor *predictor,
                      const struct shmt_search_sizes *sizes)
{
    if (sizes == NULL)
        return true;
    predictor->reports = calloc(MOST_REPORTS, sizeof *predictor->reports);
    if (predictor->reports == NULL)
        return false;
    predictor->sizes = sizes;
    for (size_t d = 0; d < sizes->dimensions; d++)
        add_dimension(predictor, d);
    return true;
}

void shmt_predictor_hear(struct shmt_predictor *predictor, uint64_t index,
                         size_t size, double cost)
{
    if (predictor->sizes == NULL || size >= predictor->sizes->count ||
        predictor->report_count == MOST_REPORTS)
        return;
    predictor->reports[predictor->report_count++] =
        (struct report){index, size,
                        isfinite(cost) && cost > 0 ? log(cost) : INFINITY};
}

void shmt_predictor_set_default(struct shmt_predictor *predictor, double cost)
{
    predictor->of_default = cost;
}

size_t shmt_predictor_heard(const struct shmt_predictor *predictor)
{
    return isfinite(predictor->of_default) ? predictor->report_count : 0;
}

/* Appends a size to a row. */
static void complete_row(const struct shmt_predictor *predictor, size_t size,
                         uint8_t *row)
{
    for (size_t k = 0; k < predictor->size_features; k++)
        row[predictor->observations->parameters +
            predictor->launch_features + k] = predictor->levels[size][k];
}

/* Of this size. */
static void complete(struct shmt_predictor *predictor, uint64_t index,
                     uint8_t *row)
{
    const size_t own =
        predictor->sizes == NULL ? 0 : predictor->sizes->own;

    complete_launch(predictor, index, own, row);
    if (predictor->sizes != NULL)
        complete_row(predictor, own, row);
}

void shmt_predictor_row(struct shmt_predictor *predictor, uint64_t index,
                        uint8_t *row)
{
    shmt_observations_row(predictor->observations, index, row);
    complete(predictor, index, row);
}

/* -- a predictor ---------------------------------------------------------- */

struct shmt_predictor *
shmt_predictor_new(const struct shmt_observations *observations,
                   double clip, const struct shmt_search_sizes *sizes,
                   const struct shmt_search_launches *launches,
                   struct shmt_random *random)
{
    struct shmt_predictor *predictor = calloc(1, sizeof *predictor);

    if (predictor == NULL)
        return NULL;
    predictor->observations = observations;
    predictor->clip = clip;
    predictor->random = random;
    predictor->of_default = INFINITY;
    predictor->features =
        calloc(SHMT_SURROGATE_FEATURES, sizeof *predictor->features);
    if (predictor->features != NULL) {
        memcpy(predictor->features, observations->features,
               observations->parameters * sizeof *observations->features);
        add_launch(predictor, launches);
        if (add_sizes(predictor, sizes))
            predictor->surrogate = shmt_surrogate_new(
                observations->parameters + predictor->launch_features +
                    predictor->size_features,
                predictor->features, sizes == NULL ? ROOM - REPORTS : ROOM);
    }
    if (predictor->surrogate == NULL) {
        shmt_predictor_free(predictor);
        return NULL;
    }
    return predictor;
}

void shmt_predictor_free(struct shmt_predictor *predictor)
{
    if (predictor == NULL)
        return;
    shmt_surrogate_free(predictor->surrogate);
    shmt_map_free(&predictor->observed);
    shmt_map_free(&predictor->launched);
    free(predictor->features);
    free(predictor->reports);
    free(predictor);
}

/* Adds an observation or a report to what the surrogate holds. */
static void hold(struct shmt_predictor *predictor, size_t position)
{
    const struct shmt_observations *const o = predictor->observations;
    uint8_t row[SHMT_SURROGATE_FEATURES];

    predictor->subset[predictor->held_count++] = position;
    if (position >= REPORT) {
        const struct report *const one =
            &predictor->reports[position - REPORT];
        shmt_observations_row(o, one->index, row);
        complete_launch(predictor, one->index, one->size, row);
        complete_row(predictor, one->size, row);
    } else {
        memcpy(row, o->rows + position * o->parameters, o->parameters);
        complete(predictor, o->list[position].index, row);
    }
    shmt_surrogate_add(predictor->surrogate, row);
}

/* Selects at most `most` positions: the best observations for one half of it,
 * and a uniform sample of the others for the other half. */
static size_t select_some(const struct shmt_predictor *predictor, size_t most,
                          size_t *selected)
{
    const struct shmt_observations *const o = predictor->observations;
    double part = 1, limit;
    size_t good = 0, rest, wanted, count = 0;

    if (o->count <= most) {
        for (size_t k = 0; k < o->count; k++)
            selected[k] = k;
        return o->count;
    }
    if (o->valid > most / 2)
        part = (double)(most / 2 - 1) / (double)(o->valid - 1);
    limit = shmt_observations_quantile(o, part);
    for (size_t k = 0; k < o->count; k++)
        good += o->list[k].cost <= limit;
    good = good < most ? good : most;
    rest = o->count - good;
    wanted = most - good;
    for (size_t k = 0; k < o->count && count < most; k++) {
        if (o->list[k].cost <= limit) {
            selected[count++] = k;
            continue;
        }
        if (shmt_random_below(predictor->random, rest--) < wanted) {
            selected[count++] = k;
            wanted--;
        }
        if (rest == 0)
            rest = 1;
    }
    return count;
}

static double cost_of(const struct shmt_predictor *predictor,
                      size_t position)
{
    return position >= REPORT
               ? predictor->of_default +
                     predictor->reports[position - REPORT].cost
               : predictor->observations->list[position].cost;
}

/* Of the observations, or, where reports are held, of all that is held. */
static void set_ceiling(struct shmt_predictor *predictor)
{
    double costs[ROOM];
    size_t count = 0;

    predictor->ceiling = shmt_observations_quantile(predictor->observations,
                                                    predictor->clip);
    if (predictor->reports_held == 0)
        return;
    for (size_t k = 0; k < predictor->held_count; k++) {
        const double cost = cost_of(predictor, predictor->subset[k]);
        if (isfinite(cost))
            costs[count++] = cost;
    }
    if (count == 0)
        return;
    qsort(costs, count, sizeof *costs, shmt_array_compare_doubles);
    predictor->ceiling =
        costs[(size_t)((double)(count - 1) * predictor->clip)];
}

static void set_targets(struct shmt_predictor *predictor)
{
    set_ceiling(predictor);
    for (size_t k = 0; k < predictor->held_count; k++)
        predictor->targets[k] = (float)fmin(
            predictor->ceiling, cost_of(predictor, predictor->subset[k]));
}

/* Reports of what is not observed here, the best for one half of them, and a
 * sample of the others. */
static void hold_reports(struct shmt_predictor *predictor, size_t most)
{
    const struct shmt_observations *const o = predictor->observations;
    size_t *const left = malloc((predictor->report_count + 1) * sizeof *left);
    size_t count = 0;

    for (; predictor->noted < o->count; predictor->noted++)
        (void)shmt_map_add(&predictor->observed,
                           o->list[predictor->noted].index, 1);
    for (size_t k = 0; left != NULL && k < predictor->report_count; k++)
        if (shmt_map_find(&predictor->observed, predictor->reports[k].index) ==
            SHMT_MAP_NONE)
            left[count++] = k;
    for (size_t n = 0; n < most && count > 0; n++) {
        size_t at = shmt_random_below(predictor->random, count);
        for (size_t k = 0; n < most / 2 && k < count; k++)
            if (predictor->reports[left[k]].cost <
                predictor->reports[left[at]].cost)
                at = k;
        hold(predictor, REPORT + left[at]);
        predictor->reports_held++;
        left[at] = left[--count];
    }
    free(left);
    predictor->selected = predictor->report_count;
}

static void select_subset(struct shmt_predictor *predictor, size_t most)
{
    const bool hears = shmt_predictor_heard(predictor) > 0;
    const size_t reports = !hears               ? 0
                           : most == TUNED_WITH ? TUNED_REPORTS : REPORTS;
    size_t own[ROOM], count;

    shmt_surrogate_keep(predictor->surrogate, 0);
    predictor->held_count = predictor->reports_held = 0;
    count = select_some(predictor,
                        most == TUNED_WITH ? most - reports : most, own);
    for (size_t k = 0; k < count; k++)
        hold(predictor, own[k]);
    if (hears)
        hold_reports(predictor, reports);
    predictor->read = predictor->observations->count;
}

/* Whether so much was told that some of it should be held. */
static bool has_news(const struct shmt_predictor *predictor)
{
    return shmt_predictor_heard(predictor) > 0 &&
           predictor->report_count >
               predictor->selected + predictor->selected / 8 + 8;
}

/* What the weights could be fitted to now. */
static size_t count_known(const struct shmt_predictor *predictor)
{
    const size_t heard = shmt_predictor_heard(predictor);

    return predictor->observations->count +
           (heard < TUNED_REPORTS ? heard : TUNED_REPORTS);
}

/* How many of these there have to be for the next fit: few more at first, when
 * it is cheap and one result may change much. */
static size_t tune_again_at(const struct shmt_predictor *predictor)
{
    const size_t at = predictor->tuned_at;

    return at < 100 ? at + at / 10 + 1 : at + at / 5;
}

static void add_new(struct shmt_predictor *predictor)
{
    const struct shmt_observations *const o = predictor->observations;

    shmt_surrogate_keep(predictor->surrogate, predictor->held_count);
    if (count_known(predictor) >= tune_again_at(predictor)) {
        predictor->tuned_at = count_known(predictor);
        select_subset(predictor, TUNED_WITH);
        set_targets(predictor);
        shmt_surrogate_tune(predictor->surrogate, predictor->targets,
                            predictor->random);
        select_subset(predictor, HELD);
    } else if (predictor->held_count - predictor->reports_held +
                       (o->count - predictor->read) > HELD + ADDED ||
               has_news(predictor)) {
        select_subset(predictor, HELD);
    }
    while (predictor->read < o->count)
        hold(predictor, predictor->read++);
    set_targets(predictor);
    shmt_surrogate_solve(predictor->surrogate, predictor->targets);
}

/* How many of `pending`, from the first on, the surrogate already holds. */
static size_t common_prefix(const struct shmt_predictor *predictor,
                            const uint64_t *pending, size_t count)
{
    size_t k = 0;

    while (k < count && k < predictor->pending_count
           && predictor->pending[k] == pending[k])
        k++;
    return k;
}

void shmt_predictor_update(struct shmt_predictor *predictor,
                           const uint64_t *pending, size_t count)
{
    const size_t skipped = count > PENDING ? count - PENDING : 0;
    size_t kept = 0;

    if (predictor->read < predictor->observations->count ||
        has_news(predictor)) {
        add_new(predictor);
    } else {
        kept = common_prefix(predictor, pending + skipped, count - skipped);
        shmt_surrogate_keep(predictor->surrogate, predictor->held_count + kept);
    }
    for (predictor->pending_count = kept; predictor->pending_count <
         count - skipped;) {
        const uint64_t index = pending[skipped + predictor->pending_count];
        uint8_t row[SHMT_SURROGATE_FEATURES];

        shmt_predictor_row(predictor, index, row);
        shmt_surrogate_add(predictor->surrogate, row);
        predictor->pending[predictor->pending_count++] = index;
    }
}

struct shmt_surrogate *
shmt_predictor_surrogate(const struct shmt_predictor *predictor)
{
    return predictor->surrogate;
}

void shmt_predictor_improvement(struct shmt_predictor *predictor,
                                const uint8_t *const *rows, size_t count,
                                double margin, double *improvement)
{
    const struct shmt_observations *const o = predictor->observations;
    const double least =
        (o->valid > 0 ? o->list[o->best].cost : 0) - margin;
    float mean[SHMT_SURROGATE_BATCH], deviation[SHMT_SURROGATE_BATCH];

    shmt_surrogate_predict(predictor->surrogate, rows, count, mean, deviation);
    for (size_t k = 0; k < count; k++) {
        const double u = (least - mean[k]) / deviation[k];

        improvement[k] = deviation[k]
                         * (u * 0.5 * erfc(-u / sqrt(2))
                            + exp(-u * u / 2) / sqrt(2 * 3.14159265358979));
    }
}
