/* SPDX-License-Identifier: MIT */
/*
 * proven: a dispatch as prove.c makes it and dispatch.c walks it.  Private
 * to these two.
 */
#ifndef SHMT_RUNTIME_PROVEN_H
#define SHMT_RUNTIME_PROVEN_H

#include "runtime/dispatch.h"

/* A number that others are divided by, from 1 to INT32_MAX, as a product and a
 * shift: exact, and without a division, where the number and it come to less
 * than 2^31 (after Granlund and Montgomery). */
struct shmt_runtime_divisor {
    uint32_t by, inverse;         /* 2^shift / by, rounded up */
    uint8_t shift;                /* 31, and the bits of by - 1 */
};

static inline struct shmt_runtime_divisor
shmt_runtime_divisor_of(int64_t by)
{
    struct shmt_runtime_divisor out = {.by = (uint32_t)by, .shift = 31};

    while (INT64_C(1) << (out.shift - 31) < by)
        out.shift++;
    out.inverse = (uint32_t)(((UINT64_C(1) << out.shift) + out.by - 1) /
                             out.by);
    return out;
}

/* Of a number that is 0 or more, rounded up. */
static inline int64_t shmt_runtime_divide(int64_t number,
                                          struct shmt_runtime_divisor divisor)
{
    const uint64_t sum = (uint64_t)number + divisor.by - 1;

    if (sum <= INT32_MAX)
        return (int64_t)(sum * divisor.inverse >> divisor.shift);
    return number / divisor.by + (number % divisor.by != 0);
}

/* ceildiv(size, unit). */
struct shmt_runtime_term {
    struct shmt_runtime_divisor unit;
    uint16_t dimension;
};

/* A term of estimates: terms of a product, the product of which is divided by
 * `rounds`, and multiplied by sizes. */
struct shmt_runtime_part {
    uint16_t first, of;
    uint16_t by_count;
    uint16_t by[SHMT_KERNEL_DIMENSIONS];
    struct shmt_runtime_divisor rounds;
};

struct shmt_runtime_feature {
    uint16_t first, of, per;      /* terms: `of` of them, then `per` */
    uint32_t modulo;              /* 0: none */
};

/* A number of a launch: of its grid, a multiple of the cluster, or of its
 * shared memory. */
struct shmt_runtime_extent {
    const struct shmt_expr *value, *when;  /* NULL: always */
    int64_t low, high, multiple;
};
enum { SHMT_RUNTIME_EXTENTS = 4 };

struct shmt_runtime_option {
    const shmt_config *values;
    /* What is to be checked of it: what is left of its constraints, or
     * everything. */
    bool whole;
    bool full;                    /* some of that uses its parameters */
    bool never;                   /* it runs nowhere in the range */
    uint64_t cases;               /* where what depends on few holds */
    bool narrowed;                /* to these sizes, by what depends on one */
    int64_t least[SHMT_KERNEL_DIMENSIONS], most[SHMT_KERNEL_DIMENSIONS];
    size_t count;
    const struct shmt_expr *const *conditions;
    size_t extent_count;
    struct shmt_runtime_extent extents[SHMT_RUNTIME_EXTENTS];
};

/* Dimensions of which few values are in the range: all cases of them are
 * numbered. */
enum { SHMT_RUNTIME_CASES = 64 };
struct shmt_runtime_few {
    size_t count, cases;
    size_t dimensions[SHMT_KERNEL_DIMENSIONS];
};

struct shmt_runtime_dispatch {
    size_t dimensions;
    int64_t least[SHMT_KERNEL_DIMENSIONS], most[SHMT_KERNEL_DIMENSIONS];
    struct shmt_runtime_few few;
    const struct shmt_dispatch_node *nodes;
    const uint16_t *ranks;
    const struct shmt_dispatch_estimate *estimates;   /* NULL: none */
    const uint16_t *factors;      /* of the ranks */
    const struct shmt_runtime_part *parts;
    const struct shmt_runtime_feature *features;
    const struct shmt_runtime_term *terms;
    const struct shmt_runtime_option *options;
};

static inline void shmt_runtime_put_sizes(const int64_t *problem,
                                          size_t dimensions,
                                          struct shmt_value *sizes)
{
    for (size_t d = 0; d < dimensions; d++)
        sizes[d] = (struct shmt_value){.type = SHMT_VALUE_INT,
                                       .i = problem[d]};
}

/* What cannot be computed is not. */
static inline bool
shmt_runtime_is_true(const struct shmt_expr *condition,
                     struct shmt_expr_evaluation *evaluation)
{
    bool out;

    return shmt_expr_next_bool(condition, evaluation, &out, NULL) ==
               SHMTUNE_OK && out;
}

static inline bool
shmt_runtime_is_inside(const struct shmt_runtime_extent *extent,
                       struct shmt_expr_evaluation *evaluation)
{
    bool used = true;
    int64_t value;

    if (extent->when != NULL &&
        shmt_expr_next_bool(extent->when, evaluation, &used, NULL) !=
            SHMTUNE_OK)
        return false;
    return !used ||
           (shmt_expr_next_int(extent->value, evaluation, &value, NULL) ==
                SHMTUNE_OK &&
            value >= extent->low &&
            value <= extent->high &&
            value % extent->multiple == 0);
}

#endif
