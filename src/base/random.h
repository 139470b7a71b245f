/* SPDX-License-Identifier: MIT */
/*
 * random: numbers that a seed repeats, on every machine.
 */
#ifndef SHMT_BASE_RANDOM_H
#define SHMT_BASE_RANDOM_H

#include <stdint.h>

/* Another number for every number; each bit depends on all of them. */
static inline uint64_t shmt_random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The draw at `position` of the sequence that `seed` begins: splitmix64.
 * bench/source.c computes the same on the device. */
static inline uint64_t shmt_random_at(uint64_t seed, uint64_t position)
{
    return shmt_random_mix(seed +
                           (position + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* A generator of longer sequences; begins with shmt_random_seed. */
struct shmt_random {
    uint64_t state[4];
};

void shmt_random_seed(struct shmt_random *random, uint64_t seed);
uint64_t shmt_random_next(struct shmt_random *random);
/* Less than `bound`, each number as likely; 0 for a bound of 0. */
uint64_t shmt_random_below(struct shmt_random *random, uint64_t bound);
double shmt_random_unit(struct shmt_random *random);   /* [0, 1) */
double shmt_random_normal(struct shmt_random *random);

#endif
