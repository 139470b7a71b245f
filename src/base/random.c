/* SPDX-License-Identifier: MIT */
/*
 * random: xoshiro256** filled by splitmix64, both public domain by David
 * Blackman and Sebastiano Vigna; written anew from their description.
 */
#include "base/random.h"

#include <math.h>

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

void shmt_random_seed(struct shmt_random *random, uint64_t seed)
{
    for (uint64_t k = 0; k < 4; k++)
        random->state[k] = shmt_random_at(seed, k);
}

uint64_t shmt_random_next(struct shmt_random *random)
{
    uint64_t *const s = random->state;
    const uint64_t result = rotate(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t shmt_random_below(struct shmt_random *random, uint64_t bound)
{
    uint64_t skip, draw;

    if (bound < 2)
        return 0;
    /* The 2^64 mod bound smallest draws would come up once too often. */
    skip = -bound % bound;
    do
        draw = shmt_random_next(random);
    while (draw < skip);
    return draw % bound;
}

double shmt_random_unit(struct shmt_random *random)
{
    return (double)(shmt_random_next(random) >> 11) * 0x1p-53;
}

double shmt_random_normal(struct shmt_random *random)
{
    const double radius = sqrt(-2 * log(1 - shmt_random_unit(random)));

    return radius * cos(2 * 3.14159265358979323846
                        * shmt_random_unit(random));
}
