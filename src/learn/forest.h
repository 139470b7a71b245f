/* SPDX-License-Identifier: MIT */
/*
 * forest: what growing a tree needs of the sizes: how much each configuration
 * loses at each, and the numbers that may be compared.  Private to learn.
 */
#ifndef SHMT_LEARN_FOREST_H
#define SHMT_LEARN_FOREST_H

#include "learn/table.h"
#include "record/record.h"

enum {
    SHMT_LEARN_FEATURES = 400,
    SHMT_LEARN_OWN = 3             /* numbers of a configuration at a size */
};

struct shmt_learn_field {
    size_t count;                  /* sizes */
    size_t configs;
    const double *loss;            /* [count][configs]: 1 - best / time, and
                                      more where much is lost; 1.. not valid */
    /* What comparisons are to explain: the loss, or what estimates leave of
     * it. */
    const double *rest;            /* [count][configs] */
    const bool *measured;          /* [count][configs]: forests learn from it */
    const double *behind;          /* [count][configs]: ln(estimate / least);
                                      SHMT_LEARN_NEVER: it may not run there.
                                      NULL: no estimates are used */
    size_t feature_count;
    const struct shmt_dispatch_feature *features;
    const int64_t *values;         /* [feature_count][count], and for forests
                                      [configs][SHMT_LEARN_OWN][count] */
    const uint32_t *sorted;        /* [feature_count][count]: the sizes, in the
                                      order of each value */
};

struct shmt_learn_tree {
    size_t count;
    struct shmt_dispatch_node nodes[SHMT_DISPATCH_NODES]; /* `rank` of a leaf:
                                      SHMT_DISPATCH_RANKS for each leaf */
    size_t leaf_count;
    uint16_t ranks[SHMT_DISPATCH_NODES][SHMT_DISPATCH_RANKS];
    /* What each loses there, but for what its estimate says. */
    double rests[SHMT_DISPATCH_NODES][SHMT_DISPATCH_RANKS];
    uint32_t times[SHMT_DISPATCH_NODES][SHMT_DISPATCH_RANKS];  /* it is chosen;
                                      filled in by make.c */
};

/* ln(1.5), as of shmt_dispatch_score: nothing is told apart beyond. */
#define SHMT_LEARN_FAR 0.405465
#define SHMT_LEARN_NEVER 100.0

/* Adds the numbers of a problem that may decide. */
size_t shmt_learn_features(const struct shmt_learn_table *table,
                           struct shmt_dispatch_feature *out);

/* SHMT_LEARN_OWN numbers of a configuration at a problem that say how well it
 * fills the device, but depend on more than a dispatch can hold. */
void shmt_learn_own(const struct shmt_learn_table *table,
                    const int64_t *problem, size_t config, int64_t *out);

/* The rest that each configuration has at the first `asked` sizes, by the mean
 * of `trees` random trees, which are grown on those of the sizes `known` at
 * which it was measured: out is [asked][configs]; 0 where it was nowhere.
 * False: there is no memory. */
bool shmt_learn_forest(const struct shmt_learn_field *field,
                       const size_t *known, size_t count, size_t asked,
                       size_t trees, uint64_t seed, double *out);

/* Sorts the sizes by each feature: out is as `sorted` of the field.  False:
 * there is no memory. */
bool shmt_learn_sort(const struct shmt_learn_field *field, uint32_t *out);

/* Grows a tree on the sizes `chosen`; their order is lost.  Each
 * comparison loses less than none by `gain`.  False: there is no
 * memory. */
bool shmt_learn_grow(const struct shmt_learn_field *field, double gain,
                     size_t *chosen, size_t count,
                     struct shmt_learn_tree *out);

/* Which rank of a leaf, of `count`, is chosen for size `k`: the first, or by
 * the estimates. */
size_t shmt_learn_choose(const struct shmt_learn_field *field,
                         const struct shmt_learn_tree *tree, size_t leaf,
                         size_t count, size_t k);

/* The leaf of size `k`. */
size_t shmt_learn_leaf(const struct shmt_learn_field *field,
                       const struct shmt_learn_tree *tree, size_t k);

#endif
