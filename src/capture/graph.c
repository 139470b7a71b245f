/* SPDX-License-Identifier: MIT */
/*
 * graph: the CUDA graphs of the application.  Of one that is made executable a
 * clone is kept, if it has a kernel that somebody asked for: the application
 * may destroy its own.  What is changed in the executable graph afterwards is
 * changed in the clone.  When it is launched its kernels count as launches, and
 * where some are to be captured or timed parts.c launches it.  Where kernels
 * are replaced swap.c launches it, and its graph is kept as long.
 */
#include "capture/graph.h"

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

/* -- what is known of an executable graph --------------------------------- */

/* Why no part of it can be launched; or NULL. */
static const char *trouble_of(const struct shmt_capture_driver *driver,
                              struct shmt_capture_graph *graph,
                              CUgraphExec exec)
{
    if (driver->GraphExecGetFlags(exec, &graph->flags) != CUDA_SUCCESS)
        return "the driver does not say how its graph was made";
    if ((graph->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
        return "its graph may be launched by the device";
    return graph->why;
}

/* What was asked for of the graph; NULL: nothing.  Of one that is not launched
 * in parts there is no clone, and the nodes are the application's. */
static struct shmt_capture_graph *
make_graph(const struct shmt_capture_driver *driver, CUgraphExec exec,
           CUgraph from)
{
    struct shmt_capture_graph *graph =
        shmt_capture_graph_is_open(driver, from) ? calloc(1, sizeof *graph)
                                                 : NULL;

    if (graph == NULL)
        return NULL;
    if (driver->GraphClone(&graph->clone, from) != CUDA_SUCCESS) {
        graph->clone = NULL;
        graph->why = "the driver does not copy its graph";
    } else if (shmt_capture_graph_read(driver, graph, graph->clone)) {
        graph->why = trouble_of(driver, graph, exec);
    }
    if (graph->why != NULL) {
        if (graph->clone != NULL)
            driver->GraphDestroy(graph->clone);
        graph->clone = NULL;
        (void)shmt_capture_graph_read(driver, graph, from);
    }
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

/* One of which nothing was known: it is not followed.  NULL: there is no
 * memory. */
static struct shmt_capture_graph *begin_to_know(CUgraphExec exec)
{
    struct shmt_capture_graph *graph = calloc(1, sizeof *graph);

    if (graph == NULL || !put(exec, graph)) {
        free(graph);
        return NULL;
    }
    graph->why = not_followed;
    return graph;
}

/* That stays so when it is updated, and is known of every graph. */
static void switch_nodes(CUgraphExec exec)
{
    struct shmt_capture_graph *graph = find(exec);

    if (look() == NULL || replaces())
        return;
    if (graph == NULL)
        graph = begin_to_know(exec);
    if (graph == NULL)
        return;
    graph->switched = true;
    graph->why = not_followed;
}

/* A graph without a clone may have a kernel now that somebody asked for, and
 * has no more what the node was: its launches are left out by name. */
static void set_unfollowed(CUgraphExec exec, struct shmt_capture_graph *graph,
                           CUgraphNode node,
                           const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    struct shmt_capture_launch launch = {0};

    if (kernel == NULL || look() == NULL || replaces() ||
        (graph != NULL && graph->clone != NULL))
        return;
    shmt_capture_node_give(&launch, kernel);
    if (graph == NULL && shmt_capture_launch_is_open(launch.handle))
        graph = begin_to_know(exec);
    if (graph == NULL)
        return;
    for (size_t k = graph->kernel_count; k-- > 0;)
        if (graph->kernels[k].node == node)
            graph->kernels[k] = graph->kernels[--graph->kernel_count];
    (void)shmt_capture_graph_add(graph, node, &launch);
}

/* The kernels that are replaced in it are others. */
static void update_swapped(struct shmt_capture_graph *graph, CUgraph from)
{
    const struct shmt_capture_driver *driver = look();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (driver == NULL || graph == NULL || graph->swaps == NULL)
        return;
    driver->ThreadExchangeStreamCaptureMode(&mode);
    shmt_capture_swaps_update(graph->swaps, from);
    driver->ThreadExchangeStreamCaptureMode(&mode);
}

/* All that is said of nodes is said again. */
static void update(CUgraphExec exec, CUgraph from)
{
    struct shmt_capture_graph *before = find(exec);
    const bool switched = before != NULL && before->switched;

    if (replaces()) {
        update_swapped(before, from);
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
    if (graph != NULL && graph->swaps != NULL && kernel != NULL)
        shmt_capture_swaps_set(graph->swaps, node, kernel);
}

/* A node that is tuned stays so: it need not be set twice. */
static bool is_set_tuned(CUgraphExec exec, CUgraphNode node,
                         const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    const struct shmt_capture_graph *graph = find(exec);

    return kernel != NULL && graph != NULL && graph->swaps != NULL &&
           shmt_capture_swaps_set_tuned(graph->swaps, exec, node, kernel);
}

/* The first version has fewer members.  NULL: there are none, which is for the
 * driver to say. */
static const CUDA_KERNEL_NODE_PARAMS *
newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params, CUDA_KERNEL_NODE_PARAMS *out)
{
    return params == NULL ? NULL : memcpy(out, params, sizeof *params);
}

/* NULL: they are those of a node of another type. */
static const CUDA_KERNEL_NODE_PARAMS *
kernel_of(const CUgraphNodeParams *params, CUDA_KERNEL_NODE_PARAMS *out)
{
    return params != NULL && params->type == CU_GRAPH_NODE_TYPE_KERNEL
               ? memcpy(out, &params->kernel, sizeof *out) : NULL;
}

/* The function of the driver, unless it is done, and what is done when it has
 * succeeded. */
#define HOOK(name, declared, given, done, act)                               \
    SHMT_CAPTURE_HOOKED name declared                                        \
    {                                                                        \
        CUresult result;                                                     \
                                                                             \
        SHMT_CAPTURE_REAL(name);                                             \
        if (real == NULL)                                                    \
            return SHMT_CAPTURE_MISSING;                                     \
        if (done)                                                            \
            return CUDA_SUCCESS;                                             \
        result = real given;                                                 \
        if (result == CUDA_SUCCESS)                                          \
            act;                                                             \
        return result;                                                       \
    }

#define AFTER(name, declared, given, act)                                    \
    HOOK(name, declared, given, false, act)

/* A node of the clone, too, by the driver's function for it. */
#define FOLLOW(exec, node, set, given, kernel)                               \
    do {                                                                     \
        struct shmt_capture_graph *const graph = find(exec);                 \
        const CUgraphNode in_clone = own_of(graph, node);                    \
                                                                             \
        set_swapped(graph, node, kernel);                                    \
        set_unfollowed(exec, graph, node, kernel);                           \
        change(graph, in_clone != NULL &&                                    \
                          shmt_capture_driver()->set given == CUDA_SUCCESS); \
    } while (0)

#define CHANGE(name, set, declared, given, own, kernel)                      \
    HOOK(name, declared, given, is_set_tuned(exec, node, kernel),            \
         FOLLOW(exec, node, set, own, kernel))

CHANGE(cuGraphExecKernelNodeSetParams_v2, GraphKernelNodeSetParams,
       (CUgraphExec exec, CUgraphNode node,
        const CUDA_KERNEL_NODE_PARAMS *params),
       (exec, node, params), (in_clone, params), params)
CHANGE(cuGraphExecKernelNodeSetParams, GraphKernelNodeSetParams,
       (CUgraphExec exec, CUgraphNode node,
        const CUDA_KERNEL_NODE_PARAMS_v1 *params),
       (exec, node, params),
       (in_clone, newer(params, &(CUDA_KERNEL_NODE_PARAMS){0})),
       newer(params, &(CUDA_KERNEL_NODE_PARAMS){0}))
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
       (exec, node, params), (in_clone, params),
       kernel_of(params, &(CUDA_KERNEL_NODE_PARAMS){0}))
AFTER(cuGraphExecChildGraphNodeSetParams,
      (CUgraphExec exec, CUgraphNode node, CUgraph child), (exec, node, child),
      change(find(exec), false))
AFTER(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned on),
      (exec, node, on), switch_nodes(exec))
AFTER(cuGraphExecUpdate,
      (CUgraphExec exec, CUgraph from, CUgraphNode *error,
       CUgraphExecUpdateResult *why),
      (exec, from, error, why), update(exec, from))
AFTER(cuGraphExecUpdate_v2,
      (CUgraphExec exec, CUgraph from, CUgraphExecUpdateResultInfo *info),
      (exec, from, info), update(exec, from))

/* -- from making to destroying -------------------------------------------- */

#define INSTANTIATE(name, declared, given)                                   \
    AFTER(name, declared, given, remember(*exec, from))

INSTANTIATE(cuGraphInstantiate,
            (CUgraphExec *exec, CUgraph from, CUgraphNode *error, char *log,
             size_t size),
            (exec, from, error, log, size))
INSTANTIATE(cuGraphInstantiate_v2,
            (CUgraphExec *exec, CUgraph from, CUgraphNode *error, char *log,
             size_t size),
            (exec, from, error, log, size))
INSTANTIATE(cuGraphInstantiateWithFlags,
            (CUgraphExec *exec, CUgraph from, unsigned long long flags),
            (exec, from, flags))
INSTANTIATE(cuGraphInstantiateWithParams,
            (CUgraphExec *exec, CUgraph from,
             CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, from, params))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz,
            (CUgraphExec *exec, CUgraph from,
             CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, from, params))

SHMT_CAPTURE_HOOKED cuGraphDestroy(CUgraph graph)
{
    SHMT_CAPTURE_REAL(cuGraphDestroy);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
    return keep_source(graph) ? CUDA_SUCCESS : real(graph);
}

SHMT_CAPTURE_HOOKED cuGraphExecDestroy(CUgraphExec exec)
{
    SHMT_CAPTURE_REAL(cuGraphExecDestroy);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
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
        one->left = one->due && (graph->why != NULL || one->node == NULL);
        if (one->left) {
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

/* The same, to be timed; the others are counted. */
static bool choose_timed(struct shmt_capture_graph *graph)
{
    return shmt_capture_times_choose(graph->kernels, graph->kernel_count,
                                     graph->why == NULL);
}

/* What is captured as often as was asked for is looked at no more, nor what was
 * left out: until the graph is changed its launches are the same.  A list has
 * all. */
static void let_pass(CUgraphExec exec, struct shmt_capture_graph *graph)
{
    size_t count = 0;

    if (shmt_capture_setting()->list)
        return;
    for (size_t k = 0; k < graph->kernel_count; k++)
        if (!graph->kernels[k].left &&
            shmt_capture_launch_is_open(graph->kernels[k].handle))
            graph->kernels[count++] = graph->kernels[k];
    graph->kernel_count = count;
    if (count == 0 && !graph->switched)
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
    if (graph->changed && graph->clone != NULL)
        (void)shmt_capture_graph_read(driver, graph, graph->clone);
    if (shmt_capture_setting()->list ? choose_timed(graph) : choose(graph))
        launched = shmt_capture_parts_launch(driver, graph, exec, seen_as,
                                             &result);
    let_pass(exec, graph);
    return launched ? result : real(exec, stream);
}

#define LAUNCH(name, seen_as)                                                \
    SHMT_CAPTURE_HOOKED name(CUgraphExec exec, CUstream stream)              \
    {                                                                        \
        SHMT_CAPTURE_REAL(name);                                             \
        return real == NULL ? SHMT_CAPTURE_MISSING                           \
                            : launch(real, exec, stream, seen_as);           \
    }

LAUNCH(cuGraphLaunch, stream)
LAUNCH(cuGraphLaunch_ptsz, stream == NULL ? CU_STREAM_PER_THREAD : stream)
