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
    ROOM = HELD + ADDED + PENDING,
    TUNED_WITH = 112     /* observations that weights are tuned with */
};

struct shmt_predictor {
    const struct shmt_observations *observations;
    double clip;
    struct shmt_random *random;
    struct shmt_surrogate *surrogate;
    size_t subset[ROOM];     /* positions in observations */
    size_t held_count;
    size_t read;             /* observations looked at */
    size_t tuned_at;
    uint64_t pending[ROOM - HELD - ADDED];
    size_t pending_count;
    float targets[ROOM];
    double ceiling;          /* costs above it count as it */
};

struct shmt_predictor *
shmt_predictor_new(const struct shmt_observations *observations,
                   double clip, struct shmt_random *random)
{
    struct shmt_predictor *predictor = calloc(1, sizeof *predictor);

    if (predictor == NULL)
        return NULL;
    predictor->surrogate = shmt_surrogate_new(
        observations->parameters, observations->features, ROOM);
    if (predictor->surrogate == NULL) {
        free(predictor);
        return NULL;
    }
    predictor->observations = observations;
    predictor->clip = clip;
    predictor->random = random;
    return predictor;
}

void shmt_predictor_free(struct shmt_predictor *predictor)
{
    if (predictor == NULL)
        return;
    shmt_surrogate_free(predictor->surrogate);
    free(predictor);
}

static const uint8_t *row_of(const struct shmt_predictor *predictor,
                             size_t position)
{
    return predictor->observations->rows +
           position * predictor->observations->parameters;
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

static void set_targets(struct shmt_predictor *predictor)
{
    for (size_t k = 0; k < predictor->held_count; k++)
        predictor->targets[k] = (float)fmin(
            predictor->ceiling,
            predictor->observations->list[predictor->subset[k]].cost);
}

static void select_subset(struct shmt_predictor *predictor, size_t most)
{
    shmt_surrogate_keep(predictor->surrogate, 0);
    predictor->held_count = select_some(predictor, most, predictor->subset);
    for (size_t k = 0; k < predictor->held_count; k++)
        shmt_surrogate_add(predictor->surrogate,
                           row_of(predictor, predictor->subset[k]));
    predictor->read = predictor->observations->count;
}

/* The number of observations at which the weights are fitted next: often at
 * first, when it is cheap and one result may change much. */
static size_t tune_again_at(const struct shmt_predictor *predictor)
{
    const size_t at = predictor->tuned_at;

    return at < 100 ? at + at / 10 + 1 : at + at / 5;
}

static void add_new(struct shmt_predictor *predictor)
{
    const struct shmt_observations *const o = predictor->observations;

    shmt_surrogate_keep(predictor->surrogate, predictor->held_count);
    predictor->ceiling = shmt_observations_quantile(o, predictor->clip);
    if (o->count >= tune_again_at(predictor)) {
        predictor->tuned_at = o->count;
        select_subset(predictor, TUNED_WITH);
        set_targets(predictor);
        shmt_surrogate_tune(predictor->surrogate, predictor->targets,
                            predictor->random);
        select_subset(predictor, HELD);
    } else if (predictor->held_count + (o->count - predictor->read) > HELD +
               ADDED) {
        select_subset(predictor, HELD);
    }
    while (predictor->read < o->count) {
        predictor->subset[predictor->held_count++] = predictor->read;
        shmt_surrogate_add(predictor->surrogate,
                           row_of(predictor, predictor->read++));
    }
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

    if (predictor->read < predictor->observations->count) {
        add_new(predictor);
    } else {
        kept = common_prefix(predictor, pending + skipped, count - skipped);
        shmt_surrogate_keep(predictor->surrogate, predictor->held_count + kept);
    }
    for (predictor->pending_count = kept; predictor->pending_count <
         count - skipped;) {
        const uint64_t index = pending[skipped + predictor->pending_count];
        uint8_t row[SHMT_SPACE_PARAMETERS];

        shmt_observations_row(predictor->observations, index, row);
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
                                const uint8_t *const *rows,
                                size_t count, double *improvement)
{
    const struct shmt_observations *const o = predictor->observations;
    const double best = o->valid > 0 ? o->list[o->best].cost : 0;
    float mean[SHMT_SURROGATE_BATCH], deviation[SHMT_SURROGATE_BATCH];

    shmt_surrogate_predict(predictor->surrogate, rows, count, mean, deviation);
    for (size_t k = 0; k < count; k++) {
        const double u = (best - mean[k]) / deviation[k];

        improvement[k] = deviation[k]
                         * (u * 0.5 * erfc(-u / sqrt(2))
                            + exp(-u * u / 2) / sqrt(2 * 3.14159265358979));
    }
}
