/* SPDX-License-Identifier: MIT */
/*
 * table: states by their words, each once: open addressing, states in
 * one array in the order in which they came.
 */
#include "space/table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    uint64_t hash = 0;

    for (size_t k = 0; k < count; k++) {
        hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

bool shmt_table_open(struct shmt_table *table, size_t words, unsigned bits)
{
    *table = (struct shmt_table){.words = words, .room = 64};
    table->direct = words <= 1 && bits <= 12;
    table->bucket_count = table->direct ? (size_t)1 << bits : 256;
    table->states = malloc((table->room * table->words + 1) *
                           sizeof *table->states);
    table->buckets = calloc(table->bucket_count, sizeof *table->buckets);
    return table->states != NULL && table->buckets != NULL;
}

void shmt_table_close(struct shmt_table *table)
{
    free(table->states);
    free(table->buckets);
    *table = (struct shmt_table){0};
}

static bool grow(struct shmt_table *table)
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

static bool add(struct shmt_table *table, const uint64_t *key)
{
    uint64_t *grown;

    if (table->count == table->room) {
        if (table->room > UINT32_MAX / 4)
            return false;
        grown = realloc(table->states, ((size_t)2 * table->room *
                                        table->words + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        table->states = grown;
        table->room *= 2;
    }
    memcpy(table->states + table->count * table->words, key,
           table->words * sizeof *key);
    table->count++;
    return true;
}

uint32_t shmt_table_find(struct shmt_table *table, const uint64_t *key)
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

size_t shmt_table_bytes(const struct shmt_table *table)
{
    return table->room * table->words * sizeof *table->states +
           table->bucket_count * sizeof *table->buckets;
}
