/* SPDX-License-Identifier: MIT */
/*
 * binaries: a hash table from the key of a binary to its number, 0, 1, 2, ...
 * Called by live.c and replay.c, which compile each binary once.
 */
#include "target/binaries.h"

#include <stdlib.h>
#include <string.h>

void shmt_target_binaries_free(struct shmt_target_binaries *binaries)
{
    free(binaries->keys);
    shmt_map_free(&binaries->numbers);
    *binaries = (struct shmt_target_binaries){0};
}

size_t shmt_target_binaries_number(struct shmt_target_binaries *binaries,
                                   const char key[SHMT_DIGEST_TEXT])
{
    const uint64_t hash = shmt_map_hash_bytes(key, strlen(key));
    uint32_t number;

    for (size_t probe = 0;
         (number = shmt_map_next(&binaries->numbers, hash, &probe)) !=
         SHMT_MAP_NONE;)
        if (strcmp(binaries->keys[number], key) == 0)
            return number;
    if (!shmt_array_reserve(&binaries->keys, &binaries->room,
                            binaries->count + 1, sizeof *binaries->keys) ||
        !shmt_map_add(&binaries->numbers, hash, (uint32_t)binaries->count))
        return SIZE_MAX;
    memcpy(binaries->keys[binaries->count], key, SHMT_DIGEST_TEXT);
    return binaries->count++;
}
