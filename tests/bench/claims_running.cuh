/* SPDX-License-Identifier: MIT */
/* claims_running: branches that part warps, and work on two streams. */
#ifndef SHMT_BENCH_CLAIMS_RUNNING_CUH
#define SHMT_BENCH_CLAIMS_RUNNING_CUH

#include <chrono>
#include <cmath>
#include <vector>

#include "claims_timing.cuh"

/* -- divergence ------------------------------------------------------------ */

/* Each of `ways` branches is one loop of as many multiply-adds; threads of a
 * warp, or whole warps, take different ones. */
__global__ void diverge(float *out, int ways, int rounds, int by_warp)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int mine = (by_warp ? i / 32 : i) % ways;
    float v = 1.0f;

#pragma unroll 1
    for (int w = 0; w < ways; w++)
        if (mine == w) {
#pragma unroll 8
            for (int r = 0; r < rounds; r++)
                v = fmaf(v, 0.5f, (float)w);
        }
    out[i] = v;
}

static void divergence(const Flush &flush)
{
    const int threads = multiprocessors * 2048, rounds = 4096;
    float *out = allocate(threads);
    std::vector<Variant> all;

    for (int by_warp = 0; by_warp < 2; by_warp++)
        for (int ways = 1; ways <= 32; ways *= 2)
            all.push_back(
                {"divergence", by_warp ? "between warps" : "within warps",
                 (double)ways, nullptr,
                 [=](cudaStream_t s) {
                     diverge<<<threads / 256, 256, 0, s>>>(out, ways, rounds,
                                                           by_warp);
                 },
                 [=] {
                     std::vector<float> host(threads);
                     CUDA(cudaMemcpy(host.data(), out, 4 * (size_t)threads,
                                     cudaMemcpyDeviceToHost));
                     for (int i = 0; i < threads; i++) {
                         int w = (by_warp ? i / 32 : i) % ways;
                         if (std::fabs(host[i] - 2.0f * w) > 1e-4f)
                             return false;
                     }
                     return true;
                 },
                 0, 2.0 * threads * rounds, true});
    perform(flush, all);
    CUDA(cudaFree(out));
}

/* -- streams and events ---------------------------------------------------- */

/* Half of the GPU, for a while; the value says that the input was there. */
__global__ void work(float *out, const float *in, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];

    for (int r = 0; r < rounds; r++)
        v = fmaf(v, 1.0f, 1.0f);
    out[i] = v;
}

/* The host's clock from the first launch to the end of both. */
static double both(int how, float *a, float *b, const float *in,
                   cudaStream_t *s, cudaEvent_t event)
{
    const int blocks = multiprocessors / 2, rounds = 1 << 16;

    CUDA(cudaDeviceSynchronize());
    auto begin = std::chrono::steady_clock::now();
    work<<<blocks, 1024, 0, s[0]>>>(a, in, rounds);
    if (how == 2) {
        CUDA(cudaEventRecord(event, s[0]));
        CUDA(cudaStreamWaitEvent(s[1], event, 0));
    }
    /* With the event it takes what the first one makes. */
    work<<<blocks, 1024, 0, s[how == 0 ? 0 : 1]>>>(b, how == 2 ? a : in,
                                                   rounds);
    CUDA(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - begin).count();
}

static void streams()
{
    const int count = multiprocessors / 2 * 1024;
    const char *const names[] = {"one stream", "two streams",
                                 "two streams with an event"};
    float *in = allocate(count), *a = allocate(count), *b = allocate(count);
    cudaStream_t s[2];
    cudaEvent_t event;
    std::vector<float> host(count);
    std::vector<double> us[3];

    CUDA(cudaMemset(in, 0, 4 * (size_t)count));
    for (cudaStream_t &one : s)
        CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int r = 0; r < SAMPLES + 1; r++)
        for (int how = 0; how < 3; how++) {
            const double t = both(how, a, b, in, s, event);
            const float want = how == 2 ? 2 * 65536.0f : 65536.0f;

            CUDA(cudaMemcpy(host.data(), b, 4 * (size_t)count,
                            cudaMemcpyDefault));
            for (float v : host)
                if (v != want)
                    die("streams, %s: the result is wrong", names[how]);
            if (r > 0)
                us[how].push_back(t);
        }
    for (int how = 0; how < 3; how++)
        say("streams", names[how], 2, "time_us", median(us[how]));
}

#endif
