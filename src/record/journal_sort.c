/* SPDX-License-Identifier: MIT */
/*
 * journal_sort: sorts the results of a journal by their configuration, so that
 * those of one configuration, or of one binary, are neighbours.  Called by
 * score/load.c, exchange/ and command/.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/journal.h"

struct place {
    size_t record;
    shmt_config config[SHMT_SPACE_PARAMETERS];   /* 0 where it does not count */
};

static bool same_config(const struct place *a, const struct place *b)
{
    return memcmp(a->config, b->config, sizeof a->config) == 0;
}

static int compare(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    const int order = memcmp(x->config, y->config, sizeof x->config);

    return order != 0 ? order
                      : (x->record > y->record) - (x->record < y->record);
}

/* The results; those of equal configurations in the file's order.  With
 * `binaries`, launch parameters do not count.  NULL: no memory. */
static struct place *sort_results(const struct shmt_kernel *kernel,
                                  const struct shmt_journal *journal,
                                  bool binaries, size_t *count)
{
    struct place *const places = calloc(journal->count + 1, sizeof *places);

    *count = 0;
    for (size_t k = 0; places != NULL && k < journal->count; k++) {
        const struct shmt_journal_record *record = &journal->records[k];

        if (record->kind != SHMT_JOURNAL_RESULT)
            continue;
        for (size_t p = 0; p < kernel->parameter_count; p++)
            if (!binaries || !kernel->parameters[p].launch_only)
                places[*count].config[p] = record->config[p];
        places[(*count)++].record = k;
    }
    if (places != NULL)
        qsort(places, *count, sizeof *places, compare);
    return places;
}

enum shmtune_status shmt_journal_latest(const struct shmt_kernel *kernel,
                                        const struct shmt_journal *journal,
                                        bool *latest, struct shmt_error *err)
{
    size_t count;
    struct place *const places = sort_results(kernel, journal, false, &count);

    if (places == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < journal->count; k++)
        latest[k] = false;
    for (size_t k = 0; k < count; k++)
        latest[places[k].record] =
            k + 1 == count || !same_config(&places[k], &places[k + 1]);
    free(places);
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_journal_compile_times(const struct shmt_kernel *kernel,
                           const struct shmt_journal *journal,
                           double *compile_ms, struct shmt_error *err)
{
    size_t count;
    struct place *const places = sort_results(kernel, journal, true, &count);

    if (places == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < journal->count; k++)
        compile_ms[k] = journal->records[k].kind == SHMT_JOURNAL_RESULT
                            ? journal->records[k].result->compile_ms : -1;
    for (size_t first = 0, end; first < count; first = end) {
        double most = 0;

        for (end = first;
             end < count && same_config(&places[first], &places[end]); end++)
            most = fmax(most, compile_ms[places[end].record]);
        for (size_t k = first; k < end; k++)
            if (compile_ms[places[k].record] >= 0)
                compile_ms[places[k].record] = most;
    }
    free(places);
    return SHMTUNE_OK;
}
