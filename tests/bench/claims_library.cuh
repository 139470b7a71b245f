/* SPDX-License-Identifier: MIT */
/*
 * claims_library: launches of libshmtune on the caller's streams, and its
 * convolution beside loops on the host.
 */
#ifndef SHMT_BENCH_CLAIMS_LIBRARY_CUH
#define SHMT_BENCH_CLAIMS_LIBRARY_CUH

#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "claims_timing.cuh"
#include "shmtune.h"

/* -- libshmtune on the caller's streams ------------------------------------ */

struct Prepared {
    struct shmtune *opened;
    struct shmtune_function *function;
    struct shmtune_message message;

    Prepared(const char *root, const char *kernel, const int64_t *problem)
        : message{""}
    {
        struct shmtune_device device = SHMTUNE_DEVICE_INIT;
        struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

        if (shmtune_open(root, &opened, &message) != SHMTUNE_OK ||
            shmtune_device_query(0, &device, &message) != SHMTUNE_OK ||
            shmtune_select(shmtune_kernel_find(opened, kernel), &device,
                           problem, &choice) != SHMTUNE_OK ||
            shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &function,
                            &message) != SHMTUNE_OK)
            die("%s: %s", kernel, message.text);
    }
    ~Prepared()
    {
        shmtune_release(function);
        shmtune_close(opened);
    }
    void launch(void **arguments, cudaStream_t s)
    {
        if (shmtune_launch(function, arguments, s, &message) != SHMTUNE_OK)
            die("library: %s", message.text);
    }
};

static void library(const char *root)
{
    const int64_t problem[] = {8192, 8192, 4};
    const size_t count = (size_t)8192 * 8192;
    Prepared transpose(root, "transpose", problem);
    float *in = allocate(count), *mid = allocate(count);
    float *out = allocate(count);
    unsigned long long *wrong, bad = 0;
    cudaStream_t s[2];
    cudaEvent_t event;
    std::vector<double> calls, wholes;

    fill_unit<<<1024, 256>>>(in, count, 9);
    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    for (cudaStream_t &one : s)
        CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    void *first[] = {&mid, &in, nullptr, nullptr};
    void *second[] = {&out, &mid, nullptr, nullptr};
    for (int r = 0; r < SAMPLES + 3; r++) {
        CUDA(cudaMemset(mid, 0xff, 4 * count));
        CUDA(cudaMemset(out, 0xff, 4 * count));
        CUDA(cudaMemset(wrong, 0, sizeof *wrong));
        CUDA(cudaDeviceSynchronize());
        auto begin = std::chrono::steady_clock::now();
        transpose.launch(first, s[0]);
        auto back = std::chrono::steady_clock::now();
        CUDA(cudaEventRecord(event, s[0]));
        CUDA(cudaStreamWaitEvent(s[1], event, 0));
        transpose.launch(second, s[1]);
        CUDA(cudaStreamSynchronize(s[1]));
        auto end = std::chrono::steady_clock::now();
        /* Turned twice it is what it was. */
        count_differences<<<dim3(256, 256), dim3(32, 32)>>>(wrong, out, in,
                                                            8192, false);
        CUDA(cudaMemcpy(&bad, wrong, sizeof bad, cudaMemcpyDefault));
        if (bad != 0)
            die("library: %llu elements are wrong", bad);
        if (r < 3)
            continue;
        calls.push_back(
            std::chrono::duration<double, std::micro>(back - begin).count());
        wholes.push_back(
            std::chrono::duration<double, std::micro>(end - begin).count());
    }
    say("library", "shmtune_launch returns after", 8192, "time_us",
        median(calls));
    say("library", "two transposes with an event between", 8192, "time_us",
        median(wholes));
    for (float *p : {in, mid, out})
        CUDA(cudaFree(p));
}

/* -- a convolution beside loops on the host -------------------------------- */

static float at_border(const float *in, const float *w, int n, int x, int y)
{
    float sum = 0;

    for (int fy = 0; fy < 3; fy++)
        for (int fx = 0; fx < 3; fx++) {
            const int ix = x + fx - 1, iy = y + fy - 1;
            if (ix >= 0 && ix < n && iy >= 0 && iy < n)
                sum += in[(size_t)iy * n + ix] * w[fy * 3 + fx];
        }
    return sum;
}

static void scalar_loop(float *out, const float *in, const float *w, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            out[(size_t)y * n + x] = at_border(in, w, n, x, y);
}

static void unrolled_loop(float *out, const float *in, const float *w, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const float *p = in + (size_t)y * n + x;
            if (x == 0 || x == n - 1 || y == 0 || y == n - 1)
                out[(size_t)y * n + x] = at_border(in, w, n, x, y);
            else
                out[(size_t)y * n + x] =
                    p[-n - 1] * w[0] + p[-n] * w[1] + p[-n + 1] * w[2] +
                    p[-1] * w[3] + p[0] * w[4] + p[1] * w[5] +
                    p[n - 1] * w[6] + p[n] * w[7] + p[n + 1] * w[8];
        }
}

static double on_host(const char *name,
                      void (*loop)(float *, const float *, const float *,
                                   int),
                      const std::vector<float> &in, const float *w, int n,
                      const std::vector<float> &wanted)
{
    std::vector<float> out(in.size());
    std::vector<double> us;

    for (int r = 0; r < 4; r++) {           /* the first one is not timed */
        auto begin = std::chrono::steady_clock::now();
        loop(out.data(), in.data(), w, n);
        if (r > 0)
            us.push_back(std::chrono::duration<double, std::micro>(
                             std::chrono::steady_clock::now() - begin)
                             .count());
    }
    for (size_t i = 0; i < out.size(); i++)
        if (!(std::fabs(out[i] - wanted[i]) < 1e-4f))
            die("convolution, %s: the result is wrong", name);
    return median(us);
}

static void convolution(const char *root, const Flush &flush)
{
    const int n = 4096;
    const int64_t problem[] = {n, n, 3};
    const size_t count = (size_t)n * n;
    Prepared conv2d(root, "conv2d", problem);
    float *in = allocate(count), *out = allocate(count), *w = allocate(9);
    std::vector<float> host_in(count), host_out(count), host_w(9);
    std::vector<double> us;
    cudaEvent_t start, stop;
    void *arguments[] = {&out, &in, host_w.data(), nullptr, nullptr};

    fill_unit<<<1024, 256>>>(in, count, 10);
    fill_unit<<<1, 32>>>(w, 9, 11);
    CUDA(cudaMemcpy(host_w.data(), w, 4 * 9, cudaMemcpyDefault));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int r = 0; r < SAMPLES + 3; r++) {
        float ms;
        flush.run(0);
        CUDA(cudaEventRecord(start));
        conv2d.launch(arguments, 0);
        CUDA(cudaEventRecord(stop));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (r >= 3)
            us.push_back(ms * 1000.0);
    }
    CUDA(cudaMemcpy(host_in.data(), in, 4 * count, cudaMemcpyDefault));
    CUDA(cudaMemcpy(host_out.data(), out, 4 * count, cudaMemcpyDefault));
    say("convolution", "tuned", n, "time_us", median(us));
    say("convolution", "scalar loop", n, "time_us",
        on_host("scalar loop", scalar_loop, host_in, host_w.data(), n,
                host_out));
    say("convolution", "unrolled loop", n, "time_us",
        on_host("unrolled loop", unrolled_loop, host_in, host_w.data(), n,
                host_out));
    for (float *p : {in, out, w})
        CUDA(cudaFree(p));
}

#endif
