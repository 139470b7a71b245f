/* SPDX-License-Identifier: MIT */
/*
 * claims_blocks: block sizes, the registers they leave, and how many threads
 * it takes to hide a latency.
 */
#ifndef SHMT_BENCH_CLAIMS_BLOCKS_CUH
#define SHMT_BENCH_CLAIMS_BLOCKS_CUH

#include <cmath>
#include <cstring>
#include <vector>

#include "claims_timing.cuh"

/* -- block size, registers, occupancy -------------------------------------- */

enum { LIVE = 160 };

/* So many values a thread that all stay alive: the block size caps the
 * registers. */
template <int B>
__global__ void __launch_bounds__(B) heavy(float *out, const float *in,
                                           int rounds)
{
    const int i = blockIdx.x * B + threadIdx.x;
    float v[LIVE];

#pragma unroll
    for (int k = 0; k < LIVE; k++)
        v[k] = in[(i + k) & 65535];
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < LIVE; k++)
            v[k] = fmaf(v[k], 0.5f, v[(k + 1) % LIVE]);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < LIVE; k++)
        sum += v[k];
    out[i] = sum;
}

template <int B> static void add_heavy(std::vector<Variant> &all, float *out,
                                       const float *in)
{
    const int threads = multiprocessors * 4096, rounds = 64;
    cudaFuncAttributes a;
    int blocks = 0;

    CUDA(cudaFuncGetAttributes(&a, heavy<B>));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy<B>, B,
                                                       0));
    if (std::strcmp(mode, "time") == 0) {
        say("block_size", "160 live values", B, "registers", a.numRegs);
        say("block_size", "160 live values", B, "local_bytes",
            (double)a.localSizeBytes);
        say("block_size", "160 live values", B, "occupancy_percent",
            100.0 * blocks * B / 2048);
    }
    all.push_back({"block_size", "160 live values", B, nullptr,
                   [=](cudaStream_t s) {
                       heavy<B><<<threads / B, B, 0, s>>>(out, in, rounds);
                   },
                   [=] {
                       /* Of one thread, on the host. */
                       std::vector<float> host(threads), hin(65536);
                       CUDA(cudaMemcpy(host.data(), out, 4 * (size_t)threads,
                                       cudaMemcpyDefault));
                       CUDA(cudaMemcpy(hin.data(), in, 4 * 65536,
                                       cudaMemcpyDefault));
                       const int i = threads - 77;
                       float v[LIVE], sum = 0;
                       for (int k = 0; k < LIVE; k++)
                           v[k] = hin[(i + k) & 65535];
                       for (int r = 0; r < rounds; r++)
                           for (int k = 0; k < LIVE; k++)
                               v[k] = std::fmaf(v[k], 0.5f,
                                                v[(k + 1) % LIVE]);
                       for (int k = 0; k < LIVE; k++)
                           sum += v[k];
                       return std::fabs(host[i] - sum) <=
                              1e-4f * std::fabs(sum) + 1e-30f;
                   },
                   0, 2.0 * LIVE * rounds * threads, B >= 128});
}

static void block_sizes(const Flush &flush)
{
    const size_t n = (size_t)1 << 26;
    float *in = allocate(n), *out = allocate(n);
    std::vector<Variant> all;
    static std::vector<float> host;

    host.resize(n);
    fill_unit<<<1024, 256>>>(in, n, 6);
    add_heavy<32>(all, out, in);
    add_heavy<64>(all, out, in);
    add_heavy<128>(all, out, in);
    add_heavy<256>(all, out, in);
    add_heavy<512>(all, out, in);
    add_heavy<1024>(all, out, in);
    auto right = [=] {
        CUDA(cudaMemcpy(host.data(), out, 4 * n, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i += 11)
            if (host[i] != unit(i, 6))
                return false;
        CUDA(cudaMemset(out, 0xff, 4 * n));
        return true;
    };
    for (int b : {32, 48, 64, 96, 100, 128, 256, 512, 1024})
        all.push_back({"block_size", "copy", (double)b, nullptr,
                       [=](cudaStream_t s) {
                           copy_matrix<<<(unsigned)((n + b - 1) / b), b, 0,
                                         s>>>(out, in, n);
                       },
                       right, 8.0 * n, 0, false});
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

__global__ void copy_few(float *out, const float *in, size_t n)
{
#pragma unroll 1
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = in[i];
}

/* So many threads on each multiprocessor, one load in flight each. */
static void latency(const Flush &flush)
{
    const size_t n = (size_t)1 << 24;
    float *in = allocate(n), *out = allocate(n);
    std::vector<Variant> all;
    static std::vector<float> host;

    host.resize(n);
    fill_unit<<<1024, 256>>>(in, n, 8);
    for (int threads = 32; threads <= 2048; threads *= 2) {
        const int block = threads < 1024 ? threads : 1024;
        const int blocks = multiprocessors * (threads / block);
        all.push_back({"latency", "copy", (double)threads, nullptr,
                       [=](cudaStream_t s) {
                           copy_few<<<blocks, block, 0, s>>>(out, in, n);
                       },
                       [=] {
                           CUDA(cudaMemcpy(host.data(), out, 4 * n,
                                           cudaMemcpyDeviceToHost));
                           CUDA(cudaMemset(out, 0xff, 4 * n));
                           for (size_t i = 0; i < n; i++)
                               if (host[i] != unit(i, 8))
                                   return false;
                           return true;
                       },
                       8.0 * n, 0, false});
    }
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

#endif
