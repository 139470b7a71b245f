/* SPDX-License-Identifier: MIT */
/*
 * indices: a map from indices of a space to small numbers, for who has been
 * tried and where it is kept.  Memory follows the entries.  For search/ only.
 */
#ifndef SHMT_ENGINE_INDICES_H
#define SHMT_ENGINE_INDICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
struct shmt_indices {
    uint64_t *keys;       /* index + 1; 0: free */
    uint32_t *values;
    size_t capacity;      /* 0 or a power of two */
    size_t count;
};

void shmt_indices_free(struct shmt_indices *indices);

/* The value's place, or NULL when `index` is not there; good until the next
 * put. */
uint32_t *shmt_indices_find(const struct shmt_indices *indices,
                            uint64_t index);

/* Adds or replaces.  False when there is no memory.  UINT64_MAX is no index
 * of any space and must not be put. */
bool shmt_indices_put(struct shmt_indices *indices, uint64_t index,
                      uint32_t value);

#endif
