/* SPDX-License-Identifier: MIT */
/*
 * tree: the tree of a dispatch and its estimates as a selection uses them:
 * numbers of the problem, each made of two before it in the same few
 * instructions, without loops, divisions and checks for overflow.  That these
 * are not needed is proven from the range of the dispatch; what cannot be so is
 * left as it is in the tuning.
 *
 * Made by tree.c, walked by dispatch.c.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_TREE_H
#define SHMT_RUNTIME_TREE_H

#include "record/record.h"

__extension__ typedef unsigned __int128 shmt_runtime_wide;

/* What a number is multiplied by, of which the upper half is then taken, to be
 * divided by `by` (after Robison). */
static inline uint64_t shmt_runtime_inverse(int64_t by)
{
    return UINT64_MAX / (uint64_t)by;
}

/* (number - 1) // by, where the number is 1 or more, and at most 2^63 // by. */
static inline uint64_t shmt_runtime_divide(uint64_t number, uint64_t inverse)
{
    return (uint64_t)((shmt_runtime_wide)number * inverse >> 64);
}

/* The numbers of a problem are 1, its sizes, and what is made of them. */
enum {
    SHMT_RUNTIME_NUMBERS = 256,
    SHMT_RUNTIME_FIRST = 1 + SHMT_KERNEL_DIMENSIONS
};

/* ceildiv(a * b, by) of numbers before. */
struct shmt_runtime_step {
    uint64_t inverse;             /* of `by` */
    uint8_t a, b;
    const struct shmt_dispatch_term *plain;   /* NULL: it is as above */
};

/* What is not a product alone. */
struct shmt_runtime_feature {
    uint64_t inverse;
    uint32_t modulo;
    const struct shmt_dispatch_feature *plain;  /* NULL: modulo that */
};

enum {
    SHMT_RUNTIME_PRODUCT = SHMT_DISPATCH_LEAF - 1,
    SHMT_RUNTIME_FACTORS = 3
};

/* Where the product of `of` is less than `below` times `per`, the next node
 * follows, else node `other`. */
struct shmt_runtime_node {
    int64_t below;
    uint8_t of[SHMT_RUNTIME_FACTORS], per;   /* numbers */
    uint16_t feature;             /* or SHMT_RUNTIME_PRODUCT, or
                                     SHMT_DISPATCH_LEAF: */
    uint16_t other;               /* then the number of the leaf */
};

/* The steps of its estimates stand in `used`: first those that are plain. */
struct shmt_runtime_leaf {
    uint16_t rank, rank_count;
    uint16_t plain_count, step_count;
    const uint8_t *used;
};

struct shmt_runtime_tree {
    size_t shared;                /* numbers that are made of each problem */
    const struct shmt_runtime_step *steps;    /* of each number */
    const struct shmt_runtime_feature *features;
    const struct shmt_runtime_node *nodes;
    const struct shmt_runtime_leaf *leaves;
    const uint16_t *ranks;
    const struct shmt_dispatch_estimate *estimates;   /* its terms are numbers;
                                                         NULL: none */
    const uint16_t *factors;      /* of the ranks */
};

/* Zeroed, one element more; of `room` the bytes are taken.  NULL: there are not
 * so many, and `room` is 0 now, or there is no memory. */
void *shmt_runtime_take(struct shmt_arena *arena, size_t *room, size_t count,
                        size_t size);

/* Dimension d of `from` is `place[d]` of the kernel, of which the sizes are
 * from 1 to `most`.  Takes from `room` the bytes that it needs.  False: there
 * is no room, or no memory. */
bool shmt_runtime_tree_make(struct shmt_arena *arena,
                            const struct shmt_dispatch *from,
                            const size_t *place, const int64_t *most,
                            size_t *room,
                            struct shmt_runtime_tree *out);

#endif
