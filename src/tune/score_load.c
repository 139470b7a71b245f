/* SPDX-License-Identifier: MIT */
/*
 * score_load: see score_load.h.  Configurations that differ in parameters of
 * the launch share a binary, and the recording says of all but one of them
 * that compiling took no time.  Which one is an accident of its run; here
 * each is charged what the binary took.
 */
#include "tune/score_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/ledger.h"

struct shmt_score_recording {
    const struct shmt_kernel *kernel;
    struct shmt_journal *journal;
    struct shmt_space *space;
    struct shmt_value *values;      /* the problem, for the space */
    double *cost, *seconds;
    struct shmt_result *results;
    struct shmt_score_table table;
};

void shmt_score_unload(struct shmt_score_recording *recording)
{
    if (recording == NULL)
        return;
    shmt_space_free(recording->space);
    shmt_journal_free(recording->journal);
    free(recording->values);
    free(recording->cost);
    free(recording->seconds);
    free(recording->results);
    free(recording);
}

static enum shmtune_status incomplete(uint64_t known, uint64_t count,
                                      struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                          "%llu of %llu configurations are recorded: "
                          "strategies can be scored on complete recordings "
                          "only; make one with \"shmtune tune --strategy "
                          "exhaustive --record DIR\"",
                          (unsigned long long)known,
                          (unsigned long long)count);
}

static enum shmtune_status make_tables(struct shmt_score_recording *recording,
                                       struct shmt_error *err)
{
    const uint64_t count = shmt_space_count(recording->space);

    /* So no more is taken than the journal's reader took. */
    if (count == 0 || count > recording->journal->count)
        return incomplete(recording->journal->count, count, err);
    recording->cost = malloc(count * sizeof *recording->cost);
    recording->seconds = calloc(count, sizeof *recording->seconds);
    recording->results = calloc(count, sizeof *recording->results);
    if (recording->cost == NULL || recording->seconds == NULL
        || recording->results == NULL)
        return shmt_error_memory(err);
    for (uint64_t k = 0; k < count; k++)
        recording->cost[k] = NAN;
    return SHMTUNE_OK;
}

struct binary {
    uint64_t index;
    double compile_ms;
    shmt_choice defined[SHMT_SPACE_PARAMETERS];  /* 0 where of the launch */
};

static int compare_binaries(const void *a, const void *b)
{
    const struct binary *const x = a, *const y = b;
    const int order = memcmp(x->defined, y->defined, sizeof x->defined);

    if (order != 0)
        return order;
    return x->compile_ms > y->compile_ms ? -1 : x->compile_ms < y->compile_ms;
}

static enum shmtune_status charge_binaries(
    struct shmt_score_recording *recording, struct shmt_error *err)
{
    const uint64_t count = shmt_space_count(recording->space);
    struct binary *const binaries = calloc(count, sizeof *binaries);
    double charge = 0;

    if (binaries == NULL)
        return shmt_error_memory(err);
    for (uint64_t k = 0; k < count; k++) {
        binaries[k].index = k;
        binaries[k].compile_ms = recording->results[k].compile_ms;
        shmt_space_configuration(recording->space, k, binaries[k].defined);
        for (size_t p = 0; p < recording->kernel->parameter_count; p++)
            if (recording->kernel->parameters[p].launch_only)
                binaries[k].defined[p] = 0;
    }
    qsort(binaries, count, sizeof *binaries, compare_binaries);
    for (uint64_t k = 0; k < count; k++) {
        if (k == 0 || memcmp(binaries[k].defined, binaries[k - 1].defined,
                             sizeof binaries[k].defined) != 0)
            charge = fmax(0, binaries[k].compile_ms);
        if (binaries[k].compile_ms >= 0)
            recording->seconds[binaries[k].index] += charge / 1000;
    }
    free(binaries);
    return SHMTUNE_OK;
}

static enum shmtune_status fill_tables(struct shmt_score_recording *recording,
                                       struct shmt_error *err)
{
    const struct shmt_journal *const journal = recording->journal;
    const uint64_t count = shmt_space_count(recording->space);
    uint64_t known = 0;

    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_result *const result = journal->records[k].result;
        uint64_t index;

        if (journal->records[k].kind != SHMT_JOURNAL_RESULT
            || result->verdict == SHMT_VERDICT_NOT_RECORDED
            || !shmt_space_index(recording->space,
                                 journal->records[k].choice, &index))
            continue;
        known += isnan(recording->cost[index]);
        recording->cost[index] = shmt_ledger_cost(result);
        recording->seconds[index] = fmax(0, result->measure_ms) / 1000;
        recording->results[index] = *result;
    }
    if (known < count)
        return incomplete(known, count, err);
    return charge_binaries(recording, err);
}

enum shmtune_status shmt_score_load(const char *path,
                                    const struct shmt_kernel *kernel,
                                    struct shmt_score_recording **out,
                                    struct shmt_error *err)
{
    struct shmt_score_recording *recording = calloc(1, sizeof *recording);
    shmt_choice fallback[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status;

    if (recording == NULL)
        return shmt_error_memory(err);
    recording->kernel = kernel;
    recording->values = calloc(kernel->dimension_count + 1,
                               sizeof *recording->values);
    status = recording->values == NULL
                 ? shmt_error_memory(err)
                 : shmt_journal_read(path, kernel, &recording->journal, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_space(kernel, recording->journal->header.problem,
                                   recording->values, &recording->space, err);
    if (status == SHMTUNE_OK)
        status = make_tables(recording, err);
    if (status == SHMTUNE_OK)
        status = fill_tables(recording, err);
    if (status != SHMTUNE_OK) {
        shmt_score_unload(recording);
        return shmt_error_prefix(err, "%s", path);
    }
    recording->table = (struct shmt_score_table){
        .space = recording->space,
        .start = UINT64_MAX,
        .cost = recording->cost,
        .seconds = recording->seconds,
        .results = recording->results,
    };
    shmt_kernel_default(kernel, fallback);
    if (!shmt_space_index(recording->space, fallback,
                          &recording->table.start))
        recording->table.start = UINT64_MAX;
    *out = recording;
    return SHMTUNE_OK;
}

const struct shmt_score_table *
shmt_score_recording_table(const struct shmt_score_recording *recording)
{
    return &recording->table;
}

const struct shmt_journal_header *
shmt_score_recording_header(const struct shmt_score_recording *recording)
{
    return &recording->journal->header;
}
