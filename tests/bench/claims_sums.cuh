/* SPDX-License-Identifier: MIT */
/*
 * claims_sums: sums of an array, each step of the reduction ladder, and how
 * far a long sum in single precision gets.
 */
#ifndef SHMT_BENCH_CLAIMS_SUMS_CUH
#define SHMT_BENCH_CLAIMS_SUMS_CUH

#include <chrono>
#include <cstring>
#include <vector>

#include "claims_timing.cuh"

/* -- the reduction ladder -------------------------------------------------- */

__global__ void sum_atomic(float *out, const float *in)
{
    atomicAdd(out, in[blockIdx.x * (size_t)blockDim.x + threadIdx.x]);
}

__global__ void sum_serial(float *out, const float *in)
{
    const size_t first =
        1024 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    float sum = 0;

    for (int k = 0; k < 1024; k++)
        sum += in[first + k];
    atomicAdd(out, sum);
}

/* Folded like the block's array: indices depend on loop counters that are not
 * unrolled, so that the array lies in local memory. */
__global__ void sum_local(float *out, const float *in)
{
    const size_t first =
        1024 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    float a[1024];

#pragma unroll 1
    for (int k = 0; k < 1024; k++)
        a[k] = in[first + k];
#pragma unroll 1
    for (int half = 512; half > 0; half /= 2)
#pragma unroll 1
        for (int k = 0; k < half; k++)
            a[k] += a[k + half];
    atomicAdd(out, a[0]);
}

__global__ void halve(float *data, size_t half)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < half)
        data[i] += data[i + half];
}

enum Step { SCATTERED, SPREAD, BARRIERS, BRANCHES, MERGED, SHUFFLES, DYNAMIC };

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

/* The sum of a block's 1024 values, in thread 0. */
template <int STEP> __device__ __forceinline__ float block_sum(float *a,
                                                               float v)
{
    const int j = threadIdx.x;

    a[j] = v;
    __syncthreads();
    if (STEP == SCATTERED) {            /* active threads thin out in warps */
        for (int s = 1; s < 1024; s *= 2) {
            if (j % (2 * s) == 0)
                a[j] += a[j + s];
            __syncthreads();
        }
        return a[0];
    }
    if (STEP == SPREAD) {               /* they close up; banks conflict */
        for (int s = 1; s < 1024; s *= 2) {
            const int at = 2 * s * j;
            if (at < 1024)
                a[at] += a[at + s];
            __syncthreads();
        }
        return a[0];
    }
    const int last = STEP == BARRIERS ? 0 : 32;
    for (int s = 512; s > last; s /= 2) {
        if (j < s)
            a[j] += a[j + s];
        __syncthreads();
    }
    if (STEP == BRANCHES) {
#pragma unroll
        for (int s = 32; s > 0; s /= 2) {
            if (j < s)
                a[j] += a[j + s];
            __syncwarp();
        }
    }
    if (STEP == MERGED || STEP == DYNAMIC) {
        if (j < 32) {
            float sum = a[j] + a[j + 32];
#pragma unroll
            for (int s = 16; s > 0; s /= 2) {
                a[j] = sum;
                __syncwarp();
                sum += a[j ^ s];
                __syncwarp();
            }
            a[j] = sum;
        }
    }
    if (STEP == SHUFFLES && j < 32) {
        const float sum = warp_sum(a[j] + a[j + 32]);
        if (j == 0)
            a[0] = sum;
    }
    return a[0];
}

template <int STEP, int ITEMS>
__global__ void __launch_bounds__(1024) sum_blocks(float *part,
                                                   const float *in)
{
    __shared__ float fixed[STEP == DYNAMIC ? 1 : 1024];
    extern __shared__ float flexible[];
    float *const a = STEP == DYNAMIC ? flexible : fixed;
    const size_t first = blockIdx.x * (size_t)(1024 * ITEMS) + threadIdx.x;
    float v = 0;

#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        v += in[first + k * 1024];
    v = block_sum<STEP>(a, v);
    if (threadIdx.x == 0)
        part[blockIdx.x] = v;
}

template <int ITEMS>
__global__ void __launch_bounds__(1024) sum_vectors(float *part,
                                                    const float4 *in)
{
    __shared__ float a[1024];
    const size_t first = blockIdx.x * (size_t)(1024 * ITEMS) + threadIdx.x;
    float v = 0;

#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const float4 four = in[first + k * 1024];
        v += four.x + four.y + four.z + four.w;
    }
    v = block_sum<SHUFFLES>(a, v);
    if (threadIdx.x == 0)
        part[blockIdx.x] = v;
}

__global__ void __launch_bounds__(1024) sum_rest(float *out, const float *part,
                                                 int count)
{
    __shared__ float a[1024];
    float v = 0;

    for (int i = threadIdx.x; i < count; i += 1024)
        v += part[i];
    v = block_sum<SHUFFLES>(a, v);
    if (threadIdx.x == 0)
        *out = v;
}

template <int STEP, int ITEMS>
static Launch two_stages(float *out, float *part, const float *in, size_t n)
{
    const int blocks = (int)(n / 1024 / ITEMS);

    return [=](cudaStream_t s) {
        sum_blocks<STEP, ITEMS><<<blocks, 1024, STEP == DYNAMIC ? 4096 : 0,
                                  s>>>(part, in);
        sum_rest<<<1, 1024, 0, s>>>(out, part, blocks);
    };
}

static void ladder(const Flush &flush)
{
    const size_t n = (size_t)1 << 24;
    float *in = allocate(n), *work = allocate(n), *part = allocate(n / 1024);
    float *out = allocate(1);
    static std::vector<float> host(n / 1024);
    std::vector<Variant> all;
    double expected = 0;

    for (size_t i = 0; i < n; i++)
        expected += whole(i);
    fill_whole<<<1024, 256>>>(in, n);
    Launch clear = [=](cudaStream_t s) {
        CUDA(cudaMemsetAsync(out, 0, 4, s));
    };
    auto right = [=] {
        float got;
        CUDA(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
        return (double)got == expected;
    };
    auto add = [&](const char *name, Launch before, Launch launch) {
        all.push_back({"ladder", name, (double)n, before, launch, right,
                       4.0 * n, 0, true});
    };
    add("atomic", clear, [=](cudaStream_t s) {
        sum_atomic<<<n / 256, 256, 0, s>>>(out, in);
    });
    add("serial", clear, [=](cudaStream_t s) {
        sum_serial<<<n / 1024 / 64, 64, 0, s>>>(out, in);
    });
    add("local", clear, [=](cudaStream_t s) {
        sum_local<<<n / 1024 / 64, 64, 0, s>>>(out, in);
    });
    add("halving", [=](cudaStream_t s) {
        CUDA(cudaMemcpyAsync(work, in, 4 * n, cudaMemcpyDeviceToDevice, s));
    }, [=](cudaStream_t s) {
        for (size_t half = n / 2; half > 0; half /= 2)
            halve<<<(unsigned)((half + 255) / 256), 256, 0, s>>>(work, half);
        CUDA(cudaMemcpyAsync(out, work, 4, cudaMemcpyDeviceToDevice, s));
    });
    all.back().profiled = false;          /* 24 launches */
    add("scattered", clear, two_stages<SCATTERED, 1>(out, part, in, n));
    add("spread", clear, two_stages<SPREAD, 1>(out, part, in, n));
    add("barriers", clear, two_stages<BARRIERS, 1>(out, part, in, n));
    add("branches", clear, two_stages<BRANCHES, 1>(out, part, in, n));
    add("merged", clear, two_stages<MERGED, 1>(out, part, in, n));
    add("shuffles", clear, two_stages<SHUFFLES, 1>(out, part, in, n));
    add("dynamic", clear, two_stages<DYNAMIC, 1>(out, part, in, n));
    add("items 8", clear, two_stages<SHUFFLES, 8>(out, part, in, n));
    add("items 8 barriers", clear, two_stages<BARRIERS, 8>(out, part, in, n));
    add("vectors", clear, [=](cudaStream_t s) {
        sum_vectors<4><<<n / 16384, 1024, 0, s>>>(part, (const float4 *)in);
        sum_rest<<<1, 1024, 0, s>>>(out, part, (int)(n / 16384));
    });
    for (Variant &v : all)
        if (v.name != "atomic" && v.name != "serial" && v.name != "local")
            v.launches = 2;
    perform(flush, all);

    /* Partial sums finished on the host: by the host's clock. */
    if (std::strcmp(mode, "time") == 0) {
        std::vector<double> us;
        for (int r = 0; r < SAMPLES; r++) {
            flush.run(0);
            CUDA(cudaDeviceSynchronize());
            auto begin = std::chrono::steady_clock::now();
            sum_blocks<MERGED, 1><<<n / 1024, 1024>>>(part, in);
            CUDA(cudaMemcpy(host.data(), part, 4 * (n / 1024),
                            cudaMemcpyDeviceToHost));
            double sum = 0;
            for (float v : host)
                sum += v;
            us.push_back(std::chrono::duration<double, std::micro>(
                             std::chrono::steady_clock::now() - begin)
                             .count());
            if (sum != expected)
                die("ladder, host: the result is wrong");
        }
        say("ladder", "finished on the host", (double)n, "time_us",
            median(us));
    }
    for (float *p : {in, work, part, out})
        CUDA(cudaFree(p));
}

/* 1.23 added one after the other. */
__global__ void accumulate(double *out)
{
    float sum = 0;
    long long adds = 0;

    for (; adds < 10000000; adds++)
        sum += 1.23f;
    out[0] = sum;
    for (float next = sum + 1.23f; next != sum; next = sum + 1.23f, adds++)
        sum = next;
    out[1] = sum;
    out[2] = (double)adds;
}

static void rounding()
{
    double *out, host[3];

    CUDA(cudaMalloc(&out, sizeof host));
    accumulate<<<1, 1>>>(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    say("rounding", "float", 1e7, "sum", host[0]);
    say("rounding", "float", host[2], "stalls_at", host[1]);
    CUDA(cudaFree(out));
}

#endif
