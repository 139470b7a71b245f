/* SPDX-License-Identifier: MIT */
/*
 * shape: the nodes of a graph, and what depends on what.  Called by order.c and
 * swap.c.
 */
#include "capture/graph.h"

#include <stdlib.h>
#include <string.h>

void shmt_capture_shape_free(struct shmt_capture_shape *shape)
{
    free(shape->nodes);
    free(shape->edges);
    *shape = (struct shmt_capture_shape){0};
}

static bool read_nodes(const struct shmt_capture_driver *driver, CUgraph graph,
                       struct shmt_capture_shape *out)
{
    size_t count = 0;

    if (driver->GraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS)
        return false;
    out->nodes = calloc(count + 1, sizeof(CUgraphNode));
    if (out->nodes == NULL ||
        (count > 0 &&
         driver->GraphGetNodes(graph, out->nodes, &count) != CUDA_SUCCESS))
        return false;
    out->node_count = count;
    return true;
}

static bool map_nodes(const struct shmt_capture_shape *shape,
                      struct shmt_map *places)
{
    for (size_t k = 0; k < shape->node_count; k++)
        if (!shmt_map_set(places, (uint64_t)(uintptr_t)shape->nodes[k],
                          (uint32_t)k))
            return false;
    return true;
}

/* The edges that lead to a node, in the order that it has them. */
static bool add_edges(const struct shmt_capture_driver *driver,
                      struct shmt_capture_shape *shape, size_t to,
                      const struct shmt_map *places, size_t *room)
{
    CUgraphNode *from = NULL;
    size_t count = 0;
    bool whole;

    if (driver->GraphNodeGetDependencies(shape->nodes[to], NULL, &count) !=
        CUDA_SUCCESS)
        return false;
    if (count == 0)
        return true;
    from = calloc(count, sizeof(CUgraphNode));
    whole = from != NULL &&
            shmt_array_reserve(&shape->edges, room, shape->edge_count + count,
                               sizeof *shape->edges) &&
            driver->GraphNodeGetDependencies(shape->nodes[to], from, &count) ==
                CUDA_SUCCESS;
    for (size_t k = 0; whole && k < count; k++) {
        const size_t place =
            shmt_map_find(places, (uint64_t)(uintptr_t)from[k]);

        whole = place < shape->node_count;
        shape->edges[shape->edge_count++] =
            (struct shmt_capture_edge){.from = place, .to = to};
    }
    free(from);
    return whole;
}

static bool read_edges(const struct shmt_capture_driver *driver,
                       struct shmt_capture_shape *out)
{
    struct shmt_map places = {0};
    size_t room = 0;
    bool whole = map_nodes(out, &places);

    for (size_t k = 0; whole && k < out->node_count; k++)
        whole = add_edges(driver, out, k, &places, &room);
    shmt_map_free(&places);
    return whole;
}

bool shmt_capture_shape_read(const struct shmt_capture_driver *driver,
                             CUgraph graph, struct shmt_capture_shape *out)
{
    *out = (struct shmt_capture_shape){0};
    if (!read_nodes(driver, graph, out)) {
        shmt_capture_shape_free(out);
        return false;
    }
    out->linked = read_edges(driver, out);
    return true;
}

static bool has_same_type(const struct shmt_capture_driver *driver,
                          CUgraphNode a, CUgraphNode b)
{
    CUgraphNodeType of_a, of_b;

    return driver->GraphNodeGetType(a, &of_a) == CUDA_SUCCESS &&
           driver->GraphNodeGetType(b, &of_b) == CUDA_SUCCESS && of_a == of_b;
}

/* What the driver pairs first are the nodes on which none depends; of several
 * it does not say in which order it has them. */
static bool ends_in_one(const struct shmt_capture_shape *shape)
{
    bool *const leads = calloc(shape->node_count + 1, sizeof *leads);
    size_t ends = 0;

    for (size_t k = 0; leads != NULL && k < shape->edge_count; k++)
        leads[shape->edges[k].from] = true;
    for (size_t k = 0; leads != NULL && k < shape->node_count; k++)
        ends += !leads[k];
    free(leads);
    return ends == 1;
}

/* The same graph, not one that is like it. */
static bool is_itself(const struct shmt_capture_shape *a,
                      const struct shmt_capture_shape *b)
{
    return a->node_count > 0 && a->nodes[0] == b->nodes[0];
}

bool shmt_capture_shape_is_same(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_shape *a,
                                const struct shmt_capture_shape *b)
{
    bool same = a->linked && b->linked && a->node_count == b->node_count &&
                a->edge_count == b->edge_count &&
                (is_itself(a, b) || ends_in_one(a)) &&
                (a->edge_count == 0 ||
                 memcmp(a->edges, b->edges,
                        a->edge_count * sizeof *a->edges) == 0);

    for (size_t k = 0; same && k < a->node_count; k++)
        same = has_same_type(driver, a->nodes[k], b->nodes[k]);
    return same;
}
