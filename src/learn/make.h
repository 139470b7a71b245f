/* SPDX-License-Identifier: MIT */
/*
 * make: a dispatch of what was learnt: of the tree that was grown, the
 * estimates that it was grown with, and what they use.  Private to learn.
 */
#ifndef SHMT_LEARN_MAKE_H
#define SHMT_LEARN_MAKE_H

#include "learn/estimate.h"
#include "learn/forest.h"

struct shmt_learn_grown {
    const struct shmt_learn_table *table;
    uint64_t seed;
    size_t count;                          /* sizes that are done */
    const struct shmt_learn_size *const *sizes;
    const double *share;                   /* [count][configs]: best / time */
    const struct shmt_learn_field *field;  /* the sizes are its first */
    const size_t *column;                  /* of its configurations in the
                                              table */
    const struct shmt_learn_estimate *estimates;   /* used where the field says
                                                      what is behind */
    struct shmt_learn_tree *tree;
};

/* *out stays NULL where the tree wants more than a dispatch holds.  False:
 * there is no memory. */
bool shmt_learn_make(const struct shmt_learn_grown *grown,
                     struct shmt_arena *arena, struct shmt_dispatch **out);

#endif
