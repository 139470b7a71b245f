/* SPDX-License-Identifier: MIT */
/*
 * build: from a plan to a diagram, level by level, and what the
 * diagram looks like.  For space/ alone.
 */
#ifndef SHMT_SPACE_BUILD_H
#define SHMT_SPACE_BUILD_H

#include "space/plan.h"

/* One value of a node's parameter that leads to configurations. */
struct shmt_edge {
    uint64_t before;      /* configurations behind the edges before it */
    uint32_t child;       /* node of the next layer */
    shmt_choice value;
};

/* Nodes of a layer: node n has edges[first[n] .. first[n + 1]), values
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
    /* There are values for which a constraint has no value while none is
     * false; one such choice, by layer. */
    bool fault;
    shmt_choice fault_path[SHMT_SPACE_PARAMETERS];
};

void shmt_diagram_free(struct shmt_diagram *diagram);

/* How far a build may go, and how far it went. */
struct shmt_effort {
    uint64_t limit;       /* most prefixes that may be looked at */
    size_t bytes;         /* most memory while building; 0: any */
    uint32_t beam;        /* 0; or keep at most so many states of a level,
                             and only estimate */
    uint64_t looked;      /* prefixes looked at */
    double estimate;      /* with a beam: how many there would be without */
};

enum shmt_built { SHMT_BUILT, SHMT_BUILD_LIMIT, SHMT_BUILD_MEMORY };

/* `out` is untouched unless SHMT_BUILT and no beam. */
enum shmt_built shmt_build_diagram(const struct shmt_plan *plan,
                                   struct shmt_effort *effort,
                                   struct shmt_diagram *out);

/* search.c: the parameters of one component, in the best order that is
 * found with an effort in proportion to that of building. */
enum shmt_built shmt_search_component(struct shmt_graph *graph,
                                      uint64_t component,
                                      const struct shmt_effort *most,
                                      struct shmt_diagram *out);

/* reduce.c: the layers as they are built: every state reached, edges
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
};
/* Drops what leads nowhere, joins what is equal, counts; frees the raw layers
 * as it goes.  False: no memory. */
bool shmt_reduce(const struct shmt_plan *plan, struct shmt_raw *raw,
                 struct shmt_diagram *out);

/* join.c: components one behind the other; the parts are used up.
 * False: no memory. */
bool shmt_diagram_join(struct shmt_diagram *parts, size_t count,
                       struct shmt_diagram *out);

#endif
