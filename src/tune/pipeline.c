/* SPDX-License-Identifier: MIT */
/*
 * pipeline: takes candidates from the strategy's ask to its tell: they are
 * compiled ahead of the device, filtered, and measured one at a time.
 */
#include <math.h>
#include <string.h>

#include "tune/state.h"
#include "tune/step.h"

/* The most warm-start candidates in flight at a time. */
enum { WARM_IN_FLIGHT = 3 };

/* More that are compiled and wait are not to be. */
enum { MOST_READY = 16 };

/* A program that took less is not worth a word. */
static const double told_answer_s = 1;

/* A candidate slower than best * factor + slack is given up after its first
 * samples. */
static const double give_up_factor = 2.0, give_up_slack_us = 3.0;

/* When samples are this long together, fewer of them are enough. */
static const double enough_us = 20000;
enum { LEAST_SAMPLES = 3 };

/* The session takes no notice where it does not have the candidate. */
static void tell(struct shmt_tune *tune, const struct shmt_ledger_entry *entry)
{
    shmt_session_tell(tune->session, entry->index,
                      shmt_ledger_cost(&entry->result));
}

/* The strategy is told what a candidate took of the compilers, of which there
 * are several, and of the device.  One whose binary was there already says
 * nothing of the others. */
static void tell_seconds(struct shmt_tune *tune,
                         const struct shmt_ledger_entry *entry)
{
    const size_t compilers =
        tune->target->operations->capacity(tune->target, SHMT_TARGET_INSPECT);
    const struct shmt_result *const result = &entry->result;

    if (result->compile_ms > 0)
        shmt_session_took(tune->session, entry->index,
                          (result->compile_ms / (double)compilers +
                           fmax(result->measure_ms, 0)) / 1000);
}

/* A result is told to the strategy, and to the other sizes. */
static void tell_all(struct shmt_tune *tune,
                     const struct shmt_ledger_entry *entry)
{
    tell_seconds(tune, entry);
    tell(tune, entry);
    shmt_tune_tell_sizes(tune, entry);
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

/* Takes a candidate with a result out of the pipeline: records it and tells
 * the strategy. */
static enum shmtune_status
finish_candidate(struct shmt_tune *tune, struct shmt_tune_candidate *candidate,
                 struct shmt_error *err)
{
    struct shmt_ledger_entry *const entry =
        shmt_ledger_put(tune->outcome->ledger, candidate->index);
    const enum shmt_tune_origin origin = candidate->origin;
    enum shmtune_status status;

    if (entry == NULL)
        return shmt_error_memory(err);
    /* A configuration that an earlier run found `not_recorded` may have a
     * result now. */
    entry->journaled =
        entry->journaled &&
        (entry->known ||
         candidate->result.verdict == SHMT_VERDICT_NOT_RECORDED);
    entry->result = candidate->result;
    /* A `not_recorded` answer takes no time on the simulated clock. */
    tune->outcome->taken +=
        candidate->result.verdict != SHMT_VERDICT_NOT_RECORDED;
    tune->in_stage[candidate->stage]--;
    tune->in_flight--;
    tune->warm_in_flight -= origin == SHMT_TUNE_FROM_WARM_START;
    /* The others stay in their order. */
    memmove(candidate, candidate + 1,
            (size_t)(&tune->candidates[tune->in_flight] - candidate) *
                sizeof *candidate);
    status = shmt_tune_record_result(tune, entry, err);
    if (entry->index == tune->start)
        tune->holding = false;
    tell_all(tune, entry);
    return status;
}

static const struct shmt_result *known_result(const struct shmt_tune *tune,
                                              uint64_t index)
{
    const struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, index);
    return entry != NULL && entry->known ? &entry->result : NULL;
}

/* A candidate that may win takes about as long as the best. */
static int samples_of(const struct shmt_tune *tune)
{
    const double wanted = enough_us / fmax(tune->outcome->best_us, 1);

    return (int)fmin(fmax(wanted, LEAST_SAMPLES), SHMT_TUNE_SAMPLES);
}

/* To the run's own device, or the helper that has it. */
static enum shmtune_status submit(struct shmt_tune *tune,
                                  struct shmt_tune_candidate *candidate,
                                  enum shmt_target_verb verb,
                                  struct shmt_error *err)
{
    const struct shmt_tune_helper *const helper =
        candidate->helper == NULL
            ? NULL : shmt_tune_helper_of(tune, candidate->helper);
    struct shmt_target *const target =
        helper == NULL ? tune->target : helper->target;
    const double best = helper == NULL ? tune->outcome->best_us
                                       : tune->outcome->best_us /
                                             helper->scale;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_target_request request = {
        .verb = verb,
        .tag = candidate->index,
        .config = config,
        .compiled = &candidate->result,
        .samples = samples_of(tune),
        .give_up_us = best < 0 ? INFINITY
                                : best * give_up_factor + give_up_slack_us,
        .worth = shmt_tune_worth(tune, candidate, verb),
        .verify = true,
        .known = tune->target->recorded ? known_result(tune, candidate->index)
                                        : NULL,
    };

    shmt_space_configuration(tune->outcome->space, candidate->index, config);
    return target->operations->submit(target, &request, err);
}

static bool is_in_flight(const struct shmt_tune *tune, uint64_t index)
{
    for (size_t k = 0; k < tune->in_flight; k++)
        if (tune->candidates[k].index == index)
            return true;
    return false;
}

/* Starts a candidate and takes it as far as possible without waiting.  Replies
 * are matched by index, so a candidate that is in flight already is not
 * started again. */
enum shmtune_status shmt_tune_start_candidate(struct shmt_tune *tune,
                                              uint64_t index,
                                              enum shmt_tune_origin origin,
                                              struct shmt_error *err)
{
    struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, index);
    struct shmt_tune_candidate *candidate;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    if (entry != NULL && entry->known &&
        (entry->counted || !tune->target->recorded)) {
        const enum shmtune_status status =
            shmt_tune_record_result(tune, entry, err);

        tell_all(tune, entry);
        return status;
    }
    if (is_in_flight(tune, index))
        return SHMTUNE_OK;
    tune->handed_out++;
    tune->warm_in_flight += origin == SHMT_TUNE_FROM_WARM_START;
    candidate = &tune->candidates[tune->in_flight++];
    *candidate = (struct shmt_tune_candidate){.index = index, .origin = origin};
    candidate->stage = SHMT_TUNE_COMPILING;
    tune->in_stage[SHMT_TUNE_COMPILING]++;
    candidate->since_s = tune->target->operations->now(tune->target);
    shmt_space_configuration(tune->outcome->space, index, config);
    return shmt_filter_before_compile(&tune->filter, config, &candidate->result)
               ? submit(tune, candidate, SHMT_TARGET_INSPECT, err)
               : finish_candidate(tune, candidate, err);
}

/* How many candidates to keep in flight: enough that the device does not wait
 * for the compilers, and no more, because the strategy does not know their
 * results yet. */
static size_t in_flight_limit(const struct shmt_tune *tune)
{
    const size_t capacity =
        tune->target->operations->capacity(tune->target, SHMT_TARGET_INSPECT);
    double want = (double)capacity + 2;

    if (tune->measured >= 4 && tune->compiled >= 4) {
        const double ratio = (tune->compile_ms / (double)tune->compiled) /
                             fmax(tune->measure_ms / (double)tune->measured,
                                  1e-3);
        if (ratio < 2 * (double)capacity)
            want = fmin(fmax(ceil(3 * ratio) + 2, 4),
                        (double)capacity * 2 + 8);
    }
    want += 2 * (double)tune->helper_count;
    return want < SHMT_TUNE_IN_FLIGHT ? (size_t)want : SHMT_TUNE_IN_FLIGHT;
}

static bool is_past_search_end(const struct shmt_tune *tune)
{
    return shmt_tune_elapsed(tune) >= shmt_tune_search_end(tune) ||
           (tune->on_time && shmt_tune_has_settled(tune));
}

/* While a program says what is right the time is not the budget's: how long
 * it took is known with the default. */
static bool budget_spent(const struct shmt_tune *tune)
{
    const bool holding = tune->holding &&
                         tune->target->kernel->answer.word_count == 0;

    return tune->handed_out >= tune->options->budget_count ||
           ((tune->on_time || holding) && is_past_search_end(tune));
}

/* The next configuration of the warm start that satisfies this problem's
 * constraints, then what other sizes offer. */
static bool next_warm_start(struct shmt_tune *tune, uint64_t *index)
{
    const struct shmt_winners *const warm_start = tune->options->warm_start;

    while (warm_start != NULL && tune->warm_next < warm_start->count)
        if (shmt_space_index(tune->outcome->space,
                             warm_start->list[tune->warm_next++].config,
                             index) &&
            shmt_session_claim(tune->session, *index))
            return true;
    return shmt_tune_next_offer(tune, index);
}

/* Starts a few warm-start candidates at a time.  Their binaries usually exist
 * already, so the device has work while the compilers are busy. */
static enum shmtune_status fill_from_warm_start(struct shmt_tune *tune,
                                                struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    uint64_t index;

    while (status == SHMTUNE_OK && !tune->exhausted && !budget_spent(tune) &&
           !shmt_tune_stopped(tune) && tune->in_flight < SHMT_TUNE_IN_FLIGHT &&
           tune->warm_in_flight < WARM_IN_FLIGHT &&
           next_warm_start(tune, &index))
        status =
            shmt_tune_start_candidate(tune, index, SHMT_TUNE_FROM_WARM_START,
                                      err);
    return status;
}

/* Of several sizes the device measures one, and what is compiled waits for
 * that; the compilers do not. */
static size_t count_asked(const struct shmt_tune *tune)
{
    const size_t count = tune->in_flight - tune->warm_in_flight;
    const size_t ready = tune->in_stage[SHMT_TUNE_READY];

    return tune->sizes != NULL && ready < MOST_READY
               ? count - (ready < count ? ready : count) : count;
}

static enum shmtune_status fill(struct shmt_tune *tune,
                                struct shmt_error *err)
{
    /* Some wait for a binary that another candidate has requested. */
    const size_t compiling =
        2 * tune->target->operations->capacity(tune->target,
                                               SHMT_TARGET_INSPECT);
    const size_t limit = in_flight_limit(tune);
    enum shmtune_status status;

    shmt_tune_hear_sizes(tune);
    status = fill_from_warm_start(tune, err);
    while (status == SHMTUNE_OK && !tune->exhausted &&
           count_asked(tune) < limit &&
           tune->in_flight < SHMT_TUNE_IN_FLIGHT && !shmt_tune_stopped(tune) &&
           tune->in_stage[SHMT_TUNE_COMPILING] < compiling) {
        uint64_t index;
        enum shmt_search_ask answer = SHMT_SEARCH_DONE;
        if (!budget_spent(tune))
            answer = shmt_session_ask(tune->session, &index);
        if (answer == SHMT_SEARCH_CANDIDATE)
            status =
                shmt_tune_start_candidate(tune, index, SHMT_TUNE_FROM_STRATEGY,
                                          err);
        else if (answer == SHMT_SEARCH_DONE && tune->warm_in_flight == 0)
            tune->exhausted = true;
        else if (answer == SHMT_SEARCH_DONE)
            break;
        else if (tune->in_flight > 0)
            break;
        else
            return shmt_error_set(err, SHMTUNE_INTERNAL,
                                  "the strategy %s waits for results, but no "
                                  "candidate is in flight",
                                  shmt_session_strategy(tune->session)->name);
    }
    if (status == SHMTUNE_OK && shmt_session_failed(tune->session))
        status = shmt_error_memory(err);
    return status;
}

/* Whether there is a compiled candidate to measure. */
static bool has_ready(const struct shmt_tune *tune)
{
    for (size_t k = 0; tune->holding && k < tune->in_flight; k++)
        if (tune->candidates[k].index == tune->start)
            return tune->candidates[k].stage == SHMT_TUNE_READY;
    return !tune->holding && tune->in_stage[SHMT_TUNE_READY] > 0;
}

/* Picks the compiled candidate to measure next. */
static struct shmt_tune_candidate *pick(struct shmt_tune *tune)
{
    uint64_t indices[SHMT_TUNE_IN_FLIGHT];
    size_t where[SHMT_TUNE_IN_FLIGHT], count = 0, picked;

    for (size_t k = 0; k < tune->in_flight; k++) {
        if (tune->candidates[k].stage != SHMT_TUNE_READY)
            continue;
        if (tune->candidates[k].origin == SHMT_TUNE_FROM_RUN)
            return &tune->candidates[k];
        indices[count] = tune->candidates[k].index;
        where[count++] = k;
    }
    picked = count > 1 ? shmt_session_pick(tune->session, indices, count) : 0;
    return &tune->candidates[where[picked < count ? picked : 0]];
}

static size_t count_own(const struct shmt_tune *tune)
{
    size_t count = tune->in_stage[SHMT_TUNE_MEASURING];

    for (size_t k = 0; k < tune->in_flight; k++)
        count -= tune->candidates[k].helper != NULL;
    return count;
}

/* A device that is free to measure: the run's own, then its helpers. */
static bool find_device(struct shmt_tune *tune,
                        struct shmt_tune_helper **helper)
{
    const size_t devices =
        tune->target->operations->capacity(tune->target, SHMT_TARGET_MEASURE);

    *helper = NULL;
    if (count_own(tune) < devices)
        return true;
    *helper = tune->holding ? NULL : shmt_tune_idle_helper(tune);
    return *helper != NULL;
}

static enum shmtune_status measure_ready(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    struct shmt_tune_helper *helper;

    while (has_ready(tune) && find_device(tune, &helper) &&
           !shmt_tune_stopped(tune)) {
        struct shmt_tune_candidate *const candidate = pick(tune);
        enum shmtune_status status = shmt_tune_journal(
            tune, SHMT_JOURNAL_TRY, candidate->index, NULL, err);
        set_stage(tune, candidate, SHMT_TUNE_MEASURING);
        if (helper != NULL) {
            candidate->helper = helper->target;
            helper->busy = true;
        }
        if (status == SHMTUNE_OK)
            status = submit(tune, candidate, SHMT_TARGET_MEASURE, err);
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
    shmt_config config[SHMT_SPACE_PARAMETERS];

    *own = *result;
    if (own->verdict == SHMT_VERDICT_COMPILE_TIMEOUT && own->compile_ms < 0)
        own->compile_ms = 1000 * (tune->target->operations->now(
                                      tune->target) - candidate->since_s);
    if (candidate->origin != SHMT_TUNE_FROM_WARM_START) {
        tune->compile_ms += fmax(own->compile_ms, 0);
        tune->compiled++;
    }
    shmt_space_configuration(tune->outcome->space, candidate->index, config);
    if (own->verdict != SHMT_VERDICT_OK ||
        !shmt_filter_after_compile(&tune->filter, config, own))
        return finish_candidate(tune, candidate, err);
    set_stage(tune, candidate, SHMT_TUNE_READY);
    return SHMTUNE_OK;
}

/* Copies the measured part of a result. */
static void add_measured(const struct shmt_result *from,
                         struct shmt_result *to)
{
    to->verdict = from->verdict;
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->argument = from->argument;
    to->mismatches = from->mismatches;
    to->excess = from->excess;
    to->measure_ms = from->measure_ms;
    to->scale = from->scale;
    to->time_us = from->time_us;
    to->sample_count = from->sample_count;
    memcpy(to->samples_us, from->samples_us, sizeof to->samples_us);
}

/* The budget begins when it is known what is right. */
static void leave_answer_out(struct shmt_tune *tune,
                             const struct shmt_result *result)
{
    const double seconds = result->answer_ms / 1e3;

    shmt_tune_leave_out(tune, seconds);
    if (seconds >= told_answer_s && isfinite(tune->options->budget_s))
        shmt_tune_notice(tune, "%s: the program of its answer took "
               "%.3g s%s; what it said is kept for other runs",
               tune->what, seconds,
               tune->left_out_s > 0 ? ", beside the budget" : "");
}

/* What a measurement took: alone, or with setting the problem up in a worker
 * that was started for it.  When it is set up again there is all that comes
 * once: the first of twenty would count on half a second for each of them. */
static void note_time(struct shmt_tune *tune,
                      const struct shmt_tune_candidate *candidate,
                      double once_ms)
{
    const struct shmt_result *const own = &candidate->result;
    const double again_ms = fmax(own->measure_ms - once_ms, 0);
    const bool timed = shmt_verdict_stage(own->verdict) == SHMT_STAGE_TIME;
    const bool sets_up = candidate->helper == NULL && !tune->used;
    const bool first = tune->measured == 0;

    tune->measure_ms += own->measure_ms;
    if (first)
        tune->setup_ms = own->measure_ms;
    tune->measured++;
    if (timed) {
        if (tune->timed++ == 0)
            tune->first_ms = again_ms;
        tune->timed_ms += again_ms;
    }
    if (sets_up && (first || again_ms < tune->least_ms))
        tune->least_ms = again_ms;
    if (sets_up && !first) {
        tune->anew_ms += own->measure_ms;
        tune->anew++;
    }
    if (sets_up && timed && tune->timed > 1) {
        tune->timed_anew_ms += again_ms;
        tune->timed_anew++;
    }
    if (candidate->helper == NULL)
        tune->used = own->verdict != SHMT_VERDICT_CRASH &&
                     own->verdict != SHMT_VERDICT_TIMEOUT;
}

static enum shmtune_status on_measure(struct shmt_tune *tune,
                                      struct shmt_tune_candidate *candidate,
                                      const struct shmt_result *result,
                                      struct shmt_error *err)
{
    struct shmt_result *const own = &candidate->result;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    if (candidate->helper == NULL)
        leave_answer_out(tune, result);
    add_measured(result, own);
    if (own->measure_ms < 0)
        own->measure_ms = 1000 * (tune->target->operations->now(
                                      tune->target) - candidate->since_s);
    note_time(tune, candidate, result->once_ms);
    if (candidate->helper == NULL)
        tune->outcome->busy_s += own->measure_ms / 1000;
    shmt_space_configuration(tune->outcome->space, candidate->index, config);
    (void)shmt_filter_after_measure(&tune->filter, config, own);
    shmt_tune_expect_finalists(tune);
    return finish_candidate(tune, candidate, err);
}

enum shmtune_status shmt_tune_search_reply(
    struct shmt_tune *tune, struct shmt_target_reply *reply,
    struct shmt_error *err)
{
    if (shmt_tune_helper_reply(tune, reply))
        return SHMTUNE_OK;
    for (size_t k = 0; k < tune->in_flight; k++) {
        struct shmt_tune_candidate *const candidate = &tune->candidates[k];
        if (candidate->index != reply->tag)
            continue;
        return reply->verb == SHMT_TARGET_INSPECT
                   ? on_inspect(tune, candidate, &reply->result, err)
                   : on_measure(tune, candidate, &reply->result, err);
    }
    return shmt_error_set(err, SHMTUNE_INTERNAL,
                          "a reply to a request that was not made");
}

/* The search has to end.  What the device is measuring may end, as long as
 * that takes little of the time of the finals; the rest is cancelled. */
static bool has_ended(struct shmt_tune *tune)
{
    if (tune->in_stage[SHMT_TUNE_MEASURING] > 0 &&
        shmt_tune_elapsed(tune) < tune->end_s)
        return false;
    shmt_tune_cancel(tune);
    return true;
}

/* When what is being measured at the end of the search is cancelled. */
static double last_end(const struct shmt_tune *tune)
{
    const double search_end = shmt_tune_search_end(tune);

    return isfinite(search_end)
               ? search_end + (shmt_tune_budget_s(tune) - search_end) / 2
               : search_end;
}

/* What would be cancelled at once may hang all the same, and others wait for
 * the device. */
static bool has_no_time(const struct shmt_tune *tune)
{
    return (tune->on_time || tune->held != tune->holding) &&
           shmt_tune_elapsed(tune) >= last_end(tune);
}

static void begin_end(struct shmt_tune *tune)
{
    tune->ending = true;
    tune->end_s = last_end(tune);
}

enum shmtune_status shmt_tune_feed(struct shmt_tune *tune, bool *over,
                                   double *wait_s, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    double until_s = INFINITY;

    if (!tune->ending) {
        if (tune->on_time)
            shmt_tune_go_on(tune);
        /* Give the device work first, so that it is busy while the strategy
         * computes. */
        if (!has_no_time(tune))
            status = measure_ready(tune, err);
        if (status == SHMTUNE_OK)
            status = fill(tune, err);
        shmt_tune_report_search(tune);
        if (status != SHMTUNE_OK || shmt_tune_stopped(tune))
            return status;
        *over = tune->in_flight == 0 || tune->held != tune->holding;
        if (*over)
            return SHMTUNE_OK;
        if (tune->on_time && is_past_search_end(tune))
            begin_end(tune);
    }
    if (tune->ending)
        *over = has_ended(tune);
    if (tune->on_time)
        until_s = tune->ending ? tune->end_s : shmt_tune_search_end(tune);
    if (!*over)
        *wait_s = fmax(until_s - shmt_tune_elapsed(tune), 0);
    return SHMTUNE_OK;
}

/* The journal gets a `drop` for the candidate that was begun. */
void shmt_tune_cancel(struct shmt_tune *tune)
{
    for (size_t k = 0; k < tune->in_flight; k++)
        if (tune->candidates[k].stage == SHMT_TUNE_MEASURING)
            (void)shmt_tune_journal(tune, SHMT_JOURNAL_DROP,
                                    tune->candidates[k].index, NULL, NULL);
    tune->target->operations->cancel(tune->target);
    for (size_t k = 0; k < tune->helper_count; k++) {
        struct shmt_target *const target = tune->helpers[k].target;
        target->operations->cancel(target);
        tune->helpers[k].busy = false;
    }
    tune->in_flight = tune->warm_in_flight = 0;
    memset(tune->in_stage, 0, sizeof tune->in_stage);
}
