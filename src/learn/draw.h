/* SPDX-License-Identifier: MIT */
/*
 * draw: problems at random, from the range that the tuned ones span and from
 * around it: to learn from, and to judge by.
 */
#ifndef SHMT_LEARN_DRAW_H
#define SHMT_LEARN_DRAW_H

#include "kernel/kernel.h"

struct shmt_learn_draw {
    const struct shmt_kernel *kernel;
    size_t count;                   /* tuned problems */
    const int64_t (*tuned)[SHMT_KERNEL_DIMENSIONS];
    int64_t memory_bytes;           /* that its arguments may take */
    struct shmt_random random;
    double low[SHMT_KERNEL_DIMENSIONS];    /* log2, of what is drawn */
    double high[SHMT_KERNEL_DIMENSIONS];
    double volume;                  /* log2 of the product, at most */
};

/* `tuned` is not copied. */
void shmt_learn_draw_begin(struct shmt_learn_draw *draw,
                           const struct shmt_kernel *kernel,
                           const int64_t (*tuned)[SHMT_KERNEL_DIMENSIONS],
                           size_t count, int64_t memory_bytes, uint64_t seed);

/* The bounds of what is drawn; 0 and 0 of a dimension that is compiled in. */
void shmt_learn_draw_range(const struct shmt_learn_draw *draw, int64_t *least,
                           int64_t *most);

/* The next problem: at which the default configuration may run, and which is
 * none of the tuned.  Half are drawn evenly by the logarithm, each dimension
 * for itself, a quarter are multiples of powers of two, a quarter are within a
 * factor of two of a tuned problem.  A dimension that is compiled in has the
 * sizes that were tuned.  False: there is none to be found. */
bool shmt_learn_draw_next(struct shmt_learn_draw *draw, int64_t *problem);

#endif
