/* SPDX-License-Identifier: MIT */
/*
 * map: see map.h.  Open addressing with linear probing, at most half full;
 * a slot is chosen by the highest bits of the key times the golden ratio
 * (Knuth, The Art of Computer Programming 3, 6.4), so keys in a row and keys
 * that are multiples of a power of two spread as well as hashes do.  Only the
 * values say which slots are used: a miss does not look at the keys.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 6, LARGE_BITS = 18 };

void shmt_map_free(struct shmt_map *map)
{
    free(map->keys);
    *map = (struct shmt_map){0};
}

void shmt_map_clear(struct shmt_map *map)
{
    if (map->count > 0)
        memset(map->values, 0, map->room * sizeof *map->values);
    map->count = 0;
}

static void put(struct shmt_map *map, uint64_t key, uint32_t value)
{
    size_t at = shmt_map_home(map, key);

    while (map->values[at] != 0)
        at = (at + 1) & (map->room - 1);
    map->keys[at] = key;
    map->values[at] = value + 1;
}

static bool grow(struct shmt_map *map)
{
    const unsigned step = map->room >> LARGE_BITS == 0 ? 2 : 1;
    const unsigned shift = map->room == 0 ? 64 - FIRST_BITS
                                          : map->shift - step;
    struct shmt_map larger = {
        .room = (size_t)1 << (64 - shift), .count = map->count, .shift = shift,
    };

    larger.keys = calloc(larger.room,
                         sizeof *larger.keys + sizeof *larger.values);
    if (larger.keys == NULL)
        return false;
    larger.values = (uint32_t *)(larger.keys + larger.room);
    for (size_t k = 0; k < map->room; k++)
        if (map->values[k] != 0)
            put(&larger, map->keys[k], map->values[k] - 1);
    shmt_map_free(map);
    *map = larger;
    return true;
}

bool shmt_map_add(struct shmt_map *map, uint64_t key, uint32_t value)
{
    if (2 * map->count >= map->room && !grow(map))
        return false;
    put(map, key, value);
    map->count++;
    return true;
}

/* The slot of a pair, or the free one where the search for it ends. */
static size_t slot_of(const struct shmt_map *map, uint64_t key, uint32_t value)
{
    size_t at = shmt_map_home(map, key);

    while (map->values[at] != 0 &&
           (map->keys[at] != key || map->values[at] != value + 1))
        at = (at + 1) & (map->room - 1);
    return at;
}

bool shmt_map_set(struct shmt_map *map, uint64_t key, uint32_t value)
{
    const uint32_t found = shmt_map_find(map, key);

    if (found == SHMT_MAP_NONE)
        return shmt_map_add(map, key, value);
    map->values[slot_of(map, key, found)] = value + 1;
    return true;
}

/* What follows in the run of used slots moves up where it may: nobody looks
 * behind a free slot. */
void shmt_map_remove(struct shmt_map *map, uint64_t key, uint32_t value)
{
    const size_t mask = map->room - 1;
    size_t hole = slot_of(map, key, value);

    for (size_t at = (hole + 1) & mask; map->values[at] != 0;
         at = (at + 1) & mask) {
        const size_t home = shmt_map_home(map, map->keys[at]);

        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->keys[hole] = map->keys[at];
        map->values[hole] = map->values[at];
        hole = at;
    }
    map->values[hole] = 0;
    map->count--;
}

uint64_t shmt_map_hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = length;

    while (length > 0) {
        const size_t part = length < sizeof hash ? length : sizeof hash;
        uint64_t word = 0;

        memcpy(&word, at, part);
        hash = shmt_map_hash(hash, word);
        at += part;
        length -= part;
    }
    return hash;
}
