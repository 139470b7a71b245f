/* SPDX-License-Identifier: MIT */
/*
 * pattern: what the tuner fills buffers with, computed on the CPU.  The
 * device computes the same in source.c, bit for bit, so a test can
 * recompute any element without copying it.
 *
 * The draw of element i is shmt_random_at(seed, i).  Uniform reals:
 * low + (high - low) * u in double, u = (draw >> 11) / 2^53, rounded to the
 * type (which may give `high` itself).  Uniform integers: low + draw mod
 * (high - low).  Ramps: i, modulo 2^11 (f16), 2^24 (f32), 2^53
 * (f64) or the range of the non-negative numbers of the type.
 */
#ifndef SHMT_BENCH_PATTERN_H
#define SHMT_BENCH_PATTERN_H

#include "gpu/gpu.h"

/* Two words that a computation is unlikely to produce.  Both are NaN as f32
 * and as f16, and they differ in every byte, so an element that is equal to
 * the first by chance is not equal to the second. */
#define SHMT_PATTERN_POISON_A 0x7fe57fe5u
#define SHMT_PATTERN_POISON_B 0xfff0fff0u

struct shmt_pattern {
    enum shmt_element element;
    enum shmt_fill fill;
    double low, high;
    uint64_t seed;
};

/* What argument number `argument` of a spec is filled with. */
struct shmt_pattern shmt_pattern_of(const struct shmt_argument *argument,
                                    size_t number, uint64_t seed);

union shmt_element_scalar shmt_pattern_value(const struct shmt_pattern *pattern,
                                             uint64_t index);

#endif
