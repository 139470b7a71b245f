/* SPDX-License-Identifier: MIT */
/*
 * lend: devices that measure candidates of a run beside its own device.
 * Each measures the default first; a time on it counts as time x the default's
 * on the run's own device / the default's on it.  Called by campaign.c, which
 * lends them, and pipeline.c.
 */
#include <math.h>
#include <string.h>

#include "tune/state.h"
#include "tune/step.h"

/* A device has to be opened and the problem to be set up there. */
static const double worth_s = 2;

static const struct shmt_ledger_entry *default_of(const struct shmt_tune *tune)
{
    const struct shmt_ledger_entry *const entry =
        tune->start == UINT64_MAX
            ? NULL : shmt_ledger_find(tune->outcome->ledger, tune->start);

    return entry != NULL && isfinite(shmt_ledger_cost(&entry->result)) &&
                   entry->result.image[0] != '\0'
               ? entry : NULL;
}

bool shmt_tune_may_want_help(const struct shmt_tune *tune)
{
    return tune->phase <= SHMT_TUNE_SEARCH && !tune->ending &&
           !tune->exhausted && !tune->target->recorded;
}

bool shmt_tune_wants_help(const struct shmt_tune *tune)
{
    return shmt_tune_may_want_help(tune) && tune->phase == SHMT_TUNE_SEARCH &&
           tune->helper_count < SHMT_TUNE_HELPERS && default_of(tune) != NULL &&
           shmt_tune_search_end(tune) - shmt_tune_elapsed(tune) > worth_s;
}

bool shmt_tune_is_searching(const struct shmt_tune *tune)
{
    return tune->phase == SHMT_TUNE_SEARCH;
}

struct shmt_tune_helper *shmt_tune_helper_of(struct shmt_tune *tune,
                                             const struct shmt_target *target)
{
    for (size_t k = 0; k < tune->helper_count; k++)
        if (tune->helpers[k].target == target)
            return &tune->helpers[k];
    return NULL;
}

enum shmtune_status shmt_tune_lend(struct shmt_tune *tune,
                                   struct shmt_target *target,
                                   struct shmt_error *err)
{
    const struct shmt_ledger_entry *const entry = default_of(tune);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_target_request request = {
        .verb = SHMT_TARGET_MEASURE, .tag = tune->start, .config = config,
        .compiled = &entry->result, .samples = SHMT_TUNE_SAMPLES,
        .give_up_us = (double)INFINITY, .verify = true,
    };
    enum shmtune_status status =
        target->operations->begin(target, tune->problem, err);

    if (status != SHMTUNE_OK)
        return status;
    tune->helpers[tune->helper_count++] =
        (struct shmt_tune_helper){.target = target, .scale = -1};
    shmt_space_configuration(tune->outcome->space, tune->start, config);
    return target->operations->submit(target, &request, err);
}

void shmt_tune_take_back(struct shmt_tune *tune, struct shmt_target *target)
{
    struct shmt_tune_helper *const helper = shmt_tune_helper_of(tune, target);

    if (helper == NULL)
        return;
    for (size_t k = 0; k < tune->in_flight; k++) {
        struct shmt_tune_candidate *const candidate = &tune->candidates[k];
        if (candidate->helper != target)
            continue;
        (void)shmt_tune_journal(tune, SHMT_JOURNAL_DROP, candidate->index,
                                NULL, NULL);
        candidate->helper = NULL;
        candidate->stage = SHMT_TUNE_READY;
        tune->in_stage[SHMT_TUNE_MEASURING]--;
        tune->in_stage[SHMT_TUNE_READY]++;
    }
    target->operations->cancel(target);
    *helper = tune->helpers[--tune->helper_count];
}

/* What the default takes there: the scale of all that follow. */
static void calibrate(struct shmt_tune *tune, struct shmt_tune_helper *helper,
                      const struct shmt_result *result)
{
    const struct shmt_ledger_entry *const entry = default_of(tune);
    const double own_us = entry == NULL ? -1 : entry->result.time_us;
    const char *const uuid = helper->target->device.uuid;

    if (!isfinite(shmt_ledger_cost(result)) || !(result->time_us > 0) ||
        !(own_us > 0)) {
        helper->useless = true;
        shmt_tune_notice(tune, "%s does not help: the default fails there: "
                         "%s %.200s", uuid, shmt_verdict_text(result->verdict),
                         result->reason);
        return;
    }
    helper->scale = own_us / result->time_us;
    shmt_tune_notice(tune, "%s helps: the default takes %.4g us there and %.4g "
                     "us on %s, so its times count %.4g times", uuid,
                     result->time_us, own_us, tune->target->device.uuid,
                     helper->scale);
}

bool shmt_tune_helper_reply(struct shmt_tune *tune,
                            struct shmt_target_reply *reply)
{
    struct shmt_tune_helper *const helper =
        shmt_tune_helper_of(tune, reply->target);
    struct shmt_result *const result = &reply->result;

    if (helper == NULL)
        return false;
    helper->busy = false;
    if (helper->scale < 0) {
        calibrate(tune, helper, result);
        return true;
    }
    if (result->sample_count > 0) {
        result->scale = helper->scale;
        shmt_result_summarise(result);
    }
    return false;
}

bool shmt_tune_is_useless(struct shmt_tune *tune,
                          const struct shmt_target *target)
{
    const struct shmt_tune_helper *const helper =
        shmt_tune_helper_of(tune, target);

    return helper == NULL || helper->useless;
}

struct shmt_tune_helper *shmt_tune_idle_helper(struct shmt_tune *tune)
{
    for (size_t k = 0; k < tune->helper_count; k++)
        if (tune->helpers[k].scale > 0 && !tune->helpers[k].busy)
            return &tune->helpers[k];
    return NULL;
}
