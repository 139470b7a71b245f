/* SPDX-License-Identifier: MIT */
/*
 * indices: open addressing with linear probing, at most half full.
 */
#include "search/engine/indices.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

void shmt_indices_free(struct shmt_indices *indices)
{
    free(indices->keys);
    free(indices->values);
    *indices = (struct shmt_indices){0};
}

/* The slot that holds `key`, or the free one where it would go. */
static size_t slot_of(const struct shmt_indices *indices, uint64_t key)
{
    const size_t mask = indices->capacity - 1;
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash ^ hash >> 32) & mask;

    while (indices->keys[slot] != 0 && indices->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t *shmt_indices_find(const struct shmt_indices *indices,
                            uint64_t index)
{
    size_t slot;

    if (indices->capacity == 0)
        return NULL;
    slot = slot_of(indices, index + 1);
    return indices->keys[slot] == 0 ? NULL : &indices->values[slot];
}

static bool grow(struct shmt_indices *indices)
{
    struct shmt_indices larger = {
        .capacity = indices->capacity == 0 ? (size_t)FIRST_CAPACITY
                                           : indices->capacity * 2,
        .count = indices->count,
    };

    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    larger.values = calloc(larger.capacity, sizeof *larger.values);
    if (larger.keys == NULL || larger.values == NULL) {
        shmt_indices_free(&larger);
        return false;
    }
    for (size_t k = 0; k < indices->capacity; k++) {
        size_t slot;

        if (indices->keys[k] == 0)
            continue;
        slot = slot_of(&larger, indices->keys[k]);
        larger.keys[slot] = indices->keys[k];
        larger.values[slot] = indices->values[k];
    }
    shmt_indices_free(indices);
    *indices = larger;
    return true;
}

bool shmt_indices_put(struct shmt_indices *indices, uint64_t index,
                      uint32_t value)
{
    size_t slot;

    if (indices->count >= indices->capacity / 2 && !grow(indices))
        return false;
    slot = slot_of(indices, index + 1);
    if (indices->keys[slot] == 0) {
        indices->keys[slot] = index + 1;
        indices->count++;
    }
    indices->values[slot] = value;
    return true;
}
