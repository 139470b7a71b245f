/* SPDX-License-Identifier: MIT */
/*
 * proven: a dispatch as prove.c makes it and dispatch.c walks it.  Private
 * to these two.
 */
#ifndef SHMT_RUNTIME_PROVEN_H
#define SHMT_RUNTIME_PROVEN_H

#include "runtime/dispatch.h"
#include "runtime/tree.h"

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
    struct shmt_runtime_tree tree;
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
