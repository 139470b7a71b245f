/* SPDX-License-Identifier: MIT */
/*
 * inside: what a graph has: the kernels that somebody asked for, and whether it
 * can be launched in parts.  Called by graph.c.
 */
#include "capture/graph.h"

#include <stdlib.h>
#include <string.h>

/* Why a graph with a node of this type is not launched in parts; or NULL. */
static const char *trouble_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return NULL;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "its graph has events";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return "its graph has semaphores";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "its graph allocates or frees memory";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "its graph has operations on memory";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "its graph has conditions";
    default:
        return "its graph has nodes of a type that is not known";
    }
}

bool shmt_capture_graph_add(struct shmt_capture_graph *graph, CUgraphNode node,
                            const struct shmt_capture_launch *launch)
{
    struct shmt_capture_node *made,
        one = {.node = node, .handle = launch->handle};

    if (!shmt_capture_launch_is_open(one.handle))
        return true;
    memcpy(one.grid, launch->grid, sizeof one.grid);
    memcpy(one.block, launch->block, sizeof one.block);
    made = realloc(graph->kernels,
                   (graph->kernel_count + 1) * sizeof *graph->kernels);
    if (made == NULL)
        return false;
    graph->kernels = made;
    made[graph->kernel_count++] = one;
    return true;
}

static bool add_kernel(const struct shmt_capture_driver *driver,
                       struct shmt_capture_graph *graph, CUgraphNode node,
                       bool inside)
{
    struct shmt_capture_launch launch;

    if (shmt_capture_node_is_updatable(driver, node))
        graph->why = "its graph has nodes that the device changes";
    return shmt_capture_node_launch(driver, node, &launch) &&
           shmt_capture_graph_add(graph, inside ? NULL : node, &launch);
}

/* The kernels of a graph, and of graphs inside of it; the nodes in order. */
static bool look_into(const struct shmt_capture_driver *driver,
                      struct shmt_capture_graph *graph, CUgraph from,
                      bool inside, CUgraphNode **nodes, size_t *count)
{
    bool whole;

    if (!shmt_capture_order(driver, from, nodes, count) && !inside)
        graph->why = "what depends on what in its graph is not known, as where "
                     "launches are programmatic";
    whole = *nodes != NULL;
    for (size_t k = 0; whole && k < *count; k++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        CUgraphNode *further = NULL;
        size_t further_count;
        CUgraph child;

        whole = driver->GraphNodeGetType((*nodes)[k], &type) == CUDA_SUCCESS;
        if (trouble_of(type) != NULL)
            graph->why = trouble_of(type);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            whole = whole && add_kernel(driver, graph, (*nodes)[k], inside);
        if (type != CU_GRAPH_NODE_TYPE_GRAPH)
            continue;
        whole = whole &&
                driver->GraphChildGraphNodeGetGraph((*nodes)[k], &child) ==
                    CUDA_SUCCESS &&
                look_into(driver, graph, child, true, &further,
                          &further_count);
        free(further);
    }
    return whole;
}

bool shmt_capture_graph_read(const struct shmt_capture_driver *driver,
                             struct shmt_capture_graph *graph, CUgraph from)
{
    free(graph->nodes);
    graph->nodes = NULL;
    graph->kernel_count = 0;
    graph->changed = false;
    if (look_into(driver, graph, from, false, &graph->nodes,
                  &graph->node_count))
        return true;
    graph->kernel_count = 0;
    shmt_capture_note("a graph is left out: the driver does not say what it "
                      "has");
    return false;
}

static bool is_open(const struct shmt_capture_driver *driver, CUgraphNode node)
{
    CUgraphNodeType type;
    struct shmt_capture_launch launch;
    CUgraph child;

    if (driver->GraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return true;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        return !shmt_capture_node_launch(driver, node, &launch) ||
               shmt_capture_launch_is_open(launch.handle);
    return type == CU_GRAPH_NODE_TYPE_GRAPH &&
           (driver->GraphChildGraphNodeGetGraph(node, &child) !=
                CUDA_SUCCESS ||
            shmt_capture_graph_is_open(driver, child));
}

bool shmt_capture_graph_is_open(const struct shmt_capture_driver *driver,
                                CUgraph graph)
{
    CUgraphNode *nodes = NULL;
    size_t count = 0;
    bool listed, open = false;

    if (driver->GraphGetNodes(graph, NULL, &count) == CUDA_SUCCESS)
        nodes = calloc(count + 1, sizeof(CUgraphNode));
    listed = nodes != NULL &&
             driver->GraphGetNodes(graph, nodes, &count) == CUDA_SUCCESS;
    for (size_t k = 0; listed && k < count && !open; k++)
        open = is_open(driver, nodes[k]);
    free(nodes);
    return open || !listed;
}
