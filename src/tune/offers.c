/* SPDX-License-Identifier: MIT */
/*
 * offers: what the runs of several sizes of a kernel do for each other.  A
 * result is told to the others (sizes.h); whose strategy hears of it, and who
 * is offered the configuration, which is compiled: it costs a measurement.
 * Of the offers the one is tried that the strategy expects most of.  Nothing
 * that is heard is an observation of this size.  Called by run.c, pipeline.c
 * and campaign.c.
 */
#include <math.h>
#include <string.h>

#include "tune/sizes.h"
#include "tune/state.h"
#include "tune/step.h"

enum {
    JUDGED = 48,         /* offers, by cost, of which the strategy chooses */
    LEAST_MEASURED = 8,  /* before that any offer is worth it */
    PATIENCE = 8,
    READY_ENOUGH = 3     /* compiled candidates that keep the device busy */
};

/* The share of the best cost that an offer has to promise; and one that has to
 * be compiled here. */
static const double least_worth = 0.0003, least_compiled_worth = 0.003;

/* A search has settled when the later half of its candidates, of SETTLED at
 * least, has made it faster by less than this share, and has taken so much of
 * its time: a long one would end with most of that left. */
static const double least_gain = 0.005, patient_share = 0.5;
enum { SETTLED = 48 };

/* -- telling -------------------------------------------------------------- */

static void note_gain(struct shmt_tune *tune, double cost)
{
    const uint64_t tried = tune->outcome->tried;
    const double now_s = shmt_tune_elapsed(tune);

    if (cost < (1 - least_gain) * tune->gained_us || tune->gained_at == 0) {
        tune->gained_us = cost;
        tune->gained_at = tried;
        tune->gained_s = now_s;
    }
    shmt_sizes_set_busy(tune->sizes, tune->options->size,
                        tried < tune->gained_at + SETTLED ||
                            tried < 2 * tune->gained_at ||
                            now_s < tune->gained_s +
                                        patient_share * tune->share_s);
}

/* Together, so that what one finds late is tried at all sizes. */
bool shmt_tune_has_settled(const struct shmt_tune *tune)
{
    return tune->sizes != NULL && tune->options->yields &&
           tune->gained_at > 0 && !shmt_sizes_are_busy(tune->sizes);
}

void shmt_tune_tell_sizes(struct shmt_tune *tune,
                          const struct shmt_ledger_entry *entry)
{
    const double cost = shmt_ledger_cost(&entry->result);
    const enum shmt_stage stage = shmt_verdict_stage(entry->result.verdict);
    const double default_us = tune->outcome->default_us;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    tune->patience -= tune->patience > 0;
    if (tune->sizes == NULL)
        return;
    note_gain(tune, cost);
    shmt_space_configuration(tune->outcome->space, entry->index, config);
    if (isfinite(cost) && default_us > 0)
        shmt_sizes_tell(tune->sizes, tune->options->size, cost / default_us,
                        config);
    else if (stage == SHMT_STAGE_COMPILE || stage == SHMT_STAGE_RESOURCES)
        shmt_sizes_tell(tune->sizes, tune->options->size, INFINITY, config);
}

/* -- hearing -------------------------------------------------------------- */

/* A full list loses the slowest. */
static void put_offer(struct shmt_tune *tune,
                      const struct shmt_tune_offer *offer)
{
    struct shmt_tune_offer *const list = tune->offers;
    size_t at = 0;

    for (size_t k = 0; k < tune->offer_count; k++) {
        if (list[k].index == offer->index) {
            list[k].cost = fmin(list[k].cost, offer->cost);
            list[k].leads = list[k].leads || offer->leads;
            return;
        }
        if (list[k].cost > list[at].cost)
            at = k;
    }
    if (tune->offer_count < SHMT_TUNE_OFFERS)
        at = tune->offer_count++;
    else if (list[at].cost <= offer->cost)
        return;
    list[at] = *offer;
}

bool shmt_tune_has_news(const struct shmt_tune *tune)
{
    return tune->sizes != NULL && tune->phase == SHMT_TUNE_SEARCH &&
           tune->heard < shmt_sizes_count(tune->sizes);
}

void shmt_tune_hear_sizes(struct shmt_tune *tune)
{
    const struct shmt_sizes_finding *one;

    while (tune->sizes != NULL &&
           (one = shmt_sizes_next(tune->sizes, tune->options->size,
                                  &tune->heard)) != NULL) {
        struct shmt_tune_offer offer = {.cost = one->cost,
                                        .leads = one->leads};

        if (!shmt_space_index(tune->outcome->space, one->config,
                              &offer.index))
            continue;
        shmt_session_hear(tune->session, offer.index, one->size, one->cost);
        tune->patience -= tune->patience > 0;
        if (one->leads)
            tune->patience = 0;
        if (isfinite(one->cost))
            put_offer(tune, &offer);
    }
}

/* -- choosing ------------------------------------------------------------- */

/* Whether a candidate costs a measurement alone. */
static bool is_compiled(const struct shmt_tune *tune, uint64_t index)
{
    struct shmt_target *const target = tune->target;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    if (target->operations->is_compiled == NULL)
        return false;
    shmt_space_configuration(tune->outcome->space, index, config);
    return target->operations->is_compiled(target, config);
}

static bool is_before(const struct shmt_tune_offer *a,
                      const struct shmt_tune_offer *b)
{
    return a->leads != b->leads ? a->leads : a->cost < b->cost;
}

/* Positions of the best offers, best first. */
static size_t shortlist(const struct shmt_tune *tune, size_t *list)
{
    size_t count = 0;

    for (size_t k = 0; k < tune->offer_count; k++) {
        const struct shmt_tune_offer *const one = &tune->offers[k];
        size_t at = count;

        if (count == JUDGED &&
            !is_before(one, &tune->offers[list[JUDGED - 1]]))
            continue;
        if (count < JUDGED)
            count++;
        else
            at--;
        for (; at > 0 && is_before(one, &tune->offers[list[at - 1]]); at--)
            list[at] = list[at - 1];
        list[at] = k;
    }
    return count;
}

/* The position of the offer to try; SIZE_MAX: none is worth it.  One that has
 * to be compiled here, since a dimension in which the sizes differ is a macro
 * of the kernel, takes a compiler as any other candidate does: what led
 * elsewhere is tried when it promises something, and not before. */
static size_t choose(struct shmt_tune *tune)
{
    size_t list[JUDGED], picked;
    uint64_t indices[JUDGED];
    const size_t count = shortlist(tune, list);

    for (size_t k = 0; k < count; k++) {
        const struct shmt_tune_offer *const one = &tune->offers[list[k]];

        if ((one->leads || tune->measured < LEAST_MEASURED) &&
            is_compiled(tune, one->index))
            return list[k];
    }
    if (count == 0)
        return SIZE_MAX;
    for (size_t k = 0; k < count; k++)
        indices[k] = tune->offers[list[k]].index;
    picked = shmt_session_pick(tune->session, indices, count);
    return shmt_session_worth(tune->session, indices[picked]) >=
                   (is_compiled(tune, indices[picked]) ? least_worth
                                                       : least_compiled_worth)
               ? list[picked] : SIZE_MAX;
}

bool shmt_tune_next_offer(struct shmt_tune *tune, uint64_t *index)
{
    while (tune->sizes != NULL && tune->phase == SHMT_TUNE_SEARCH &&
           tune->patience == 0) {
        const size_t k = choose(tune);

        if (k == SIZE_MAX) {
            tune->patience = PATIENCE;
            break;
        }
        *index = tune->offers[k].index;
        tune->offers[k] = tune->offers[--tune->offer_count];
        if (shmt_session_claim(tune->session, *index))
            return true;
    }
    return false;
}

/* -- improvement a second ------------------------------------------------- */

/* Without the first, which sets the problem up.  Where that is all that there
 * is, by the default: its samples, twice verified. */
static double measure_s(const struct shmt_tune *tune)
{
    if (tune->measured == 0)
        return 1;
    if (tune->measured == 1)
        return 1e-3 + 2 * SHMT_TUNE_SAMPLES * 1e-6 *
                          fmax(tune->outcome->default_us, 0);
    return fmax((tune->measure_ms - tune->setup_ms) /
                    (double)(tune->measured - 1) / 1000,
                1e-4);
}

double shmt_tune_worth(struct shmt_tune *tune,
                       const struct shmt_tune_candidate *candidate,
                       enum shmt_target_verb verb)
{
    const size_t compilers =
        tune->target->operations->capacity(tune->target, SHMT_TARGET_INSPECT);
    double seconds = measure_s(tune);

    if (candidate->origin == SHMT_TUNE_FROM_RUN)
        return INFINITY;
    if (tune->sizes == NULL)
        return 0;
    if (verb == SHMT_TARGET_INSPECT && tune->compiled > 0)
        seconds += tune->compile_ms / (double)tune->compiled / 1000 /
                   (double)compilers;
    return shmt_session_worth(tune->session, candidate->index) / seconds;
}

double shmt_tune_compiled_s(const void *context, uint64_t index)
{
    const struct shmt_tune *const tune = context;

    return tune->in_stage[SHMT_TUNE_READY] < READY_ENOUGH &&
                   is_compiled(tune, index)
               ? measure_s(tune) : -1;
}
