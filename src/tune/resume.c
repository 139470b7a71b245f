/* SPDX-License-Identifier: MIT */
/*
 * resume: opens the journal of a run.  If it is valid for this run, its
 * results go into the ledger, filtered again by today's limits; if not, it is
 * renamed to .old and a new one begins.  Called by run.c, which has the search
 * told of them, too.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tune/state.h"

/* A candidate that was begun this often without a result, because the tuner
 * itself died, is not tried again. */
enum { TRIES = 2 };

/* NULL when the journal is valid for this run; else a text that says what
 * differs. */
static const char *difference(const struct shmt_tune *tune,
                              const struct shmt_journal_header *old)
{
    const struct shmt_journal_header *const now = &tune->outcome->header;
    const size_t dimensions = tune->target->kernel->dimension_count;

    return memcmp(old->problem, now->problem,
                  dimensions * sizeof *old->problem) != 0
               ? "it is of another problem"
               : shmt_journal_difference(old, now);
}

/* Filters a recorded result again, because the user's limits may have changed.
 * Returns false when the candidate has to be tried again. */
static bool filter_again(const struct shmt_filter *filter,
                         const shmt_config *config,
                         struct shmt_result *result)
{
    const bool was_policy = result->verdict == SHMT_VERDICT_SPILLS ||
                            result->verdict == SHMT_VERDICT_LOW_OCCUPANCY ||
                            result->verdict == SHMT_VERDICT_UNMET;
    const enum shmt_stage stage = shmt_verdict_stage(result->verdict);
    const struct shmt_figure_candidate candidate = {filter->problem, config,
                                                    result};
    const bool timed = result->time_us >= 0;

    if (was_policy) {
        result->verdict = SHMT_VERDICT_OK;
        result->reason[0] = '\0';
    }
    if (was_policy || stage > SHMT_STAGE_RESOURCES)
        shmt_filter_apply_policy(&filter->policy, result);
    if (timed)
        (void)shmt_filter_after_measure(filter, config, result);
    else if (was_policy && result->verdict == SHMT_VERDICT_OK)
        (void)shmt_figures_judge(filter->policy.figures, SHMT_FIGURE_COMPILED,
                                 &candidate, result);
    return !was_policy || timed || result->verdict != SHMT_VERDICT_OK;
}

/* Runs that are together spend their budgets together: for each second that
 * this one had of its own, the others had theirs. */
static void note_seconds(struct shmt_tune *tune,
                         const struct shmt_journal_record *from)
{
    const double own_s = from->at_s - from->others_s;

    tune->earlier_s = fmax(tune->earlier_s, from->at_s);
    tune->spent_s = fmax(tune->spent_s, tune->together * own_s);
}

static enum shmtune_status resume_record(struct shmt_tune *tune,
                                         const struct shmt_journal_record *from,
                                         struct shmt_error *err)
{
    struct shmt_ledger_entry *entry;
    uint64_t index;
    bool tried;

    if (!shmt_space_index(tune->outcome->space, from->config, &index))
        return SHMTUNE_OK;   /* the configuration is not in the space: the
                                file was edited by hand */
    entry = shmt_ledger_put(tune->outcome->ledger, index);
    if (entry == NULL)
        return shmt_error_memory(err);
    tried = entry->tries > 0;
    entry->tries = from->kind == SHMT_JOURNAL_TRY ? entry->tries + 1 : 0;
    if (from->kind != SHMT_JOURNAL_RESULT)
        return SHMTUNE_OK;
    entry->result = *from->result;
    entry->at_s = from->at_s;
    entry->known = entry->journaled =
        filter_again(&tune->filter, from->config, &entry->result);
    /* `not_recorded` says nothing about the candidate: this run may have a GPU
     * or a larger recording. */
    if (entry->result.verdict == SHMT_VERDICT_NOT_RECORDED)
        entry->known = false;
    /* Seconds of a recorded device are not real time. */
    if (tried && !tune->target->recorded)
        note_seconds(tune, from);
    return SHMTUNE_OK;
}

/* The longest time of a finished measurement, including the first one of a
 * worker, which sets the problem up; < 0: there is none. */
static double longest_measure_s(const struct shmt_journal *journal)
{
    double longest_ms = -1;

    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_journal_record *const record = &journal->records[k];

        if (record->kind == SHMT_JOURNAL_RESULT &&
            shmt_verdict_stage(record->result->verdict) >= SHMT_STAGE_RUN &&
            record->result->verdict != SHMT_VERDICT_TIMEOUT)
            longest_ms = fmax(longest_ms, record->result->measure_ms);
    }
    return longest_ms / 1000;
}

size_t shmt_tune_count_known(const struct shmt_tune *tune)
{
    const struct shmt_ledger *const ledger = tune->outcome->ledger;
    size_t known = 0;

    for (size_t k = 0; k < shmt_ledger_count(ledger); k++)
        known += shmt_ledger_at(ledger, k)->known;
    return known;
}

/* Gives a `crash` verdict to candidates that were begun too often. */
static void give_up_tried(struct shmt_tune *tune)
{
    struct shmt_ledger *const ledger = tune->outcome->ledger;

    for (size_t k = 0; k < shmt_ledger_count(ledger); k++) {
        struct shmt_ledger_entry *const entry = shmt_ledger_at(ledger, k);
        if (!entry->known && entry->tries >= TRIES) {
            shmt_result_clear(&entry->result);
            shmt_result_set_verdict(&entry->result, SHMT_VERDICT_CRASH,
                                    "the tuner itself died %d times before it "
                                    "ended", entry->tries);
            entry->known = true;
        }
    }
}

/* Its candidates count all the same, whatever led the search to them. */
static void tell_other_prior(const struct shmt_tune *tune,
                             const struct shmt_journal_header *old)
{
    const struct shmt_journal_header *const now = &tune->outcome->header;

    if (strcmp(old->from_digest, now->from_digest) == 0)
        return;
    if (strcmp(old->from, now->from) == 0)
        shmt_tune_notice(tune, "resuming with other files to learn from: %s "
                         "changed since the journal was begun", now->from);
    else
        shmt_tune_notice(tune, "resuming with other files to learn from: now "
                         "%s; when the journal was begun %s; --from chooses",
                         now->from[0] == '\0' ? "none" : now->from,
                         old->from[0] == '\0' ? "none that it names"
                                              : old->from);
}

/* Its results are judged again, so that they count by what is asked now. */
static void tell_other_requirements(const struct shmt_tune *tune,
                                    const struct shmt_journal_header *old)
{
    const char *const now = tune->outcome->header.require;

    if (strcmp(old->require, now) != 0)
        shmt_tune_notice(tune, "resuming with other requirements: now %.200s; "
                         "when the journal was begun %.200s; what it holds is "
                         "judged again", now[0] == '\0' ? "none" : now,
                         old->require[0] == '\0' ? "none" : old->require);
}

static enum shmtune_status fill_ledger(struct shmt_tune *tune,
                                       const struct shmt_journal *journal,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    double longest_s;
    size_t known;

    for (size_t k = 0; status == SHMTUNE_OK && k < journal->count; k++)
        status = resume_record(tune, &journal->records[k], err);
    if (status != SHMTUNE_OK)
        return status;
    longest_s = longest_measure_s(journal);
    if (longest_s >= 0 && tune->target->operations->set_longest != NULL)
        tune->target->operations->set_longest(tune->target, longest_s);
    give_up_tried(tune);
    known = shmt_tune_count_known(tune);
    /* A recorded device plays them again, each in its turn. */
    tune->handed_out = tune->known = tune->target->recorded ? 0 : known;
    if (known > 0)
        shmt_tune_notice(tune, "resuming: %zu candidate%s known from %s",
               known, known == 1 ? " is" : "s are",
               tune->options->journal);
    tell_other_prior(tune, &journal->header);
    tell_other_requirements(tune, &journal->header);
    return shmt_journal_continue(tune->journal, journal->whole_bytes, err);
}

/* Keeps the old journal, which is of other sources or another device, under
 * the name .old; where there can be no new one, under its own. */
static enum shmtune_status start_new_journal(struct shmt_tune *tune,
                                             const char *why,
                                             struct shmt_error *err)
{
    const char *const path = tune->options->journal;
    struct shmt_text old = {0};
    enum shmtune_status status;

    if (why == NULL)
        return shmt_journal_begin(tune->journal, &tune->outcome->header, err);
    status = shmt_path_put_away(path, &old, err);
    if (status == SHMTUNE_OK)
        status = shmt_journal_close(tune->journal, err);
    else
        (void)shmt_journal_close(tune->journal, NULL);
    tune->journal = NULL;
    if (status == SHMTUNE_OK)
        status = shmt_journal_open(path, tune->target->kernel, &tune->journal,
                                   err);
    if (status == SHMTUNE_OK)
        status = shmt_journal_begin(tune->journal, &tune->outcome->header,
                                    err);
    if (status == SHMTUNE_OK)
        shmt_tune_notice(tune, "starting a new journal: %s; the old one is "
               "now %s", why, shmt_text_string(&old));
    else if (old.length > 0)
        (void)rename(shmt_text_string(&old), path);
    shmt_text_free(&old);
    return status;
}

static enum shmtune_status find_empty(const char *path, bool *empty,
                                      struct shmt_error *err)
{
    struct stat file = {0};

    if (stat(path, &file) != 0 && errno != ENOENT)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: how large it is "
                              "cannot be read: %s", path, strerror(errno));
    *empty = file.st_size == 0;
    return SHMTUNE_OK;
}

/* Reads the journal, or says why it is not valid for this run.  The records of
 * a journal of other sources are not read: they may name values that no longer
 * exist. */
static enum shmtune_status read_old(const struct shmt_tune *tune,
                                    struct shmt_journal **journal,
                                    const char **why, struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = tune->target->kernel;
    const char *const path = tune->options->journal;
    struct shmt_journal_header old;
    enum shmtune_status status =
        shmt_journal_read_header(path, NULL, &old, err);

    if (status == SHMTUNE_OK && strcmp(old.kernel, kernel->name) == 0 &&
        strcmp(old.digest, tune->outcome->header.digest) != 0) {
        *why = "the kernel's sources have changed";
        return SHMTUNE_OK;
    }
    if (status == SHMTUNE_OK)
        status = shmt_journal_read(path, kernel, journal, err);
    if (status == SHMTUNE_OK)
        *why = difference(tune, &(*journal)->header);
    else if (status == SHMTUNE_INVALID_FILE)
        shmt_error_prefix(err, "cannot resume (--no-resume starts a new "
                               "journal, and keeps this one as .old)");
    return status;
}

/* Opens the journal and fills the ledger from it. */
enum shmtune_status shmt_tune_resume(struct shmt_tune *tune,
                                     struct shmt_error *err)
{
    const char *const path = tune->options->journal;
    struct shmt_journal *journal = NULL;
    const char *why = NULL;
    bool empty = false;
    enum shmtune_status status;

    if (path == NULL)
        return SHMTUNE_OK;
    status = shmt_journal_open(path, tune->target->kernel, &tune->journal,
                               err);
    if (status == SHMTUNE_OK)
        status = find_empty(path, &empty, err);
    if (status != SHMTUNE_OK)
        return status;
    if (!empty && !tune->options->resume)
        return start_new_journal(tune, "--no-resume", err);
    if (!empty)
        status = read_old(tune, &journal, &why, err);
    if (status != SHMTUNE_OK)
        return status;
    if (empty || why != NULL)
        status = start_new_journal(tune, why, err);
    else
        status = fill_ledger(tune, journal, err);
    shmt_journal_free(journal);
    return status;
}

/* What earlier runs found is known to the strategy, and to the other sizes,
 * before they ask: they would come upon little of it by themselves.  A recorded
 * device plays it again, each in its turn. */
enum shmtune_status shmt_tune_tell_known(struct shmt_tune *tune,
                                         struct shmt_error *err)
{
    const struct shmt_ledger *const ledger = tune->outcome->ledger;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && !tune->target->recorded &&
                       k < shmt_ledger_count(ledger); k++) {
        const struct shmt_ledger_entry *const entry = shmt_ledger_at(ledger, k);

        if (entry->known && !entry->counted &&
            shmt_session_claim(tune->session, entry->index))
            status = shmt_tune_start_candidate(tune, entry->index,
                                               SHMT_TUNE_FROM_WARM_START, err);
    }
    return status;
}

/* Results that the journal holds and that this run did not ask for count
 * too. */
enum shmtune_status shmt_tune_record_known(struct shmt_tune *tune,
                                           struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const struct shmt_ledger *const ledger = tune->outcome->ledger;

    for (size_t k = 0;
         status == SHMTUNE_OK && k < shmt_ledger_count(ledger); k++)
        if (shmt_ledger_at(ledger, k)->known)
            status =
                shmt_tune_record_result(tune, shmt_ledger_at(ledger, k), err);
    return status;
}
