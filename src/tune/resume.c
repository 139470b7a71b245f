/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/device.h"
#include "tune/state.h"

/* A candidate that was begun so often, and every time the tuner was gone
 * before it ended, is not begun again. */
enum { TRIES = 2 };

/* NULL when what is in the journal holds for this run; else what differs. */
static const char *difference(const struct shmt_tune *tune,
                              const struct shmt_journal_header *old)
{
    const struct shmt_journal_header *const now = &tune->outcome->header;
    const size_t dimensions = tune->target->kernel->dimension_count;

    if (memcmp(old->problem, now->problem,
               dimensions * sizeof *old->problem) != 0)
        return "it is of another size";
    if (!shmt_device_same(&old->device, &now->device))
        return "it is of another device";
    if (strcmp(old->protocol, now->protocol) != 0)
        return "it was measured in another way";
    if (old->data_seed != now->data_seed)
        return "it was measured with other inputs (--data-seed)";
    if (old->nvrtc_version != now->nvrtc_version)
        return "the compiler is another one";
    return NULL;
}

/* The filter's verdicts depend on what the user asked for this time.  False
 * when the journal does not say what to do with the candidate now. */
static bool judge_again(const struct shmt_policy *policy,
                        struct shmt_result *result)
{
    const bool was_policy = result->verdict == SHMT_VERDICT_SPILLS ||
                            result->verdict == SHMT_VERDICT_LOW_OCCUPANCY;
    const enum shmt_stage stage = shmt_verdict_stage(result->verdict);

    if (was_policy)
        result->verdict = SHMT_VERDICT_OK;
    if (was_policy || stage > SHMT_STAGE_RESOURCES)
        shmt_filter_policy(policy, result);
    return !was_policy || result->verdict != SHMT_VERDICT_OK;
}

static enum shmtune_status take_record(struct shmt_tune *tune,
                                       const struct shmt_journal_record *from,
                                       struct shmt_error *err)
{
    struct shmt_ledger_entry *entry;
    uint64_t index;
    bool tried;

    if (!shmt_space_index(tune->outcome->space, from->choice, &index))
        return SHMTUNE_OK;   /* a file edited by hand */
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
        judge_again(&tune->options->policy, &entry->result);
    /* That it was not recorded says nothing of the candidate: this may be a
     * GPU, or a recording that has more. */
    if (entry->result.verdict == SHMT_VERDICT_NOT_RECORDED)
        entry->known = false;
    /* The seconds of a recorded device, which tries nothing, took no time. */
    if (tried && !tune->target->recorded)
        tune->earlier_s = fmax(tune->earlier_s, from->at_s);
    return SHMTUNE_OK;
}

/* The longest that a measurement took which came to an end.  The first one of
 * a worker is among them, which sets the problem up; < 0: there is none. */
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

/* What was begun too often, and what is left. */
static size_t count_known(struct shmt_tune *tune)
{
    struct shmt_ledger *const ledger = tune->outcome->ledger;
    size_t known = 0;

    for (size_t k = 0; k < shmt_ledger_count(ledger); k++) {
        struct shmt_ledger_entry *const entry = shmt_ledger_at(ledger, k);
        if (!entry->known && entry->tries >= TRIES) {
            shmt_result_clear(&entry->result);
            shmt_result_fail(&entry->result, SHMT_VERDICT_CRASH,
                             "the tuner itself was gone before it ended, %d "
                             "times", entry->tries);
            entry->known = true;
        }
        known += entry->known;
    }
    return known;
}

static enum shmtune_status fill_ledger(struct shmt_tune *tune,
                                       const struct shmt_journal *journal,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    double longest_s;
    size_t known;

    for (size_t k = 0; status == SHMTUNE_OK && k < journal->count; k++)
        status = take_record(tune, &journal->records[k], err);
    if (status != SHMTUNE_OK)
        return status;
    longest_s = longest_measure_s(journal);
    if (longest_s >= 0 && tune->target->operations->expect != NULL)
        tune->target->operations->expect(tune->target, longest_s);
    known = count_known(tune);
    if (known > 0)
        shmt_tune_notice(tune, "resuming: %zu candidate%s known from %s",
                         known, known == 1 ? " is" : "s are",
                         tune->options->journal);
    return shmt_journal_continue(tune->journal, journal->whole_bytes, err);
}

/* Someone may still want it: the journal of other sources, another device. */
static enum shmtune_status begin_anew(struct shmt_tune *tune, const char *why,
                                      struct shmt_error *err)
{
    const char *const path = tune->options->journal;
    const size_t room = strlen(path) + sizeof ".old";
    char *old;
    enum shmtune_status status;

    if (why == NULL)
        return shmt_journal_begin(tune->journal, &tune->outcome->header, err);
    old = malloc(room);
    if (old == NULL)
        return shmt_error_memory(err);
    snprintf(old, room, "%s.old", path);
    if (rename(path, old) != 0)
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "%s: cannot rename to %s: %s", path, old,
                                strerror(errno));
    else
        status = shmt_journal_close(tune->journal, err);
    tune->journal = NULL;
    if (status == SHMTUNE_OK)
        status = shmt_journal_open(path, tune->target->kernel, &tune->journal,
                                   err);
    if (status == SHMTUNE_OK)
        status = shmt_journal_begin(tune->journal, &tune->outcome->header,
                                    err);
    if (status == SHMTUNE_OK)
        shmt_tune_notice(tune, "starting afresh: %s; the journal there was is "
                         "%s now", why, old);
    free(old);
    return status;
}

static bool is_empty(const char *path)
{
    struct stat file;
    return stat(path, &file) != 0 || file.st_size == 0;
}

/* What is there and, when it does not hold for this run, why.  Records of
 * other sources are not read: they may name values that are no more. */
static enum shmtune_status read_old(const struct shmt_tune *tune,
                                    struct shmt_journal **journal,
                                    const char **why, struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = tune->target->kernel;
    const char *const path = tune->options->journal;
    struct shmt_journal_header old;
    enum shmtune_status status = shmt_journal_peek(path, NULL, &old, err);

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
        shmt_error_prefix(err, "cannot resume (--no-resume starts afresh)");
    return status;
}

enum shmtune_status shmt_tune_resume(struct shmt_tune *tune,
                                     struct shmt_error *err)
{
    const char *const path = tune->options->journal;
    struct shmt_journal *journal = NULL;
    const char *why = NULL;
    bool empty;
    enum shmtune_status status;

    if (path == NULL)
        return SHMTUNE_OK;
    status = shmt_journal_open(path, tune->target->kernel, &tune->journal,
                               err);
    if (status != SHMTUNE_OK)
        return status;
    empty = is_empty(path);
    if (!empty && !tune->options->resume)
        return begin_anew(tune, "--no-resume", err);
    if (!empty)
        status = read_old(tune, &journal, &why, err);
    if (status != SHMTUNE_OK)
        return status;
    if (empty || why != NULL)
        status = begin_anew(tune, why, err);
    else
        status = fill_ledger(tune, journal, err);
    shmt_journal_free(journal);
    return status;
}
