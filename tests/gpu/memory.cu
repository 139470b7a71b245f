// SPDX-License-Identifier: MIT
//
// memory: a program whose kernel has buffers in managed memory, two of them in a
// struct, and in pinned memory of the host, while another kernel is at work on
// managed memory; with "ask" what the driver says of each kind.  Prints what it
// has computed.  Run by memory.sh.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

struct Pair {
    const float *x;
    float *y;
};

__global__ void add_pair(float *z, Pair pair, int n, float a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        pair.y[i] += a * pair.x[i];
        z[i] = 2 * pair.y[i];
    }
}

__global__ void count_up(unsigned *at, int n, int times)
{
    for (int k = 0; k < times; k++)
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            at[i] += i % 3;
}

static void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "memory: %s: %s\n", what, cudaGetErrorString(result));
    exit(8);
}

// A line for people: what shmtune's library asks of an address inside.
static void ask(const char *kind, const void *memory)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    __typeof__(cuMemGetAddressRange) *range;
    __typeof__(cuPointerGetAttribute) *get;
    const CUdeviceptr begin = (CUdeviceptr)memory;
    CUdeviceptr base = 0, start = 0, device = 0;
    size_t size = 0, whole = 0;
    unsigned type = 0, managed = 0;
    int ranged, typed, started;

    *(void **)&range = dlsym(driver, "cuMemGetAddressRange_v2");
    *(void **)&get = dlsym(driver, "cuPointerGetAttribute");
    typed = get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, begin + 64);
    get(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, begin + 64);
    get(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, begin + 64);
    ranged = range(&base, &size, begin + 64);
    started = get(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, begin + 64);
    get(&whole, CU_POINTER_ATTRIBUTE_RANGE_SIZE, begin + 64);
    printf("%s at %p: type %u (%d), managed %u, on the device at +%lld; "
           "cuMemGetAddressRange %d: %lld, %zu bytes; attributes %d: %lld, "
           "%zu bytes\n", kind, memory, type, typed, managed,
           (long long)(device - begin), ranged, (long long)(base - begin),
           size, started, (long long)(start - begin), whole);
}

static int ask_all()
{
    const size_t size = 400000;
    void *device, *managed, *host, *combined, *alias, *own;
    char *const plain = (char *)malloc(size);

    must(cudaMalloc(&device, size), "cudaMalloc");
    must(cudaMallocManaged(&managed, size), "cudaMallocManaged");
    must(cudaMallocHost(&host, size), "cudaMallocHost");
    must(cudaHostAlloc(&combined, size,
                       cudaHostAllocMapped | cudaHostAllocWriteCombined),
         "cudaHostAlloc");
    must(cudaHostGetDevicePointer(&alias, combined, 0), "device pointer");
    own = malloc(size);
    must(cudaHostRegister(own, size, cudaHostRegisterMapped),
         "cudaHostRegister");
    ask("device", device);
    ask("managed", managed);
    ask("host", host);
    ask("combined", combined);
    ask("combined, on the device", alias);
    ask("registered", own);
    ask("malloc", plain);
    return 0;
}

int main(int argc, char **argv)
{
    const int n = 100000, threads = 256, many = 100;
    const int launches = argc > 1 ? atoi(argv[1]) : 3;
    float *x, *y, *z;
    unsigned *counts;
    cudaStream_t beside;
    double sum = 0;

    if (argc > 1 && strcmp(argv[1], "ask") == 0)
        return ask_all();
    must(cudaMallocManaged(&x, n * sizeof(float)), "cudaMallocManaged");
    must(cudaMallocManaged(&y, n * sizeof(float)), "cudaMallocManaged");
    must(cudaMallocHost(&z, n * sizeof(float)), "cudaMallocHost");
    must(cudaMallocManaged(&counts, many * sizeof *counts), "managed");
    must(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "stream");
    for (int i = 0; i < n; i++) {
        x[i] = i % 11;
        y[i] = i % 5;
        z[i] = -1;
    }
    memset(counts, 0, many * sizeof *counts);
    count_up<<<1, 32, 0, beside>>>(counts, many, 20000);
    for (int k = 0; k < launches; k++)
        add_pair<<<(n + threads - 1) / threads, threads>>>(z, Pair{x, y}, n,
                                                          0.5f);
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int i = 0; i < n; i++)
        sum += z[i] + y[i];
    for (int i = 0; i < many; i++)
        sum += counts[i];
    printf("sum %.3f\n", sum);
    return 3;
}
