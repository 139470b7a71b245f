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
 * or the error.  Steps behind `apart` are taken by two threads that have buffers
 * and graphs of their own, each when both have taken the one before.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "compiled.h"
#include "graphed_driver.h"

enum { N = 1000, LINKS = 3, THREADS = 2 };

static const char *const names[LINKS] = {"cover", "many", "plenty"};

/* What the second link is behind, besides the first. */
enum before { SET, COPY, HOST, CHILD };

/* Of a thread. */
struct state {
    FILE *out;
    char *cubin;
    int of_library, unloads;
    CUlibrary libraries[2];        /* the older one first */
    CUcontext context;
    CUfunction functions[LINKS];   /* or kernels of a library */
    CUdeviceptr buffers[LINKS + 1];
    float factors[LINKS];
    CUstream stream;
    CUgraph graph;
    enum before kind;              /* of a graph that was built: */
    size_t count;                  /* of links */
    CUgraphNode before, links[LINKS];
    CUgraphExec exec;
    int launches;
};

static _Thread_local struct state state = {.factors = {2, 3, 5}};

/* -- the chain ------------------------------------------------------------ */

/* The parameters of a link: of its launch, and as a node. */
struct link {
    int n;
    void *arguments[4];
    CUDA_KERNEL_NODE_PARAMS params;
};

static struct link *link_of(int k)
{
    static _Thread_local struct link link;

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

/* What the second link is to write to gets the first of these numbers, or when
 * it is changed the second. */
static const float numbers[] = {3, 4};

static CUDA_MEMSET_NODE_PARAMS set_to(int which)
{
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = state.buffers[2], .elementSize = 4, .width = N, .height = 1};

    memcpy(&params.value, &numbers[which], sizeof params.value);
    return params;
}

static CUDA_MEMCPY3D copy_of(int which)
{
    CUDA_MEMCPY3D params = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = state.buffers[2],
        .WidthInBytes = N * sizeof(float), .Height = 1, .Depth = 1};
    float values[N];

    for (int i = 0; i < N; i++)
        values[i] = numbers[which];
    must((int)api.cuMemAlloc(&params.srcDevice, sizeof values), "memory");
    must((int)api.cuMemcpyHtoD(params.srcDevice, values, sizeof values),
         "copy");
    return params;
}

/* A function of the host tells its number instead. */
static void CUDA_CB tell(void *number)
{
    fprintf(state.out, "host %.0f\n", (double)*(const float *)number);
}

static CUDA_HOST_NODE_PARAMS told(int which)
{
    return (CUDA_HOST_NODE_PARAMS){.fn = tell,
                                   .userData = (void *)&numbers[which]};
}

static CUgraph child_of(int which)
{
    const CUDA_MEMSET_NODE_PARAMS set = set_to(which);
    CUgraphNode node;
    CUgraph graph;

    must((int)api.cuGraphCreate(&graph, 0), "cuGraphCreate");
    must((int)api.cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, NULL),
         "node");
    return graph;
}

static CUgraphNode add_before(CUgraph graph)
{
    const CUDA_MEMSET_NODE_PARAMS set = set_to(0);
    const CUDA_HOST_NODE_PARAMS host = told(0);
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy;
    CUgraph child;

    if (state.kind == SET)
        must((int)api.cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, NULL),
             "node");
    if (state.kind == HOST)
        must((int)api.cuGraphAddHostNode(&node, graph, NULL, 0, &host),
             "node");
    if (state.kind == COPY) {
        copy = copy_of(0);
        must((int)api.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, NULL),
             "node");
    }
    if (state.kind == CHILD) {
        child = child_of(0);
        must((int)api.cuGraphAddChildGraphNode(&node, graph, NULL, 0, child),
             "node");
        must((int)api.cuGraphDestroy(child), "cuGraphDestroy");
    }
    return node;
}

/* `across`: the second link depends on what is before it and on the first, in
 * this order. */
static CUgraph built(CUgraphNode links[LINKS], CUgraphNode *before,
                     bool across)
{
    CUgraphNode behind[2];
    CUgraph graph;

    must((int)api.cuGraphCreate(&graph, 0), "cuGraphCreate");
    for (size_t k = 0; k < state.count; k++) {
        if (k > 0)
            behind[k == 1 && across] = links[k - 1];
        must((int)api.cuGraphAddKernelNode(&links[k], graph, behind,
                                           k == 0 ? 0 : k == 1 ? 2 : 1,
                                           &link_of((int)k)->params), "node");
        if (k == 0)
            *before = behind[!across] = add_before(graph);
    }
    return graph;
}

static void build_links(size_t count)
{
    state.count = count;
    state.graph = built(state.links, &state.before, false);
}

static void build(void)
{
    build_links(LINKS);
}

static void build_first(void)
{
    build_links(1);
}

static void build_copy(void)
{
    state.kind = COPY;
    build();
}

static void build_host(void)
{
    state.kind = HOST;
    build();
}

static void build_child(void)
{
    state.kind = CHILD;
    build();
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

/* A node that no part of a graph may have. */
static void add_node(CUgraphNodeType type)
{
    CUgraphNodeParams params = {.type = type};
    CUgraphNode node;

    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        must((int)api.cuEventCreate(&params.eventRecord.event, 0), "event");
#if CUDA_VERSION >= 13000
    must((int)api.cuGraphAddNode(&node, state.graph, NULL, NULL, 0, &params),
         "node");
#else
    must((int)api.cuGraphAddNode(&node, state.graph, NULL, 0, &params),
         "node");
#endif
}

#define ADD(name, type)                                                      \
    static void add_##name(void)                                             \
    {                                                                        \
        add_node(CU_GRAPH_NODE_TYPE_##type);                                 \
    }

ADD(event, EVENT_RECORD)
ADD(wait, WAIT_EVENT)
ADD(signal, EXT_SEMAS_SIGNAL)
ADD(semaphore, EXT_SEMAS_WAIT)
ADD(allocation, MEM_ALLOC)
ADD(free, MEM_FREE)
ADD(operation, BATCH_MEM_OP)
ADD(condition, CONDITIONAL)
ADD(empty, EMPTY)

static void add_unknown(void)
{
    add_node((CUgraphNodeType)99);
}

/* An attribute of the second link of a graph that was built. */
static void set_attribute(CUkernelNodeAttrID id, CUkernelNodeAttrValue value)
{
    must((int)api.cuGraphKernelNodeSetAttribute(state.links[1], id, &value),
         "attribute");
}

static void make_cooperative(void)
{
    set_attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                  (CUkernelNodeAttrValue){.cooperative = 1});
}

static void make_cluster(void)
{
    set_attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                  (CUkernelNodeAttrValue){.clusterDim = {2, 1, 1}});
}

static void make_updatable(void)
{
    set_attribute(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                  (CUkernelNodeAttrValue){
                      .deviceUpdatableKernelNode = {.deviceUpdatable = 1}});
}

static void drop(void)
{
    must((int)api.cuGraphDestroy(state.graph), "cuGraphDestroy");
}

/* Functions of the same name have had other parameters. */
typedef CUresult old_update(CUgraphExec, CUgraph, CUgraphNode *,
                            CUgraphExecUpdateResult *);
typedef CUresult old_set(CUgraphExec, CUgraphNode,
                         const CUDA_KERNEL_NODE_PARAMS_v1 *);

static void instantiate_flags(void)
{
    must((int)api.cuGraphInstantiateWithFlags(&state.exec, state.graph, 0),
         "cuGraphInstantiateWithFlags");
}

static void instantiate(void)
{
    CUgraphNode error;
    char log[16] = "";

    if (with_log == NULL) {
        instantiate_flags();
        return;
    }
    must((int)with_log(&state.exec, state.graph, &error, log, sizeof log),
         "cuGraphInstantiate");
    if (log[0] != '\0')
        fprintf(state.out, "log %s\n", log);
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

/* Of a node of the executable graph, and not of the graph. */
static void set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    static _Thread_local struct passing passing;
    CUDA_KERNEL_NODE_PARAMS_v1 older;
    old_set *old;

    pass(params, &passing);
    memcpy(&old, &api.cuGraphExecKernelNodeSetParams, sizeof old);
    memcpy(&older, &passing.params, sizeof older);
    must((int)(is_old ? old(state.exec, node, &older)
                      : api.cuGraphExecKernelNodeSetParams(
                            state.exec, node, &passing.params)), "change");
    memset(&passing, 255, sizeof passing);
}

/* Nothing, which the driver refuses. */
static void change_nothing(void)
{
    const CUgraphNode node = state.links[1];

    fprintf(state.out, "nothing %d",
            (int)api.cuGraphExecKernelNodeSetParams(state.exec, node, NULL));
    fprintf(state.out, " %d\n",
            (int)api.cuGraphExecNodeSetParams(state.exec, node, NULL));
}

/* Another factor, and one block more. */
static CUDA_KERNEL_NODE_PARAMS *changed(void)
{
    CUDA_KERNEL_NODE_PARAMS *params;

    state.factors[1] = 7;
    params = &link_of(1)->params;
    params->gridDimX = 5;
    return params;
}

static void change(void)
{
    set_kernel(state.links[1], changed());
}

static void change_back(void)
{
    state.factors[1] = 3;
    set_kernel(state.links[1], &link_of(1)->params);
}

static void set_node(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    static _Thread_local struct passing passing;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

    pass(kernel, &passing);
    memcpy(&params.kernel, &passing.params, sizeof params.kernel);
    must((int)api.cuGraphExecNodeSetParams(state.exec, node, &params),
         "change");
    memset(&passing, 255, sizeof passing);
}

static void change_node(void)
{
    set_node(state.links[1], changed());
}

static void change_node_back(void)
{
    state.factors[1] = 3;
    set_node(state.links[1], &link_of(1)->params);
}

/* The first link is what the second one was. */
static CUDA_KERNEL_NODE_PARAMS *with_function(void)
{
    static _Thread_local CUDA_KERNEL_NODE_PARAMS params;

    params = link_of(1)->params;
    params.kernelParams = link_of(0)->arguments;
    return &params;
}

static void change_function(void)
{
    set_kernel(state.links[0], with_function());
}

static void change_node_function(void)
{
    set_node(state.links[0], with_function());
}

static void change_before(void)
{
    const CUDA_MEMSET_NODE_PARAMS set = set_to(1);
    const CUDA_HOST_NODE_PARAMS host = told(1);
    CUDA_MEMCPY3D copy;
    CUgraph child;

    if (state.kind == SET)
        must((int)api.cuGraphExecMemsetNodeSetParams(
                 state.exec, state.before, &set, NULL), "change");
    if (state.kind == HOST)
        must((int)api.cuGraphExecHostNodeSetParams(state.exec, state.before,
                                                   &host), "change");
    if (state.kind == COPY) {
        copy = copy_of(1);
        must((int)api.cuGraphExecMemcpyNodeSetParams(
                 state.exec, state.before, &copy, NULL), "change");
    }
    if (state.kind == CHILD) {
        child = child_of(1);
        must((int)api.cuGraphExecChildGraphNodeSetParams(
                 state.exec, state.before, child), "change");
        must((int)api.cuGraphDestroy(child), "cuGraphDestroy");
    }
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
    fprintf(state.out, "update %d\n", (int)result);
    must((int)api.cuGraphDestroy(graph), "cuGraphDestroy");
}

static void update(void)
{
    CUgraphNode links[LINKS], before;

    state.factors[1] = 11;
    update_by(state.count == 0 ? recorded(0, 1)
                               : built(links, &before, false));
}

static void update_across(void)
{
    CUgraphNode links[LINKS], before;

    update_by(built(links, &before, true));
}

/* By the graph that it was made from, which goes. */
static void update_itself(void)
{
    update_by(state.graph);
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
    must((int)api.cuStreamSynchronize(NULL), "cuStreamSynchronize");
    state.launches++;
}

static void print_sum(CUresult result)
{
    float values[N];
    double sum = 0;

    if (result != CUDA_SUCCESS) {
        fprintf(state.out, "launch %d\n", (int)result);
        return;
    }
    must((int)api.cuStreamSynchronize(state.stream), "cuStreamSynchronize");
    for (int k = 1; k <= LINKS; k++) {
        must((int)api.cuMemcpyDtoH(values, state.buffers[k], sizeof values),
             "copy");
        for (int i = 0; i < N; i++)
            sum += (double)(i % 13) * (double)values[i];
        fprintf(state.out, k < LINKS ? "%.0f " : "%.0f\n", sum);
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
    fprintf(state.out, "captured %d\n",
            (int)api.cuGraphLaunch(state.exec, state.stream));
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
    {"load", load}, {"library", load_library}, {"unload", unload_library},
    {"record", record}, {"twice", record_twice}, {"much", record_much},
    {"build", build}, {"build_first", build_first}, {"build_copy", build_copy},
    {"build_host", build_host}, {"build_child", build_child}, {"nest", nest},
    {"event", add_event}, {"wait", add_wait}, {"signal", add_signal},
    {"semaphore", add_semaphore}, {"allocation", add_allocation},
    {"free", add_free}, {"operation", add_operation},
    {"condition", add_condition}, {"empty", add_empty},
    {"unknown", add_unknown}, {"cooperative", make_cooperative},
    {"cluster", make_cluster}, {"updatable", make_updatable}, {"drop", drop},
    {"instantiate", instantiate}, {"flags", instantiate_flags},
    {"params", instantiate_params},
    {"device", instantiate_device}, {"change", change}, {"node", change_node},
    {"function", change_function}, {"node_function", change_node_function},
    {"set", change_before}, {"node_back", change_node_back},
    {"disable", disable}, {"update", update}, {"wrong", update_wrong},
    {"across", update_across}, {"itself", update_itself}, {"back", change_back},
    {"nothing", change_nothing},
    {"launch", launch}, {"into", launch_captured}, {"direct", launch_direct},
    {"end", end}, {"reset", reset}, {"release", release},
};

static void take_step(const char *word)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (strcmp(steps[i].word, word) == 0)
            steps[i].run();
}

/* A thread begins, with a stream and buffers of its own. */
static void enter(void)
{
    static const float zeros[N];

    must((int)api.cuCtxSetCurrent(state.context), "context");
    must((int)api.cuStreamCreate(&state.stream, 0), "stream");
    for (int k = 0; k <= LINKS; k++) {
        must((int)api.cuMemAlloc(&state.buffers[k], sizeof zeros), "memory");
        must((int)api.cuMemcpyHtoD(state.buffers[k], zeros, sizeof zeros),
             "copy");
    }
}

struct thread {
    pthread_t id;
    struct state state;
    pthread_barrier_t *step;
    char **words;              /* to a NULL */
    char *text;                /* what it has told */
    size_t size;
};

static void *run_thread(void *context)
{
    struct thread *const thread = context;

    state = thread->state;
    state.out = open_memstream(&thread->text, &thread->size);
    if (state.out == NULL)
        exit(7);
    enter();
    for (char **word = thread->words; *word != NULL; word++) {
        take_step(*word);
        pthread_barrier_wait(thread->step);
    }
    fclose(state.out);
    return NULL;
}

/* What the second thread fills its buffers with begins at another number. */
static void run_apart(char **words)
{
    struct thread threads[THREADS];
    pthread_barrier_t step;

    must(pthread_barrier_init(&step, NULL, THREADS), "barrier");
    for (int k = 0; k < THREADS; k++) {
        threads[k] = (struct thread){.state = state, .step = &step,
                                     .words = words};
        threads[k].state.launches = 10 * k;
        must(pthread_create(&threads[k].id, NULL, run_thread, &threads[k]),
             "thread");
    }
    for (int k = 0; k < THREADS; k++) {
        must(pthread_join(threads[k].id, NULL), "thread");
        fputs(threads[k].text, stdout);
        free(threads[k].text);
    }
    pthread_barrier_destroy(&step);
}

int main(int argc, char **argv)
{
    size_t size;
    int k = 3;

    if (argc < 3)
        return 2;
    state.out = stdout;
    open_driver(argv[1], &state.context);
    state.cubin = compile(argv[2], "-default-device", &size);
    enter();
    for (; k < argc && strcmp(argv[k], "apart") != 0; k++)
        take_step(argv[k]);
    if (k < argc)
        run_apart(&argv[k + 1]);
    return 0;
}
