/* SPDX-License-Identifier: MIT */
#include "record/ledger.h"

#include <math.h>
#include <stdlib.h>

struct shmt_ledger {
    struct shmt_ledger_entry **entries;   /* in order */
    size_t count, room;
    size_t *slots;                 /* open addressing: position + 1, or 0 */
    size_t slot_count;             /* a power of two, at least 2 * count */
};

static size_t slot_of(const struct shmt_ledger *ledger, uint64_t index)
{
    const size_t mask = ledger->slot_count - 1;
    uint64_t h = index * UINT64_C(0x9e3779b97f4a7c15);
    size_t k = (size_t)(h ^ (h >> 32)) & mask;

    while (ledger->slots[k] != 0 &&
           ledger->entries[ledger->slots[k] - 1]->index != index)
        k = (k + 1) & mask;
    return k;
}

static bool make_room(struct shmt_ledger *ledger)
{
    const size_t room = 2 * ledger->room;
    struct shmt_ledger_entry **const entries =
        realloc(ledger->entries, room * sizeof *entries);
    size_t *slots;

    if (entries == NULL)
        return false;
    ledger->entries = entries;
    slots = calloc(2 * room, sizeof *slots);
    if (slots == NULL)
        return false;
    free(ledger->slots);
    ledger->slots = slots;
    ledger->slot_count = 2 * room;
    ledger->room = room;
    for (size_t k = 0; k < ledger->count; k++)
        slots[slot_of(ledger, entries[k]->index)] = k + 1;
    return true;
}

struct shmt_ledger *shmt_ledger_new(void)
{
    struct shmt_ledger *const ledger = calloc(1, sizeof *ledger);

    if (ledger == NULL)
        return NULL;
    ledger->room = 128;
    if (!make_room(ledger)) {
        shmt_ledger_free(ledger);
        return NULL;
    }
    return ledger;
}

void shmt_ledger_free(struct shmt_ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (size_t k = 0; k < ledger->count; k++)
        free(ledger->entries[k]);
    free(ledger->entries);
    free(ledger->slots);
    free(ledger);
}

struct shmt_ledger_entry *shmt_ledger_find(const struct shmt_ledger *ledger,
                                    uint64_t index)
{
    const size_t position = ledger->slots[slot_of(ledger, index)];
    return position == 0 ? NULL : ledger->entries[position - 1];
}

struct shmt_ledger_entry *shmt_ledger_put(struct shmt_ledger *ledger,
                                         uint64_t index)
{
    struct shmt_ledger_entry *entry = shmt_ledger_find(ledger, index);

    if (entry != NULL)
        return entry;
    if (ledger->count == ledger->room && !make_room(ledger))
        return NULL;
    entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->index = index;
    shmt_result_clear(&entry->result);
    ledger->slots[slot_of(ledger, index)] = ledger->count + 1;
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
        if (ledger->entries[k]->settled &&
            isfinite(shmt_ledger_cost(&ledger->entries[k]->result)))
            entries[count++] = ledger->entries[k];
    qsort(entries, count, sizeof *entries, shmt_ledger_compare);
    return count;
}
