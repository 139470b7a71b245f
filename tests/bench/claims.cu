/* SPDX-License-Identifier: MIT */
/*
 * claims: what tutorials on shared memory claim, and the spaces of our
 * kernels do not hold: each step of the reduction ladder, the naive forms,
 * single effects apart.
 *
 *   claims time          verify, then time: CSV
 *                        experiment,variant,x,quantity,value
 *   claims profile       run some of them once between the profiler's marks;
 *                        a line "experiment,variant,x,launches" each
 *   claims library ROOT  the same CSV of libshmtune: on two streams, and its
 *                        convolution beside loops on the host
 *
 * Every result is compared before anything is timed; what is wrong is said,
 * left out, and makes the exit status 1.  Times are medians of 21, the
 * variants of an experiment in turns, the L2 cache read full of other data
 * before each.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include "shmtune.h"

using Launch = std::function<void(cudaStream_t)>;
enum { SAMPLES = 21 };

[[noreturn]] static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    std::fprintf(stderr, "claims: ");
    std::vfprintf(stderr, format, arguments);
    std::fprintf(stderr, "\n");
    va_end(arguments);
    std::exit(1);
}

#define CUDA(call)                                                           \
    do {                                                                     \
        cudaError_t error_ = (call);                                         \
        if (error_ != cudaSuccess)                                           \
            die("%s: %s", #call, cudaGetErrorString(error_));                \
    } while (0)

static int multiprocessors;

/* -- inputs and the cache -------------------------------------------------- */

__host__ __device__ static unsigned mix(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (unsigned)(x >> 32);
}

/* Whole numbers -1 to 2, whose sums are exact in any order. */
__host__ __device__ static float whole(size_t i)
{
    return (float)(int)(mix(i) & 3) - 1.0f;
}

__host__ __device__ static float unit(size_t i, unsigned seed)
{
    return (float)mix(i ^ ((unsigned long long)seed << 40)) *
               (2.0f / 4294967296.0f) - 1.0f;
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

__global__ void read_all(const float4 *in, size_t n, float *out)
{
    float sum = 0;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x + in[i].y + in[i].z + in[i].w;
    if (sum == 1.25f)
        *out = sum;
}

static float *allocate(size_t count)
{
    float *p;

    CUDA(cudaMalloc(&p, count * sizeof(float)));
    CUDA(cudaMemset(p, 0xff, count * sizeof(float)));   /* NaN */
    return p;
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

/* -- transpose ------------------------------------------------------------- */

__global__ void copy_matrix(float *out, const float *in, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

__global__ void transpose_reads(float *out, const float *in, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 32 + threadIdx.y;

    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}

__global__ void transpose_writes(float *out, const float *in, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 32 + threadIdx.y;

    out[(size_t)y * n + x] = in[(size_t)x * n + y];
}

template <int PAD, int ROWS, bool DYNAMIC_TILE>
__global__ void transpose_tile(float *out, const float *in, int n)
{
    __shared__ float fixed[DYNAMIC_TILE ? 1 : 32 * (32 + PAD)];
    extern __shared__ float flexible[];
    float *const tile = DYNAMIC_TILE ? flexible : fixed;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

#pragma unroll
    for (int k = 0; k < 32; k += ROWS)
        tile[(threadIdx.y + k) * (32 + PAD) + threadIdx.x] =
            in[(size_t)(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += ROWS)
        out[(size_t)(y + k) * n + x] =
            tile[threadIdx.x * (32 + PAD) + threadIdx.y + k];
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

static void transposes(const Flush &flush, int n)
{
    const size_t count = (size_t)n * n;
    float *in = allocate(count), *out = allocate(count);
    unsigned long long *wrong;
    const dim3 grid(n / 32, n / 32);
    std::vector<Variant> all;

    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    fill_unit<<<1024, 256>>>(in, count, 1);
    auto add = [&](const char *name, bool turned, Launch launch) {
        auto right = [=] {
            unsigned long long bad = 0;
            CUDA(cudaMemset(wrong, 0, sizeof bad));
            count_differences<<<grid, dim3(32, 32)>>>(wrong, out, in, n,
                                                      turned);
            CUDA(cudaMemcpy(&bad, wrong, sizeof bad, cudaMemcpyDefault));
            CUDA(cudaMemset(out, 0xff, 4 * count));
            return bad == 0;
        };
        all.push_back({"transpose", name, (double)n, nullptr, launch, right,
                       8.0 * count, 0, n == 8192});
    };
    add("copy", false, [=](cudaStream_t s) {
        copy_matrix<<<(unsigned)(count / 256), 256, 0, s>>>(out, in, count);
    });
    add("cudaMemcpyAsync", false, [=](cudaStream_t s) {
        CUDA(cudaMemcpyAsync(out, in, 4 * count, cudaMemcpyDeviceToDevice,
                             s));
    });
    all.back().profiled = false;          /* not a kernel of ours */
    add("naive (writes strided)", true, [=](cudaStream_t s) {
        transpose_reads<<<grid, dim3(32, 32), 0, s>>>(out, in, n);
    });
    add("naive (reads strided)", true, [=](cudaStream_t s) {
        transpose_writes<<<grid, dim3(32, 32), 0, s>>>(out, in, n);
    });
#define TILE(name, pad, rows, dynamic)                                       \
    add(name, true, [=](cudaStream_t s) {                                    \
        transpose_tile<pad, rows, dynamic>                                   \
            <<<grid, dim3(32, rows), dynamic ? 4 * 32 * (32 + pad) : 0,      \
               s>>>(out, in, n);                                             \
    })
    TILE("tile 32x32", 0, 32, false);
    TILE("tile 32x32 padded", 1, 32, false);
    TILE("tile 32x8", 0, 8, false);
    TILE("tile 32x8 padded", 1, 8, false);
    TILE("tile 32x8 padded dynamic", 1, 8, true);
#undef TILE
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(wrong));
}

/* -- matrix product -------------------------------------------------------- */

template <int B>
__global__ void matmul_global(float *c, const float *a, const float *b, int n)
{
    const int x = blockIdx.x * B + threadIdx.x;
    const int y = blockIdx.y * B + threadIdx.y;
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[(size_t)y * n + k] * b[(size_t)k * n + x];
    c[(size_t)y * n + x] = sum;
}

template <int B, bool DYNAMIC_TILE>
__global__ void matmul_shared(float *c, const float *a, const float *b, int n)
{
    __shared__ float fixed[DYNAMIC_TILE ? 1 : 2 * B * B];
    extern __shared__ float flexible[];
    float *const tile_a = DYNAMIC_TILE ? flexible : fixed;
    float *const tile_b = tile_a + B * B;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
    float sum = 0;

    for (int k = 0; k < n; k += B) {
        tile_a[ty * B + tx] = a[(size_t)y * n + k + tx];
        tile_b[ty * B + tx] = b[(size_t)(k + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < B; i++)
            sum += tile_a[ty * B + i] * tile_b[i * B + tx];
        __syncthreads();
    }
    c[(size_t)y * n + x] = sum;
}

/* 64 elements by float64 on the host, every other one against those of the
 * plainest kernel. */
struct Product {
    int n;
    float *a, *b, *c, *first;

    bool right() const
    {
        const size_t count = (size_t)n * n;
        std::vector<float> ha(count), hb(count), hc(count), hf(count);

        CUDA(cudaMemcpy(hc.data(), c, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(hf.data(), first, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(ha.data(), a, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(hb.data(), b, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemset(c, 0xff, 4 * count));
        for (int k = 0; k < 64; k++) {
            const int y = mix(k) % n, x = mix(k + 99) % n;
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += (double)ha[(size_t)y * n + i] * hb[(size_t)i * n + x];
            if (!(std::fabs(sum - hf[(size_t)y * n + x]) < 1e-2))
                return false;
        }
        for (size_t i = 0; i < count; i++)
            if (!(std::fabs(hc[i] - hf[i]) < 1e-2))
                return false;
        return true;
    }
};

static void products(const Flush &flush, int n)
{
    const size_t count = (size_t)n * n;
    const Product p = {n, allocate(count), allocate(count), allocate(count),
                       allocate(count)};
    std::vector<Variant> all;

    fill_unit<<<1024, 256>>>(p.a, count, 2);
    fill_unit<<<1024, 256>>>(p.b, count, 3);
    matmul_global<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(p.first, p.a,
                                                             p.b, n);
    auto add = [&](const char *name, Launch launch) {
        all.push_back({"matmul", name, (double)n, nullptr, launch,
                       [=] { return p.right(); }, 0, 2.0 * n * n * n,
                       n == 1024});
    };
#define GLOBAL(name, block)                                                  \
    add(name, [=](cudaStream_t s) {                                          \
        matmul_global<block><<<dim3(n / block, n / block),                   \
                               dim3(block, block), 0, s>>>(p.c, p.a, p.b,    \
                                                           n);               \
    })
#define SHARED(name, block, dynamic)                                         \
    add(name, [=](cudaStream_t s) {                                          \
        matmul_shared<block, dynamic>                                        \
            <<<dim3(n / block, n / block), dim3(block, block),               \
               dynamic ? 8 * block * block : 0, s>>>(p.c, p.a, p.b, n);      \
    })
    GLOBAL("global 16x16", 16);
    GLOBAL("global 32x32", 32);
    SHARED("shared 16x16", 16, false);
    SHARED("shared 32x32", 32, false);
    SHARED("shared 16x16 dynamic", 16, true);
    SHARED("shared 32x32 dynamic", 32, true);
#undef GLOBAL
#undef SHARED
    perform(flush, all);
    for (float *q : {p.a, p.b, p.c, p.first})
        CUDA(cudaFree(q));
}

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

/* -- one access with a conflict, in an otherwise memory-bound kernel -------- */

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

/* -- libshmtune on the caller's streams ------------------------------------ */

struct Prepared {
    struct shmtune *opened;
    struct shmtune_function *function;
    struct shmtune_message message;

    Prepared(const char *root, const char *kernel, const int64_t *problem)
        : message{""}
    {
        struct shmtune_device device;
        struct shmtune_choice choice;

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
    void *arguments[] = {&out, &in, &w, nullptr, nullptr};

    fill_unit<<<1024, 256>>>(in, count, 10);
    fill_unit<<<1, 32>>>(w, 9, 11);
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
    CUDA(cudaMemcpy(host_w.data(), w, 4 * 9, cudaMemcpyDefault));
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

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "library") == 0 && argc == 3) {
        library(argv[2]);
        convolution(argv[2], Flush());
        return 0;
    }
    if (argc != 2 || (std::strcmp(mode, "time") != 0 &&
                      std::strcmp(mode, "profile") != 0))
        die("usage: claims time | profile | library ROOT");

    const bool timed = std::strcmp(mode, "time") == 0;
    const Flush flush;

    ladder(flush);
    transposes(flush, 8192);
    products(flush, 1024);
    strides(flush);
    banks(flush);
    divergence(flush);
    block_sizes(flush);
    if (timed) {
        transposes(flush, 4096);
        transposes(flush, 16384);
        products(flush, 2048);
        products(flush, 4096);
        latency(flush);
        rounding();
        streams();
    }
    return wrong_count > 0;
}
