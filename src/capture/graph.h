/* SPDX-License-Identifier: MIT */
/*
 * graph: what the files of CUDA graphs have of each other, and the others of
 * them.
 */
#ifndef SHMT_CAPTURE_GRAPH_H
#define SHMT_CAPTURE_GRAPH_H

#include "capture/library.h"

/* -- node.c --------------------------------------------------------------- */

bool shmt_capture_node_is_kernel(const struct shmt_capture_driver *driver,
                                 CUgraphNode node);
bool shmt_capture_node_is_updatable(const struct shmt_capture_driver *driver,
                                    CUgraphNode node);
/* On no stream.  The arguments are those of the node; false: the driver does
 * not say it. */
bool shmt_capture_node_launch(const struct shmt_capture_driver *driver,
                              CUgraphNode node,
                              struct shmt_capture_launch *out);
/* It has these parameters now, and the attributes that it had. */
void shmt_capture_node_give(struct shmt_capture_launch *launch,
                            const CUDA_KERNEL_NODE_PARAMS *params);

/* -- shape.c -------------------------------------------------------------- */

struct shmt_capture_shape {
    CUgraphNode *nodes;
    size_t node_count;
    struct shmt_capture_edge {
        size_t from, to;       /* places of nodes */
    } *edges;
    size_t edge_count;
    bool linked;               /* what depends on what is known */
};

/* false: its nodes are not known, and there is nothing to free. */
bool shmt_capture_shape_read(const struct shmt_capture_driver *driver,
                             CUgraph graph, struct shmt_capture_shape *out);
void shmt_capture_shape_free(struct shmt_capture_shape *shape);
/* Whether each node of one is surely in the place of the same one of the other:
 * so the driver pairs them, too, from the last node back to those that it
 * depends on, in the order in which both graphs were given them
 * (cuGraphExecUpdate of the Driver API).  What the nodes do does not count. */
bool shmt_capture_shape_is_same(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_shape *a,
                                const struct shmt_capture_shape *b);

/* -- swap.c --------------------------------------------------------------- */

/* The kernels of an executable graph that are replaced, or may be when it is
 * changed. */
struct shmt_capture_swaps;

/* Of one that was made from this graph, which has to stay as long as they do;
 * NULL: it has none. */
struct shmt_capture_swaps *
shmt_capture_swaps_of(const struct shmt_capture_driver *driver, CUgraph from);
void shmt_capture_swaps_free(struct shmt_capture_swaps *swaps);
/* The application has given the node of the executable graph these
 * parameters. */
void shmt_capture_swaps_set(struct shmt_capture_swaps *swaps, CUgraphNode node,
                            const CUDA_KERNEL_NODE_PARAMS *params);
/* The application is about to give it to a node.  true: one that is tuned has
 * it, and there is nothing else to do. */
bool shmt_capture_swaps_set_tuned(struct shmt_capture_swaps *swaps,
                                  CUgraphExec exec, CUgraphNode node,
                                  const CUDA_KERNEL_NODE_PARAMS *params);
/* The application has updated the executable graph by this one. */
void shmt_capture_swaps_update(struct shmt_capture_swaps *swaps, CUgraph from);
/* Launches it. */
CUresult shmt_capture_swaps_launch(struct shmt_capture_swaps *swaps,
                                   __typeof__(cuGraphLaunch) *real,
                                   CUgraphExec exec, CUstream stream,
                                   CUstream seen_as);

/* -- graph.c -------------------------------------------------------------- */

/* A kernel of a graph, for which somebody asked. */
struct shmt_capture_node {
    CUgraphNode node;          /* NULL: it is in a graph inside of the graph */
    CUfunction handle;
    unsigned grid[3], block[3];
    bool due;                  /* this launch is to be captured, or timed */
    bool left;                 /* it was left out, and so will others be */
    struct shmt_capture_listed *listed;        /* of times.c; NULL: not asked */
};

/* What an executable graph was made from. */
struct shmt_capture_graph {
    struct shmt_capture_swaps *swaps;  /* NULL: none is replaced */
    CUgraph source;            /* the application's own, for these; or NULL */
    bool destroys;             /* it is destroyed when nobody needs it */
    CUgraph clone;             /* NULL: none is needed, or see `why` */
    cuuint64_t flags;          /* of making it executable */
    const char *why;           /* it is not launched in parts; or NULL */
    bool changed;              /* the clone, since it was looked at */
    bool switched;             /* nodes of the executable graph may be off */
    CUgraphNode *nodes;        /* none before those that it depends on */
    size_t node_count;
    struct shmt_capture_node *kernels;     /* in the same order */
    size_t kernel_count;
};

/* -- inside.c ------------------------------------------------------------- */

/* Whether a kernel of it, or of a graph inside of it, is to be captured, or the
 * driver does not say it. */
bool shmt_capture_graph_is_open(const struct shmt_capture_driver *driver,
                                CUgraph graph);
/* The kernel of a node, if somebody asked for it; false: there is no memory. */
bool shmt_capture_graph_add(struct shmt_capture_graph *graph, CUgraphNode node,
                            const struct shmt_capture_launch *launch);
/* The nodes and kernels of `from`, and why it is not launched in parts; false:
 * what it has is not known, which a note says. */
bool shmt_capture_graph_read(const struct shmt_capture_driver *driver,
                             struct shmt_capture_graph *graph, CUgraph from);

/* -- order.c -------------------------------------------------------------- */

/* The nodes of a graph, none before one that it depends on; they are the
 * caller's.  false: its dependencies are not known, and the order is any, or,
 * where *out is NULL, neither are its nodes. */
bool shmt_capture_order(const struct shmt_capture_driver *driver,
                        CUgraph graph, CUgraphNode **out, size_t *count);

/* -- parts.c -------------------------------------------------------------- */

/* Launches the graph in the place of `exec`, which was made from it, and
 * captures its kernels that are due, or times them for the list.  *result is
 * what the driver says.  false: nothing is launched, they are left out, and
 * notes say why. */
bool shmt_capture_parts_launch(const struct shmt_capture_driver *driver,
                               struct shmt_capture_graph *graph,
                               CUgraphExec exec, CUstream stream,
                               CUresult *result);

/* -- times.c -------------------------------------------------------------- */

/* A launch of a graph: chooses which of its kernels are due to be timed, where
 * it can be launched in parts, and counts the others: the first ones of each
 * kernel tell enough.  false: none is. */
bool shmt_capture_times_choose(struct shmt_capture_node *nodes,
                               size_t node_count, bool in_parts);
/* Counts one that was due, and is not timed. */
void shmt_capture_times_count(const struct shmt_capture_node *node);

#endif
