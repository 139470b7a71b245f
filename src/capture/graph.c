/* SPDX-License-Identifier: MIT */
/*
 * graph: the CUDA graphs of the application.  Of one that is made executable a
 * clone is kept, if it has a kernel that somebody asked for: the application
 * may destroy its own.  What is changed in the executable graph afterwards is
 * changed in the clone.  When it is launched its kernels count as launches, and
 * where some are to be captured or timed parts.c launches it.  Where kernels
 * are replaced swap.c launches it, and its graph is kept as long.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The executable graphs that are known.  A graph belongs to whoever calls with
 * it: the driver allows one at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmt_map by_exec;
static struct shmt_capture_graph **graphs;     /* NULL: a place is free */
static size_t place_count;
static atomic_size_t graph_count;      /* a launch of none waits for nobody */

/* NULL: nothing is looked at. */
static const struct shmt_capture_driver *look(void)
{
    const struct shmt_capture_setting *setting = shmt_capture_setting();
    const struct shmt_capture_driver *driver =
        setting->folder == NULL ? NULL : shmt_capture_driver();

    return driver == NULL || !driver->graphs ? NULL : driver;
}

static bool replaces(void)
{
    return shmt_capture_setting()->plan != NULL;
}

static uint64_t key_of(CUgraphExec exec)
{
    return (uint64_t)(uintptr_t)exec;
}

static struct shmt_capture_graph *find(CUgraphExec exec)
{
    struct shmt_capture_graph *graph = NULL;
    uint32_t at;

    if (atomic_load(&graph_count) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    at = shmt_map_find(&by_exec, key_of(exec));
    if (at != SHMT_MAP_NONE)
        graph = graphs[at];
    pthread_mutex_unlock(&lock);
    return graph;
}

static bool put_at(CUgraphExec exec, struct shmt_capture_graph *graph)
{
    struct shmt_capture_graph **made;
    size_t at = 0;

    while (at < place_count && graphs[at] != NULL)
        at++;
    if (at == place_count) {
        made = realloc(graphs, (place_count + 1) * sizeof *graphs);
        if (made == NULL)
            return false;
        graphs = made;
        graphs[place_count++] = NULL;
    }
    if (!shmt_map_set(&by_exec, key_of(exec), (uint32_t)at))
        return false;
    graphs[at] = graph;
    atomic_fetch_add(&graph_count, 1);
    return true;
}

static bool put(CUgraphExec exec, struct shmt_capture_graph *graph)
{
    bool whole;

    pthread_mutex_lock(&lock);
    whole = put_at(exec, graph);
    pthread_mutex_unlock(&lock);
    return whole;
}

/* Out of the table; NULL: it is not in there. */
static struct shmt_capture_graph *take(CUgraphExec exec)
{
    struct shmt_capture_graph *graph = NULL;
    uint32_t at;

    pthread_mutex_lock(&lock);
    at = shmt_map_find(&by_exec, key_of(exec));
    if (at != SHMT_MAP_NONE) {
        graph = graphs[at];
        graphs[at] = NULL;
        shmt_map_remove(&by_exec, key_of(exec), at);
        atomic_fetch_sub(&graph_count, 1);
    }
    pthread_mutex_unlock(&lock);
    return graph;
}

/* Whether a graph that the application destroys is needed: then it is destroyed
 * with the last executable one that needs it. */
static bool keep_source(CUgraph source)
{
    bool kept = false;

    if (atomic_load(&graph_count) == 0)
        return false;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < place_count && !kept; k++)
        if (graphs[k] != NULL && graphs[k]->source == source)
            kept = graphs[k]->destroys = true;
    pthread_mutex_unlock(&lock);
    return kept;
}

static void free_graph(const struct shmt_capture_driver *driver,
                       struct shmt_capture_graph *graph)
{
    if (graph == NULL)
        return;
    if (graph->destroys && !keep_source(graph->source))
        driver->GraphDestroy(graph->source);
    if (graph->clone != NULL)
        driver->GraphDestroy(graph->clone);
    shmt_capture_swaps_free(graph->swaps);
    free(graph->nodes);
    free(graph->kernels);
    free(graph);
}

/* -- what a graph has ----------------------------------------------------- */

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

static bool add_kernel(const struct shmt_capture_driver *driver,
                       struct shmt_capture_graph *graph, CUgraphNode node,
                       bool inside)
{
    struct shmt_capture_node *made, one = {.node = inside ? NULL : node};
    struct shmt_capture_launch launch;

    if (shmt_capture_node_is_updatable(driver, node))
        graph->why = "its graph has nodes that the device changes";
    if (!shmt_capture_node_launch(driver, node, &launch))
        return false;
    one.handle = launch.handle;
    if (!shmt_capture_launch_is_open(one.handle))
        return true;
    memcpy(one.grid, launch.grid, sizeof one.grid);
    memcpy(one.block, launch.block, sizeof one.block);
    made = realloc(graph->kernels,
                   (graph->kernel_count + 1) * sizeof *graph->kernels);
    if (made == NULL)
        return false;
    graph->kernels = made;
    made[graph->kernel_count++] = one;
    return true;
}

/* The kernels of a graph, and of graphs inside of it; the nodes in order. */
static bool look_into(const struct shmt_capture_driver *driver,
                      struct shmt_capture_graph *graph, CUgraph from,
                      bool inside, CUgraphNode **nodes, size_t *count)
{
    bool whole = true;

    if (!shmt_capture_order(driver, from, nodes, count) && !inside)
        graph->why = "what depends on what in its graph is not known, as where "
                     "launches are programmatic";
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

static bool read_graph(const struct shmt_capture_driver *driver,
                       struct shmt_capture_graph *graph, CUgraph from)
{
    free(graph->nodes);
    graph->nodes = NULL;
    graph->kernel_count = 0;
    graph->changed = false;
    return look_into(driver, graph, from, false, &graph->nodes,
                     &graph->node_count);
}

/* What was asked for of the graph; NULL: nothing. */
static struct shmt_capture_graph *
make_graph(const struct shmt_capture_driver *driver, CUgraphExec exec,
           CUgraph from)
{
    struct shmt_capture_graph *graph = calloc(1, sizeof *graph);

    if (graph == NULL)
        return NULL;
    if (!read_graph(driver, graph, from) || graph->kernel_count == 0) {
        free_graph(driver, graph);
        return NULL;
    }
    if (driver->GraphExecGetFlags(exec, &graph->flags) != CUDA_SUCCESS)
        graph->why = "the driver does not say how its graph was made";
    if ((graph->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
        graph->why = "its graph may be launched by the device";
    if (graph->why != NULL)
        return graph;
    if (driver->GraphClone(&graph->clone, from) != CUDA_SUCCESS)
        graph->clone = NULL;
    if (graph->clone == NULL || !read_graph(driver, graph, graph->clone))
        graph->why = "the driver does not copy its graph";
    return graph;
}

/* That of which kernels are replaced; NULL: none. */
static struct shmt_capture_graph *
make_swapped(const struct shmt_capture_driver *driver, CUgraph from)
{
    struct shmt_capture_graph *graph = calloc(1, sizeof *graph);

    if (graph != NULL)
        graph->swaps = shmt_capture_swaps_of(driver, from);
    if (graph == NULL || graph->swaps == NULL) {
        free(graph);
        return NULL;
    }
    graph->source = from;
    return graph;
}

/* The executable graph is of this graph now. */
static void remember(CUgraphExec exec, CUgraph from)
{
    const struct shmt_capture_driver *driver = look();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct shmt_capture_graph *graph;

    if (driver == NULL)
        return;
    driver->ThreadExchangeStreamCaptureMode(&mode);
    free_graph(driver, take(exec));
    graph = replaces() ? make_swapped(driver, from)
                       : make_graph(driver, exec, from);
    if (graph != NULL && !put(exec, graph))
        free_graph(driver, graph);
    driver->ThreadExchangeStreamCaptureMode(&mode);
}

static void forget(CUgraphExec exec)
{
    const struct shmt_capture_driver *driver = look();

    if (driver != NULL && atomic_load(&graph_count) > 0)
        free_graph(driver, take(exec));
}

/* -- changes of an executable graph --------------------------------------- */

/* The node of the clone that is one of the application's; NULL: there is no
 * clone, or it has none. */
static CUgraphNode own_of(const struct shmt_capture_graph *graph,
                          CUgraphNode node)
{
    CUgraphNode own;

    return graph != NULL && graph->clone != NULL &&
                   shmt_capture_driver()->GraphNodeFindInClone(
                       &own, node, graph->clone) == CUDA_SUCCESS
               ? own : NULL;
}

static const char not_followed[] =
    "its graph was changed in a way that is not followed";

/* It was changed, and so was the clone; or else not. */
static void change(struct shmt_capture_graph *graph, bool whole)
{
    if (graph == NULL || graph->clone == NULL)
        return;
    graph->changed = true;
    if (!whole)
        graph->why = not_followed;
}

/* That stays so when it is updated, and is known of every graph. */
static void switch_nodes(CUgraphExec exec)
{
    struct shmt_capture_graph *graph = find(exec);

    if (graph == NULL) {
        graph = calloc(1, sizeof *graph);
        if (graph == NULL || !put(exec, graph)) {
            free(graph);
            return;
        }
    }
    graph->switched = true;
    graph->why = not_followed;
}

/* All that is said of nodes is said again.  Which one of the other graph is in
 * the place of which nobody says: nothing more is replaced there. */
static void update(CUgraphExec exec, CUgraph from)
{
    const struct shmt_capture_graph *before = find(exec);
    const bool switched = before != NULL && before->switched;

    if (replaces()) {
        forget(exec);
        return;
    }
    remember(exec, from);
    if (switched)
        switch_nodes(exec);
}

/* The application has set a node, a kernel to these parameters. */
static void set_swapped(struct shmt_capture_graph *graph, CUgraphNode node,
                        const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    if (graph != NULL && graph->swaps != NULL)
        shmt_capture_swaps_set(graph->swaps, node, kernel);
}

/* The function of the driver, and then that for a node of the clone. */
#define CHANGE(name, set, declared, given, own, kernel)                      \
    PUBLIC CUresult CUDAAPI name declared                                    \
    {                                                                        \
        struct shmt_capture_graph *graph;                                    \
        CUgraphNode in_clone;                                                \
        CUresult result;                                                     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        result = real == NULL ? MISSING : real given;                        \
        graph = result == CUDA_SUCCESS ? find(exec) : NULL;                  \
        set_swapped(graph, node, kernel);                                    \
        in_clone = own_of(graph, node);                                      \
        change(graph, in_clone != NULL &&                                    \
                          shmt_capture_driver()->set own == CUDA_SUCCESS);   \
        return result;                                                       \
    }

CHANGE(cuGraphExecKernelNodeSetParams_v2, GraphKernelNodeSetParams,
       (CUgraphExec exec, CUgraphNode node,
        const CUDA_KERNEL_NODE_PARAMS *params),
       (exec, node, params), (in_clone, params), params)
CHANGE(cuGraphExecMemcpyNodeSetParams, GraphMemcpyNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params,
        CUcontext context),
       (exec, node, params, context), (in_clone, params), NULL)
CHANGE(cuGraphExecMemsetNodeSetParams, GraphMemsetNodeSetParams,
       (CUgraphExec exec, CUgraphNode node,
        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
       (exec, node, params, context), (in_clone, params), NULL)
CHANGE(cuGraphExecHostNodeSetParams, GraphHostNodeSetParams,
       (CUgraphExec exec, CUgraphNode node,
        const CUDA_HOST_NODE_PARAMS *params),
       (exec, node, params), (in_clone, params), NULL)
CHANGE(cuGraphExecNodeSetParams, GraphNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params),
       (exec, node, params), (in_clone, params), NULL)

PUBLIC CUresult CUDAAPI
cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                               const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUDA_KERNEL_NODE_PARAMS newer = {0};
    struct shmt_capture_graph *graph;
    CUgraphNode in_clone;
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphExecKernelNodeSetParams);
    result = real == NULL ? MISSING : real(exec, node, params);
    graph = result == CUDA_SUCCESS ? find(exec) : NULL;
    if (graph != NULL)
        memcpy(&newer, params, sizeof *params);
    set_swapped(graph, node, &newer);
    in_clone = own_of(graph, node);
    change(graph, in_clone != NULL &&
                      shmt_capture_driver()->GraphKernelNodeSetParams(
                          in_clone, &newer) == CUDA_SUCCESS);
    return result;
}

PUBLIC CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec exec,
                                                           CUgraphNode node,
                                                           CUgraph child)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphExecChildGraphNodeSetParams);
    result = real == NULL ? MISSING : real(exec, node, child);
    if (result == CUDA_SUCCESS)
        change(find(exec), false);
    return result;
}

PUBLIC CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec exec,
                                              CUgraphNode node, unsigned on)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphNodeSetEnabled);
    result = real == NULL ? MISSING : real(exec, node, on);
    if (result == CUDA_SUCCESS && look() != NULL && !replaces())
        switch_nodes(exec);
    return result;
}

PUBLIC CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph from,
                                          CUgraphNode *error,
                                          CUgraphExecUpdateResult *why)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphExecUpdate);
    result = real == NULL ? MISSING : real(exec, from, error, why);
    if (result == CUDA_SUCCESS)
        update(exec, from);
    return result;
}

PUBLIC CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph from,
                                             CUgraphExecUpdateResultInfo *info)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphExecUpdate_v2);
    result = real == NULL ? MISSING : real(exec, from, info);
    if (result == CUDA_SUCCESS)
        update(exec, from);
    return result;
}

/* -- from making to destroying -------------------------------------------- */

#define INSTANTIATE_LOG(name)                                                \
    PUBLIC CUresult CUDAAPI name(CUgraphExec *exec, CUgraph from,            \
                                 CUgraphNode *error, char *log, size_t size) \
    {                                                                        \
        CUresult result;                                                     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        result = real == NULL ? MISSING                                      \
                              : real(exec, from, error, log, size);          \
        if (result == CUDA_SUCCESS)                                          \
            remember(*exec, from);                                           \
        return result;                                                       \
    }

INSTANTIATE_LOG(cuGraphInstantiate)
INSTANTIATE_LOG(cuGraphInstantiate_v2)

PUBLIC CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec,
                                                    CUgraph from,
                                                    unsigned long long flags)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGraphInstantiateWithFlags);
    result = real == NULL ? MISSING : real(exec, from, flags);
    if (result == CUDA_SUCCESS)
        remember(*exec, from);
    return result;
}

#define INSTANTIATE_PARAMS(name)                                             \
    PUBLIC CUresult CUDAAPI name(CUgraphExec *exec, CUgraph from,            \
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params)      \
    {                                                                        \
        CUresult result;                                                     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        result = real == NULL ? MISSING : real(exec, from, params);          \
        if (result == CUDA_SUCCESS)                                          \
            remember(*exec, from);                                           \
        return result;                                                       \
    }

INSTANTIATE_PARAMS(cuGraphInstantiateWithParams)
INSTANTIATE_PARAMS(cuGraphInstantiateWithParams_ptsz)

PUBLIC CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
    SHMT_CAPTURE_REAL(cuGraphDestroy);
    if (real == NULL)
        return MISSING;
    return keep_source(graph) ? CUDA_SUCCESS : real(graph);
}

PUBLIC CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
    SHMT_CAPTURE_REAL(cuGraphExecDestroy);
    if (real == NULL)
        return MISSING;
    forget(exec);
    return real(exec);
}

/* -- a launch ------------------------------------------------------------- */

/* Whether a kernel of this launch is to be captured, and can be. */
static bool choose(struct shmt_capture_graph *graph)
{
    bool any = false;

    for (size_t k = 0; k < graph->kernel_count; k++) {
        struct shmt_capture_node *one = &graph->kernels[k];

        one->due = shmt_capture_launch_is_due(one->handle);
        if (one->due && (graph->why != NULL || one->node == NULL)) {
            shmt_capture_launch_leave_out(
                one->handle, one->grid,
                graph->why != NULL ? graph->why
                                   : "it is in a graph inside of its graph");
            one->due = false;
        }
        any = any || one->due;
    }
    return any;
}

/* Whether a kernel of this launch is to be timed, and can be; the others are
 * counted. */
static bool choose_timed(struct shmt_capture_graph *graph)
{
    bool any = false;

    for (size_t k = 0; k < graph->kernel_count; k++) {
        struct shmt_capture_node *one = &graph->kernels[k];

        one->due = graph->why == NULL && one->node != NULL &&
                   shmt_capture_times_wants(one);
        if (!one->due)
            shmt_capture_times_count(one);
        any = any || one->due;
    }
    return any;
}

/* What is captured as often as was asked for is looked at no more. */
static void let_pass(CUgraphExec exec, struct shmt_capture_graph *graph)
{
    size_t left = 0;

    for (size_t k = 0; k < graph->kernel_count; k++)
        if (shmt_capture_launch_is_open(graph->kernels[k].handle))
            graph->kernels[left++] = graph->kernels[k];
    graph->kernel_count = left;
    if (left == 0)
        forget(exec);
}

static CUresult launch(__typeof__(cuGraphLaunch) *real, CUgraphExec exec,
                       CUstream stream, CUstream seen_as)
{
    const struct shmt_capture_driver *driver = look();
    struct shmt_capture_graph *graph = driver == NULL ? NULL : find(exec);
    bool launched = false;
    CUresult result;

    if (graph == NULL || shmt_capture_in_graph(driver, seen_as))
        return real(exec, stream);
    if (graph->swaps != NULL)
        return shmt_capture_swaps_launch(graph->swaps, real, exec, stream,
                                         seen_as);
    if (graph->changed && graph->clone != NULL &&
        !read_graph(driver, graph, graph->clone))
        graph->why = "the driver does not say what its graph has";
    if (shmt_capture_setting()->list ? choose_timed(graph) : choose(graph))
        launched = shmt_capture_parts_launch(driver, graph, exec, seen_as,
                                             &result);
    if (launched)
        let_pass(exec, graph);
    return launched ? result : real(exec, stream);
}

#define LAUNCH(name, seen_as)                                                \
    PUBLIC CUresult CUDAAPI name(CUgraphExec exec, CUstream stream)          \
    {                                                                        \
        SHMT_CAPTURE_REAL(name);                                             \
        return real == NULL ? MISSING : launch(real, exec, stream, seen_as); \
    }

LAUNCH(cuGraphLaunch, stream)
LAUNCH(cuGraphLaunch_ptsz, stream == NULL ? CU_STREAM_PER_THREAD : stream)
