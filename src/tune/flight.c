/* SPDX-License-Identifier: MIT */
/*
 * flight: candidates between the strategy's ask and tell: compiled ahead of
 * the device, filtered, measured one at a time.
 */
#include <math.h>
#include <string.h>

#include "tune/state.h"

/* How long one wait lasts at most: the reaction to an interrupt. */
static const double tick_s = 0.2;

/* Of those that did well elsewhere, in the air at a time. */
enum { CARRIED = 3 };

/* A candidate that needs more than this is not worth all its samples. */
static const double hopeless_factor = 2.0, hopeless_slack_us = 3.0;

static void tell(struct shmt_tune *tune, const struct shmt_ledger_entry *entry)
{
    const struct shmt_outcome outcome = {
        shmt_ledger_cost(&entry->result), &entry->result
    };
    shmt_session_tell(tune->session, entry->index, &outcome);
}

/* -- candidates ---------------------------------------------------------- */

static void set_stage(struct shmt_tune *tune,
                      struct shmt_tune_candidate *candidate,
                      enum shmt_tune_stage stage)
{
    tune->in_stage[candidate->stage]--;
    tune->in_stage[stage]++;
    candidate->stage = stage;
    candidate->since_s = tune->target->operations->now(tune->target);
}

/* It has its result, one way or another. */
static enum shmtune_status land(struct shmt_tune *tune,
                                struct shmt_tune_candidate *candidate,
                                struct shmt_error *err)
{
    struct shmt_ledger_entry *const entry =
        shmt_ledger_put(tune->outcome->ledger, candidate->index);
    const enum shmt_tune_asker asker = candidate->asker;
    enum shmtune_status status;

    if (entry == NULL)
        return shmt_error_memory(err);
    /* What was not recorded before, and is no more so, is news. */
    entry->journaled =
        entry->journaled &&
        (entry->known ||
         candidate->result.verdict == SHMT_VERDICT_NOT_RECORDED);
    entry->result = candidate->result;
    /* A recorded device's "I do not know" takes no time. */
    tune->outcome->taken +=
        candidate->result.verdict != SHMT_VERDICT_NOT_RECORDED;
    tune->in_stage[candidate->stage]--;
    tune->flying--;
    tune->flying_carried -= asker == SHMT_TUNE_ELSEWHERE;
    if (candidate != &tune->candidates[tune->flying])
        *candidate = tune->candidates[tune->flying];
    status = shmt_tune_settle(tune, entry, err);
    if (asker != SHMT_TUNE_UNASKED)
        tell(tune, entry);
    return status;
}

static const struct shmt_result *known_of(const struct shmt_tune *tune,
                                          uint64_t index)
{
    const struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, index);
    return entry != NULL && entry->known ? &entry->result : NULL;
}

static enum shmtune_status submit(struct shmt_tune *tune,
                                  struct shmt_tune_candidate *candidate,
                                  enum shmt_verb verb, struct shmt_error *err)
{
    const double best = tune->outcome->best_us;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    const struct shmt_request request = {
        .verb = verb,
        .tag = candidate->index,
        .choice = choice,
        .compiled = &candidate->result,
        .samples = SHMT_TUNE_SAMPLES,
        .hopeless_us = best < 0 ? INFINITY
                                : best * hopeless_factor + hopeless_slack_us,
        .verify = true,
        .known = tune->target->recorded ? known_of(tune, candidate->index)
                                        : NULL,
    };

    shmt_space_configuration(tune->outcome->space, candidate->index, choice);
    return tune->target->operations->submit(tune->target, &request, err);
}

static bool in_the_air(const struct shmt_tune *tune, uint64_t index)
{
    for (size_t k = 0; k < tune->flying; k++)
        if (tune->candidates[k].index == index)
            return true;
    return false;
}

/* A new candidate goes as far as it can without being waited for.  Replies
 * are told apart by index: who is in the air already is not let out again. */
enum shmtune_status shmt_flight_admit(struct shmt_tune *tune, uint64_t index,
                                      enum shmt_tune_asker asker,
                                      struct shmt_error *err)
{
    struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, index);
    struct shmt_tune_candidate *candidate;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];

    if (entry != NULL && entry->known &&
        (entry->settled || !tune->target->recorded)) {
        enum shmtune_status status;

        tune->let_out += !entry->settled;
        status = shmt_tune_settle(tune, entry, err);
        if (asker != SHMT_TUNE_UNASKED)
            tell(tune, entry);
        return status;
    }
    if (in_the_air(tune, index))
        return SHMTUNE_OK;
    tune->let_out++;
    tune->flying_carried += asker == SHMT_TUNE_ELSEWHERE;
    candidate = &tune->candidates[tune->flying++];
    *candidate = (struct shmt_tune_candidate){.index = index, .asker = asker};
    candidate->stage = SHMT_TUNE_COMPILING;
    tune->in_stage[SHMT_TUNE_COMPILING]++;
    candidate->since_s = tune->target->operations->now(tune->target);
    shmt_space_configuration(tune->outcome->space, index, choice);
    return shmt_filter_before(&tune->filter, choice, &candidate->result)
               ? submit(tune, candidate, SHMT_INSPECT, err)
               : land(tune, candidate, err);
}

/* How many candidates to have in the air: enough that the device does not
 * wait for the compilers, and no more, because a strategy knows nothing yet
 * of those it has let out. */
static size_t flying_limit(const struct shmt_tune *tune)
{
    const size_t capacity =
        tune->target->operations->capacity(tune->target, SHMT_INSPECT);
    double want = (double)capacity + 2;

    if (tune->measured >= 4 && tune->compiled >= 4) {
        const double ratio = (tune->compile_ms / (double)tune->compiled) /
                             fmax(tune->measure_ms / (double)tune->measured,
                                  1e-3);
        want = fmin(fmax(ceil(3 * ratio) + 2, 4), (double)capacity * 2 + 8);
    }
    return want < SHMT_TUNE_FLYING ? (size_t)want : SHMT_TUNE_FLYING;
}

static bool budget_spent(const struct shmt_tune *tune)
{
    return tune->let_out >= tune->options->budget_count ||
           shmt_tune_elapsed(tune) >= tune->options->budget_s;
}

/* The next one that did well elsewhere, and that this problem's constraints
 * allow. */
static bool next_carried(struct shmt_tune *tune, uint64_t *index)
{
    const struct shmt_winners *const first = tune->options->first;

    while (first != NULL && tune->carried < first->count)
        if (shmt_space_index(tune->outcome->space,
                             first->list[tune->carried++].choice, index) &&
            shmt_session_claim(tune->session, *index))
            return true;
    return false;
}

/* Their binaries are there: a few at a time, beside those that the compilers
 * are at work on, and the device has something to do. */
static enum shmtune_status fill_carried(struct shmt_tune *tune,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    uint64_t index;

    while (status == SHMTUNE_OK && !tune->exhausted && !budget_spent(tune) &&
           !shmt_tune_stopped(tune) && tune->flying < SHMT_TUNE_FLYING &&
           tune->flying_carried < CARRIED && next_carried(tune, &index))
        status = shmt_flight_admit(tune, index, SHMT_TUNE_ELSEWHERE, err);
    return status;
}

static enum shmtune_status fill(struct shmt_tune *tune,
                                struct shmt_error *err)
{
    /* Some wait for a binary that another one has asked for. */
    const size_t compiling =
        2 * tune->target->operations->capacity(tune->target, SHMT_INSPECT);
    const size_t limit = flying_limit(tune);
    enum shmtune_status status = fill_carried(tune, err);

    while (status == SHMTUNE_OK && !tune->exhausted &&
           tune->flying - tune->flying_carried < limit &&
           tune->flying < SHMT_TUNE_FLYING && !shmt_tune_stopped(tune) &&
           tune->in_stage[SHMT_TUNE_COMPILING] < compiling) {
        uint64_t index;
        enum shmt_ask answer = SHMT_ASK_DONE;
        if (!budget_spent(tune))
            answer = shmt_session_ask(tune->session, &index);
        if (answer == SHMT_ASK_CANDIDATE)
            status = shmt_flight_admit(tune, index, SHMT_TUNE_STRATEGY, err);
        else if (answer == SHMT_ASK_DONE && tune->flying_carried == 0)
            tune->exhausted = true;
        else if (answer == SHMT_ASK_DONE)
            break;
        else if (tune->flying > 0)
            break;
        else
            return shmt_error_set(err, SHMTUNE_INTERNAL,
                                  "the strategy %s waits, and nothing is in "
                                  "flight",
                                  shmt_session_strategy(tune->session)->name);
    }
    return status;
}

/* Which of those that are ready the device gets. */
static struct shmt_tune_candidate *pick(struct shmt_tune *tune)
{
    uint64_t indices[SHMT_TUNE_FLYING];
    size_t where[SHMT_TUNE_FLYING], count = 0, picked;

    for (size_t k = 0; k < tune->flying; k++) {
        if (tune->candidates[k].stage != SHMT_TUNE_READY)
            continue;
        if (tune->candidates[k].asker == SHMT_TUNE_UNASKED)
            return &tune->candidates[k];
        indices[count] = tune->candidates[k].index;
        where[count++] = k;
    }
    picked = count > 1 ? shmt_session_pick(tune->session, indices, count) : 0;
    return &tune->candidates[where[picked < count ? picked : 0]];
}

static enum shmtune_status measure_ready(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    const size_t devices =
        tune->target->operations->capacity(tune->target, SHMT_MEASURE);

    while (tune->in_stage[SHMT_TUNE_READY] > 0 &&
           tune->in_stage[SHMT_TUNE_MEASURING] < devices &&
           !shmt_tune_stopped(tune)) {
        struct shmt_tune_candidate *const candidate = pick(tune);
        enum shmtune_status status = shmt_tune_journal(
            tune, SHMT_JOURNAL_TRY, candidate->index, NULL, err);
        set_stage(tune, candidate, SHMT_TUNE_MEASURING);
        if (status == SHMTUNE_OK)
            status = submit(tune, candidate, SHMT_MEASURE, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

/* -- replies ------------------------------------------------------------- */

static enum shmtune_status on_inspect(struct shmt_tune *tune,
                                      struct shmt_tune_candidate *candidate,
                                      const struct shmt_result *result,
                                      struct shmt_error *err)
{
    struct shmt_result *const own = &candidate->result;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];

    *own = *result;
    if (own->verdict == SHMT_VERDICT_COMPILE_TIMEOUT && own->compile_ms < 0)
        own->compile_ms = 1000 * (tune->target->operations->now(
                                      tune->target) - candidate->since_s);
    if (candidate->asker != SHMT_TUNE_ELSEWHERE) {
        tune->compile_ms += fmax(own->compile_ms, 0);
        tune->compiled++;
    }
    shmt_space_configuration(tune->outcome->space, candidate->index, choice);
    if (own->verdict != SHMT_VERDICT_OK ||
        !shmt_filter_after(&tune->filter, choice, own))
        return land(tune, candidate, err);
    set_stage(tune, candidate, SHMT_TUNE_READY);
    if (candidate->asker != SHMT_TUNE_UNASKED)
        shmt_session_learn(tune->session, candidate->index, own);
    return SHMTUNE_OK;
}

/* The measurement's half of a result. */
static void add_measured(const struct shmt_result *from,
                         struct shmt_result *to)
{
    to->verdict = from->verdict;
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->measure_ms = from->measure_ms;
    to->time_us = from->time_us;
    to->sample_count = from->sample_count;
    memcpy(to->samples_us, from->samples_us, sizeof to->samples_us);
}

static enum shmtune_status on_measure(struct shmt_tune *tune,
                                      struct shmt_tune_candidate *candidate,
                                      const struct shmt_result *result,
                                      struct shmt_error *err)
{
    struct shmt_result *const own = &candidate->result;

    add_measured(result, own);
    if (own->measure_ms < 0)
        own->measure_ms = 1000 * (tune->target->operations->now(
                                      tune->target) - candidate->since_s);
    tune->measure_ms += own->measure_ms;
    tune->measured++;
    tune->outcome->busy_s += own->measure_ms / 1000;
    return land(tune, candidate, err);
}

static enum shmtune_status one_reply(struct shmt_tune *tune,
                                     struct shmt_error *err)
{
    struct shmt_reply reply;
    bool got;
    enum shmtune_status status =
        tune->target->operations->wait(tune->target, tick_s, &got, &reply,
                                       err);

    if (status != SHMTUNE_OK || !got)
        return status;
    for (size_t k = 0; k < tune->flying; k++) {
        struct shmt_tune_candidate *const candidate = &tune->candidates[k];
        if (candidate->index != reply.tag)
            continue;
        return reply.verb == SHMT_INSPECT
                   ? on_inspect(tune, candidate, &reply.result, err)
                   : on_measure(tune, candidate, &reply.result, err);
    }
    return shmt_error_set(err, SHMTUNE_INTERNAL,
                          "a reply to nothing that was asked");
}

/* Until nothing is in the air and nothing more is asked for. */
enum shmtune_status shmt_flight_run(struct shmt_tune *tune,
                                    struct shmt_error *err)
{
    enum shmtune_status status;

    for (;;) {
        if (shmt_tune_stopped(tune))
            return shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted");
        /* The device first: it works while the strategy thinks. */
        status = measure_ready(tune, err);
        if (status == SHMTUNE_OK)
            status = fill(tune, err);
        shmt_tune_report_search(tune);
        if (status != SHMTUNE_OK)
            return status;
        if (shmt_tune_stopped(tune))
            continue;
        if (tune->flying == 0)
            return SHMTUNE_OK;
        status = one_reply(tune, err);
        if (status != SHMTUNE_OK)
            return status;
    }
}

/* Called off before it ended, by nobody's fault. */
void shmt_flight_call_off(struct shmt_tune *tune)
{
    for (size_t k = 0; k < tune->flying; k++)
        if (tune->candidates[k].stage == SHMT_TUNE_MEASURING)
            (void)shmt_tune_journal(tune, SHMT_JOURNAL_DROP,
                                    tune->candidates[k].index, NULL, NULL);
}
