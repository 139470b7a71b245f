/* SPDX-License-Identifier: MIT */
/*
 * build: from a plan to a diagram, level by level, and what a diagram and a
 * space look like.  For space/ alone.
 */
#ifndef SHMT_SPACE_BUILD_H
#define SHMT_SPACE_BUILD_H

#include "space/budget.h"
#include "space/plan.h"

/* One value of a node's parameter that leads to configurations. */
struct shmt_diagram_edge {
    uint64_t before;      /* configurations behind the edges before it */
    uint32_t child;       /* node of the next layer */
    shmt_config value;
};

/* Nodes of a layer: node n has edges[first[n] .. first[n + 1]), values
 * ascending. */
struct shmt_diagram_layer {
    uint8_t parameter;
    uint32_t node_count;
    uint32_t *first;
    struct shmt_diagram_edge *edges;
    uint64_t *total;      /* configurations behind each node */
};

struct shmt_diagram {
    size_t layer_count;
    struct shmt_diagram_layer *layers; /* [0] has the root alone */
    uint64_t count;
    bool saturated;              /* 2^64 - 1 configurations or more: `count`
                                    and `before` are no use */
    /* Set when a constraint has no value at some configuration while no other
     * constraint is false; fault_path is one such configuration, by layer. */
    bool fault;
    shmt_config fault_path[SHMT_SPACE_PARAMETERS];
};

void shmt_diagram_free(struct shmt_diagram *diagram);

/* The limits of a build, and how much of them it used. */
struct shmt_build_effort {
    uint64_t limit;       /* most prefixes that may be looked at */
    uint32_t beam;        /* 0; or keep at most so many states of a level,
                             and only estimate */
    struct shmt_budget *budget;  /* of the whole space */
    uint64_t visited;     /* prefixes looked at */
    double estimate;      /* with a beam: the estimated number of prefixes
                             without one */
};

enum shmt_build_outcome { SHMT_BUILD_DONE, SHMT_BUILD_LIMIT,
                         SHMT_BUILD_MEMORY };

/* SHMT_BUILD_LIMIT: of the effort, or of the budget.  `out` is untouched
 * unless SHMT_BUILD_DONE and no beam. */
enum shmt_build_outcome shmt_build_diagram(const struct shmt_plan *plan,
                                           struct shmt_build_effort *effort,
                                           struct shmt_diagram *out);

/* order.c: the parameters of one component, in the best order that is
 * found with an effort in proportion to that of building; at most `limit`
 * prefixes. */
enum shmt_build_outcome
shmt_build_component(struct shmt_graph *graph, uint64_t component,
                     uint64_t limit, struct shmt_budget *budget,
                     struct shmt_diagram *out);

/* The layers while they are built, before the reduction: every state that was
 * reached, and edges that may lead to no configuration. */
struct shmt_build_layer {
    uint32_t state_count;        /* at its upper end */
    uint32_t *first;             /* [state_count + 1] */
    uint32_t *child;
    shmt_config *value;
    size_t edge_count, edge_room;
};
struct shmt_build_layers {
    struct shmt_build_layer *layers; /* [level_count] */
    uint32_t end_count;              /* states behind the last layer */
    uint32_t end_fault;              /* the one in which a constraint has no
                                        value, or UINT32_MAX */
};
void shmt_build_free_layers(struct shmt_build_layers *raw, size_t count);

/* reduce.c: drops states from which no configuration is reached, merges equal
 * nodes, and counts.  Frees the layers on the way.  `budget` may be NULL. */
enum shmt_build_outcome shmt_build_reduce(const struct shmt_plan *plan,
                                          struct shmt_build_layers *raw,
                                          struct shmt_budget *budget,
                                          struct shmt_diagram *out);

/* Components one behind the other; the parts are used up.
 * False: no memory. */
bool shmt_diagram_join(struct shmt_diagram *parts, size_t count,
                       struct shmt_diagram *out);

struct shmt_space {
    struct shmt_space_definition definition;   /* a copy */
    struct shmt_diagram diagram;
    bool drawn;               /* some of the configurations only */
};

/* draw.c: valid configurations, one by one; `graph` is that of all
 * constraints.  SHMT_BUILD_LIMIT: none was found. */
enum shmt_build_outcome shmt_space_draw(const struct shmt_graph *graph,
                                        struct shmt_budget *budget,
                                        struct shmt_space **out);

#endif
