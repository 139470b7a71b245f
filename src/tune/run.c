/* SPDX-License-Identifier: MIT */
/*
 * run: one run, step by step: builds the space, opens the journal (resume.c),
 * tries the default and the winners of other runs, searches (pipeline.c), and
 * holds the finals (finals.c).  Nothing here waits: campaign.c does, and calls
 * this.
 */
#include "tune/step.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/device.h"
#include "tune/failures.h"
#include "tune/sizes.h"
#include "tune/state.h"

/* -- what the world is told ----------------------------------------------- */

void shmt_tune_notice(const struct shmt_tune *tune, const char *format, ...)
{
    const struct shmt_tune_observer *const observer = tune->options->observer;
    char text[512];
    va_list arguments;

    if (observer == NULL || observer->notice == NULL)
        return;
    va_start(arguments, format);
    shmt_error_format(text, sizeof text, 0, format, arguments);
    va_end(arguments);
    observer->notice(observer->context, text);
}

void shmt_tune_report(const struct shmt_tune *tune, const char *phase,
                      uint64_t done, uint64_t total)
{
    const struct shmt_tune_observer *const observer = tune->options->observer;
    const struct shmt_tune_progress now = {
        .kernel = tune->target->kernel->name,
        .device = &tune->target->device,
        .size = tune->size,
        .phase = phase,
        .done = done,
        .total = total,
        .elapsed_s = shmt_tune_elapsed(tune),
        .budget_s = shmt_tune_budget_s(tune),
        .best_us = tune->outcome->best_us,
        .default_us = tune->outcome->default_us,
        .verdicts = tune->outcome->verdicts,
        .recorded = tune->target->recorded,
    };

    if (observer != NULL && observer->progress != NULL)
        observer->progress(observer->context, &now);
}

/* What the journal holds is done, also before the strategy asks for it. */
void shmt_tune_report_search(const struct shmt_tune *tune)
{
    const uint64_t space = tune->outcome->header.space_count;
    const uint64_t budget = tune->options->budget_count;
    const uint64_t total = budget < space ? budget : space;
    const uint64_t done = tune->outcome->tried + tune->known;

    shmt_tune_report(tune, "search", done < total ? done : total, total);
}

/* -- results ------------------------------------------------------------- */

enum shmtune_status shmt_tune_journal(struct shmt_tune *tune,
                                      enum shmt_journal_kind kind,
                                      uint64_t index,
                                      const struct shmt_result *result,
                                      struct shmt_error *err)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const double at_s = shmt_tune_at(tune);
    const struct shmt_journal_record record = {
        .kind = kind, .config = config, .at_s = at_s, .result = result,
        .others_s = at_s - shmt_tune_elapsed(tune) / tune->together};

    /* On a recorded device no candidate can kill the tuner, so `try` records
     * are not needed. */
    if (tune->journal == NULL ||
        (kind != SHMT_JOURNAL_RESULT && tune->target->recorded))
        return SHMTUNE_OK;
    shmt_space_configuration(tune->outcome->space, index, config);
    return shmt_journal_add(tune->journal, &record, err);
}

static void tell_rejection(const struct shmt_tune *tune,
                           const struct shmt_ledger_entry *entry)
{
    const struct shmt_result *const result = &entry->result;
    const struct shmt_tune_observer *const observer = tune->options->observer;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_text text = {0};

    if (observer == NULL || !observer->rejections ||
        shmt_verdict_stage(result->verdict) == SHMT_STAGE_TIME)
        return;
    shmt_space_configuration(tune->outcome->space, entry->index, config);
    shmt_kernel_describe_config(tune->target->kernel, config, &text);
    shmt_tune_notice(tune, "%s: %.200s: %s",
           shmt_verdict_word(result->verdict),
           shmt_text_string(&text), result->reason);
    shmt_text_free(&text);
}

enum shmtune_status shmt_tune_record_result(struct shmt_tune *tune,
                                            struct shmt_ledger_entry *entry,
                                            struct shmt_error *err)
{
    struct shmt_tune_outcome *const outcome = tune->outcome;
    const double cost = shmt_ledger_cost(&entry->result);
    enum shmtune_status status = SHMTUNE_OK;

    if (entry->counted)
        return SHMTUNE_OK;
    tune->known -= entry->known && tune->known > 0;
    if (entry->journaled) {
        outcome->resumed++;
    } else {
        entry->at_s = shmt_tune_at(tune);
        status = shmt_tune_journal(tune, SHMT_JOURNAL_RESULT, entry->index,
                                   &entry->result, err);
    }
    if (!entry->journaled)
        tell_rejection(tune, entry);
    entry->known = entry->counted = true;
    entry->journaled = true;
    outcome->tried++;
    outcome->verdicts[entry->result.verdict]++;
    if (isfinite(cost) && (outcome->best_us < 0 || cost < outcome->best_us))
        outcome->best_us = cost;
    if (entry->index == tune->start && isfinite(cost))
        outcome->default_us = cost;
    return status;
}

/* -- the default --------------------------------------------------------- */

static enum shmtune_status describe_default(struct shmt_tune *tune,
                                            const struct shmt_result *result,
                                            enum shmtune_status status,
                                            struct shmt_error *err)
{
    struct shmt_text text = {0}, advice = {0};
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_tune_advise(tune->target->kernel, result, &advice);
    shmt_space_configuration(tune->outcome->space, tune->start, config);
    shmt_kernel_describe_config(tune->target->kernel, config, &text);
    shmt_error_set(err, status,
                   "%s: the default configuration (%s) fails: %s%s%s; it "
                   "has to be right before anything can be tuned%s",
                   tune->what, shmt_text_string(&text),
                   shmt_verdict_text(result->verdict),
                   result->reason[0] == '\0' ? "" : ": ", result->reason,
                   shmt_text_string(&advice));
    shmt_text_free(&text);
    shmt_text_free(&advice);
    return status;
}

/* What it means when the default configuration gets a verdict other than OK. */
static const struct {
    enum shmt_verdict verdict;
    enum shmtune_status status;   /* OK: a limit of this device, or of what
                                     the user asked for */
} default_failures[] = {
    {SHMT_VERDICT_TOO_LARGE, SHMTUNE_OK},
    {SHMT_VERDICT_NOT_RESIDENT, SHMTUNE_OK},
    {SHMT_VERDICT_SPILLS, SHMTUNE_OK},
    {SHMT_VERDICT_LOW_OCCUPANCY, SHMTUNE_OK},
    {SHMT_VERDICT_UNMET, SHMTUNE_OK},
    {SHMT_VERDICT_OUT_OF_MEMORY, SHMTUNE_OK},
    {SHMT_VERDICT_NOT_RECORDED, SHMTUNE_OK},
    {SHMT_VERDICT_SPEC_MISMATCH, SHMTUNE_INVALID_FILE},
};

static enum shmtune_status status_of_default(const struct shmt_result *result)
{
    if (isfinite(shmt_ledger_cost(result)))
        return SHMTUNE_OK;
    for (size_t k = 0;
         k < sizeof default_failures / sizeof *default_failures; k++)
        if (default_failures[k].verdict == result->verdict)
            return default_failures[k].status;
    return SHMTUNE_WRONG_RESULT;
}

/* If the journal says that the default failed in a way that ends the run, it
 * is tried again: the machine may have been at fault, and without the default
 * the run cannot go on. */
static void forget_failed_default(struct shmt_tune *tune)
{
    struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, tune->start);

    if (entry == NULL || !entry->known ||
        status_of_default(&entry->result) == SHMTUNE_OK)
        return;
    entry->known = entry->journaled = false;
    tune->handed_out -= !tune->target->recorded;
    tune->known -= !tune->target->recorded;
}

static enum shmtune_status check_default(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    const struct shmt_ledger_entry *const entry =
        shmt_ledger_find(tune->outcome->ledger, tune->start);
    const enum shmtune_status status = status_of_default(&entry->result);

    if (isfinite(shmt_ledger_cost(&entry->result)))
        return SHMTUNE_OK;
    if (status != SHMTUNE_OK)
        return describe_default(tune, &entry->result, status, err);
    shmt_tune_notice(tune, "the default configuration %s: %s%s%s",
           entry->result.verdict == SHMT_VERDICT_UNMET
               ? "cannot win, and is not compared with"
               : "does not run here",
           shmt_verdict_text(entry->result.verdict),
           entry->result.reason[0] == '\0' ? "" : ": ",
           entry->result.reason);
    return SHMTUNE_OK;
}

/* The default is measured first, because everything is compared with it.  While
 * one compiler has it, the others have the first candidates of the search. */
static enum shmtune_status begin_default(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    enum shmtune_status status;

    if (tune->start == UINT64_MAX) {
        shmt_tune_notice(tune, "the default configuration is ruled out by a "
               "constraint at this size");
        return shmt_tune_tell_known(tune, err);
    }
    forget_failed_default(tune);
    (void)shmt_session_claim(tune->session, tune->start);
    tune->holding = true;
    status =
        shmt_tune_start_candidate(tune, tune->start, SHMT_TUNE_FROM_RUN, err);
    tune->held = tune->holding = tune->in_flight > 0;
    return status == SHMTUNE_OK ? shmt_tune_tell_known(tune, err) : status;
}

/* Whether the configuration passes the checks that need no compiler. */
static bool may_run(const struct shmt_tune *tune,
                    const struct shmt_winner *winner)
{
    struct shmt_result result;
    uint64_t index;

    return shmt_space_index(tune->outcome->space, winner->config, &index) &&
           shmt_filter_before_compile(&tune->filter, winner->config, &result);
}

/* The library takes the winner of a problem or, if that may not run here, the
 * first of its ties that may.  Only what the library could choose is tried.
 * The list is sorted by rank. */
static bool can_be_chosen(const struct shmt_tune *tune,
                          const struct shmt_winner *one)
{
    const struct shmt_winner *other = tune->options->last->list;

    for (; other->rank < one->rank; other++)
        if (other->tuning == one->tuning &&
            memcmp(other->problem, one->problem, sizeof one->problem) == 0 &&
            may_run(tune, other))
            return false;
    return true;
}

/* Starts winners of other runs (options->last), as many as may be in flight. */
static enum shmtune_status start_also(struct shmt_tune *tune,
                                      struct shmt_error *err)
{
    const struct shmt_winners *const last = tune->options->last;
    enum shmtune_status status = SHMTUNE_OK;

    while (status == SHMTUNE_OK && tune->last_next < last->count &&
           tune->in_flight < SHMT_TUNE_IN_FLIGHT) {
        const struct shmt_winner *const one = &last->list[tune->last_next++];
        uint64_t index;
        if (shmt_space_index(tune->outcome->space, one->config, &index) &&
            can_be_chosen(tune, one))
            status = shmt_tune_start_candidate(tune, index,
                                               SHMT_TUNE_FROM_RUN, err);
    }
    return status;
}

/* -- a run --------------------------------------------------------------- */

static double floor_of(const struct shmt_tune *tune)
{
    const struct shmt_kernel *const kernel = tune->target->kernel;
    const struct shmtune_device *const device = &tune->target->device;
    struct shmt_kernel_evaluated evaluated;
    const double rate =   /* bytes a microsecond; two transfers a clock */
        2.0 * device->memory_clock_khz * device->memory_bus_bits / 8 / 1000;
    int64_t bytes;

    /* The work is the same for every configuration. */
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              tune->problem, &evaluated);
    if (kernel->bytes == NULL || !(rate > 0) ||
        shmt_expr_eval_int(kernel->bytes, evaluated.values, &bytes, NULL) !=
            SHMTUNE_OK)
        return -1;
    return (double)bytes / rate;
}

static void fill_header(struct shmt_tune *tune)
{
    const struct shmt_kernel *const kernel = tune->target->kernel;
    struct shmt_journal_header *const header = &tune->outcome->header;
    struct shmt_text text = {0};

    snprintf(header->kernel, sizeof header->kernel, "%s", kernel->name);
    memcpy(header->digest, tune->target->digest != NULL
                               ? tune->target->digest : kernel->digest,
           sizeof header->digest);
    header->device = tune->target->device;
    header->nvrtc_version = tune->target->nvrtc_version;
    snprintf(header->protocol, sizeof header->protocol, "%s",
             tune->target->protocol);
    memcpy(header->problem, tune->problem,
           kernel->dimension_count * sizeof *header->problem);
    header->seed = tune->options->seed;
    header->data_seed = tune->target->data_seed;
    if (tune->target->data_digest != NULL)
        memcpy(header->data_digest, tune->target->data_digest,
               strlen(tune->target->data_digest) + 1);
    if (tune->options->from_digest != NULL) {
        snprintf(header->from, sizeof header->from, "%s",
                 tune->options->from);
        snprintf(header->from_digest, sizeof header->from_digest, "%s",
                 tune->options->from_digest);
    }
    snprintf(header->require, sizeof header->require, "%s",
             shmt_figures_required(tune->options->policy.figures));
    header->space_count = shmt_space_count(tune->outcome->space);
    shmt_kernel_describe_problem(kernel, tune->problem, &text);
    snprintf(tune->size, sizeof tune->size, "%s", shmt_text_string(&text));
    shmt_text_free(&text);
    text = (struct shmt_text){0};
    shmt_kernel_name_problem(kernel, tune->problem, &text);
    snprintf(tune->what, sizeof tune->what, "%s", shmt_text_string(&text));
    shmt_text_free(&text);
}

/* The message names the command that shows which constraint empties the
 * space. */
static enum shmtune_status refuse_empty(const struct shmt_tune *tune,
                                        struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = tune->target->kernel;
    struct shmt_text size = {0};

    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(&size, "%s%s=%lld", d == 0 ? " --size " : ",",
                       kernel->dimensions[d].name,
                       (long long)tune->problem[d]);
    shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                   "%s: no configuration satisfies the constraints; "
                   "`shmtune space %s%s` shows which one empties it",
                   tune->what, kernel->path,
                   shmt_text_string(&size));
    shmt_text_free(&size);
    return SHMTUNE_NO_CONFIGURATION;
}

/* Of this size, or of another that is searched together with it. */
static bool launch_of(const void *context, const shmt_config *config,
                      size_t size, double *threads, double *shared_bytes)
{
    const struct shmt_tune *const tune = context;
    const bool own = tune->search_sizes.count == 0 ||
                     size == tune->search_sizes.own;
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(tune->target->kernel,
                         own ? tune->problem : tune->search_sizes.list[size],
                         config, &evaluated);
    return shmt_kernel_largest_launch(&evaluated, threads, shared_bytes);
}

/* Strategies that learn hear of other sizes. */
static enum shmtune_status open_session(struct shmt_tune *tune,
                                        const char *strategy,
                                        struct shmt_error *err)
{
    const struct shmt_tune_options *const options = tune->options;
    const struct shmt_strategy *const found =
        shmt_strategy_find(strategy, strcspn(strategy, ":"));
    struct shmt_session_options session = {
        .strategy = strategy, .start = tune->start,
        .budget = options->budget_count, .seed = options->seed,
        .prior = options->prior, .launches = &tune->launches};

    tune->launches = (struct shmt_search_launches){launch_of, tune};
    tune->share_s = options->budget_s;
    if (found != NULL && found->learns && options->sizes != NULL) {
        tune->sizes = options->sizes;
        tune->search_sizes =
            shmt_sizes_of_search(options->sizes, options->size);
        if (tune->search_sizes.count > 0)
            session.sizes = &tune->search_sizes;
        session.compiled_s = shmt_tune_compiled_s;
        session.context = tune;
        /* That each tries something else. */
        session.seed ^= (uint64_t)options->size << 32;
    }
    return shmt_session_open(&session, tune->outcome->space, &tune->session,
                             err);
}

static enum shmtune_status prepare(struct shmt_tune *tune,
                                   struct shmt_error *err)
{
    struct shmt_tune_outcome *const outcome = tune->outcome;
    const char *const strategy = tune->options->strategy == NULL
                                     ? shmt_strategy_default
                                     : tune->options->strategy;
    enum shmtune_status status =
        tune->target->operations->begin(tune->target, tune->problem, err);

    if (status == SHMTUNE_OK)
        status = shmt_kernel_space(tune->target->kernel, tune->problem,
                                   tune->options->limits,
                                   &outcome->space, err);
    if (status != SHMTUNE_OK)
        return status;
    fill_header(tune);
    if (shmt_space_is_drawn(outcome->space))
        shmt_tune_notice(tune, SHMT_SPACE_DRAWN, tune->target->kernel->name,
               (unsigned long long)outcome->header.space_count);
    if (outcome->header.space_count == 0)
        return refuse_empty(tune, err);
    tune->filter = (struct shmt_filter){tune->target->kernel,
                                        &tune->target->device, tune->problem,
                                        tune->options->policy};
    tune->start = shmt_kernel_default_index(tune->target->kernel,
                                            tune->outcome->space);
    outcome->floor_us = floor_of(tune);
    outcome->ledger = shmt_ledger_new();
    if (outcome->ledger == NULL)
        return shmt_error_memory(err);
    status = open_session(tune, strategy, err);
    if (status != SHMTUNE_OK)
        return status;
    outcome->strategy = shmt_session_strategy(tune->session)->name;
    return shmt_tune_resume(tune, err);
}

/* -- from phase to phase ------------------------------------------------- */

static enum shmtune_status after_default(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    const struct shmt_winners *const last = tune->options->last;
    enum shmtune_status status =
        tune->start == UINT64_MAX ? SHMTUNE_OK : check_default(tune, err);

    if (status != SHMTUNE_OK) {
        shmt_tune_cancel(tune);
        return status;
    }
    tune->held = false;
    tune->phase = SHMT_TUNE_ALSO;
    /* What is compiled already waits for the search. */
    if (last != NULL && last->count > 0)
        tune->exhausted = true;
    return SHMTUNE_OK;
}

/* The search proper, which the budget ends. */
static void begin_search(struct shmt_tune *tune)
{
    tune->phase = SHMT_TUNE_SEARCH;
    tune->on_time = true;
    tune->search_since_s = shmt_tune_since(tune);
}

static enum shmtune_status feed_also(struct shmt_tune *tune, double *wait_s,
                                     struct shmt_error *err)
{
    const struct shmt_winners *const last = tune->options->last;
    enum shmtune_status status = SHMTUNE_OK;
    bool over = false;

    if (last == NULL || last->count == 0) {
        begin_search(tune);
        return SHMTUNE_OK;
    }
    if (!tune->feeding)
        status = start_also(tune, err);
    if (status == SHMTUNE_OK)
        status = shmt_tune_feed(tune, &over, wait_s, err);
    tune->feeding = !over;
    if (over && tune->last_next == last->count) {
        tune->exhausted = false;
        begin_search(tune);
    }
    return status;
}

/* Of the search, in which it is worth a word. */
static const double told_share = 0.25;

static void note_search_end(struct shmt_tune *tune)
{
    tune->outcome->search_s = shmt_tune_since(tune);
}

/* Where candidates that kill their worker have taken the time of others. */
static void tell_untried(const struct shmt_tune *tune)
{
    const uint64_t tried = tune->outcome->tried,
                   all = tune->outcome->header.space_count;
    const double anew_s = tune->anew_ms / 1000;

    if (!isfinite(tune->options->budget_s) || tried >= all ||
        anew_s < told_share * (tune->outcome->search_s))
        return;
    shmt_tune_notice(tune, "%s: %llu of %llu candidates were not tried: "
                     "behind each of %llu that failed the problem was set up "
                     "anew, %.3g s in all; a longer --budget tries them, and "
                     "a constraint leaves out those that fail",
                     tune->what, (unsigned long long)(all - tried),
                     (unsigned long long)all, (unsigned long long)tune->anew,
                     anew_s);
}

/* Where nothing was tried but the default, for want of time.  What earlier
 * runs have spent is told of all problems together (command/tune.c). */
static void tell_short(struct shmt_tune *tune)
{
    struct shmt_tune_outcome *const outcome = tune->outcome;
    const uint64_t known = outcome->tried;
    const char *const longer = shmt_tune_longer(tune);

    if (!isfinite(tune->options->budget_s) || known == 0 ||
        (known > 1 && known > outcome->resumed) ||
        known >= outcome->header.space_count || shmt_tune_has_settled(tune))
        return;
    outcome->spent = known > 1 && tune->spent_s > tune->search_since_s;
    if (outcome->spent)
        return;
    if (known > 1 || tune->start == UINT64_MAX)
        shmt_tune_notice(tune, "%s: the budget is too short for more than "
               "the %llu candidate%s known, %.2g s after the beginning; a "
               "longer %s searches", tune->what, (unsigned long long)known,
               known == 1 ? " that is" : "s that are", tune->search_since_s,
               longer);
    else
        shmt_tune_notice(tune, "%s: the budget is too short for more than "
               "the default configuration, which took %.2g s with setting "
               "up; a longer %s searches", tune->what, tune->search_since_s,
               longer);
}

static enum shmtune_status after_search(struct shmt_tune *tune,
                                        struct shmt_error *err)
{
    enum shmtune_status status;

    tune->on_time = false;
    status = shmt_tune_record_known(tune, err);
    note_search_end(tune);
    tell_short(tune);
    tell_untried(tune);
    if (tune->sizes != NULL)
        shmt_sizes_set_busy(tune->sizes, tune->options->size, false);
    tune->phase = SHMT_TUNE_FINALS;
    return status == SHMTUNE_OK ? shmt_tune_begin_finals(tune, err) : status;
}

static enum shmtune_status after_finals(struct shmt_tune *tune,
                                        struct shmt_error *err)
{
    enum shmtune_status status;

    tune->phase = SHMT_TUNE_DONE;
    status = shmt_tune_find_front(tune, err);
    if (!tune->target->recorded &&
        !shmt_kernel_is_unchanged(tune->target->kernel))
        shmt_tune_notice(tune, "the sources of %s were changed since this run "
               "began; its results are for the old sources",
               tune->target->kernel->name);
    return status;
}

/* A second is within what `--total` is kept to. */
static const double late_s = 1;

static bool is_too_late(const struct shmt_tune *tune)
{
    return tune->held &&
           tune->target->operations->now(tune->target) - tune->began_s >
               tune->options->budget_s + tune->options->spare_s + late_s;
}

static enum shmtune_status measure_default(struct shmt_tune *tune,
                                           double *wait_s,
                                           struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool over = !tune->held;

    if (is_too_late(tune)) {
        shmt_tune_cancel(tune);
        return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                              "--total was spent before the default had a "
                              "result; the same command with more goes on");
    }
    if (tune->held)
        status = shmt_tune_feed(tune, &over, wait_s, err);
    return status == SHMTUNE_OK && over ? after_default(tune, err) : status;
}

/* One step within a phase, or into the next one.  *wait_s is set when the run
 * cannot go on before a reply or that time. */
static enum shmtune_status step(struct shmt_tune *tune, double *wait_s,
                                struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool over = false;

    switch (tune->phase) {
    case SHMT_TUNE_DEFAULT:
        return measure_default(tune, wait_s, err);
    case SHMT_TUNE_ALSO:
        return feed_also(tune, wait_s, err);
    case SHMT_TUNE_SEARCH:
        status = shmt_tune_feed(tune, &over, wait_s, err);
        return status == SHMTUNE_OK && over ? after_search(tune, err) : status;
    case SHMT_TUNE_FINALS:
        status = shmt_tune_feed_finals(tune, &over, wait_s, err);
        if (status == SHMTUNE_OK && over)
            status = after_finals(tune, err);
        return status;
    case SHMT_TUNE_DONE:
        break;
    }
    return SHMTUNE_OK;
}

/* -- what campaign.c calls ------------------------------------------------ */

enum shmtune_status shmt_tune_open(struct shmt_target *target,
                                   const int64_t *problem,
                                   const struct shmt_tune_options *options,
                                   struct shmt_tune **out,
                                   struct shmt_error *err)
{
    struct shmt_tune *const tune = calloc(1, sizeof *tune);
    struct shmt_tune_outcome *const outcome = calloc(1, sizeof *outcome);
    enum shmtune_status status;

    *out = NULL;
    if (tune == NULL || outcome == NULL) {
        free(tune);
        free(outcome);
        return shmt_error_memory(err);
    }
    *out = tune;
    tune->target = target;
    tune->problem = problem;
    tune->options = options;
    tune->outcome = outcome;
    tune->together =
        options->together > 1 ? (double)options->together : 1;
    outcome->best_us = outcome->default_us = outcome->floor_us = -1;
    tune->began_s = target->operations->now(target);
    status = prepare(tune, err);
    return status == SHMTUNE_OK ? begin_default(tune, err) : status;
}

enum shmtune_status shmt_tune_advance(struct shmt_tune *tune, bool *done,
                                      double *wait_s, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    *wait_s = -1;
    while (status == SHMTUNE_OK && tune->phase != SHMT_TUNE_DONE &&
           *wait_s < 0)
        status = shmt_tune_stopped(tune)
                     ? shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted")
                     : step(tune, wait_s, err);
    *done = tune->phase == SHMT_TUNE_DONE;
    return status;
}

double shmt_tune_left_s(const struct shmt_tune *tune)
{
    return shmt_tune_budget_s(tune) - shmt_tune_elapsed(tune);
}

double shmt_tune_left_out_s(const struct shmt_tune *tune)
{
    return tune->left_out_s;
}

void shmt_tune_leave_out(struct shmt_tune *tune, double seconds)
{
    const double spare_s = tune->options->spare_s - tune->left_out_s;

    /* A run that began while the program was at it has had a part of that. */
    tune->left_out_s +=
        fmax(fmin(fmin(seconds, spare_s), shmt_tune_since(tune)), 0);
}

bool shmt_tune_is_in_finals(const struct shmt_tune *tune)
{
    return tune->phase >= SHMT_TUNE_FINALS;
}

enum shmtune_status shmt_tune_reply(struct shmt_tune *tune,
                                    struct shmt_target_reply *reply,
                                    struct shmt_error *err)
{
    return tune->phase == SHMT_TUNE_FINALS
               ? shmt_tune_finals_reply(tune, reply, err)
               : shmt_tune_search_reply(tune, reply, err);
}

enum shmtune_status shmt_tune_close(struct shmt_tune *tune,
                                    enum shmtune_status status,
                                    struct shmt_tune_outcome **out,
                                    struct shmt_error *err)
{
    struct shmt_tune_outcome *const outcome = tune->outcome;
    enum shmtune_status closed;

    if (tune->phase < SHMT_TUNE_FINALS)
        note_search_end(tune);
    outcome->elapsed_s = shmt_tune_at(tune);
    if (status == SHMTUNE_INTERRUPTED) {
        shmt_tune_cancel(tune);
        if (outcome->ledger != NULL)
            (void)shmt_tune_record_known(tune, NULL);
    }
    closed = shmt_journal_close(tune->journal,
                                status == SHMTUNE_OK ? err : NULL);
    if (status == SHMTUNE_OK)
        status = closed;
    shmt_session_close(tune->session);
    shmt_tune_free_finals(tune);
    free(tune);
    if (status == SHMTUNE_OK || status == SHMTUNE_INTERRUPTED)
        *out = outcome;
    else
        shmt_tune_free(outcome);
    return status;
}

void shmt_tune_free(struct shmt_tune_outcome *outcome)
{
    if (outcome == NULL)
        return;
    shmt_space_free(outcome->space);
    shmt_ledger_free(outcome->ledger);
    free(outcome->finals);
    shmt_arena_free(outcome->arena);
    free(outcome);
}
