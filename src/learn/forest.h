/* SPDX-License-Identifier: MIT */
/*
 * forest: what growing a tree needs of the sizes: how much each configuration
 * loses at each, and the numbers that may be compared.  Private to learn.
 */
#ifndef SHMT_LEARN_FOREST_H
#define SHMT_LEARN_FOREST_H

#include "learn/table.h"
#include "record/record.h"

enum { SHMT_LEARN_FEATURES = 400 };

struct shmt_learn_field {
    size_t count;                  /* sizes */
    size_t configs;
    const double *loss;            /* [count][configs]: 1 - best / time, and
                                      more where much is lost; 1.. not valid */
    size_t feature_count;
    const struct shmt_dispatch_feature *features;
    const uint8_t *family;         /* of a feature: how special it is */
    const int64_t *values;         /* [feature_count][count] */
};

/* How a tree is grown. */
struct shmt_learn_way {
    int families;                  /* features of families below it */
    size_t least;                  /* sizes of a leaf */
    double prior;                  /* sizes that the node above counts for */
    double gain;                   /* that a comparison has to bring */
};

struct shmt_learn_tree {
    size_t count;
    struct shmt_dispatch_node nodes[SHMT_DISPATCH_NODES]; /* `rank` of a leaf:
                                      SHMT_DISPATCH_RANKS for each leaf */
    size_t leaf_count;
    uint16_t ranks[SHMT_DISPATCH_NODES][SHMT_DISPATCH_RANKS];
};

/* Adds the numbers of a problem that may decide. */
size_t shmt_learn_features(const struct shmt_learn_table *table,
                           struct shmt_dispatch_feature *out,
                           uint8_t *family);

/* Grows a tree on the sizes `chosen`; their order is lost.  False: there is no
 * memory. */
bool shmt_learn_grow(const struct shmt_learn_field *field,
                     const struct shmt_learn_way *way, size_t *chosen,
                     size_t count, struct shmt_learn_tree *out);

/* The leaf of size `k`. */
size_t shmt_learn_leaf(const struct shmt_learn_field *field,
                       const struct shmt_learn_tree *tree, size_t k);

#endif
