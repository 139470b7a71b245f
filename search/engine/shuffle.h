/* SPDX-License-Identifier: MIT */
/*
 * shuffle: the numbers 0 .. count - 1 in a random order, in constant memory
 * for any count: a keyed permutation, not a list.  For search/ only.
 */
#ifndef SHMT_ENGINE_SHUFFLE_H
#define SHMT_ENGINE_SHUFFLE_H

#include "search/search.h"

enum { SHMT_SHUFFLE_ROUNDS = 8 };

struct shmt_shuffle {
    uint64_t count;
    uint64_t next;      /* position of the number that comes next */
    int half;           /* bits of each half of the cipher's block */
    uint64_t keys[SHMT_SHUFFLE_ROUNDS];
};

void shmt_shuffle_begin(struct shmt_shuffle *shuffle, uint64_t count,
                        struct shmt_random *random);

/* False when all have been given. */
bool shmt_shuffle_next(struct shmt_shuffle *shuffle, uint64_t *number);

#endif
