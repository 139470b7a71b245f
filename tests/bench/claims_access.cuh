/* SPDX-License-Identifier: MIT */
/*
 * claims_access: what a stride costs in global memory, and what one conflict
 * costs in shared memory.
 */
#ifndef SHMT_BENCH_CLAIMS_ACCESS_CUH
#define SHMT_BENCH_CLAIMS_ACCESS_CUH

#include <vector>

#include "claims_timing.cuh"

/* -- stride ---------------------------------------------------------------- */

__global__ void twice(float *out, const float *in, int stride)
{
    const size_t i =
        (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride;

    out[i] = 2 * in[i];
}

static void strides(const Flush &flush)
{
    const size_t n = (size_t)1 << 22;
    float *in = allocate(32 * n), *out = allocate(32 * n);
    static std::vector<float> host;
    std::vector<Variant> all;

    host.resize(32 * n);
    fill_unit<<<1024, 256>>>(in, 32 * n, 4);
    for (int stride = 1; stride <= 32; stride++)
        all.push_back({"stride", "copy x 2", (double)stride, nullptr,
                       [=](cudaStream_t s) {
                           twice<<<n / 256, 256, 0, s>>>(out, in, stride);
                       },
                       [=] {
                           CUDA(cudaMemcpy(host.data(), out,
                                           4 * n * stride,
                                           cudaMemcpyDeviceToHost));
                           for (size_t i = 0; i < n; i += 7)
                               if (host[i * stride] !=
                                   2 * unit(i * stride, 4))
                                   return false;
                           return true;
                       },
                       8.0 * n, 0, stride % 4 == 0 || stride < 4});
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

/* -- one access with a conflict, in an otherwise memory-bound kernel ------- */

template <int S> __global__ void bank_once(float *out, const float *in)
{
    __shared__ float a[1024];
    const int t = threadIdx.x;
    const size_t first = blockIdx.x * (size_t)1024;

    a[t] = in[first + t];
    __syncthreads();
    out[first + t] = a[t * S % 1024 + t * S / 1024];
}

static void banks(const Flush &flush)
{
    const size_t n = (size_t)1 << 26;
    float *in = allocate(n), *out = allocate(n);
    static std::vector<float> host;
    std::vector<Variant> all;

    host.resize(n);
    fill_unit<<<1024, 256>>>(in, n, 5);
#define BANK(stride)                                                         \
    all.push_back({"bank_once", "one access", stride, nullptr,               \
                   [=](cudaStream_t s) {                                     \
                       bank_once<stride><<<n / 1024, 1024, 0, s>>>(out, in); \
                   },                                                        \
                   [=] {                                                     \
                       CUDA(cudaMemcpy(host.data(), out, 4 * n,              \
                                       cudaMemcpyDeviceToHost));             \
                       for (size_t i = 0; i < n; i += 13) {                  \
                           size_t t = i % 1024, b = i - t;                   \
                           if (host[i] != unit(b + t * stride % 1024 +       \
                                                   t * stride / 1024, 5))    \
                               return false;                                 \
                       }                                                     \
                       return true;                                          \
                   },                                                        \
                   8.0 * n, 0, true})
    BANK(1);
    BANK(2);
    BANK(4);
    BANK(8);
    BANK(16);
    BANK(32);
#undef BANK
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

#endif
