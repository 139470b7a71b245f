/* SPDX-License-Identifier: MIT */
/*
 * peers_timing: samples of launches, cold and warm, and the two ceilings that
 * a floor is made of; the device work for both.  Everything named peers_*.cuh
 * is a part of the one translation unit peers.cu.
 */
#ifndef SHMT_BENCH_PEERS_TIMING_CUH
#define SHMT_BENCH_PEERS_TIMING_CUH

#include <algorithm>
#include <functional>
#include <vector>

#define BENCH "peers"
#include "bench.cuh"

using Launch = std::function<void(cudaStream_t)>;

/* -- device work of the benchmark itself ----------------------------------- */

__global__ void fill_floats(float *out, size_t count, unsigned seed)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (; i < count; i += step)
        out[i] = unit(i, seed);
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

#endif
