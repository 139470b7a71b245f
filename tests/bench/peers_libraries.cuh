/* SPDX-License-Identifier: MIT */
/* peers_libraries: what stands beside each kernel: CUB, cuBLAS and cuDNN. */
#ifndef SHMT_BENCH_PEERS_LIBRARIES_CUH
#define SHMT_BENCH_PEERS_LIBRARIES_CUH

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifdef WITH_CUDNN
#include <cudnn.h>
#endif

#include "peers_case.cuh"

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

/* CUB's way: asked without scratch memory, `call` says how much it takes. */
template <typename Call> static void launch_cub(Peer &p, Call call)
{
    size_t bytes = 0;

    CUDA(call(nullptr, bytes, nullptr));
    void *scratch = own<char>(p, bytes);
    p.launch = [=](cudaStream_t s) {
        size_t room = bytes;
        CUDA(call(scratch, room, s));
    };
}

static Peer peer_reduce(Case &c)
{
    Peer p;
    float *in = c.f32("in"), *out = own<float>(p, 1);
    int64_t n = c.dim(0);

    launch_cub(p, [=](void *scratch, size_t &room, cudaStream_t s) {
        return cub::DeviceReduce::Sum(scratch, room, in, out, n, s);
    });
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
    float *in = c.f32("in"), *out = own<float>(p, c.dim(0));
    int64_t n = c.dim(0);
    bool exclusive = c.problem.size() > 1 && c.dim(1) == 2;

    launch_cub(p, [=](void *scratch, size_t &room, cudaStream_t s) {
        return exclusive
                   ? cub::DeviceScan::ExclusiveSum(scratch, room, in, out, n,
                                                   s)
                   : cub::DeviceScan::InclusiveSum(scratch, room, in, out, n,
                                                   s);
    });
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
    const int64_t rows = c.dim(0), cols = c.dim(1);
    float *in = c.f32("in"), *out = own<float>(p, rows);
    auto begin = thrust::make_transform_iterator(
        thrust::make_counting_iterator<int64_t>(0),
        [cols] __host__ __device__(int64_t r) { return r * cols; });

    launch_cub(p, [=](void *scratch, size_t &room, cudaStream_t s) {
        return cub::DeviceSegmentedReduce::Sum(scratch, room, in, out,
                                               (int)rows, begin, begin + 1,
                                               s);
    });
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
    const int64_t n = c.dim(0);
    const int bins = c.problem.size() > 1 ? (int)c.dim(1) : 256;
    unsigned *out = own<unsigned>(p, bins);

    p.name = "CUB DeviceHistogram";
    p.result = out;
    p.output = "out";
    if (bins == 256) {
        auto *in = (unsigned char *)c.buffers.at("in");
        launch_cub(p, [=](void *scratch, size_t &room, cudaStream_t s) {
            return cub::DeviceHistogram::HistogramEven(scratch, room, in, out,
                                                       257, 0, 256, n, s);
        });
        p.bytes = (double)n;
    } else {
        unsigned *in = own<unsigned>(p, n);
        take_bins<<<1024, 256>>>(in, (unsigned *)c.buffers.at("in"), n);
        launch_cub(p, [=](void *scratch, size_t &room, cudaStream_t s) {
            return cub::DeviceHistogram::HistogramEven(
                scratch, room, in, out, bins + 1, 0u, (unsigned)bins, n, s);
        });
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

#endif
