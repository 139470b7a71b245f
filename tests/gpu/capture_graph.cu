// SPDX-License-Identifier: MIT
//
// capture_graph: a program of the CUDA runtime that launches its kernels by
// graphs alone: one that two streams are captured into, with a memset and a
// copy, which is changed and updated, and one that is built of nodes.  Each
// launch goes on from what the one before it left.  Prints what it has
// computed.  Run by capture_graph.sh.
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

static void launch(cudaGraphExec_t exec)
{
    static float host[n];
    double sum = 0;

    must(cudaGraphLaunch(exec, state.stream), "launch");
    must(cudaStreamSynchronize(state.stream), "synchronize");
    must(cudaMemcpy(host, state.x, sizeof host, cudaMemcpyDefault), "copy");
    for (int i = 0; i < n; i++)
        sum += host[i] * (i % 13);
    printf("sum %.9g\n", sum);
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
    if (argc > 1)
        must(cudaDeviceReset(), "cudaDeviceReset");
    return 3;
}
