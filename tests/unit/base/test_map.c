/* SPDX-License-Identifier: MIT */
/* map, array and clock. */
#include <stdlib.h>

#include "base/base.h"
#include "tests/support/check.h"

static void keys_are_found_again(void)
{
    struct shmt_map map = {0};

    CHECK_INT(shmt_map_find(&map, 0), SHMT_MAP_NONE);
    for (uint64_t k = 0; k < 10000; k++)
        CHECK(shmt_map_set(&map, k * k, (uint32_t)k));
    CHECK_INT(map.count, 10000);
    CHECK(shmt_map_set(&map, 49, 1));
    CHECK_INT(map.count, 10000);
    CHECK_INT(shmt_map_find(&map, 0), 0);
    CHECK_INT(shmt_map_find(&map, 49), 1);
    CHECK_INT(shmt_map_find(&map, 9999 * 9999), 9999);
    CHECK_INT(shmt_map_find(&map, 50), SHMT_MAP_NONE);
    shmt_map_clear(&map);
    CHECK_INT(map.count, 0);
    CHECK_INT(shmt_map_find(&map, 49), SHMT_MAP_NONE);
    shmt_map_free(&map);
}

static size_t values_of(const struct shmt_map *map, uint64_t key,
                        uint64_t *sum)
{
    size_t probe = 0, count = 0;
    uint32_t value;

    *sum = 0;
    while ((value = shmt_map_next(map, key, &probe)) != SHMT_MAP_NONE) {
        *sum += value;
        count++;
    }
    return count;
}

/* Pairs go in and out at random, and many share a key: the map holds what a
 * plain list does. */
static void pairs_come_and_go(void)
{
    enum { PAIRS = 400, KEYS = 60, STEPS = 40000 };
    struct shmt_map map = {0};
    struct shmt_random random;
    bool there[PAIRS] = {false};
    uint64_t keys[PAIRS];
    size_t count = 0;

    shmt_random_seed(&random, 3);
    /* Some keys in a row, some far apart: runs of slots grow together. */
    for (size_t k = 0; k < PAIRS; k++)
        keys[k] = shmt_random_below(&random, KEYS) << (k % 2 * 40);
    for (int step = 0; step < STEPS; step++) {
        const size_t k = shmt_random_below(&random, PAIRS);
        uint64_t wanted = 0, sum;
        size_t same = 0;

        if (there[k])
            shmt_map_remove(&map, keys[k], (uint32_t)k);
        else
            CHECK(shmt_map_add(&map, keys[k], (uint32_t)k));
        there[k] = !there[k];
        count = there[k] ? count + 1 : count - 1;
        for (size_t j = 0; j < PAIRS; j++)
            if (there[j] && keys[j] == keys[k]) {
                wanted += j;
                same++;
            }
        CHECK_INT(values_of(&map, keys[k], &sum), same);
        CHECK_INT(sum, wanted);
        CHECK_INT(map.count, count);
    }
    shmt_map_free(&map);
}

static void hashes_differ(void)
{
    const char text[] = "a hash is made of words of eight bytes";

    for (size_t k = 0; k < sizeof text; k++)
        for (size_t j = 0; j < k; j++)
            CHECK(shmt_map_hash_bytes(text, k) !=
                  shmt_map_hash_bytes(text, j));
    CHECK(shmt_map_hash_bytes("12345678a", 9) ==
          shmt_map_hash_bytes("12345678a", 9));
}

static void arrays_keep_their_items(void)
{
    uint32_t *items = NULL;
    size_t room = 0;

    for (uint32_t k = 0; k < 5000; k++) {
        CHECK(shmt_array_reserve(&items, &room, k + 1, sizeof *items));
        items[k] = k;
    }
    for (uint32_t k = 0; k < 5000; k++)
        CHECK_INT(items[k], k);
    CHECK(shmt_array_reserve(&items, &room, 100000, sizeof *items));
    CHECK(room >= 100000);
    CHECK_INT(items[4999], 4999);
    CHECK(!shmt_array_reserve(&items, &room, SIZE_MAX / 2, sizeof *items));
    CHECK_INT(items[4999], 4999);
    free(items);
}

static void time_passes(void)
{
    const double start = shmt_clock_s(), own = shmt_clock_thread_s();

    while (shmt_clock_thread_s() < own + 0.002)
        continue;
    CHECK(shmt_clock_s() >= start + 0.002);
    CHECK(shmt_clock_s() < start + 100);
}

int main(void)
{
    CHECK_RUN(keys_are_found_again);
    CHECK_RUN(pairs_come_and_go);
    CHECK_RUN(hashes_differ);
    CHECK_RUN(arrays_keep_their_items);
    CHECK_RUN(time_passes);
    return CHECK_END();
}
