/* SPDX-License-Identifier: MIT */
/*
 * graph: launches of the library where an application makes them: captured
 * into a CUDA graph, updated in one, on each kind of stream, on several
 * devices; and what a launch costs beside the driver's own.  Part of the GPU
 * lane.
 */
#include "gpu/driver.h"

#include <dlfcn.h>
#include <time.h>

#include "gpu/module.h"
#include "shmtune.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { ELEMENTS = 32, BATCH = 200, ROUNDS = 101, DEVICES = 16 };

#define GRAPH_LIST(X)                                                        \
    X(StreamBeginCapture)                                                    \
    X(StreamEndCapture)                                                      \
    X(StreamCreateWithPriority)                                              \
    X(GraphGetNodes)                                                         \
    X(GraphNodeGetType)                                                      \
    X(GraphKernelNodeGetParams)                                              \
    X(GraphKernelNodeGetAttribute)                                           \
    X(GraphInstantiate)                                                      \
    X(GraphExecUpdate)                                                       \
    X(GraphLaunch)                                                           \
    X(GraphExecDestroy)                                                      \
    X(GraphDestroy)

static struct {
#define GRAPH_MEMBER(name) __typeof__(cu##name) *name;
    GRAPH_LIST(GRAPH_MEMBER)
#undef GRAPH_MEMBER
} graphs;

static const struct shmt_driver *driver;
static struct shmtune *library;
static struct shmtune_message message;
static CUcontext context;
static CUstream stream;
static const int64_t problem[] = {1, ELEMENTS};

/* out = from + 1 on one device, its buffers and its function. */
struct place {
    struct shmtune_device device;
    struct shmtune_choice choice;
    struct shmtune_function *function;
    CUdeviceptr out, from, part, last;
    void *arguments[5];
};

static struct place place;

static void put_numbers(CUdeviceptr to, int first)
{
    float numbers[ELEMENTS];

    for (int k = 0; k < ELEMENTS; k++)
        numbers[k] = (float)(first + k);
    CHECK_INT(driver->MemcpyHtoD(to, numbers, sizeof numbers), 0);
    CHECK_INT(driver->CtxSynchronize(), 0);
}

/* How many elements are first + k. */
static int count_numbers(CUdeviceptr from, int first)
{
    float numbers[ELEMENTS] = {0};
    int right = 0;

    CHECK_INT(driver->CtxSynchronize(), 0);
    CHECK_INT(driver->MemcpyDtoH(numbers, from, sizeof numbers), 0);
    for (int k = 0; k < ELEMENTS; k++)
        right += numbers[k] == (float)(first + k);
    return right;
}

/* Poisons the output, launches, counts what is right. */
static int launch_on(struct place *at, CUstream on)
{
    CHECK_INT(driver->MemsetD8Async(at->out, 0xff, ELEMENTS * 4, on), 0);
    CHECK_INT(shmtune_launch(at->function, at->arguments, on, &message),
              SHMTUNE_OK);
    CHECK_INT(driver->StreamSynchronize(on), 0);
    return count_numbers(at->out, 1);
}

static void *argument_of(struct place *at, const char *name)
{
    const struct {
        const char *name;
        CUdeviceptr *buffer;
    } buffers[] = {{"out", &at->out}, {"from", &at->from},
                   {"part", &at->part}, {"last", &at->last}};

    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        if (strcmp(buffers[k].name, name) == 0)
            return buffers[k].buffer;
    return NULL;
}

/* In the current context. */
static void settle(struct place *at)
{
    CUdeviceptr *const buffers[] = {&at->out, &at->from, &at->part, &at->last};
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;

    *at = (struct place){.device = SHMTUNE_DEVICE_INIT,
                         .choice = SHMTUNE_CHOICE_INIT};
    CHECK_INT(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &at->device,
                                   &message), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "toy"), &at->device,
                             problem, &at->choice), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&at->choice, SHMTUNE_ALLOW_COMPILE,
                              &at->function, &message), SHMTUNE_OK);
    if (at->function == NULL)
        printf("# %s\n", message.text);
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        CHECK_INT(driver->MemAlloc(buffers[k], ELEMENTS * sizeof(double)), 0);
    CHECK_INT(shmtune_argument_count(at->choice.kernel), 5);
    for (size_t k = 0; k < 5; k++) {
        CHECK_INT(shmtune_argument_at(at->choice.kernel, k, &argument),
                  SHMTUNE_OK);
        at->arguments[k] = argument_of(at, argument.name);
    }
    put_numbers(at->from, 0);
}

static void leave(struct place *at)
{
    shmtune_release(at->function);
    driver->MemFree(at->out);
    driver->MemFree(at->from);
    driver->MemFree(at->part);
    driver->MemFree(at->last);
}

/* -- graphs ---------------------------------------------------------------- */

static CUgraph captured_launch(void)
{
    CUgraph graph = NULL;

    CHECK_INT(graphs.StreamBeginCapture(stream,
                                        CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    CHECK_INT(shmtune_launch(place.function, place.arguments, stream,
                             &message), SHMTUNE_OK);
    CHECK_INT(graphs.StreamEndCapture(stream, &graph), 0);
    return graph;
}

static void captured_into_a_graph(void)
{
    CUgraph graph = captured_launch();
    CUgraphExec instance = NULL;

    CHECK_INT(driver->MemsetD8Async(place.out, 0xff, ELEMENTS * 4, stream),
              0);
    CHECK_INT(count_numbers(place.out, 1), 0);     /* captured, not run */
    CHECK_INT(graphs.GraphInstantiate(&instance, graph, 0), 0);
    for (int k = 0; k < 3; k++) {
        put_numbers(place.from, k);
        CHECK_INT(graphs.GraphLaunch(instance, stream), 0);
        CHECK_INT(driver->StreamSynchronize(stream), 0);
        CHECK_INT(count_numbers(place.out, k + 1), ELEMENTS);
    }
    put_numbers(place.from, 0);
    graphs.GraphExecDestroy(instance);
    graphs.GraphDestroy(graph);
}

/* The same graph, with another output. */
static void updated_in_a_graph(void)
{
    CUgraph first = captured_launch(), second;
    const CUdeviceptr usual = place.out;
    CUgraphExecUpdateResultInfo result = {0};
    CUgraphExec instance = NULL;
    CUdeviceptr other = 0;

    CHECK_INT(driver->MemAlloc(&other, ELEMENTS * sizeof(double)), 0);
    CHECK_INT(graphs.GraphInstantiate(&instance, first, 0), 0);
    place.out = other;
    second = captured_launch();
    CHECK_INT(graphs.GraphExecUpdate(instance, second, &result), 0);
    CHECK_INT(result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK_INT(driver->MemsetD8Async(usual, 0xff, ELEMENTS * 4, stream), 0);
    CHECK_INT(driver->MemsetD8Async(other, 0xff, ELEMENTS * 4, stream), 0);
    CHECK_INT(graphs.GraphLaunch(instance, stream), 0);
    CHECK_INT(driver->StreamSynchronize(stream), 0);
    CHECK_INT(count_numbers(other, 1), ELEMENTS);
    CHECK_INT(count_numbers(usual, 1), 0);
    place.out = usual;
    graphs.GraphExecDestroy(instance);
    graphs.GraphDestroy(first);
    graphs.GraphDestroy(second);
    driver->MemFree(other);
}

/* CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, which the headers of
 * older toolkits do not have; its value is an int. */
static const CUkernelNodeAttrID carveout_attribute = (CUkernelNodeAttrID)14;

/* The carve-out goes with each launch: the function has the driver's own. */
static void a_launch_has_its_carveout(void)
{
    struct shmtune *const usual = library;
    const struct place kept = place;
    CUkernelNodeAttrValue value;
    CUgraph graph;
    CUgraphNode nodes[4];
    size_t count = 4;
    int percent = -2;

    if (!shmt_function_has_own_carveout(driver)) {
        printf("# an older driver: one of each function\n");
        return;
    }
    fixture_edit("kernels/toy.yaml", "- entry: toy\n",
                 "- entry: toy\n  carveout: 75\n");
    CHECK_INT(shmtune_open(fixture_path(""), &library, NULL), SHMTUNE_OK);
    settle(&place);
    graph = captured_launch();
    CHECK_INT(graphs.GraphGetNodes(graph, nodes, &count), 0);
    CHECK_INT(count, 1);
    memset(&value, 0, sizeof value);
    CHECK_INT(graphs.GraphKernelNodeGetAttribute(nodes[0], carveout_attribute,
                                                 &value), 0);
    memcpy(&percent, &value, sizeof percent);
    CHECK_INT(percent, 75);
    CHECK_INT(launch_on(&place, stream), ELEMENTS);
    graphs.GraphDestroy(graph);
    leave(&place);
    shmtune_close(library);
    library = usual;
    place = kept;
}

/* -- streams and devices --------------------------------------------------- */

static void each_kind_of_stream(void)
{
    CUstream blocking = NULL, urgent = NULL;

    CHECK_INT(driver->StreamCreate(&blocking, CU_STREAM_DEFAULT), 0);
    CHECK_INT(graphs.StreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING,
                                              -1), 0);
    CHECK_INT(launch_on(&place, NULL), ELEMENTS);
    CHECK_INT(launch_on(&place, CU_STREAM_LEGACY), ELEMENTS);
    CHECK_INT(launch_on(&place, CU_STREAM_PER_THREAD), ELEMENTS);
    CHECK_INT(launch_on(&place, blocking), ELEMENTS);
    CHECK_INT(launch_on(&place, urgent), ELEMENTS);
    CHECK_INT(launch_on(&place, stream), ELEMENTS);
    driver->StreamDestroy(blocking);
    driver->StreamDestroy(urgent);
}

/* Each has its function; they are launched in turn. */
static void several_devices(void)
{
    CUcontext contexts[DEVICES] = {NULL};
    struct place places[DEVICES];
    int count = 0;

    CHECK_INT(driver->DeviceGetCount(&count), 0);
    count = count > DEVICES ? DEVICES : count;
    for (int k = 0; k < count; k++) {
        CHECK_INT(driver->DevicePrimaryCtxRetain(&contexts[k], k), 0);
        CHECK_INT(driver->CtxSetCurrent(contexts[k]), 0);
        settle(&places[k]);
    }
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < count; k++) {
            CHECK_INT(driver->CtxSetCurrent(contexts[k]), 0);
            CHECK_INT(launch_on(&places[k], NULL), ELEMENTS);
        }
    for (int k = 0; k < count; k++) {
        CHECK_INT(driver->CtxSetCurrent(contexts[k]), 0);
        leave(&places[k]);
        CHECK_INT(driver->DevicePrimaryCtxRelease(k), 0);
    }
    CHECK_INT(driver->CtxSetCurrent(context), 0);
}

/* -- cost ------------------------------------------------------------------ */

static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double batch_of_ours(void)
{
    const double begun = now_ns();

    for (int k = 0; k < BATCH; k++)
        shmtune_launch(place.function, place.arguments, stream, NULL);
    return (now_ns() - begun) / BATCH;
}

static double batch_of_theirs(const CUDA_KERNEL_NODE_PARAMS *node)
{
    const double begun = now_ns();

    for (int k = 0; k < BATCH; k++)
        driver->LaunchKernel(node->func, node->gridDimX, node->gridDimY,
                             node->gridDimZ, node->blockDimX, node->blockDimY,
                             node->blockDimZ, node->sharedMemBytes, stream,
                             node->kernelParams, NULL);
    return (now_ns() - begun) / BATCH;
}

/* Not a judgement, a figure: the same launch by the library and by
 * cuLaunchKernel, in turn, while nothing else is under way.  The graph of a
 * launch knows what the library passed. */
static void cost_beside_the_driver(void)
{
    double ours[ROUNDS], theirs[ROUNDS], more[ROUNDS];
    CUgraph graph = captured_launch();
    CUgraphNode nodes[4];
    CUDA_KERNEL_NODE_PARAMS node = {0};
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = 4;

    CHECK_INT(graphs.GraphGetNodes(graph, nodes, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(graphs.GraphNodeGetType(nodes[0], &type), 0);
    CHECK_INT(type, CU_GRAPH_NODE_TYPE_KERNEL);
    CHECK_INT(graphs.GraphKernelNodeGetParams(nodes[0], &node), 0);
    for (int k = 0; k < ROUNDS; k++) {
        theirs[k] = batch_of_theirs(&node);
        CHECK_INT(driver->StreamSynchronize(stream), 0);
        ours[k] = batch_of_ours();
        CHECK_INT(driver->StreamSynchronize(stream), 0);
        more[k] = ours[k] - theirs[k];
    }
    qsort(ours, ROUNDS, sizeof ours[0], by_value);
    qsort(theirs, ROUNDS, sizeof theirs[0], by_value);
    qsort(more, ROUNDS, sizeof more[0], by_value);
    printf("# shmtune_launch %.0f ns, cuLaunchKernel %.0f ns, median of the "
           "differences %.0f ns (quartiles %.0f and %.0f)\n",
           ours[ROUNDS / 2], theirs[ROUNDS / 2], more[ROUNDS / 2],
           more[ROUNDS / 4], more[3 * ROUNDS / 4]);
    CHECK_INT(count_numbers(place.out, 1), ELEMENTS);
    graphs.GraphDestroy(graph);
}

static bool find_functions(void)
{
    void *const cuda = dlopen("libcuda.so.1", RTLD_NOW);
    bool all = cuda != NULL;

#define TEXT(name) #name
#define SYMBOL(name) TEXT(name)
#define GRAPH_FIND(name)                                                     \
    if (all) {                                                               \
        void *const symbol = dlsym(cuda, SYMBOL(cu##name));                  \
        all = symbol != NULL;                                                \
        memcpy(&graphs.name, &symbol, sizeof symbol);                        \
    }
    GRAPH_LIST(GRAPH_FIND)
#undef GRAPH_FIND
    return all;
}

static bool begin(void)
{
    struct shmt_error err;

    if (!find_functions() || shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("1..0 # SKIP no CUDA driver\n");
        return false;
    }
    if (driver->DevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        driver->CtxSetCurrent(context) != CUDA_SUCCESS ||
        driver->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) !=
            CUDA_SUCCESS) {
        printf("1..0 # SKIP no GPU\n");
        return false;
    }
    return true;
}

int main(void)
{
    if (!begin())
        return EXIT_SUCCESS;
    fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    /* A launch is the kernel alone. */
    fixture_edit("kernels/toy.yaml", ", zeroed: true", "");
    CHECK_INT(shmtune_open(fixture_path(""), &library, NULL), SHMTUNE_OK);
    settle(&place);
    CHECK_RUN(captured_into_a_graph);
    CHECK_RUN(updated_in_a_graph);
    CHECK_RUN(a_launch_has_its_carveout);
    CHECK_RUN(each_kind_of_stream);
    CHECK_RUN(several_devices);
    CHECK_RUN(cost_beside_the_driver);
    leave(&place);
    shmtune_close(library);
    driver->StreamDestroy(stream);
    driver->DevicePrimaryCtxRelease(0);
    fixture_end();
    return CHECK_END();
}
