/* SPDX-License-Identifier: MIT */
/*
 * order: the nodes of a graph, so that none is before one that it depends on.
 * Called by graph.c.
 */
#include "capture/library.h"

#include <stdlib.h>
#include <string.h>

/* The edges that leave a node are a list: `first` and `next` are places of
 * edges, counted from 1. */
struct edges {
    size_t count;
    CUgraphNode *from, *to;
    size_t *first, *next;
    size_t *waits;             /* of a node: for so many others */
    struct shmt_map places;    /* of nodes */
};

static void free_edges(struct edges *edges)
{
    free(edges->from);
    free(edges->to);
    free(edges->first);
    free(edges->next);
    free(edges->waits);
    shmt_map_free(&edges->places);
}

static size_t place_of(const struct edges *edges, CUgraphNode node)
{
    return shmt_map_find(&edges->places, (uint64_t)(uintptr_t)node);
}

static bool link_edges(struct edges *edges, const CUgraphNode *nodes,
                       size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!shmt_map_set(&edges->places, (uint64_t)(uintptr_t)nodes[k],
                          (uint32_t)k))
            return false;
    for (size_t k = 0; k < edges->count; k++) {
        const size_t from = place_of(edges, edges->from[k]);
        const size_t to = place_of(edges, edges->to[k]);

        if (from >= count || to >= count)
            return false;
        edges->next[k] = edges->first[from];
        edges->first[from] = k + 1;
        edges->waits[to]++;
    }
    return true;
}

static bool read_edges(const struct shmt_capture_driver *driver, CUgraph graph,
                       const CUgraphNode *nodes, size_t count,
                       struct edges *out)
{
    if (driver->GraphGetEdges(graph, NULL, NULL, &out->count) != CUDA_SUCCESS)
        return false;
    out->from = calloc(out->count + 1, sizeof(CUgraphNode));
    out->to = calloc(out->count + 1, sizeof(CUgraphNode));
    out->next = calloc(out->count + 1, sizeof *out->next);
    out->first = calloc(count + 1, sizeof *out->first);
    out->waits = calloc(count + 1, sizeof *out->waits);
    return out->from != NULL && out->to != NULL && out->next != NULL &&
           out->first != NULL && out->waits != NULL &&
           (out->count == 0 ||
            driver->GraphGetEdges(graph, out->from, out->to, &out->count) ==
                CUDA_SUCCESS) &&
           link_edges(out, nodes, count);
}

/* false: they go round in a circle. */
static bool sort(struct edges *edges, const CUgraphNode *nodes, size_t count,
                 CUgraphNode *sorted)
{
    size_t done = 0;

    for (size_t k = 0; k < count; k++)
        if (edges->waits[k] == 0)
            sorted[done++] = nodes[k];
    for (size_t k = 0; k < done; k++) {
        size_t edge = edges->first[place_of(edges, sorted[k])];

        for (; edge != 0; edge = edges->next[edge - 1])
            if (--edges->waits[place_of(edges, edges->to[edge - 1])] == 0)
                sorted[done++] = edges->to[edge - 1];
    }
    return done == count;
}

bool shmt_capture_order(const struct shmt_capture_driver *driver,
                        CUgraph graph, CUgraphNode **out, size_t *count)
{
    struct edges edges = {0};
    CUgraphNode *nodes = NULL, *sorted = NULL;
    bool listed, known;

    *count = 0;
    listed = driver->GraphGetNodes(graph, NULL, count) == CUDA_SUCCESS;
    nodes = calloc(*count + 1, sizeof(CUgraphNode));
    sorted = calloc(*count + 1, sizeof(CUgraphNode));
    listed = listed && nodes != NULL && sorted != NULL &&
             (*count == 0 ||
              driver->GraphGetNodes(graph, nodes, count) == CUDA_SUCCESS);
    known = listed && read_edges(driver, graph, nodes, *count, &edges) &&
            sort(&edges, nodes, *count, sorted);
    free_edges(&edges);
    *out = known ? sorted : listed ? nodes : NULL;
    if (*out != sorted)
        free(sorted);
    if (*out != nodes)
        free(nodes);
    if (!listed)
        *count = 0;
    return known;
}
