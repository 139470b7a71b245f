/* SPDX-License-Identifier: MIT */
/*
 * shuffle: a Feistel network over the smallest even number of bits that
 * holds the range.  What falls outside of the range is put through it again
 * (cycle walking) until it falls inside: fewer than four times on average.
 */
#include "search/engine/shuffle.h"

/* With fewer bits the permutation would be too regular. */
enum { SMALLEST_HALF = 4 };

void shmt_shuffle_begin(struct shmt_shuffle *shuffle, uint64_t count,
                        struct shmt_random *random)
{
    shuffle->count = count;
    shuffle->next = 0;
    shuffle->half = SMALLEST_HALF;
    while (shuffle->half < 32 && count >> 2 * shuffle->half != 0)
        shuffle->half++;
    for (int r = 0; r < SHMT_SHUFFLE_ROUNDS; r++)
        shuffle->keys[r] = shmt_random_next(random);
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint64_t permute(const struct shmt_shuffle *shuffle, uint64_t block)
{
    const uint64_t mask = (UINT64_C(1) << shuffle->half) - 1;
    uint64_t left = block >> shuffle->half, right = block & mask;

    for (int r = 0; r < SHMT_SHUFFLE_ROUNDS; r++) {
        const uint64_t mixed =
            left ^ (scramble(right + shuffle->keys[r]) & mask);

        left = right;
        right = mixed;
    }
    return left << shuffle->half | right;
}

bool shmt_shuffle_next(struct shmt_shuffle *shuffle, uint64_t *number)
{
    uint64_t block;

    if (shuffle->next >= shuffle->count)
        return false;
    block = shuffle->next++;
    do
        block = permute(shuffle, block);
    while (block >= shuffle->count);
    *number = block;
    return true;
}
