/* SPDX-License-Identifier: MIT */
/*
 * journal_latest: finds the last result of each configuration in a journal by
 * sorting.  Called by score/load.c, exchange/ and command/show.c.
 */
#include <stdlib.h>
#include <string.h>

#include "record/journal.h"

struct place {
    size_t record;
    shmt_config config[SHMT_SPACE_PARAMETERS];   /* 0 behind the last one */
};

static int compare(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    const int order = memcmp(x->config, y->config, sizeof x->config);

    return order != 0 ? order
                      : (x->record > y->record) - (x->record < y->record);
}

enum shmtune_status shmt_journal_latest(const struct shmt_kernel *kernel,
                                        const struct shmt_journal *journal,
                                        bool *latest, struct shmt_error *err)
{
    struct place *const places = calloc(journal->count + 1, sizeof *places);
    size_t count = 0;

    if (places == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < journal->count; k++) {
        latest[k] = false;
        if (journal->records[k].kind != SHMT_JOURNAL_RESULT)
            continue;
        places[count].record = k;
        memcpy(places[count++].config, journal->records[k].config,
               kernel->parameter_count * sizeof(shmt_config));
    }
    qsort(places, count, sizeof *places, compare);
    for (size_t k = 0; k < count; k++)
        latest[places[k].record] =
            k + 1 == count || memcmp(places[k].config, places[k + 1].config,
                                     sizeof places[k].config) != 0;
    free(places);
    return SHMTUNE_OK;
}
