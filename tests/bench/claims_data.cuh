/* SPDX-License-Identifier: MIT */
/*
 * claims_data: the inputs of claims.cu, which a thread and the host work out
 * alike, copies of them, and what to do when CUDA fails.  Everything named
 * claims_*.cuh is a part of that one translation unit.
 */
#ifndef SHMT_BENCH_CLAIMS_DATA_CUH
#define SHMT_BENCH_CLAIMS_DATA_CUH

#include <cstddef>

#define BENCH "claims"
#include "bench.cuh"

/* -- inputs ---------------------------------------------------------------- */

/* Whole numbers -1 to 2, whose sums are exact in any order. */
__host__ __device__ static float whole(size_t i)
{
    return (float)(int)(mix(i) & 3) - 1.0f;
}

__global__ void fill_whole(float *out, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = whole(i);
}

__global__ void fill_unit(float *out, size_t n, unsigned seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = unit(i, seed);
}

static float *allocate(size_t count)
{
    float *p;

    CUDA(cudaMalloc(&p, count * sizeof(float)));
    CUDA(cudaMemset(p, 0xff, count * sizeof(float)));   /* NaN */
    return p;
}

/* -- copies, and what is not one ------------------------------------------- */

__global__ void copy_matrix(float *out, const float *in, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

__global__ void count_differences(unsigned long long *wrong, const float *out,
                                  const float *in, int n, bool turned)
{
    const size_t x = blockIdx.x * 32 + threadIdx.x;
    const size_t y = blockIdx.y * 32 + threadIdx.y;
    const float want = turned ? in[x * n + y] : in[y * n + x];

    if (out[y * n + x] != want)
        atomicAdd(wrong, 1ull);
}

#endif
