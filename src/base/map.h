/* SPDX-License-Identifier: MIT */
/*
 * map: small numbers by a 64-bit key.  Either the key is a number itself, or
 * it is the hash of what the owner keeps in an array at that small number;
 * then several may have the same key, and the owner compares:
 *
 *     for (size_t probe = 0;
 *          (at = shmt_map_next(&map, key, &probe)) != SHMT_MAP_NONE;)
 *         if (is_same(&items[at], wanted))
 *             return at;
 *     ... shmt_map_add(&map, key, count) ...
 */
#ifndef SHMT_BASE_MAP_H
#define SHMT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}; freed with shmt_map_free. */
struct shmt_map {
    uint64_t *keys;        /* one piece of memory with the values */
    uint32_t *values;      /* value + 1, or 0 where there is none */
    size_t room;           /* a power of two, at least 2 * count; or 0 */
    size_t count;
    unsigned shift;        /* 64 - log2(room) */
};

/* No value: every value is less. */
#define SHMT_MAP_NONE UINT32_MAX

void shmt_map_free(struct shmt_map *map);
/* No pairs, the memory kept. */
void shmt_map_clear(struct shmt_map *map);

/* One pair more, also when the key is there.  false: no memory. */
bool shmt_map_add(struct shmt_map *map, uint64_t key, uint32_t value);
/* The only value of this key from now on.  false: no memory. */
bool shmt_map_set(struct shmt_map *map, uint64_t key, uint32_t value);
/* Takes out a pair that is there. */
void shmt_map_remove(struct shmt_map *map, uint64_t key, uint32_t value);

/* Where a key is looked for first; its neighbours come next. */
static inline size_t shmt_map_home(const struct shmt_map *map, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);
}

/* The next value of a key, SHMT_MAP_NONE behind the last; *probe is 0 at
 * first. */
static inline uint32_t shmt_map_next(const struct shmt_map *map, uint64_t key,
                                     size_t *probe)
{
    size_t at;

    if (map->room == 0)
        return SHMT_MAP_NONE;
    do
        at = (shmt_map_home(map, key) + (*probe)++) & (map->room - 1);
    while (map->values[at] != 0 && map->keys[at] != key);
    return map->values[at] - 1;
}

static inline uint32_t shmt_map_find(const struct shmt_map *map, uint64_t key)
{
    size_t probe = 0;

    return shmt_map_next(map, key, &probe);
}

/* The hash of a sequence: one word after another, beginning with any number.
 * Two words never have the same hash. */
static inline uint64_t shmt_map_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* The hash of `length` bytes. */
uint64_t shmt_map_hash_bytes(const void *bytes, size_t length);

#endif
