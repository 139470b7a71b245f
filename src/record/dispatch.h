/* SPDX-License-Identifier: MIT */
/*
 * dispatch: which configuration does best where, as a tuning holds it: a tree
 * of comparisons of integers, with a list of configurations at each leaf, best
 * first.  Learnt by learn/ from measurements, walked by runtime/.  Untrusted
 * like all of a tuning: it names no configuration that the tuning's reader
 * would refuse, and whoever walks it checks what it finds.
 */
#ifndef SHMT_RECORD_DISPATCH_H
#define SHMT_RECORD_DISPATCH_H

#include "kernel/kernel.h"

struct shmt_setting;
struct shmt_tuning;
struct shmt_yaml;

/* Of what is written and read. */
enum {
    SHMT_DISPATCH_CONFIGS = 64,
    SHMT_DISPATCH_FEATURES = 64,
    SHMT_DISPATCH_NODES = 511,
    SHMT_DISPATCH_RANKS = 8,       /* of a leaf */
    SHMT_DISPATCH_DEPTH = 24,
    SHMT_DISPATCH_TERMS = 128,     /* of all estimates, */
    SHMT_DISPATCH_TERMS_OF_ONE = 8,
    SHMT_DISPATCH_FACTOR = 1000,   /* one, as factors of a leaf are written */
    SHMT_DISPATCH_MOST_FACTOR = 9999,
    SHMT_DISPATCH_CUT = 14,        /* bits of an estimate: room for a factor */
    SHMT_DISPATCH_LEAF = UINT16_MAX
};

/* A number of a problem: the product of ceildiv(size, of) over the dimensions
 * whose `of` is not 0, divided by the same with `per` (rounded down), modulo
 * `modulo` unless that is 0.  Products end at INT64_MAX. */
struct shmt_dispatch_feature {
    int64_t of[SHMT_KERNEL_DIMENSIONS];
    int64_t per[SHMT_KERNEL_DIMENSIONS];
    int64_t modulo;
};

/* What the time of a configuration is made of: the product of ceildiv(size, of)
 * as above, divided by `rounds` (rounded up) unless that is 0, and multiplied
 * by the sizes of the dimensions whose `by` is set. */
struct shmt_dispatch_term {
    int64_t of[SHMT_KERNEL_DIMENSIONS];
    int64_t rounds;
    bool by[SHMT_KERNEL_DIMENSIONS];
};

/* About how long a configuration takes, in attoseconds: `start`, and of so many
 * terms each so much. */
struct shmt_dispatch_estimate {
    int64_t start;
    size_t count;
    uint16_t terms[SHMT_DISPATCH_TERMS_OF_ONE];
    int64_t each[SHMT_DISPATCH_TERMS_OF_ONE];
};

/* Where the feature is below the number, the next node follows, else node
 * `other`.  Of a leaf (feature SHMT_DISPATCH_LEAF), `other` says how many
 * ranks it has, from `rank` on. */
struct shmt_dispatch_node {
    int64_t below;
    uint16_t feature;
    uint16_t other;
    uint16_t rank;
};

/* How much of the best time the configurations chosen for held-out sizes
 * reach: mean and first percentile, in hundredths of a percent. */
struct shmt_dispatch_figures {
    int64_t mean, low;
};

struct shmt_dispatch {
    size_t dimension_count;
    const char *names[SHMT_KERNEL_DIMENSIONS];
    int64_t least[SHMT_KERNEL_DIMENSIONS];  /* of what was measured: it does */
    int64_t most[SHMT_KERNEL_DIMENSIONS];   /* not say anything beyond */
    uint64_t seed, sizes;              /* sizes measured, and what drew them */
    struct shmt_dispatch_figures held_out, nearest;
    size_t config_count, setting_count;
    const struct shmt_setting *const *configs; /* names as in the tuning's */
    size_t feature_count;
    const struct shmt_dispatch_feature *features;
    size_t node_count;
    const struct shmt_dispatch_node *nodes;    /* a tree in preorder */
    size_t rank_count;
    const uint16_t *ranks;             /* into configs */
    /* With estimates, the rank is chosen of which the estimate, at most half
     * as much again as the least of the leaf, times the factor is the least. */
    size_t term_count;
    const struct shmt_dispatch_term *terms;
    const struct shmt_dispatch_estimate *estimates;  /* of each configuration;
                                                        NULL: none */
    const uint16_t *factors;           /* of each rank, in thousandths */
};

int64_t shmt_dispatch_value(const struct shmt_dispatch_feature *feature,
                            const int64_t *problem, size_t dimensions);

int64_t shmt_dispatch_term_value(const struct shmt_dispatch_term *term,
                                 const int64_t *problem, size_t dimensions);

/* Sums of products that end at INT64_MAX; both are 0 or more. */
static inline int64_t shmt_dispatch_add(int64_t sum, int64_t each,
                                        int64_t value)
{
    int64_t product;

    if (__builtin_mul_overflow(each, value, &product) ||
        __builtin_add_overflow(sum, product, &sum))
        return INT64_MAX;
    return sum;
}

/* What decides between the ranks of a leaf; `least` is the least estimate of
 * them. */
static inline int64_t shmt_dispatch_score(int64_t estimate, int64_t least,
                                          int64_t factor)
{
    const int64_t most = least + (INT64_MAX - least < least / 2
                                      ? INT64_MAX - least : least / 2);

    return ((estimate < most ? estimate : most) >> SHMT_DISPATCH_CUT) *
           factor;
}

/* The leaf for a problem, whose sizes are in the order of the dimensions. */
const struct shmt_dispatch_node *
shmt_dispatch_walk(const struct shmt_dispatch *dispatch,
                   const int64_t *problem);

/* Whether every size is within what was measured. */
bool shmt_dispatch_covers(const struct shmt_dispatch *dispatch,
                          const int64_t *problem);

/* "rows*cols", "ceildiv(rows,32) mod 132": for people. */
void shmt_dispatch_describe(const struct shmt_dispatch *dispatch, size_t k,
                            struct shmt_text *text);
void shmt_dispatch_describe_term(const struct shmt_dispatch *dispatch,
                                 size_t k, struct shmt_text *text);

/* The value of the key `dispatch`, behind "dispatch:\n". */
void shmt_dispatch_write(const struct shmt_dispatch *dispatch,
                         struct shmt_text *text);

/* Reads that value.  Whatever cannot be walked is refused, with
 * file:line:column.  The dimensions have to be those of the tuning's sizes and
 * the parameters those of its configurations, in their order. */
enum shmtune_status shmt_dispatch_read(const struct shmt_tuning *tuning,
                                       const struct shmt_yaml *node,
                                       const struct shmt_dispatch **out,
                                       struct shmt_error *err);

#endif
