/* SPDX-License-Identifier: MIT */
/*
 * graphed: the user's program that launches its kernels by graphs: `cover`,
 * `many` and `plenty` of data/chain.cu, of which each reads what the one before
 * it wrote.
 *
 *     graphed WAY FILE.cu STEP...
 *
 * It compiles the file by the NVRTC of $FAKE_NVRTC_REAL.  WAY is how it comes
 * to the driver: opened, by dlsym; runtime, by cuGetProcAddress; own, the same
 * where the stream 0 is the thread's own; old, the same as a program of CUDA
 * 11.  The steps are the words of `steps` below, in turn.  `launch` prints sums,
 * or the error.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "compiled.h"

enum { N = 1000, LINKS = 3 };

/* -- the driver ----------------------------------------------------------- */

#define FUNCTIONS(X)                                                         \
    X(cuInit)                                                                \
    X(cuDevicePrimaryCtxRelease)                                             \
    X(cuDevicePrimaryCtxReset)                                               \
    X(cuDevicePrimaryCtxRetain)                                              \
    X(cuCtxSetCurrent)                                                       \
    X(cuCtxSynchronize)                                                      \
    X(cuModuleLoadData)                                                      \
    X(cuModuleGetFunction)                                                   \
    X(cuLibraryLoadData)                                                     \
    X(cuLibraryUnload)                                                       \
    X(cuLibraryGetKernel)                                                    \
    X(cuMemAlloc)                                                            \
    X(cuMemcpyHtoD)                                                          \
    X(cuMemcpyDtoH)                                                          \
    X(cuStreamCreate)                                                        \
    X(cuStreamSynchronize)                                                   \
    X(cuStreamBeginCapture)                                                  \
    X(cuStreamEndCapture)                                                    \
    X(cuEventCreate)                                                         \
    X(cuLaunchKernel)                                                        \
    X(cuGraphCreate)                                                         \
    X(cuGraphDestroy)                                                        \
    X(cuGraphAddKernelNode)                                                  \
    X(cuGraphAddMemsetNode)                                                  \
    X(cuGraphAddChildGraphNode)                                              \
    X(cuGraphAddEventRecordNode)                                             \
    X(cuGraphInstantiate)                                                    \
    X(cuGraphInstantiateWithParams)                                          \
    X(cuGraphExecKernelNodeSetParams)                                        \
    X(cuGraphExecMemsetNodeSetParams)                                        \
    X(cuGraphExecUpdate)                                                     \
    X(cuGraphNodeSetEnabled)                                                 \
    X(cuGraphLaunch)                                                         \
    X(cuGraphExecDestroy)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} api;

static int is_old;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static void open_driver(const char *way)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    /* As the runtime, which asks for older functions first. */
    static const int versions[] = {10000, 11080, 13000};
    const cuuint64_t flags =
        strcmp(way, "own") == 0
            ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
    CUcontext context;

    if (driver == NULL)
        exit(9);
    is_old = strcmp(way, "old") == 0;
    store(&get, dlsym(driver, "cuGetProcAddress_v2"), "driver");
#define FIND(name)                                                           \
    {                                                                        \
        void *found = NULL;                                                  \
        if (strcmp(way, "opened") == 0)                                      \
            found = dlsym(driver, TEXT(name));                               \
        for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++)    \
            if (strcmp(way, "opened") != 0 && (!is_old || found == NULL ||   \
                                               versions[k] < 12000))         \
                (void)get(#name, &found, versions[k], flags, &status);       \
        store(&api.name, found, #name);                                      \
    }
    FUNCTIONS(FIND)
    must((int)api.cuInit(0), "cuInit");
    must((int)api.cuDevicePrimaryCtxRetain(&context, 0), "context");
    must((int)api.cuCtxSetCurrent(context), "context");
}

/* -- the chain ------------------------------------------------------------ */

static const char *const names[LINKS] = {"cover", "many", "plenty"};

static struct {
    char *cubin;
    int of_library, unloads;
    CUlibrary libraries[2];        /* the older one first */
    CUfunction functions[LINKS];   /* or kernels of a library */
    CUdeviceptr buffers[LINKS + 1];
    float factors[LINKS];
    CUstream stream;
    CUgraph graph;
    CUgraphNode set, links[LINKS];     /* of a graph that was built */
    CUgraphExec exec;
    int launches;
} state = {.factors = {2, 3, 5}};

/* The parameters of a link: of its launch, and as a node. */
struct link {
    int n;
    void *arguments[4];
    CUDA_KERNEL_NODE_PARAMS params;
};

static struct link *link_of(int k)
{
    static struct link link;

    link.n = N;
    link.arguments[0] = &state.buffers[k + 1];
    link.arguments[1] = &state.buffers[k];
    link.arguments[2] = &state.factors[k];
    link.arguments[3] = &link.n;
    link.params = (CUDA_KERNEL_NODE_PARAMS){
        .func = state.of_library ? NULL : state.functions[k],
        .kern = state.of_library ? (CUkernel)state.functions[k] : NULL,
        .gridDimX = 4, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1,
        .kernelParams = link.arguments};
    return &link;
}

static void load(void)
{
    CUmodule module;

    must((int)api.cuModuleLoadData(&module, state.cubin), "load");
    for (int k = 0; k < LINKS; k++)
        must((int)api.cuModuleGetFunction(&state.functions[k], module,
                                          names[k]), "function");
}

/* After each unload the kernels are asked for in another order: where handles
 * are given again, to others. */
static void load_library(void)
{
    CUlibrary *library = &state.libraries[state.libraries[0] != NULL];

    state.of_library = 1;
    must((int)api.cuLibraryLoadData(library, state.cubin, NULL, NULL, 0, NULL,
                                    NULL, 0), "load");
    for (int k = 0; k < LINKS; k++) {
        const int at = (k + state.unloads) % LINKS;

        must((int)api.cuLibraryGetKernel(
                 (CUkernel *)(void *)&state.functions[at], *library,
                 names[at]), "kernel");
    }
}

static void unload_library(void)
{
    must((int)api.cuLibraryUnload(state.libraries[0]), "cuLibraryUnload");
    state.libraries[0] = state.libraries[1];
    state.libraries[1] = NULL;
    state.unloads++;
}

static void launch_link(int k)
{
    must((int)api.cuLaunchKernel(state.functions[k], 4, 1, 1, 256, 1, 1, 0,
                                 state.stream, link_of(k)->arguments, NULL),
         "launch");
}

static void launch_links(void)
{
    for (int k = 0; k < LINKS; k++)
        launch_link(k);
}

/* -- graphs --------------------------------------------------------------- */

/* The first link is there so many times more. */
static CUgraph recorded(int more, int times)
{
    CUgraph graph;

    must((int)api.cuStreamBeginCapture(state.stream,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL),
         "cuStreamBeginCapture");
    while (more-- > 0)
        launch_link(0);
    while (times-- > 0)
        launch_links();
    must((int)api.cuStreamEndCapture(state.stream, &graph),
         "cuStreamEndCapture");
    return graph;
}

static void record(void)
{
    state.graph = recorded(0, 1);
}

static void record_twice(void)
{
    state.graph = recorded(0, 2);
}

/* More kernels than anybody launches one by one. */
static void record_much(void)
{
    state.graph = recorded(20, 1);
}

static CUDA_MEMSET_NODE_PARAMS to(unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = state.buffers[2], .value = value, .elementSize = 4,
        .width = N, .height = 1};
}

/* The second link is behind the first, and a memset of what it writes. */
static CUgraph built(CUgraphNode links[LINKS], CUgraphNode *set_node)
{
    const CUDA_MEMSET_NODE_PARAMS set = to(0x40400000);
    CUgraphNode behind[2];
    CUgraph graph;

    must((int)api.cuGraphCreate(&graph, 0), "cuGraphCreate");
    for (size_t k = 0; k < LINKS; k++) {
        if (k > 0)
            behind[0] = links[k - 1];
        must((int)api.cuGraphAddKernelNode(&links[k], graph, behind,
                                           k == 0 ? 0 : k == 1 ? 2 : 1,
                                           &link_of((int)k)->params), "node");
        if (k == 0)
            must((int)api.cuGraphAddMemsetNode(&behind[1], graph, NULL, 0,
                                               &set, NULL), "node");
    }
    *set_node = behind[1];
    return graph;
}

static void build(void)
{
    state.graph = built(state.links, &state.set);
}

/* A graph that has the one before, and nothing else. */
static void nest(void)
{
    const CUgraph inner = state.graph;
    CUgraphNode node;

    must((int)api.cuGraphCreate(&state.graph, 0), "cuGraphCreate");
    must((int)api.cuGraphAddChildGraphNode(&node, state.graph, NULL, 0, inner),
         "node");
    must((int)api.cuGraphDestroy(inner), "cuGraphDestroy");
}

static void add_event(void)
{
    CUgraphNode node;
    CUevent event;

    must((int)api.cuEventCreate(&event, 0), "event");
    must((int)api.cuGraphAddEventRecordNode(&node, state.graph, NULL, 0,
                                            event), "node");
}

static void drop(void)
{
    must((int)api.cuGraphDestroy(state.graph), "cuGraphDestroy");
}

/* Functions of the same name have had other parameters. */
typedef CUresult old_instantiate(CUgraphExec *, CUgraph, CUgraphNode *, char *,
                                 size_t);
typedef CUresult old_update(CUgraphExec, CUgraph, CUgraphNode *,
                            CUgraphExecUpdateResult *);
typedef CUresult old_set(CUgraphExec, CUgraphNode,
                         const CUDA_KERNEL_NODE_PARAMS_v1 *);

static void instantiate(void)
{
    old_instantiate *old;
    CUgraphNode error;
    char log[16];

    memcpy(&old, &api.cuGraphInstantiate, sizeof old);
    must((int)(is_old ? old(&state.exec, state.graph, &error, log, sizeof log)
                      : api.cuGraphInstantiate(&state.exec, state.graph, 0)),
         "cuGraphInstantiate");
}

static void instantiate_with(cuuint64_t flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = flags};

    must((int)api.cuGraphInstantiateWithParams(&state.exec, state.graph,
                                               &params), "instantiate");
}

static void instantiate_params(void)
{
    instantiate_with(0);
}

static void instantiate_device(void)
{
    instantiate_with(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
}

/* The second link of the executable graph, and not of the graph: another
 * factor, and one block more. */
static void change(void)
{
    CUDA_KERNEL_NODE_PARAMS_v1 older;
    old_set *old;

    CUDA_KERNEL_NODE_PARAMS *params;

    memcpy(&old, &api.cuGraphExecKernelNodeSetParams, sizeof old);
    state.factors[1] = 7;
    params = &link_of(1)->params;
    params->gridDimX = 5;
    memcpy(&older, params, sizeof older);
    must((int)(is_old ? old(state.exec, state.links[1], &older)
                      : api.cuGraphExecKernelNodeSetParams(
                            state.exec, state.links[1], params)), "change");
}

static void change_set(void)
{
    const CUDA_MEMSET_NODE_PARAMS set = to(0x40800000);

    must((int)api.cuGraphExecMemsetNodeSetParams(state.exec, state.set, &set,
                                                 NULL), "change");
}

static void disable(void)
{
    must((int)api.cuGraphNodeSetEnabled(state.exec, state.links[2], 0),
         "cuGraphNodeSetEnabled");
}

static void update_by(CUgraph graph)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExecUpdateResult why;
    CUgraphNode error;
    CUresult result;
    old_update *old;

    memcpy(&old, &api.cuGraphExecUpdate, sizeof old);
    result = is_old ? old(state.exec, graph, &error, &why)
                    : api.cuGraphExecUpdate(state.exec, graph, &info);
    printf("update %d\n", (int)result);
    must((int)api.cuGraphDestroy(graph), "cuGraphDestroy");
}

static void update(void)
{
    CUgraphNode links[LINKS], set;

    state.factors[1] = 11;
    update_by(state.set == NULL ? recorded(0, 1) : built(links, &set));
}

/* By a graph that has nothing. */
static void update_wrong(void)
{
    CUgraph graph;

    must((int)api.cuGraphCreate(&graph, 0), "cuGraphCreate");
    update_by(graph);
}

/* -- launches ------------------------------------------------------------- */

static void fill(void)
{
    float values[N];

    for (int i = 0; i < N; i++)
        values[i] = (float)(i % 7 + state.launches);
    must((int)api.cuMemcpyHtoD(state.buffers[0], values, sizeof values),
         "copy");
    must((int)api.cuCtxSynchronize(), "cuCtxSynchronize");
    state.launches++;
}

static void print_sum(CUresult result)
{
    float values[N];
    double sum = 0;

    if (result != CUDA_SUCCESS) {
        printf("launch %d\n", (int)result);
        return;
    }
    must((int)api.cuStreamSynchronize(state.stream), "cuStreamSynchronize");
    for (int k = 1; k <= LINKS; k++) {
        must((int)api.cuMemcpyDtoH(values, state.buffers[k], sizeof values),
             "copy");
        for (int i = 0; i < N; i++)
            sum += (double)(i % 13) * (double)values[i];
        printf(k < LINKS ? "%.0f " : "%.0f\n", sum);
    }
}

static void launch(void)
{
    fill();
    print_sum(api.cuGraphLaunch(state.exec, state.stream));
}

/* Where launches are captured, which the driver allows for no graph. */
static void launch_captured(void)
{
    CUgraph graph;

    must((int)api.cuStreamBeginCapture(state.stream,
                                       CU_STREAM_CAPTURE_MODE_RELAXED),
         "cuStreamBeginCapture");
    printf("captured %d\n", (int)api.cuGraphLaunch(state.exec, state.stream));
    if (api.cuStreamEndCapture(state.stream, &graph) == CUDA_SUCCESS)
        must((int)api.cuGraphDestroy(graph), "cuGraphDestroy");
    launch();
}

static void launch_direct(void)
{
    fill();
    launch_links();
    print_sum(CUDA_SUCCESS);
}

static void end(void)
{
    must((int)api.cuGraphExecDestroy(state.exec), "cuGraphExecDestroy");
}

static void reset(void)
{
    must((int)api.cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
}

/* Retained once more, and no more, as by a library that is closed, while a
 * capture is under way. */
static void release(void)
{
    CUcontext context;
    CUgraph graph;

    must((int)api.cuStreamBeginCapture(state.stream,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL),
         "cuStreamBeginCapture");
    must((int)api.cuDevicePrimaryCtxRetain(&context, 0), "context");
    must((int)api.cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
    must((int)api.cuStreamEndCapture(state.stream, &graph),
         "cuStreamEndCapture");
    must((int)api.cuGraphDestroy(graph), "cuGraphDestroy");
}

static const struct {
    const char *word;
    void (*run)(void);
} steps[] = {
    {"load", load}, {"library", load_library},
    {"unload", unload_library}, {"record", record}, {"twice", record_twice},
    {"much", record_much},
    {"build", build}, {"nest", nest}, {"event", add_event}, {"drop", drop},
    {"instantiate", instantiate}, {"params", instantiate_params},
    {"device", instantiate_device}, {"change", change}, {"set", change_set},
    {"disable", disable}, {"update", update}, {"wrong", update_wrong},
    {"launch", launch}, {"into", launch_captured}, {"direct", launch_direct},
    {"end", end}, {"reset", reset}, {"release", release},
};

int main(int argc, char **argv)
{
    size_t size;

    if (argc < 3)
        return 2;
    open_driver(argv[1]);
    state.cubin = compile(argv[2], "-default-device", &size);
    must((int)api.cuStreamCreate(&state.stream, 0), "stream");
    for (int k = 0; k <= LINKS; k++) {
        static const float zeros[N];

        must((int)api.cuMemAlloc(&state.buffers[k], sizeof zeros), "memory");
        must((int)api.cuMemcpyHtoD(state.buffers[k], zeros, sizeof zeros),
             "copy");
    }
    for (int k = 3; k < argc; k++)
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            if (strcmp(steps[i].word, argv[k]) == 0)
                steps[i].run();
    return 0;
}
