/* SPDX-License-Identifier: MIT */
/*
 * score_load: makes the table of costs that strategies are scored on from a
 * recording.  Called by command/score.c.
 */
#include "score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

void shmt_score_unload(struct shmt_score_recording *recording)
{
    if (recording == NULL)
        return;
    shmt_space_free(recording->space);
    shmt_journal_free(recording->journal);
    free(recording->compile_ms);
    free(recording->cost);
    free(recording->seconds);
    free(recording);
}

static enum shmtune_status incomplete(uint64_t known, uint64_t count,
                                      struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                          "%llu of %llu configurations are recorded: only "
                          "complete recordings can score strategies; "
                          "--recorded takes what is recorded as the whole "
                          "space; \"shmtune tune --strategy exhaustive "
                          "--record DIR\" makes a complete one",
                          (unsigned long long)known,
                          (unsigned long long)count);
}

static bool counts(const struct shmt_journal_record *record)
{
    return record->kind == SHMT_JOURNAL_RESULT
           && record->result->verdict != SHMT_VERDICT_NOT_RECORDED;
}

/* The configurations that were recorded are the space. */
static enum shmtune_status take_recorded(
    struct shmt_score_recording *recording, struct shmt_error *err)
{
    const struct shmt_journal *const journal = recording->journal;
    const struct shmt_space_definition definition = {
        .parameter_count = recording->kernel->parameter_count,
        .parameters = recording->kernel->parameters,
    };
    const shmt_config **configs =
        malloc((journal->count + 1) * sizeof *configs);
    size_t count = 0;
    enum shmtune_status status;

    if (configs == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < journal->count; k++)
        if (counts(&journal->records[k]))
            configs[count++] = journal->records[k].config;
    shmt_space_free(recording->space);
    recording->space = NULL;
    status =
        shmt_space_from_list(&definition, configs, count, &recording->space,
                                  err);
    free(configs);
    return status;
}

/* If a recording's header says that its space has exactly as many
 * configurations as it holds, the recorded ones are taken as the space:
 * imported files have the values of the parameters but not always the
 * constraints. */
static enum shmtune_status find_space(struct shmt_score_recording *recording,
                                      bool recorded, struct shmt_error *err)
{
    const struct shmt_journal_header *const header =
        &recording->journal->header;

    if (recorded || (header->origin != NULL
                     && recording->kernel->constraint_count == 0
                     && header->space_count <= recording->journal->count))
        return take_recorded(recording, err);
    return shmt_kernel_space(recording->kernel, header->problem, NULL,
                             &recording->space, err);
}

/* How many configurations of the space have a result. */
static enum shmtune_status
count_known(const struct shmt_score_recording *recording, uint64_t *known,
            struct shmt_error *err)
{
    const struct shmt_journal *const journal = recording->journal;
    bool *const latest = calloc(journal->count + 1, sizeof *latest);
    const enum shmtune_status status =
        latest == NULL ? shmt_error_memory(err)
                       : shmt_journal_latest(recording->kernel, journal,
                                             latest, err);
    uint64_t index;

    *known = 0;
    for (size_t k = 0; status == SHMTUNE_OK && k < journal->count; k++)
        *known += latest[k] && counts(&journal->records[k]) &&
                  shmt_space_index(recording->space,
                                   journal->records[k].config, &index);
    free(latest);
    return status;
}

static enum shmtune_status make_tables(struct shmt_score_recording *recording,
                                       struct shmt_error *err)
{
    const uint64_t count = shmt_space_count(recording->space);
    uint64_t known;
    const enum shmtune_status status = count_known(recording, &known, err);

    /* The size is limited by that of the journal. */
    if (status == SHMTUNE_OK && (count == 0 || known < count))
        return incomplete(known, count, err);
    if (status != SHMTUNE_OK)
        return status;
    recording->cost = malloc(count * sizeof *recording->cost);
    recording->seconds = calloc(count, sizeof *recording->seconds);
    recording->compile_ms = malloc(recording->journal->count
                                   * sizeof *recording->compile_ms);
    if (recording->cost == NULL || recording->seconds == NULL
        || recording->compile_ms == NULL)
        return shmt_error_memory(err);
    return shmt_journal_compile_times(recording->kernel, recording->journal,
                                      recording->compile_ms, err);
}

static void fill_tables(struct shmt_score_recording *recording)
{
    const struct shmt_journal *const journal = recording->journal;

    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_result *const result = journal->records[k].result;
        uint64_t index;

        if (!counts(&journal->records[k])
            || !shmt_space_index(recording->space,
                                 journal->records[k].config, &index))
            continue;
        recording->cost[index] = shmt_ledger_cost(result);
        recording->seconds[index] = (fmax(0, result->measure_ms)
                                     +
                                     fmax(0, recording->compile_ms[k])) / 1000;
    }
}

static bool launch_of(const void *context, const shmt_config *config,
                      size_t size, double *threads, double *shared_bytes)
{
    const struct shmt_score_recording *const recording = context;
    struct shmt_kernel_evaluated evaluated;

    (void)size;
    shmt_kernel_evaluate(recording->kernel, recording->journal->header.problem,
                         config, &evaluated);
    return shmt_kernel_largest_launch(&evaluated, threads, shared_bytes);
}

enum shmtune_status shmt_score_load(const char *path,
                                    const struct shmt_kernel *kernel,
                                    bool recorded,
                                    struct shmt_score_recording **out,
                                    struct shmt_error *err)
{
    struct shmt_score_recording *recording = calloc(1, sizeof *recording);
    enum shmtune_status status;

    if (recording == NULL)
        return shmt_error_memory(err);
    recording->kernel = kernel;
    status = shmt_journal_read(path, kernel, &recording->journal, err);
    if (status == SHMTUNE_OK &&
        ((status = find_space(recording, recorded, err)) != SHMTUNE_OK ||
         (status = make_tables(recording, err)) != SHMTUNE_OK))
        status = shmt_error_prefix(err, "%s", path);
    if (status != SHMTUNE_OK) {
        shmt_score_unload(recording);
        return status;
    }
    fill_tables(recording);
    recording->launches = (struct shmt_search_launches){launch_of, recording};
    recording->table = (struct shmt_score_table){
        .space = recording->space,
        .start = shmt_kernel_default_index(kernel, recording->space),
        .cost = recording->cost,
        .seconds = recording->seconds,
        .launches = &recording->launches,
    };
    *out = recording;
    return SHMTUNE_OK;
}
