/* SPDX-License-Identifier: MIT */
/* Which results of a journal hold. */
#include <stdlib.h>
#include <string.h>

#include "record/journal.h"

struct place {
    size_t record;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];   /* 0 behind the last one */
};

static int compare(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    const int order = memcmp(x->choice, y->choice, sizeof x->choice);

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
        memcpy(places[count++].choice, journal->records[k].choice,
               kernel->parameter_count * sizeof(shmt_choice));
    }
    qsort(places, count, sizeof *places, compare);
    for (size_t k = 0; k < count; k++)
        latest[places[k].record] =
            k + 1 == count || memcmp(places[k].choice, places[k + 1].choice,
                                     sizeof places[k].choice) != 0;
    free(places);
    return SHMTUNE_OK;
}
