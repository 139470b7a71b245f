/* SPDX-License-Identifier: MIT */
/*
 * lens: see lens.h.  A surrogate of a few hundred observations is quick
 * enough to be asked between two measurements; of more, it holds the best
 * half and a sample of the rest.  Costs above a quantile are cut off: how bad
 * the bad ones are is not worth the model's attention.
 */
#include "search/engine/lens.h"

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

struct shmt_lens {
    const struct shmt_observations *observations;
    size_t features;
    double clip;
    struct shmt_random *random;
    struct shmt_surrogate *surrogate;
    size_t held[ROOM];       /* positions in observations */
    size_t held_count;
    size_t taken;            /* observations looked at */
    size_t tuned_at;
    uint64_t pending[ROOM - HELD - ADDED];
    size_t pending_count;
    float targets[ROOM];
    double cut;              /* costs above it count as it */
};

struct shmt_lens *
shmt_lens_new(const struct shmt_observations *observations, size_t features,
              double clip, struct shmt_random *random)
{
    struct shmt_lens *lens = calloc(1, sizeof *lens);

    if (lens == NULL)
        return NULL;
    lens->surrogate = shmt_surrogate_new(features, observations->features,
                                         ROOM);
    if (lens->surrogate == NULL) {
        free(lens);
        return NULL;
    }
    lens->observations = observations;
    lens->features = features;
    lens->clip = clip;
    lens->random = random;
    return lens;
}

void shmt_lens_free(struct shmt_lens *lens)
{
    if (lens == NULL)
        return;
    shmt_surrogate_free(lens->surrogate);
    free(lens);
}

static const uint8_t *row_of(const struct shmt_lens *lens, size_t position)
{
    return lens->observations->rows + position * lens->observations->width;
}

/* At most `most` positions: the best half of that, and of the others each as
 * likely as the next, in their order. */
static size_t select_some(const struct shmt_lens *lens, size_t most,
                          size_t *selected)
{
    const struct shmt_observations *const o = lens->observations;
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
        good += o->told[k].cost <= limit;
    good = good < most ? good : most;
    rest = o->count - good;
    wanted = most - good;
    for (size_t k = 0; k < o->count && count < most; k++) {
        if (o->told[k].cost <= limit) {
            selected[count++] = k;
            continue;
        }
        if (shmt_random_below(lens->random, rest--) < wanted) {
            selected[count++] = k;
            wanted--;
        }
        if (rest == 0)
            rest = 1;
    }
    return count;
}

static void set_targets(struct shmt_lens *lens)
{
    for (size_t k = 0; k < lens->held_count; k++)
        lens->targets[k] = (float)fmin(
            lens->cut, lens->observations->told[lens->held[k]].cost);
}

static void hold(struct shmt_lens *lens, size_t most)
{
    shmt_surrogate_keep(lens->surrogate, 0);
    lens->held_count = select_some(lens, most, lens->held);
    for (size_t k = 0; k < lens->held_count; k++)
        shmt_surrogate_add(lens->surrogate, row_of(lens, lens->held[k]));
    lens->taken = lens->observations->count;
}

/* Often while that is cheap and a result more may change all. */
static size_t tune_again_at(const struct shmt_lens *lens)
{
    return lens->tuned_at < 100 ? lens->tuned_at + lens->tuned_at / 10 + 1
                                : lens->tuned_at + lens->tuned_at / 5;
}

static void take_in(struct shmt_lens *lens)
{
    const struct shmt_observations *const o = lens->observations;

    shmt_surrogate_keep(lens->surrogate, lens->held_count);
    lens->cut = shmt_observations_quantile(o, lens->clip);
    if (o->count >= tune_again_at(lens)) {
        lens->tuned_at = o->count;
        hold(lens, TUNED_WITH);
        set_targets(lens);
        shmt_surrogate_tune(lens->surrogate, lens->targets, lens->random);
        hold(lens, HELD);
    } else if (lens->held_count + (o->count - lens->taken) > HELD + ADDED) {
        hold(lens, HELD);
    }
    while (lens->taken < o->count) {
        lens->held[lens->held_count++] = lens->taken;
        shmt_surrogate_add(lens->surrogate, row_of(lens, lens->taken++));
    }
    set_targets(lens);
    shmt_surrogate_solve(lens->surrogate, lens->targets);
}

/* Those of `pending` that are there already are its beginning. */
static size_t still_there(const struct shmt_lens *lens,
                          const uint64_t *pending, size_t count)
{
    size_t k = 0;

    while (k < count && k < lens->pending_count
           && lens->pending[k] == pending[k])
        k++;
    return k;
}

void shmt_lens_focus(struct shmt_lens *lens, const uint64_t *pending,
                     size_t count)
{
    const size_t skipped = count > PENDING ? count - PENDING : 0;
    size_t kept = 0;

    if (lens->taken < lens->observations->count) {
        take_in(lens);
    } else {
        kept = still_there(lens, pending + skipped, count - skipped);
        shmt_surrogate_keep(lens->surrogate, lens->held_count + kept);
    }
    for (lens->pending_count = kept; lens->pending_count < count - skipped;) {
        const uint64_t index = pending[skipped + lens->pending_count];
        uint8_t row[SHMT_OBSERVED_WIDTH];

        shmt_observations_row(lens->observations, index, row);
        shmt_surrogate_add(lens->surrogate, row);
        lens->pending[lens->pending_count++] = index;
    }
}

double shmt_lens_mean(struct shmt_lens *lens, const uint8_t *row)
{
    return shmt_surrogate_mean(lens->surrogate, row);
}

double shmt_lens_mean_beside(struct shmt_lens *lens, size_t feature,
                             uint8_t level)
{
    return shmt_surrogate_mean_beside(lens->surrogate, feature, level);
}

void shmt_lens_improvement(struct shmt_lens *lens, const uint8_t *const *rows,
                           size_t count, double *improvement)
{
    const struct shmt_observations *const o = lens->observations;
    const double best = o->valid > 0 ? o->told[o->best].cost : 0;
    float mean[SHMT_LENS_BATCH], deviation[SHMT_LENS_BATCH];

    shmt_surrogate_predict(lens->surrogate, rows, count, mean, deviation);
    for (size_t k = 0; k < count; k++) {
        const double u = (best - mean[k]) / deviation[k];

        improvement[k] = deviation[k]
                         * (u * 0.5 * erfc(-u / sqrt(2))
                            + exp(-u * u / 2) / sqrt(2 * 3.14159265358979));
    }
}
