/* SPDX-License-Identifier: MIT */
/*
 * claims_timing: an experiment's variants, verified, then timed in turns with
 * a cache full of other data, or run for a profiler.  What is said is CSV.
 */
#ifndef SHMT_BENCH_CLAIMS_TIMING_CUH
#define SHMT_BENCH_CLAIMS_TIMING_CUH

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include "claims_data.cuh"

using Launch = std::function<void(cudaStream_t)>;
enum { SAMPLES = 21 };

static int multiprocessors;

/* -- the cache ------------------------------------------------------------- */

__global__ void read_all(const float4 *in, size_t n, float *out)
{
    float sum = 0;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x + in[i].y + in[i].z + in[i].w;
    if (sum == 1.25f)
        *out = sum;
}

struct Flush {
    float4 *data;
    size_t count;
    float *sink;

    Flush()
    {
        cudaDeviceProp properties;

        CUDA(cudaGetDeviceProperties(&properties, 0));
        multiprocessors = properties.multiProcessorCount;
        count = 2 * (size_t)properties.l2CacheSize / sizeof(float4);
        data = (float4 *)allocate(4 * count);
        sink = allocate(1);
        fill_unit<<<1024, 256>>>((float *)data, 4 * count, 7);
    }
    void run(cudaStream_t s) const
    {
        read_all<<<multiprocessors * 8, 512, 0, s>>>(data, count, sink);
    }
};

/* -- an experiment --------------------------------------------------------- */

struct Variant {
    std::string experiment, name;
    double x;
    Launch before;                       /* untimed */
    Launch launch;
    std::function<bool()> right;         /* after `launch` */
    double bytes;                        /* that are useful; 0: not said */
    double flops;
    bool profiled;
    int launches = 1;
};

static const char *mode;

static void say(const std::string &experiment, const std::string &variant,
                double x, const char *quantity, double value)
{
    std::printf("%s,%s,%.10g,%s,%.9g\n", experiment.c_str(), variant.c_str(),
                x, quantity, value);
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static int wrong_count;

static bool run_once(const Variant &v)
{
    if (v.before)
        v.before(0);
    v.launch(0);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    /* What is profiled was verified with the times. */
    if (std::strcmp(mode, "time") != 0 || !v.right || v.right())
        return true;
    std::fprintf(stderr, "claims: %s, %s, %g: the result is wrong\n",
                 v.experiment.c_str(), v.name.c_str(), v.x);
    wrong_count++;
    return false;
}

static void profile(const Variant &v)
{
    if (v.before)
        v.before(0);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaProfilerStart());
    v.launch(0);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaProfilerStop());
    std::printf("%s,%s,%.10g,%d\n", v.experiment.c_str(), v.name.c_str(), v.x,
                v.launches);
}

static void time_all(const Flush &flush, const std::vector<Variant> &all)
{
    std::vector<std::vector<double>> us(all.size());
    cudaEvent_t start, stop;
    float ms;

    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int r = 0; r < SAMPLES; r++)
        for (size_t k = 0; k < all.size(); k++) {
            if (all[k].before)
                all[k].before(0);
            flush.run(0);
            CUDA(cudaEventRecord(start));
            all[k].launch(0);
            CUDA(cudaEventRecord(stop));
            CUDA(cudaEventSynchronize(stop));
            CUDA(cudaEventElapsedTime(&ms, start, stop));
            us[k].push_back(ms * 1000.0);
        }
    for (size_t k = 0; k < all.size(); k++) {
        const Variant &v = all[k];
        const double m = median(us[k]);
        std::vector<double> sorted = us[k];

        std::sort(sorted.begin(), sorted.end());
        say(v.experiment, v.name, v.x, "time_us", m);
        say(v.experiment, v.name, v.x, "spread_percent",
            100 * (sorted[SAMPLES * 3 / 4] - sorted[SAMPLES / 4]) / m);
        if (v.bytes > 0)
            say(v.experiment, v.name, v.x, "gb_per_s", v.bytes / m / 1e3);
        if (v.flops > 0)
            say(v.experiment, v.name, v.x, "tflops", v.flops / m / 1e6);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
}

static void perform(const Flush &flush, const std::vector<Variant> &all)
{
    std::vector<Variant> fine;

    for (const Variant &v : all)
        if (run_once(v))
            fine.push_back(v);
    if (std::strcmp(mode, "time") == 0) {
        time_all(flush, fine);
        return;
    }
    for (const Variant &v : fine)
        if (v.profiled)
            profile(v);
}

#endif
