/* SPDX-License-Identifier: MIT */
/*
 * space_build: from a plan to a diagram, level by level, and what the
 * diagram looks like.  For the files space_*.c alone.
 */
#ifndef SHMT_CORE_SPACE_BUILD_H
#define SHMT_CORE_SPACE_BUILD_H

#include "core/space_plan.h"

/* One value of a node's parameter that leads to configurations. */
struct shmt_edge {
    uint64_t before;      /* configurations behind the edges before it */
    uint32_t child;       /* node of the next level */
    shmt_choice value;
};

/* Nodes of a level: node n has edges[first[n] .. first[n + 1]), values
 * ascending. */
struct shmt_layer {
    uint8_t parameter;
    uint32_t node_count;
    uint32_t *first;
    struct shmt_edge *edges;
    uint64_t *total;      /* configurations behind each node */
};

struct shmt_diagram {
    size_t layer_count;
    struct shmt_layer *layers;   /* [0] has the root alone */
    uint64_t count;
    bool saturated;              /* 2^64 - 1 configurations or more: `count`
                                    and `before` are no use */
};

/* How to build. */
struct shmt_build_limit {
    uint64_t edges;       /* most that may be looked at */
    bool lenient;         /* a constraint without a value does not hold */
    bool reached;         /* set when `edges` was not enough */
};

enum shmtune_status shmt_build_diagram(const struct shmt_plan *plan,
                                       struct shmt_build_limit *limit,
                                       struct shmt_diagram *out,
                                       struct shmt_error *err);
void shmt_diagram_free(struct shmt_diagram *diagram);

/* space_reduce.c: the layers as they are built: every state reached, edges
 * that may lead nowhere. */
struct shmt_raw_layer {
    uint32_t state_count;        /* at its upper end */
    uint32_t *first;             /* [state_count + 1] */
    uint32_t *child;
    shmt_choice *value;
    size_t edge_count, edge_room;
};
struct shmt_raw {
    struct shmt_raw_layer *layers;   /* [level_count] */
    uint32_t end_count;              /* states behind the last layer */
    uint32_t end_fault;              /* the one in which a constraint has no
                                        value, or UINT32_MAX */
    bool lenient;
};
/* Drops what leads nowhere, joins what is equal, counts.  A constraint
 * without a value is SHMTUNE_INVALID_FILE, with the configuration. */
enum shmtune_status shmt_reduce(const struct shmt_plan *plan,
                                const struct shmt_raw *raw,
                                struct shmt_diagram *out,
                                struct shmt_error *err);

#endif
