/* SPDX-License-Identifier: MIT */
/*
 * pattern: what the tuner fills buffers with, computed on the CPU.  The
 * device computes the same from the same text (pattern_code.h), bit for bit,
 * so a test can recompute any element without copying it.
 *
 * draw(i) is shmt_random_at(seed, i), u(i) is (draw(i) >> 11) / 2^53; sums and
 * products are doubles, each rounded, and the last is rounded to the type
 * (which may give `high` itself).  Element i of `count` is
 *
 *   uniform       low + (high - low) u(i); whole: low + draw(i) mod (high-low)
 *   ramp          i, modulo 2^11 (f16), 2^24 (f32), 2^53 (f64) or the range of
 *                 the non-negative numbers of the type
 *   steps         from + i step
 *   normal        mean + deviation (u(12 i) + ... + u(12 i + 11) - 6), but
 *                 not below `low` nor above `high`; whole: to the nearest
 *   sorted        low + (high - low) (i + u(i)) / count; whole: rounded down
 *   permutation   each of 0 to count - 1 once
 *   row_pointers  i mean + spread (u(i) - 1/2), not below (i - 1/2) mean nor
 *                 above (i + 1/2) mean, rounded down; the first and the last
 *                 without the spread
 */
#ifndef SHMT_DATA_PATTERN_H
#define SHMT_DATA_PATTERN_H

#include "data/pattern_code.h"
#include "kernel/kernel.h"

/* Two words that a computation is unlikely to produce.  Both are NaN as f32
 * and as f16, and they differ in every byte, so an element that is equal to
 * the first by chance is not equal to the second. */
#define SHMT_PATTERN_POISON_A 0x7fe57fe5u
#define SHMT_PATTERN_POISON_B 0xfff0fff0u

SHMT_PATTERN_STRUCT

/* What argument number `argument` of a spec is filled with. */
struct shmt_pattern shmt_pattern_of(const struct shmt_fill_values *values,
                                    size_t number, uint64_t seed);
/* The same with what follows from the type of its elements. */
struct shmt_pattern
shmt_pattern_complete(const struct shmt_pattern *pattern);

union shmt_element_scalar shmt_pattern_value(const struct shmt_pattern *pattern,
                                             uint64_t index);

#endif
