/* SPDX-License-Identifier: MIT */
/*
 * ledger: a hash table from the index of a configuration to its entry; entries
 * keep their addresses.  Called by tune/ and recording.c.
 */
#include "record/ledger.h"

#include <math.h>
#include <stdlib.h>

struct shmt_ledger {
    struct shmt_ledger_entry **entries;   /* in order */
    size_t count, room;
    struct shmt_map places;               /* index -> position in entries */
};

struct shmt_ledger *shmt_ledger_new(void)
{
    return calloc(1, sizeof(struct shmt_ledger));
}

void shmt_ledger_free(struct shmt_ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (size_t k = 0; k < ledger->count; k++)
        free(ledger->entries[k]);
    free(ledger->entries);
    shmt_map_free(&ledger->places);
    free(ledger);
}

struct shmt_ledger_entry *shmt_ledger_find(const struct shmt_ledger *ledger,
                                    uint64_t index)
{
    const uint32_t position = shmt_map_find(&ledger->places, index);

    return position == SHMT_MAP_NONE ? NULL : ledger->entries[position];
}

struct shmt_ledger_entry *shmt_ledger_put(struct shmt_ledger *ledger,
                                         uint64_t index)
{
    struct shmt_ledger_entry *entry = shmt_ledger_find(ledger, index);

    if (entry != NULL)
        return entry;
    if (!shmt_array_reserve(&ledger->entries, &ledger->room,
                            ledger->count + 1, sizeof *ledger->entries))
        return NULL;
    entry = calloc(1, sizeof *entry);
    if (entry == NULL ||
        !shmt_map_add(&ledger->places, index, (uint32_t)ledger->count)) {
        free(entry);
        return NULL;
    }
    entry->index = index;
    shmt_result_clear(&entry->result);
    ledger->entries[ledger->count++] = entry;
    return entry;
}

size_t shmt_ledger_count(const struct shmt_ledger *ledger)
{
    return ledger->count;
}

struct shmt_ledger_entry *shmt_ledger_at(const struct shmt_ledger *ledger,
                                        size_t k)
{
    return ledger->entries[k];
}

double shmt_ledger_cost(const struct shmt_result *result)
{
    const bool timed = result->verdict == SHMT_VERDICT_OK ||
                       result->verdict == SHMT_VERDICT_SLOW;
    return timed && result->time_us >= 0 ? result->time_us : INFINITY;
}

int shmt_ledger_compare(const void *a, const void *b)
{
    const struct shmt_ledger_entry *const x =
        *(struct shmt_ledger_entry *const *)a;
    const struct shmt_ledger_entry *const y =
        *(struct shmt_ledger_entry *const *)b;
    const double s = shmt_ledger_cost(&x->result);
    const double t = shmt_ledger_cost(&y->result);

    if (s < t || s > t)
        return s < t ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

size_t shmt_ledger_fastest(const struct shmt_ledger *ledger,
                           struct shmt_ledger_entry **entries)
{
    size_t count = 0;

    for (size_t k = 0; k < ledger->count; k++)
        if (ledger->entries[k]->counted &&
            isfinite(shmt_ledger_cost(&ledger->entries[k]->result)))
            entries[count++] = ledger->entries[k];
    qsort(entries, count, sizeof *entries, shmt_ledger_compare);
    return count;
}
