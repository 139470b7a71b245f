/* SPDX-License-Identifier: MIT */
/*
 * graph: graphs of kernels, memsets, copies, functions of the host and other
 * graphs; nodes of other types do nothing.  Nodes that wait for nothing run in
 * the order in which they were made last, and the driver lists them so: nobody
 * may count on another one.
 *
 * Threads may have graphs of their own; one at a time records.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/cuda.h"

enum { NODES = 64, ARGUMENTS = 16, BYTES = 256 };

struct node {
    struct graph *graph;
    const struct node *origin;     /* what it is a copy of */
    CUgraphNodeType type;
    bool disabled;
    size_t behind_count;
    struct node *behind[NODES];
    CUDA_KERNEL_NODE_PARAMS kernel;
    bool cooperative, updatable;
    unsigned cluster[3];
    unsigned char bytes[BYTES];    /* of its parameters */
    void *arguments[ARGUMENTS];
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS host;
    struct graph *child;
};

struct graph {
    size_t count;
    struct node *nodes[NODES];
};

struct exec {
    struct exec *next;
    struct graph *graph;
    cuuint64_t flags;
};

static atomic_int graphs, execs;       /* that there are */
static struct graph *recording;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exec *made;      /* all that are executable, and their nodes'
                                  origins */

/* For tests: what a program has left. */
__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAKE_CUDA_GRAPHS");
    FILE *file = path == NULL ? NULL : fopen(path, "a");

    if (file == NULL)
        return;
    fprintf(file, "%d graphs, %d executable\n", graphs, execs);
    fclose(file);
}

/* -- nodes ---------------------------------------------------------------- */

static CUgraphNode handle_of(struct node *node)
{
    return (CUgraphNode)(void *)node;
}

static struct node *node_of(CUgraphNode handle)
{
    return (struct node *)(void *)handle;
}

static struct node *add(CUgraph handle, const CUgraphNode *behind,
                        size_t count, CUgraphNodeType type)
{
    struct graph *const graph = (void *)handle;
    struct node *const node = calloc(1, sizeof *node);

    if (node == NULL || graph->count == NODES)
        abort();
    node->graph = graph;
    node->type = type;
    for (size_t k = 0; k < count; k++)
        node->behind[node->behind_count++] = node_of(behind[k]);
    return graph->nodes[graph->count++] = node;
}

/* The parameters are the node's own from now on. */
static void set_kernel(struct node *node,
                       const CUDA_KERNEL_NODE_PARAMS *params)
{
    const CUfunction function = params->func != NULL
                                    ? params->func : (CUfunction)params->kern;
    void *arguments[ARGUMENTS];
    void **const given = fake_unpack(function, params->kernelParams,
                                     params->extra, arguments);
    size_t offset, size;

    node->kernel = *params;
    fake_KernelGetFunction(&node->kernel.func, (CUkernel)function);
    node->kernel.kern = NULL;
    node->kernel.extra = NULL;
    node->kernel.kernelParams = node->arguments;
    for (size_t k = 0; k < ARGUMENTS &&
                       fake_parameter(function, k, &offset, &size); k++)
        node->arguments[k] = memcpy(node->bytes + offset, given[k], size);
}

static struct graph *copy_of(const struct graph *graph)
{
    struct graph *const copy = calloc(1, sizeof *copy);

    graphs++;
    for (size_t k = 0; k < graph->count; k++) {
        const struct node *from = graph->nodes[k];
        struct node *const node =
            add((CUgraph)(void *)copy, NULL, 0, from->type);

        *node = *from;
        node->graph = copy;
        node->origin = from;
        if (from->type == CU_GRAPH_NODE_TYPE_KERNEL)
            set_kernel(node, &from->kernel);
        if (from->child != NULL)
            node->child = copy_of(from->child);
        for (size_t i = 0; i < from->behind_count; i++)
            for (size_t at = 0; at < k; at++)
                if (graph->nodes[at] == from->behind[i])
                    node->behind[i] = copy->nodes[at];
    }
    return copy;
}

static struct node *find_copy(const struct graph *copy, CUgraphNode original)
{
    for (size_t k = 0; k < copy->count; k++)
        if (copy->nodes[k]->origin == node_of(original))
            return copy->nodes[k];
    return NULL;
}

/* A node that is no more is no name for that of an executable graph. */
static void disown(const struct node *node)
{
    pthread_mutex_lock(&lock);
    for (struct exec *exec = made; exec != NULL; exec = exec->next)
        for (size_t k = 0; k < exec->graph->count; k++)
            if (exec->graph->nodes[k]->origin == node)
                exec->graph->nodes[k]->origin = NULL;
    pthread_mutex_unlock(&lock);
}

static void destroy(struct graph *graph)
{
    for (size_t k = 0; k < graph->count; k++) {
        disown(graph->nodes[k]);
        if (graph->nodes[k]->child != NULL)
            destroy(graph->nodes[k]->child);
        free(graph->nodes[k]);
    }
    free(graph);
    graphs--;
}

/* -- graphs --------------------------------------------------------------- */

CUresult fake_GraphCreate(CUgraph *out, unsigned flags)
{
    (void)flags;
    FAKE_ENTER("GraphCreate");
    *out = (CUgraph)calloc(1, sizeof(struct graph));
    graphs++;
    return CUDA_SUCCESS;
}

CUresult fake_GraphDestroy(CUgraph graph)
{
    destroy((void *)graph);
    return CUDA_SUCCESS;
}

CUresult fake_GraphClone(CUgraph *out, CUgraph graph)
{
    FAKE_ENTER("GraphClone");
    *out = (CUgraph)(void *)copy_of((void *)graph);
    return CUDA_SUCCESS;
}

CUresult fake_GraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                 const CUgraphNode *behind, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params)
{
    FAKE_ENTER("GraphAddKernelNode");
    *out = handle_of(add(graph, behind, count, CU_GRAPH_NODE_TYPE_KERNEL));
    set_kernel(node_of(*out), params);
    return CUDA_SUCCESS;
}

CUresult fake_GraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                 const CUgraphNode *behind, size_t count,
                                 const CUDA_MEMSET_NODE_PARAMS *params,
                                 CUcontext context)
{
    (void)context;
    FAKE_ENTER("GraphAddMemsetNode");
    *out = handle_of(add(graph, behind, count, CU_GRAPH_NODE_TYPE_MEMSET));
    node_of(*out)->set = *params;
    return CUDA_SUCCESS;
}

/* Of one row. */
CUresult fake_GraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                                 const CUgraphNode *behind, size_t count,
                                 const CUDA_MEMCPY3D *params,
                                 CUcontext context)
{
    (void)context;
    FAKE_ENTER("GraphAddMemcpyNode");
    *out = handle_of(add(graph, behind, count, CU_GRAPH_NODE_TYPE_MEMCPY));
    node_of(*out)->copy = *params;
    return CUDA_SUCCESS;
}

CUresult fake_GraphAddHostNode(CUgraphNode *out, CUgraph graph,
                               const CUgraphNode *behind, size_t count,
                               const CUDA_HOST_NODE_PARAMS *params)
{
    FAKE_ENTER("GraphAddHostNode");
    *out = handle_of(add(graph, behind, count, CU_GRAPH_NODE_TYPE_HOST));
    node_of(*out)->host = *params;
    return CUDA_SUCCESS;
}

CUresult fake_GraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *behind, size_t count,
                                     CUgraph child)
{
    FAKE_ENTER("GraphAddChildGraphNode");
    *out = handle_of(add(graph, behind, count, CU_GRAPH_NODE_TYPE_GRAPH));
    node_of(*out)->child = copy_of((void *)child);
    return CUDA_SUCCESS;
}

/* One that does nothing. */
CUresult fake_GraphAddNode(CUgraphNode *out, CUgraph graph,
                           const CUgraphNode *behind,
#if CUDA_VERSION >= 13000
                           const CUgraphEdgeData *data,
#endif
                           size_t count, CUgraphNodeParams *params)
{
#if CUDA_VERSION >= 13000
    (void)data;
#endif
    FAKE_ENTER("GraphAddNode");
    *out = handle_of(add(graph, behind, count, params->type));
    return CUDA_SUCCESS;
}

CUresult fake_GraphDestroyNode(CUgraphNode handle)
{
    struct node *const node = node_of(handle);
    struct graph *const graph = node->graph;
    size_t left = 0;

    FAKE_ENTER("GraphDestroyNode");
    for (size_t k = 0; k < graph->count; k++) {
        struct node *const other = graph->nodes[k];
        size_t kept = 0;

        for (size_t i = 0; i < other->behind_count; i++)
            if (other->behind[i] != node)
                other->behind[kept++] = other->behind[i];
        other->behind_count = kept;
        if (other != node)
            graph->nodes[left++] = other;
    }
    graph->count = left;
    if (node->child != NULL)
        destroy(node->child);
    free(node);
    return CUDA_SUCCESS;
}

CUresult fake_GraphNodeFindInClone(CUgraphNode *out, CUgraphNode original,
                                   CUgraph clone)
{
    struct node *const found = find_copy((void *)clone, original);

    FAKE_ENTER("GraphNodeFindInClone");
    *out = handle_of(found);
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_GraphGetNodes(CUgraph handle, CUgraphNode *out, size_t *count)
{
    const struct graph *const graph = (void *)handle;

    FAKE_ENTER("GraphGetNodes");
    *count = graph->count;
    for (size_t k = 0; out != NULL && k < graph->count; k++)
        out[k] = handle_of(graph->nodes[graph->count - 1 - k]);
    return CUDA_SUCCESS;
}

CUresult fake_GraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode *from,
                                          size_t *count)
{
    const struct node *const to = node_of(node);

    FAKE_ENTER("GraphNodeGetDependencies");
    for (size_t k = 0; from != NULL && k < to->behind_count; k++)
        from[k] = handle_of(to->behind[k]);
    *count = to->behind_count;
    return CUDA_SUCCESS;
}

CUresult fake_GraphNodeGetType(CUgraphNode node, CUgraphNodeType *out)
{
    FAKE_ENTER("GraphNodeGetType");
    *out = node_of(node)->type;
    return CUDA_SUCCESS;
}

CUresult fake_GraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
    FAKE_ENTER("GraphChildGraphNodeGetGraph");
    *out = (CUgraph)(void *)node_of(node)->child;
    return CUDA_SUCCESS;
}

CUresult fake_GraphKernelNodeGetParams(CUgraphNode node,
                                       CUDA_KERNEL_NODE_PARAMS *out)
{
    FAKE_ENTER("GraphKernelNodeGetParams");
    *out = node_of(node)->kernel;
    return CUDA_SUCCESS;
}

CUresult fake_GraphKernelNodeGetAttribute(CUgraphNode handle,
                                          CUkernelNodeAttrID which,
                                          CUkernelNodeAttrValue *out)
{
    const struct node *node = node_of(handle);

    FAKE_ENTER("GraphKernelNodeGetAttribute");
    memset(out, 0, sizeof *out);
    if (which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        out->cooperative = node->cooperative;
    if (which == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        out->clusterDim.x = node->cluster[0];
        out->clusterDim.y = node->cluster[1];
        out->clusterDim.z = node->cluster[2];
    }
    if (which == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        out->deviceUpdatableKernelNode.deviceUpdatable = node->updatable;
    return CUDA_SUCCESS;
}

CUresult fake_GraphKernelNodeSetAttribute(CUgraphNode handle,
                                          CUkernelNodeAttrID which,
                                          const CUkernelNodeAttrValue *value)
{
    struct node *node = node_of(handle);

    FAKE_ENTER("GraphKernelNodeSetAttribute");
    if (which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        node->cooperative = value->cooperative != 0;
    if (which == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        node->cluster[0] = value->clusterDim.x;
        node->cluster[1] = value->clusterDim.y;
        node->cluster[2] = value->clusterDim.z;
    }
    if (which == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        node->updatable = value->deviceUpdatableKernelNode.deviceUpdatable;
    return CUDA_SUCCESS;
}

CUresult fake_GraphKernelNodeSetParams(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS *params)
{
    FAKE_ENTER("GraphKernelNodeSetParams");
    set_kernel(node_of(node), params);
    return CUDA_SUCCESS;
}

CUresult fake_GraphMemsetNodeSetParams(CUgraphNode node,
                                       const CUDA_MEMSET_NODE_PARAMS *params)
{
    FAKE_ENTER("GraphMemsetNodeSetParams");
    node_of(node)->set = *params;
    return CUDA_SUCCESS;
}

CUresult fake_GraphHostNodeSetParams(CUgraphNode node,
                                     const CUDA_HOST_NODE_PARAMS *params)
{
    FAKE_ENTER("GraphHostNodeSetParams");
    node_of(node)->host = *params;
    return CUDA_SUCCESS;
}

CUresult fake_GraphMemcpyNodeSetParams(CUgraphNode node,
                                       const CUDA_MEMCPY3D *params)
{
    FAKE_ENTER("GraphMemcpyNodeSetParams");
    node_of(node)->copy = *params;
    return CUDA_SUCCESS;
}

/* Those of a kernel, which in all versions are the same. */
CUresult fake_GraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS kernel;

    FAKE_ENTER("GraphNodeSetParams");
    if (params->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return CUDA_ERROR_NOT_SUPPORTED;
    memcpy(&kernel, &params->kernel, sizeof kernel);
    set_kernel(node_of(node), &kernel);
    return CUDA_SUCCESS;
}

/* -- a stream that is recorded -------------------------------------------- */

/* Behind all that is recorded before. */
static struct node *record(CUgraphNodeType type)
{
    CUgraphNode last;
    const size_t count = recording->count;

    if (count > 0)
        last = handle_of(recording->nodes[count - 1]);
    return add((CUgraph)(void *)recording, &last, count > 0, type);
}

void fake_graph_record(const struct fake_launch *launch)
{
    const CUDA_KERNEL_NODE_PARAMS params = {
        .func = (CUfunction)(uintptr_t)launch->function,
        .gridDimX = launch->grids[0], .gridDimY = launch->grids[1],
        .gridDimZ = launch->grids[2], .blockDimX = launch->block[0],
        .blockDimY = launch->block[1], .blockDimZ = launch->block[2],
        .kernelParams = launch->arguments};
    struct node *const node = record(CU_GRAPH_NODE_TYPE_KERNEL);

    set_kernel(node, &params);
    node->cooperative = launch->cooperative;
    memcpy(node->cluster, launch->cluster, sizeof node->cluster);
}

CUresult fake_StreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    FAKE_ENTER("StreamBeginCapture");
    recording = calloc(1, sizeof *recording);
    graphs++;
    fake.capturing = true;
    return CUDA_SUCCESS;
}

CUresult fake_StreamEndCapture(CUstream stream, CUgraph *out)
{
    (void)stream;
    FAKE_ENTER("StreamEndCapture");
    fake.capturing = false;
    *out = (CUgraph)(void *)recording;
    return CUDA_SUCCESS;
}

/* -- executable graphs ---------------------------------------------------- */

static CUresult run_node(const struct node *node)
{
    const CUDA_KERNEL_NODE_PARAMS *params = &node->kernel;
    struct fake_launch launch = {
        .function = (const void *)params->func,
        .grid = params->gridDimX * params->gridDimY * params->gridDimZ,
        .threads = params->blockDimX * params->blockDimY * params->blockDimZ,
        .grids = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .carveout = -1, .cooperative = node->cooperative,
        .arguments = params->kernelParams};

    memcpy(launch.cluster, node->cluster, sizeof launch.cluster);
    if (node->disabled)
        return CUDA_SUCCESS;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        fake_note_shape(&launch, " node");
        return fake_execute(&launch);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return fake_MemsetD32Async(node->set.dst, node->set.value,
                                   node->set.width, NULL);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return fake_MemcpyDtoDAsync(node->copy.dstDevice, node->copy.srcDevice,
                                    node->copy.WidthInBytes, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
        node->host.fn(node->host.userData);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}

static CUresult run(const struct graph *graph)
{
    bool done[NODES] = {false};
    CUresult result = CUDA_SUCCESS;

    for (size_t left = graph->count; left > 0 && result == CUDA_SUCCESS;) {
        size_t k = graph->count;
        bool waits = true;

        while (waits && k-- > 0) {
            waits = done[k];
            for (size_t i = 0; i < graph->count; i++)
                for (size_t b = 0; b < graph->nodes[k]->behind_count; b++)
                    waits = waits || (graph->nodes[k]->behind[b] ==
                                      graph->nodes[i] && !done[i]);
        }
        done[k] = true;
        left--;
        result = graph->nodes[k]->child != NULL
                     ? run(graph->nodes[k]->child) : run_node(graph->nodes[k]);
    }
    return result;
}

CUresult fake_GraphInstantiate(CUgraphExec *out, CUgraph graph,
                               unsigned long long flags)
{
    struct exec *exec;

    FAKE_ENTER("GraphInstantiate");
    exec = calloc(1, sizeof *exec);
    exec->graph = copy_of((void *)graph);
    exec->flags = flags;
    pthread_mutex_lock(&lock);
    exec->next = made;
    made = exec;
    pthread_mutex_unlock(&lock);
    execs++;
    *out = (CUgraphExec)(void *)exec;
    return CUDA_SUCCESS;
}

CUresult fake_GraphInstantiateWithParams(CUgraphExec *out, CUgraph graph,
                                         CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return fake_GraphInstantiate(out, graph, params->flags);
}

CUresult fake_GraphExecGetFlags(CUgraphExec handle, cuuint64_t *out)
{
    FAKE_ENTER("GraphExecGetFlags");
    *out = ((const struct exec *)(const void *)handle)->flags;
    return CUDA_SUCCESS;
}

CUresult fake_GraphExecDestroy(CUgraphExec handle)
{
    struct exec *const exec = (void *)handle, **at = &made;

    pthread_mutex_lock(&lock);
    while (*at != exec)
        at = &(*at)->next;
    *at = exec->next;
    pthread_mutex_unlock(&lock);
    destroy(exec->graph);
    free(exec);
    execs--;
    return CUDA_SUCCESS;
}

CUresult fake_GraphUpload(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    FAKE_ENTER("GraphUpload");
    return CUDA_SUCCESS;
}

CUresult fake_GraphLaunch(CUgraphExec handle, CUstream stream)
{
    const struct exec *const exec = (const void *)handle;

    (void)stream;
    FAKE_ENTER("GraphLaunch");
    return fake.capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : run(exec->graph);
}

/* The nodes stay those that the executable graph was made from, and as they
 * were switched. */
CUresult fake_GraphExecUpdate(CUgraphExec handle, CUgraph from,
                              CUgraphExecUpdateResultInfo *info)
{
    struct exec *const exec = (void *)handle;
    struct graph *const before = exec->graph, *const graph = (void *)from;

    FAKE_ENTER("GraphExecUpdate");
    memset(info, 0, sizeof *info);
    if (graph->count != before->count) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    pthread_mutex_lock(&lock);
    exec->graph = copy_of(graph);
    for (size_t k = 0; k < graph->count; k++) {
        exec->graph->nodes[k]->origin = before->nodes[k]->origin;
        exec->graph->nodes[k]->disabled = before->nodes[k]->disabled;
    }
    pthread_mutex_unlock(&lock);
    destroy(before);
    return CUDA_SUCCESS;
}

/* What is set of a node is set of its copy in the executable graph. */
static CUgraphNode own_of(CUgraphExec exec, CUgraphNode node)
{
    return handle_of(
        find_copy(((struct exec *)(void *)exec)->graph, node));
}

#define SET(name, set, ...)                                                  \
    CUresult fake_##name(CUgraphExec exec, CUgraphNode node, __VA_ARGS__)    \
    {                                                                        \
        const CUgraphNode own = own_of(exec, node);                          \
                                                                             \
        FAKE_ENTER(#name);                                                   \
        return own == NULL || params == NULL ? CUDA_ERROR_INVALID_VALUE      \
                                             : fake_##set(own, params);      \
    }

SET(GraphExecKernelNodeSetParams, GraphKernelNodeSetParams,
    const CUDA_KERNEL_NODE_PARAMS *params)
SET(GraphExecMemsetNodeSetParams, GraphMemsetNodeSetParams,
    const CUDA_MEMSET_NODE_PARAMS *params,
    __attribute__((unused)) CUcontext context)
SET(GraphExecMemcpyNodeSetParams, GraphMemcpyNodeSetParams,
    const CUDA_MEMCPY3D *params, __attribute__((unused)) CUcontext context)
SET(GraphExecHostNodeSetParams, GraphHostNodeSetParams,
    const CUDA_HOST_NODE_PARAMS *params)
SET(GraphExecNodeSetParams, GraphNodeSetParams, CUgraphNodeParams *params)

CUresult fake_GraphExecChildGraphNodeSetParams(CUgraphExec exec,
                                               CUgraphNode node, CUgraph child)
{
    struct node *const own = node_of(own_of(exec, node));

    FAKE_ENTER("GraphExecChildGraphNodeSetParams");
    if (own == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    destroy(own->child);
    own->child = copy_of((void *)child);
    return CUDA_SUCCESS;
}

CUresult fake_GraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node,
                                  unsigned on)
{
    struct node *const own =
        find_copy(((struct exec *)(void *)exec)->graph, node);

    FAKE_ENTER("GraphNodeSetEnabled");
    if (own == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    own->disabled = on == 0;
    return CUDA_SUCCESS;
}

/* -- as programs of CUDA 11 ask for them ---------------------------------- */

CUresult fake_GraphInstantiate_v1(CUgraphExec *out, CUgraph graph,
                                  CUgraphNode *error, char *log, size_t size)
{
    *error = NULL;
    snprintf(log, size, "made");   /* where it was given */
    return fake_GraphInstantiate(out, graph, 0);
}

CUresult fake_GraphExecUpdate_v1(CUgraphExec exec, CUgraph from,
                                 CUgraphNode *error,
                                 CUgraphExecUpdateResult *why)
{
    CUgraphExecUpdateResultInfo info;
    const CUresult result = fake_GraphExecUpdate(exec, from, &info);

    *error = NULL;
    *why = info.result;
    return result;
}

CUresult
fake_GraphExecKernelNodeSetParams_v1(CUgraphExec exec, CUgraphNode node,
                                     const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUDA_KERNEL_NODE_PARAMS newer = {0};

    if (params != NULL)
        memcpy(&newer, params, sizeof *params);
    return fake_GraphExecKernelNodeSetParams(exec, node,
                                             params == NULL ? NULL : &newer);
}
