/* SPDX-License-Identifier: MIT */
/*
 * table: states by their words, each once, in one array in the order in
 * which they came.  Open addressing like base/map.h, which it does not use:
 * a bucket is four bytes instead of twelve, and tables of this kind are most
 * of what building a diagram takes; states of a few bits need no hash; and
 * building is up to 3 % faster.
 */
#include "space/states.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    uint64_t hash = 0;

    for (size_t k = 0; k < count; k++)
        hash = shmt_map_hash(hash, words[k]);
    return hash;
}

bool shmt_states_open(struct shmt_states *table, size_t words, unsigned bits)
{
    *table = (struct shmt_states){.words = words, .room = 64};
    table->direct = words <= 1 && bits <= 12;
    table->bucket_count = table->direct ? (size_t)1 << bits : 256;
    table->states = malloc((table->room * table->words + 1) *
                           sizeof *table->states);
    table->buckets = calloc(table->bucket_count, sizeof *table->buckets);
    return table->states != NULL && table->buckets != NULL;
}

void shmt_states_close(struct shmt_states *table)
{
    free(table->states);
    free(table->buckets);
    *table = (struct shmt_states){0};
}

static bool grow(struct shmt_states *table)
{
    const size_t count = 4 * table->bucket_count;
    uint32_t *buckets = calloc(count, sizeof *buckets);

    if (buckets == NULL)
        return false;
    for (uint32_t s = 0; s < table->count; s++) {
        size_t at = hash_words(table->states + s * table->words,
                               table->words) & (count - 1);

        while (buckets[at] != 0)
            at = (at + 1) & (count - 1);
        buckets[at] = s + 1;
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = count;
    return true;
}

static bool add(struct shmt_states *table, const uint64_t *key)
{
    if (table->count == UINT32_MAX - 1 ||
        !shmt_array_reserve(&table->states, &table->room, table->count + 1,
                            table->words * sizeof *table->states))
        return false;
    memcpy(table->states + table->count * table->words, key,
           table->words * sizeof *key);
    table->count++;
    return true;
}

uint32_t shmt_states_find(struct shmt_states *table, const uint64_t *key)
{
    size_t at;

    if (table->words == 0)
        at = 0;
    else if (table->direct)
        at = key[0];
    else
        at = hash_words(key, table->words) & (table->bucket_count - 1);
    while (table->buckets[at] != 0) {
        const uint32_t found = table->buckets[at] - 1;

        if (table->direct ||
            memcmp(table->states + found * table->words, key,
                   table->words * sizeof *key) == 0)
            return found;
        at = (at + 1) & (table->bucket_count - 1);
    }
    if (!add(table, key))
        return UINT32_MAX;
    table->buckets[at] = table->count;
    if (!table->direct && 2 * (size_t)table->count > table->bucket_count &&
        !grow(table))
        return UINT32_MAX;
    return table->count - 1;
}

size_t shmt_states_bytes(const struct shmt_states *table)
{
    return table->room * table->words * sizeof *table->states +
           table->bucket_count * sizeof *table->buckets;
}
