// SPDX-License-Identifier: MIT
//
// capture_graph: a program of the CUDA runtime that launches its kernels by
// graphs alone: one that two streams are captured into, with a memset and a
// copy, which is changed and updated, one that is built of nodes, and some with
// two nodes of a kernel, which are updated in other orders.  Each launch goes on
// from what the one before it left.  Prints what it has computed.  Run by
// capture_graph.sh.
#include <cstdio>

#include <cuda_runtime.h>

static const int n = 100000;

// What it waits for.
#define ROUNDS 20

__global__ void spread(float *y, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = 0.5f * (x[i] + x[(i + 1) % n]);
}

__global__ void scale(float *z, const float *y, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < ROUNDS; k++)
        __nanosleep(500);
    if (i < n)
        z[i] += a * y[i];
}

__global__ void turn(float *w, const float *z, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        w[i] = z[n - 1 - i] + 1;
}

static void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "capture_graph: %s: %s\n", what,
            cudaGetErrorString(result));
    exit(8);
}

static struct {
    float *x, *y, *z, *w;
    cudaStream_t stream, other;
    cudaEvent_t begun, set;
} state;

static const dim3 grid((n + 127) / 128), block(128);

// The memset comes from another stream.
static cudaGraph_t record(float a)
{
    cudaGraph_t graph;

    must(cudaStreamBeginCapture(state.stream, cudaStreamCaptureModeGlobal),
         "begin");
    must(cudaEventRecord(state.begun, state.stream), "record");
    must(cudaStreamWaitEvent(state.other, state.begun, 0), "wait");
    must(cudaMemsetAsync(state.z, 0, n * sizeof(float), state.other), "set");
    must(cudaEventRecord(state.set, state.other), "record");
    spread<<<grid, block, 0, state.stream>>>(state.y, state.x, n);
    must(cudaStreamWaitEvent(state.stream, state.set, 0), "wait");
    scale<<<grid, block, 0, state.stream>>>(state.z, state.y, a, n);
    turn<<<grid, block, 0, state.stream>>>(state.w, state.z, n);
    must(cudaMemcpyAsync(state.x, state.w, n * sizeof(float),
                         cudaMemcpyDeviceToDevice, state.stream), "copy");
    must(cudaStreamEndCapture(state.stream, &graph), "end");
    return graph;
}

static cudaKernelNodeParams params_of(const void *function, void **arguments)
{
    cudaKernelNodeParams params = {};

    params.func = const_cast<void *>(function);
    params.gridDim = grid;
    params.blockDim = block;
    params.kernelParams = arguments;
    return params;
}

// The node of `scale` in the graph.
static cudaGraphNode_t node_of_scale(cudaGraph_t graph)
{
    cudaGraphNode_t nodes[16];
    size_t count = 16;

    must(cudaGraphGetNodes(graph, nodes, &count), "nodes");
    for (size_t k = 0; k < count; k++) {
        cudaKernelNodeParams params;
        cudaGraphNodeType type;

        must(cudaGraphNodeGetType(nodes[k], &type), "type");
        if (type != cudaGraphNodeTypeKernel)
            continue;
        must(cudaGraphKernelNodeGetParams(nodes[k], &params), "params");
        if (params.func == reinterpret_cast<void *>(scale))
            return nodes[k];
    }
    fprintf(stderr, "capture_graph: no node of scale\n");
    exit(8);
}

static void print_sum(const float *values)
{
    static float host[n];
    double sum = 0;

    must(cudaMemcpy(host, values, sizeof host, cudaMemcpyDefault), "copy");
    for (int i = 0; i < n; i++)
        sum += host[i] * (i % 13);
    printf("sum %.9g\n", sum);
}

static void launch(cudaGraphExec_t exec)
{
    must(cudaGraphLaunch(exec, state.stream), "launch");
    must(cudaStreamSynchronize(state.stream), "synchronize");
    print_sum(state.x);
}

static void run_recorded()
{
    float a = 0.75f;
    int count = n;
    void *arguments[] = {&state.z, &state.y, &a, &count};
    cudaGraph_t graph = record(0.5f), other;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaKernelNodeParams params = params_of(
        reinterpret_cast<const void *>(scale), arguments);

    must(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    launch(exec);
    launch(exec);
    must(cudaGraphExecKernelNodeSetParams(exec, node_of_scale(graph), &params),
         "change");
    launch(exec);
    must(cudaGraphDestroy(graph), "destroy");
    other = record(0.25f);
    must(cudaGraphExecUpdate(exec, other, &info), "update");
    must(cudaGraphDestroy(other), "destroy");
    launch(exec);
    must(cudaGraphExecDestroy(exec), "destroy");
}

static void CUDART_CB count_up(void *number)
{
    ++*static_cast<int *>(number);
}

// `turn` waits for `spread`, and both for nothing else; the host is told.
static void run_built()
{
    int count = n, told = 0;
    void *spread_of[] = {&state.y, &state.x, &count};
    void *turn_of[] = {&state.x, &state.y, &count};
    cudaKernelNodeParams spreads = params_of(
        reinterpret_cast<const void *>(spread), spread_of);
    cudaKernelNodeParams turns = params_of(
        reinterpret_cast<const void *>(turn), turn_of);
    cudaHostNodeParams tells = {count_up, &told};
    cudaGraph_t graph;
    cudaGraphNode_t nodes[3];
    cudaGraphExec_t exec;

    must(cudaGraphCreate(&graph, 0), "create");
    must(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &spreads),
         "node");
    must(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &turns),
         "node");
    must(cudaGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &tells), "node");
    must(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    must(cudaGraphDestroy(graph), "destroy");
    launch(exec);
    launch(exec);
    printf("told %d\n", told);
    must(cudaGraphExecDestroy(exec), "destroy");
}

// Two nodes of `scale` that do not wait for each other, the one that writes x
// first or last; `turn` waits for both, if it is there, and names the first one
// first or last.
static cudaGraph_t build_two(float a, bool last, bool with_turn, bool turned)
{
    int count = n;
    float *const into[] = {last ? state.w : state.x, last ? state.x : state.w};
    cudaGraphNode_t nodes[2], behind[2], node;
    cudaGraph_t graph;

    must(cudaGraphCreate(&graph, 0), "create");
    for (int k = 0; k < 2; k++) {
        float factor = into[k] == state.x ? a : 3 * a;
        void *arguments[] = {const_cast<float **>(&into[k]), &state.y, &factor,
                             &count};
        cudaKernelNodeParams params = params_of(
            reinterpret_cast<const void *>(scale), arguments);

        must(cudaGraphAddKernelNode(&nodes[k], graph, nullptr, 0, &params),
             "node");
    }
    if (with_turn) {
        void *arguments[] = {&state.z, &state.w, &count};
        cudaKernelNodeParams params = params_of(
            reinterpret_cast<const void *>(turn), arguments);

        behind[turned] = nodes[0];
        behind[!turned] = nodes[1];
        must(cudaGraphAddKernelNode(&node, graph, behind, 2, &params), "node");
    }
    return graph;
}

static void run_two(bool with_turn)
{
    float a = 0.5f;
    cudaGraph_t graph = build_two(a, false, with_turn, false);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;

    must(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    must(cudaGraphDestroy(graph), "destroy");
    for (int k = 0; k < 5; k++) {
        a += 0.125f;
        launch(exec);
        print_sum(state.w);
        graph = build_two(a, k % 2 == 1, with_turn, k > 1);
        must(cudaGraphExecUpdate(exec, graph, &info), "update");
        must(cudaGraphDestroy(graph), "destroy");
    }
    must(cudaGraphExecDestroy(exec), "destroy");
}

/* With an argument the device is reset at the end. */
int main(int argc, char **)
{
    static float host[n];

    for (int i = 0; i < n; i++)
        host[i] = i % 11;
    for (float **one : {&state.x, &state.y, &state.z, &state.w})
        must(cudaMalloc(one, sizeof host), "cudaMalloc");
    must(cudaMemcpy(state.x, host, sizeof host, cudaMemcpyDefault), "copy");
    must(cudaDeviceSynchronize(), "synchronize");
    must(cudaStreamCreate(&state.stream), "stream");
    must(cudaStreamCreate(&state.other), "stream");
    for (cudaEvent_t *one : {&state.begun, &state.set})
        must(cudaEventCreateWithFlags(one, cudaEventDisableTiming), "event");
    run_recorded();
    run_built();
    run_two(false);
    run_two(true);
    if (argc > 1)
        must(cudaDeviceReset(), "cudaDeviceReset");
    return 3;
}
