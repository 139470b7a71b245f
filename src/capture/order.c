/* SPDX-License-Identifier: MIT */
/*
 * order: the nodes of a graph, so that none is before one that it depends on.
 * Called by inside.c.
 */
#include "capture/graph.h"

#include <stdlib.h>

/* The edges that leave a node are a list: `first` and `next` are places of
 * edges, counted from 1. */
struct links {
    size_t *first, *next;
    size_t *waits;             /* of a node: for so many others */
    size_t *sorted;            /* places of nodes */
};

static void free_links(struct links *links)
{
    free(links->first);
    free(links->next);
    free(links->waits);
    free(links->sorted);
}

static bool link_edges(const struct shmt_capture_shape *shape,
                       struct links *out)
{
    out->first = calloc(shape->node_count + 1, sizeof *out->first);
    out->next = calloc(shape->edge_count + 1, sizeof *out->next);
    out->waits = calloc(shape->node_count + 1, sizeof *out->waits);
    out->sorted = calloc(shape->node_count + 1, sizeof *out->sorted);
    if (out->first == NULL || out->next == NULL || out->waits == NULL ||
        out->sorted == NULL)
        return false;
    for (size_t k = 0; k < shape->edge_count; k++) {
        out->next[k] = out->first[shape->edges[k].from];
        out->first[shape->edges[k].from] = k + 1;
        out->waits[shape->edges[k].to]++;
    }
    return true;
}

/* false: they go round in a circle. */
static bool sort(const struct shmt_capture_shape *shape, struct links *links)
{
    size_t done = 0;

    for (size_t k = 0; k < shape->node_count; k++)
        if (links->waits[k] == 0)
            links->sorted[done++] = k;
    for (size_t k = 0; k < done; k++) {
        size_t edge = links->first[links->sorted[k]];

        for (; edge != 0; edge = links->next[edge - 1])
            if (--links->waits[shape->edges[edge - 1].to] == 0)
                links->sorted[done++] = shape->edges[edge - 1].to;
    }
    return done == shape->node_count;
}

static CUgraphNode *nodes_in_order(const struct shmt_capture_shape *shape)
{
    struct links links = {0};
    CUgraphNode *nodes = NULL;

    if (shape->linked && link_edges(shape, &links) && sort(shape, &links))
        nodes = calloc(shape->node_count + 1, sizeof(CUgraphNode));
    for (size_t k = 0; nodes != NULL && k < shape->node_count; k++)
        nodes[k] = shape->nodes[links.sorted[k]];
    free_links(&links);
    return nodes;
}

bool shmt_capture_order(const struct shmt_capture_driver *driver,
                        CUgraph graph, CUgraphNode **out, size_t *count)
{
    struct shmt_capture_shape shape;
    CUgraphNode *sorted = NULL;

    if (shmt_capture_shape_read(driver, graph, &shape))
        sorted = nodes_in_order(&shape);
    *count = shape.node_count;
    *out = sorted;
    if (sorted == NULL) {
        *out = shape.nodes;
        shape.nodes = NULL;
    }
    shmt_capture_shape_free(&shape);
    return sorted != NULL;
}
