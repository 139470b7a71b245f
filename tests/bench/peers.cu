/* SPDX-License-Identifier: MIT */
/*
 * peers: every tuned kernel, launched through libshmtune, beside the library
 * that a user would otherwise call, interleaved in one process on one GPU.
 *
 *   peers [--path ROOT:ROOT] [--rounds N] [--json] [--held-out] [KERNEL]...
 *
 * Both results are compared before anything is timed.  Cold: twice the L2
 * cache is read before every sample.  Warm: ten launches back to back.  A
 * ratio above 1 means that the tuned kernel is the faster one.  The floor is
 * the larger of bytes over the bandwidth of a large cudaMemcpy and flops over
 * the rate of a chain of FMAs, both measured here first.
 */
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifdef WITH_CUDNN
#include <cudnn.h>
#endif

#include "shmtune.h"

using Launch = std::function<void(cudaStream_t)>;

[[noreturn]] static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    std::fprintf(stderr, "peers: ");
    std::vfprintf(stderr, format, arguments);
    std::fprintf(stderr, "\n");
    va_end(arguments);
    std::exit(1);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        die("%s: %s", what, cudaGetErrorString(error));
}
#define CUDA(call) check((call), #call)
#define CUBLAS(call)                                                         \
    do {                                                                     \
        cublasStatus_t status_ = (call);                                     \
        if (status_ != CUBLAS_STATUS_SUCCESS)                                \
            die("%s: %s", #call, cublasGetStatusString(status_));            \
    } while (0)
#define CUDNN(call)                                                          \
    do {                                                                     \
        cudnnStatus_t status_ = (call);                                      \
        if (status_ != CUDNN_STATUS_SUCCESS)                                 \
            die("%s: %s", #call, cudnnGetErrorString(status_));              \
    } while (0)

/* -- device work of the benchmark itself ----------------------------------- */

__device__ static unsigned mix(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (unsigned)(x >> 32);
}

__global__ void fill_floats(float *out, size_t count, unsigned seed)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (; i < count; i += step)
        out[i] = (float)mix(i ^ ((unsigned long long)seed << 40)) *
                     (2.0f / 4294967296.0f) - 1.0f;
}

__global__ void fill_words(unsigned *out, size_t count, unsigned seed,
                           unsigned mask)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (; i < count; i += step)
        out[i] = mix(i ^ ((unsigned long long)seed << 40)) & mask;
}

__global__ void read_all(const float4 *in, size_t count, float *out)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;
    float sum = 0;

    for (; i < count; i += step) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 1.25f)
        *out = sum;
}

__global__ void fma_chain(float *out, int rounds)
{
    float v[8];

    for (int k = 0; k < 8; k++)
        v[k] = threadIdx.x + k;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8 * 16; k++)
            v[k % 8] = fmaf(v[k % 8], 0.999f, 0.001f);
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
}

/* *worst is not negative, so that its bits compare as it does. */
__global__ void compare(const unsigned *a, const unsigned *b, size_t count,
                        float tolerance, float *worst)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;
    float most = 0;

    for (; i < count; i += step) {
        float x = __uint_as_float(a[i]), y = __uint_as_float(b[i]);
        float d = tolerance == 0
                      ? (a[i] == b[i] ? 0.0f : INFINITY)
                      : fabsf(x - y) / (tolerance + tolerance * fabsf(y));
        if (!(d <= most))
            most = isnan(d) ? INFINITY : d;
    }
    if (most > 0)
        atomicMax((unsigned *)worst, __float_as_uint(most));
}

/* -- timing ---------------------------------------------------------------- */

struct Bench {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    float4 *flush;
    size_t flush_count;
    float *sink;
    int multiprocessors;
    double bytes_per_us, flops_per_us;

    void evict()
    {
        read_all<<<multiprocessors * 8, 512, 0, stream>>>(flush, flush_count,
                                                         sink);
    }

    double sample(const Launch &launch, bool cold, int repeats)
    {
        float ms;

        if (cold)
            evict();
        CUDA(cudaEventRecord(start, stream));
        for (int r = 0; r < repeats; r++)
            launch(stream);
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        return ms * 1000.0 / repeats;
    }
};

static double quantile(std::vector<double> v, double q)
{
    std::sort(v.begin(), v.end());
    double at = q * (v.size() - 1);
    size_t low = (size_t)at;
    size_t high = std::min(low + 1, v.size() - 1);
    return v[low] + (at - low) * (v[high] - v[low]);
}

static void open_bench(Bench &b)
{
    cudaDeviceProp properties;
    size_t bytes;
    float *from, *to;

    CUDA(cudaGetDeviceProperties(&properties, 0));
    b.multiprocessors = properties.multiProcessorCount;
    CUDA(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&b.start));
    CUDA(cudaEventCreate(&b.stop));
    bytes = 2 * (size_t)properties.l2CacheSize;
    b.flush_count = bytes / sizeof(float4);
    CUDA(cudaMalloc(&b.flush, bytes));
    CUDA(cudaMalloc(&b.sink, 4 * 1024 * 2048));
    fill_floats<<<1024, 256>>>((float *)b.flush, bytes / 4, 7);
    /* The ceilings. */
    bytes = (size_t)1 << 30;
    CUDA(cudaMalloc(&from, bytes));
    CUDA(cudaMalloc(&to, bytes));
    fill_floats<<<1024, 256>>>(from, bytes / 4, 8);
    CUDA(cudaDeviceSynchronize());
    Launch copy = [=](cudaStream_t s) {
        CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s));
    };
    const int rounds = 4096;
    const int blocks = b.multiprocessors * 2;
    Launch fma = [&](cudaStream_t s) {
        fma_chain<<<blocks, 1024, 0, s>>>(b.sink, rounds);
    };
    std::vector<double> c, f;
    for (int r = 0; r < 15; r++) {
        c.push_back(b.sample(copy, true, 1));
        f.push_back(b.sample(fma, false, 1));
    }
    b.bytes_per_us = 2.0 * bytes / quantile(c, 0.5);
    b.flops_per_us =
        2.0 * 128 * rounds * 1024 * blocks / quantile(f, 0.5);
    CUDA(cudaFree(from));
    CUDA(cudaFree(to));
}

/* -- one kernel at one size ------------------------------------------------ */

struct Case {
    const shmtune_kernel *kernel;
    std::string name;
    std::vector<int64_t> problem;
    shmtune_choice choice;
    shmtune_function *function;
    std::map<std::string, void *> buffers;
    std::map<std::string, int64_t> bytes;
    std::vector<void *> pointers;       /* what the arguments point to */
    std::vector<void *> arguments;

    int64_t dim(size_t k) const { return problem[k]; }
    float *f32(const char *name) { return (float *)buffers.at(name); }
};

static void fill(Case &c, const shmtune_argument &a, void *at, int64_t bytes,
                 unsigned seed)
{
    (void)c;
    if (!std::strcmp(a.type, "f32"))
        fill_floats<<<1024, 256>>>((float *)at, bytes / 4, seed);
    else
        fill_words<<<1024, 256>>>((unsigned *)at, bytes / 4, seed,
                                  !std::strcmp(a.type, "u8") ? ~0u : 1023u);
}

/* Allocates and fills what the spec declares; a word that the spec wants
 * zero at first ("ticket") is zeroed. */
static void make_buffers(Case &c)
{
    const size_t count = shmtune_argument_count(c.kernel);

    c.pointers.resize(count);
    c.arguments.assign(count, nullptr);
    for (size_t k = 0; k < count; k++) {
        shmtune_argument a;
        int64_t bytes;

        shmtune_argument_at(c.kernel, k, &a);
        if (a.role == SHMTUNE_SCALAR)
            continue;
        if (shmtune_argument_bytes(&c.choice, k, &bytes) != SHMTUNE_OK)
            die("%s: no size of %s", c.name.c_str(), a.name);
        CUDA(cudaMalloc(&c.pointers[k], std::max<int64_t>(bytes, 16)));
        CUDA(cudaMemset(c.pointers[k], 0, bytes));
        if (a.role == SHMTUNE_INPUT)
            fill(c, a, c.pointers[k], bytes, (unsigned)k + 1);
        c.arguments[k] = &c.pointers[k];
        c.buffers[a.name] = c.pointers[k];
        c.bytes[a.name] = bytes;
    }
    CUDA(cudaDeviceSynchronize());
}

static void free_buffers(Case &c)
{
    for (void *p : c.pointers)
        if (p != nullptr)
            CUDA(cudaFree(p));
}

/* -- the peers -------------------------------------------------------------- */

/* What stands beside a kernel: its launch, and where its result is. */
struct Peer {
    const char *name = nullptr;
    Launch launch;                /* none: nobody to stand beside */
    void *result = nullptr;       /* same type and count as `output`, or none */
    const char *output = nullptr;
    double tolerance = 0;         /* absolute + the same relative; 0: words */
    double bytes = 0, flops = 0;  /* of the work: for the floor */
    std::vector<void *> owned;
};

static cublasHandle_t blas;
#ifdef WITH_CUDNN
static cudnnHandle_t dnn;
#endif

template <typename T> static T *own(Peer &p, size_t count)
{
    void *at;

    CUDA(cudaMalloc(&at, std::max<size_t>(count * sizeof(T), 16)));
    p.owned.push_back(at);
    return (T *)at;
}

static Peer peer_reduce(Case &c)
{
    Peer p;
    size_t bytes = 0;
    float *in = c.f32("in"), *out = own<float>(p, 1);
    int64_t n = c.dim(0);

    CUDA(cub::DeviceReduce::Sum(nullptr, bytes, in, out, n));
    void *scratch = own<char>(p, bytes);
    p.launch = [=](cudaStream_t s) {
        size_t room = bytes;
        CUDA(cub::DeviceReduce::Sum(scratch, room, in, out, n, s));
    };
    p.name = "CUB DeviceReduce";
    p.result = out;
    p.output = "out";
    p.tolerance = 0.1;
    p.bytes = 4.0 * n;
    return p;
}

static Peer peer_scan(Case &c)
{
    Peer p;
    size_t bytes = 0;
    float *in = c.f32("in"), *out = own<float>(p, c.dim(0));
    int64_t n = c.dim(0);
    bool exclusive = c.problem.size() > 1 && c.dim(1) == 2;

    CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));
    size_t other = 0;
    CUDA(cub::DeviceScan::ExclusiveSum(nullptr, other, in, out, n));
    bytes = std::max(bytes, other);
    void *scratch = own<char>(p, bytes);
    p.launch = [=](cudaStream_t s) {
        size_t room = bytes;
        CUDA(exclusive
                 ? cub::DeviceScan::ExclusiveSum(scratch, room, in, out, n, s)
                 : cub::DeviceScan::InclusiveSum(scratch, room, in, out, n,
                                                 s));
    };
    p.name = "CUB DeviceScan";
    p.result = out;
    p.output = "out";
    p.tolerance = 0.1;
    p.bytes = 8.0 * n;
    return p;
}

static Peer peer_transpose(Case &c)
{
    Peer p;
    const int rows = (int)c.dim(0), cols = (int)c.dim(1);
    const bool wide = c.problem.size() > 2 && c.dim(2) == 8;
    void *in = c.buffers.at("in");
    void *out = own<char>(p, (size_t)c.bytes.at("out"));

    p.launch = [=](cudaStream_t s) {
        CUBLAS(cublasSetStream(blas, s));
        if (wide) {
            const double one = 1, zero = 0;
            CUBLAS(cublasDgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols,
                               &one, (double *)in, cols, &zero,
                               (double *)out, rows, (double *)out, rows));
        } else {
            const float one = 1, zero = 0;
            CUBLAS(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols,
                               &one, (float *)in, cols, &zero, (float *)out,
                               rows, (float *)out, rows));
        }
    };
    p.name = "cuBLAS geam";
    p.result = out;
    p.output = "out";
    p.bytes = 2.0 * (double)c.bytes.at("out");
    return p;
}

static Peer peer_matmul(Case &c)
{
    Peer p;
    const int m = (int)c.dim(0), n = (int)c.dim(1), k = (int)c.dim(2);
    float *a = c.f32("a"), *b = c.f32("b");
    float *out = own<float>(p, (size_t)m * n);

    CUDA(cudaMemset(out, 0, (size_t)m * n * 4));
    p.launch = [=](cudaStream_t s) {
        const float alpha = 1.0f, beta = 0.5f;   /* as the spec has them */
        CUBLAS(cublasSetStream(blas, s));
        CUBLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b,
                           n, a, k, &beta, out, n));
    };
    p.name = "cuBLAS sgemm (fp32)";
    p.result = out;
    p.output = "c";
    p.tolerance = 2e-3;
    p.bytes = 4.0 * ((double)m * k + (double)k * n + 2.0 * m * n);
    p.flops = 2.0 * m * n * k;
    return p;
}

static Peer peer_row_reduce(Case &c)
{
    Peer p;
    size_t bytes = 0;
    const int64_t rows = c.dim(0), cols = c.dim(1);
    float *in = c.f32("in"), *out = own<float>(p, rows);
    auto begin = thrust::make_transform_iterator(
        thrust::make_counting_iterator<int64_t>(0),
        [cols] __host__ __device__(int64_t r) { return r * cols; });

    CUDA(cub::DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, (int)rows,
                                         begin, begin + 1));
    void *scratch = own<char>(p, bytes);
    p.launch = [=](cudaStream_t s) {
        size_t room = bytes;
        CUDA(cub::DeviceSegmentedReduce::Sum(scratch, room, in, out,
                                             (int)rows, begin, begin + 1, s));
    };
    p.name = "CUB DeviceSegmentedReduce";
    p.result = out;
    p.output = "out";
    p.tolerance = 0.02;
    p.bytes = 4.0 * rows * cols;
    return p;
}

/* The bin of a word is its upper ten bits; CUB is given the bins themselves,
 * which spares it the shift. */
__global__ void take_bins(unsigned *to, const unsigned *words, int64_t n)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    for (; i < n; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = words[i] >> 22;
}

static Peer peer_histogram(Case &c)
{
    Peer p;
    size_t bytes = 0;
    const int64_t n = c.dim(0);
    const int bins = c.problem.size() > 1 ? (int)c.dim(1) : 256;
    unsigned *out = own<unsigned>(p, bins);

    p.name = "CUB DeviceHistogram";
    p.result = out;
    p.output = "out";
    if (bins == 256) {
        auto *in = (unsigned char *)c.buffers.at("in");
        CUDA(cub::DeviceHistogram::HistogramEven(nullptr, bytes, in, out, 257,
                                                 0, 256, n));
        void *scratch = own<char>(p, bytes);
        p.launch = [=](cudaStream_t s) {
            size_t room = bytes;
            CUDA(cub::DeviceHistogram::HistogramEven(scratch, room, in, out,
                                                     257, 0, 256, n, s));
        };
        p.bytes = (double)n;
    } else {
        unsigned *in = own<unsigned>(p, n);
        take_bins<<<1024, 256>>>(in, (unsigned *)c.buffers.at("in"), n);
        CUDA(cub::DeviceHistogram::HistogramEven(nullptr, bytes, in, out,
                                                 bins + 1, 0u, (unsigned)bins,
                                                 n));
        void *scratch = own<char>(p, bytes);
        p.launch = [=](cudaStream_t s) {
            size_t room = bytes;
            CUDA(cub::DeviceHistogram::HistogramEven(
                scratch, room, in, out, bins + 1, 0u, (unsigned)bins, n, s));
        };
        p.bytes = 4.0 * n;
    }
    return p;
}

/* Steps that do not stay on the chip read and write everything. */
static Peer peer_stencil2d(Case &c)
{
    Peer p;
    const size_t bytes = (size_t)c.bytes.at("out");
    const int64_t steps = c.dim(2);
    void *in = c.buffers.at("in"), *out = own<char>(p, bytes);

    p.launch = [=](cudaStream_t s) {
        for (int64_t k = 0; k < steps; k++)
            CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice,
                                 s));
    };
    p.name = "a copy each step";
    p.bytes = 2.0 * bytes;
    return p;
}

/* Nobody's: only the floor, twelve operations on the multiply-add pipe an
 * interaction, counted as two each. */
static Peer peer_nbody(Case &c)
{
    Peer p;

    p.name = "none";
    p.flops = 24.0 * c.dim(0) * c.dim(0);
    return p;
}

#ifdef WITH_CUDNN
static Peer peer_softmax(Case &c)
{
    Peer p;
    const int rows = (int)c.dim(0), cols = (int)c.dim(1);
    float *in = c.f32("in"), *out = own<float>(p, (size_t)rows * cols);
    cudnnTensorDescriptor_t shape;

    CUDNN(cudnnCreateTensorDescriptor(&shape));
    CUDNN(cudnnSetTensor4dDescriptor(shape, CUDNN_TENSOR_NCHW,
                                     CUDNN_DATA_FLOAT, rows, cols, 1, 1));
    p.launch = [=](cudaStream_t s) {
        const float one = 1, zero = 0;
        CUDNN(cudnnSetStream(dnn, s));
        CUDNN(cudnnSoftmaxForward(dnn, CUDNN_SOFTMAX_ACCURATE,
                                  CUDNN_SOFTMAX_MODE_INSTANCE, &one, shape,
                                  in, &zero, shape, out));
    };
    p.name = "cuDNN softmax";
    p.result = out;
    p.output = "out";
    p.tolerance = 1e-5;
    p.bytes = 8.0 * rows * cols;
    return p;
}

static Peer peer_conv2d(Case &c)
{
    Peer p;
    const int rows = (int)c.dim(0), cols = (int)c.dim(1);
    const int size = (int)c.dim(2);
    float *in = c.f32("image"), *weights = c.f32("weights");
    float *out = own<float>(p, (size_t)rows * cols);
    cudnnTensorDescriptor_t image;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;

    CUDNN(cudnnCreateTensorDescriptor(&image));
    CUDNN(cudnnSetTensor4dDescriptor(image, CUDNN_TENSOR_NCHW,
                                     CUDNN_DATA_FLOAT, 1, 1, rows, cols));
    CUDNN(cudnnCreateFilterDescriptor(&filter));
    CUDNN(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT,
                                     CUDNN_TENSOR_NCHW, 1, 1, size, size));
    CUDNN(cudnnCreateConvolutionDescriptor(&convolution));
    CUDNN(cudnnSetConvolution2dDescriptor(
        convolution, size / 2, size / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
        CUDNN_DATA_FLOAT));
    CUDNN(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH));
    CUDNN(cudnnFindConvolutionForwardAlgorithm(
        dnn, image, filter, convolution, image,
        CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found));
    const cudnnConvolutionFwdAlgoPerf_t best = found[0];
    if (count == 0 || best.status != CUDNN_STATUS_SUCCESS)
        die("cuDNN has no algorithm for %d x %d, %d x %d", rows, cols, size,
            size);
    void *scratch = own<char>(p, best.memory);
    p.launch = [=](cudaStream_t s) {
        const float one = 1, zero = 0;
        CUDNN(cudnnSetStream(dnn, s));
        CUDNN(cudnnConvolutionForward(dnn, &one, image, in, filter, weights,
                                      convolution, best.algo, scratch,
                                      best.memory, &zero, image, out));
    };
    p.name = "cuDNN convolution (best)";
    p.result = out;
    p.output = "out";
    p.tolerance = 1e-3;
    p.bytes = 8.0 * rows * cols;
    p.flops = 2.0 * rows * cols * size * size;
    return p;
}
#endif

static const struct {
    const char *kernel;
    Peer (*make)(Case &);
} peers[] = {
    {"transpose", peer_transpose},
    {"reduce", peer_reduce},
    {"matmul", peer_matmul},
#ifdef WITH_CUDNN
    {"conv2d", peer_conv2d},
    {"softmax", peer_softmax},
#endif
    {"scan", peer_scan},
    {"row_reduce", peer_row_reduce},
    {"histogram", peer_histogram},
    {"stencil2d", peer_stencil2d},
    {"nbody", peer_nbody},
};

/* -- comparing and reporting ------------------------------------------------ */

/* The largest |a - b| / (tolerance + tolerance |b|), at most 1 when equal
 * enough; NaN counts as infinite.  Without a tolerance words must be the
 * same. */
static double difference(Case &c, const Peer &p)
{
    float worst, *at;

    if (p.result == nullptr)
        return 0;
    const size_t count = (size_t)c.bytes.at(p.output) / 4;
    CUDA(cudaMalloc(&at, sizeof worst));
    CUDA(cudaMemset(at, 0, sizeof worst));
    compare<<<1024, 256>>>((unsigned *)c.buffers.at(p.output),
                           (unsigned *)p.result, count, (float)p.tolerance,
                           at);
    CUDA(cudaMemcpy(&worst, at, sizeof worst, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(at));
    return worst;
}

struct Options {
    const char *path = nullptr;
    int rounds = 30;
    bool json = false, held_out = false;
    std::vector<std::string> kernels;
};

/* Cold and warm, of the tuned kernel and its peer; 0 where there is none. */
struct Times {
    double tuned = 0, spread = 0, peer = 0, warm_tuned = 0, warm_peer = 0;
};

static Times time_both(Bench &bench, int rounds, const Launch &tuned,
                       const Launch &peer)
{
    std::vector<double> a, b, aw, bw;
    Times t;

    for (int r = 0; r < 3; r++) {
        bench.sample(tuned, false, 1);
        if (peer)
            bench.sample(peer, false, 1);
    }
    for (int r = 0; r < rounds; r++) {
        a.push_back(bench.sample(tuned, true, 1));
        if (peer)
            b.push_back(bench.sample(peer, true, 1));
    }
    const int repeats = quantile(a, 0.5) > 2000 ? 2 : 10;
    for (int r = 0; r < rounds / 3 + 1; r++) {
        aw.push_back(bench.sample(tuned, false, repeats));
        if (peer)
            bw.push_back(bench.sample(peer, false, repeats));
    }
    t.tuned = quantile(a, 0.5);
    t.spread = (quantile(a, 0.75) - quantile(a, 0.25)) / t.tuned;
    t.warm_tuned = quantile(aw, 0.5);
    if (peer) {
        t.peer = quantile(b, 0.5);
        t.warm_peer = quantile(bw, 0.5);
    }
    return t;
}

static void report(const Case &c, const std::string &size, const Peer &p,
                   const Times &t, double floor_us, bool json)
{
    const char *match = shmtune_match_text(c.choice.match);
    const double default_us =
        c.choice.match == SHMTUNE_EXACT ? c.choice.default_us : -1;

    if (json)
        std::printf("{\"kernel\": \"%s\", \"size\": \"%s\", \"match\": "
                    "\"%s\", \"peer\": \"%s\", \"tuned_us\": %.3f, "
                    "\"spread\": %.4f, \"peer_us\": %.3f, "
                    "\"warm_tuned_us\": %.3f, \"warm_peer_us\": %.3f, "
                    "\"floor_us\": %.3f, \"default_us\": %.3f}\n",
                    c.name.c_str(), size.c_str(), match, p.name, t.tuned,
                    t.spread, t.peer, t.warm_tuned, t.warm_peer, floor_us,
                    default_us);
    else
        std::printf("%-11s %-20s %-13s %10.2f %5.1f%% %10.2f %6.2f  "
                    "%10.2f %6.2f %5.0f%%  %s\n",
                    c.name.c_str(), size.c_str(), match, t.tuned,
                    100 * t.spread, t.peer, t.peer / t.tuned, t.warm_tuned,
                    t.warm_peer / t.warm_tuned, 100 * floor_us / t.tuned,
                    p.name);
    std::fflush(stdout);
}

static std::string size_text(const Case &c)
{
    std::string text;

    for (int64_t d : c.problem)
        text += (text.empty() ? "" : "x") + std::to_string(d);
    return text;
}

static bool run_case(Bench &bench, const Options &options, Case &c,
                     Peer (*make)(Case &), const shmtune_device &device)
{
    const std::string size = size_text(c);
    shmtune_message message;

    if (shmtune_select(c.kernel, &device, c.problem.data(), &c.choice) !=
        SHMTUNE_OK)
        die("%s %s: no configuration", c.name.c_str(), size.c_str());
    if (shmtune_prepare(&c.choice, SHMTUNE_ALLOW_COMPILE, &c.function,
                        &message) != SHMTUNE_OK)
        die("%s %s: %s", c.name.c_str(), size.c_str(), message.text);
    make_buffers(c);
    Peer p = make(c);
    Launch tuned = [&](cudaStream_t s) {
        if (shmtune_launch(c.function, c.arguments.data(), s, &message) !=
            SHMTUNE_OK)
            die("%s %s: %s", c.name.c_str(), size.c_str(), message.text);
    };
    tuned(bench.stream);
    if (p.launch)
        p.launch(bench.stream);
    CUDA(cudaStreamSynchronize(bench.stream));
    const double worst = difference(c, p);
    if (worst <= 1)
        report(c, size, p, time_both(bench, options.rounds, tuned, p.launch),
               std::max(p.bytes / bench.bytes_per_us,
                        p.flops / bench.flops_per_us), options.json);
    else
        std::fprintf(stderr, "peers: %s %s: results differ, %g x tolerance\n",
                     c.name.c_str(), size.c_str(), worst);
    shmtune_release(c.function);
    free_buffers(c);
    for (void *at : p.owned)
        CUDA(cudaFree(at));
    return worst <= 1;
}

/* Sizes that are tuned, and with --held-out sizes that nobody tuned. */
struct Sized {
    const char *kernel;
    bool held_out;
    std::vector<int64_t> problem;
};
static const std::vector<Sized> sizes = {
#include "peers_sizes.inc"
};

int main(int argc, char **argv)
{
    Options options;
    shmtune *library;
    shmtune_device device;
    shmtune_message message;
    Bench bench;
    int failures = 0;

    for (int k = 1; k < argc; k++) {
        if (!std::strcmp(argv[k], "--json"))
            options.json = true;
        else if (!std::strcmp(argv[k], "--held-out"))
            options.held_out = true;
        else if (!std::strcmp(argv[k], "--path") && k + 1 < argc)
            options.path = argv[++k];
        else if (!std::strcmp(argv[k], "--rounds") && k + 1 < argc)
            options.rounds = std::max(1, std::atoi(argv[++k]));
        else if (argv[k][0] == '-')
            die("unknown option %s; usage: peers [--path ROOT:ROOT] "
                "[--rounds N] [--json] [--held-out] [KERNEL]...", argv[k]);
        else
            options.kernels.push_back(argv[k]);
    }
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::printf("skipped: no CUDA device\n");
        return 77;
    }
    CUDA(cudaSetDevice(0));
    open_bench(bench);
    CUBLAS(cublasCreate(&blas));
    CUBLAS(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH));
#ifdef WITH_CUDNN
    CUDNN(cudnnCreate(&dnn));
#endif
    if (shmtune_open(options.path, &library, &message) != SHMTUNE_OK)
        die("%s", message.text);
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        std::fprintf(stderr, "peers: note: %s\n", shmtune_note(library, k));
    if (shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message) !=
        SHMTUNE_OK)
        die("%s", message.text);
    if (!options.json)
        std::printf("%s; copy %.0f GB/s, fp32 FMA %.1f TFLOP/s\n"
                    "%-11s %-20s %-13s %10s %6s %10s %6s  %10s %6s %6s  %s\n",
                    device.name, bench.bytes_per_us / 1e3,
                    bench.flops_per_us / 1e6, "kernel", "size", "match",
                    "cold us", "spread", "peer us", "ratio", "warm us",
                    "ratio", "floor", "peer");
    for (const Sized &sized : sizes) {
        Case c;

        c.name = sized.kernel;
        if (sized.held_out && !options.held_out)
            continue;
        if (!options.kernels.empty() &&
            std::find(options.kernels.begin(), options.kernels.end(),
                      c.name) == options.kernels.end())
            continue;
        c.kernel = shmtune_kernel_find(library, sized.kernel);
        if (c.kernel == nullptr)
            continue;
        c.problem = sized.problem;
        for (const auto &peer : peers)
            if (c.name == peer.kernel)
                failures += !run_case(bench, options, c, peer.make, device);
    }
    shmtune_close(library);
    return failures == 0 ? 0 : 1;
}
