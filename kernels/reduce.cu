/* SPDX-License-Identifier: MIT */
/*
 * reduce: out[0] = the sum of n floats, any n.
 *
 * The ladder of every reduction tutorial, as one space:
 *
 * THREADS, BLOCKS  a block strides through the input with the whole grid;
 *            as many blocks as stay resident keep the memory busy and leave
 *            few partial sums.  BLOCKS is a launch parameter: one binary.
 * VECTOR, UNROLL   floats a load, loads a thread has in flight.  Each of the
 *            VECTOR * UNROLL sums of a thread is kept apart and they are
 *            added as a tree: that is also what keeps the rounding small.
 * EXCHANGE   `tree`: every thread's sum goes to shared memory and halves are
 *            folded; `warps`: shuffles first, one word a warp.
 * WARP_UNROLL      where the tree stops synchronising the block: 0 never,
 *            1 the last warp by __syncwarp, 2 the last warp by shuffles.
 * FINISH     `ticket`: one launch; the block that draws the last ticket adds
 *            the partial sums, in order, so the result does not depend on
 *            timing, and puts the ticket back to 0.  `stages`: two launches.
 * CACHE      `stream` loads once and asks no cache to keep it.
 */

constexpr int WARPS = THREADS / 32;
[[maybe_unused]] constexpr int WORDS =
    EXCHANGE == EXCHANGE_tree ? THREADS : WARPS;

struct alignas(VECTOR * 4) vector {
    float part[VECTOR];
};

#if MEMORY == MEMORY_static
#define SHARED(name) __shared__ float name[WORDS]
#else
#define SHARED(name) extern __shared__ float name[]
#endif

__device__ __forceinline__ vector load(const vector *from)
{
#if CACHE == CACHE_keep
    return *from;
#elif VECTOR == 4
    float4 v = __ldcs((const float4 *)from);
    return {v.x, v.y, v.z, v.w};
#elif VECTOR == 2
    float2 v = __ldcs((const float2 *)from);
    return {v.x, v.y};
#else
    return {__ldcs((const float *)from)};
#endif
}

__device__ __forceinline__ float warp_sum(float sum)
{
#pragma unroll
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half);
    return sum;
}

/* The block's sum, in thread 0.  `shared` may be in use until all threads
 * are here, and is free again when the next barrier is passed. */
__device__ __forceinline__ float block_sum(float sum, float *shared)
{
    int t = threadIdx.x;
#if EXCHANGE == EXCHANGE_warps
    sum = warp_sum(sum);
    if (t % 32 == 0)
        shared[t / 32] = sum;
    __syncthreads();
    if (t < 32)
        sum = warp_sum(t < WARPS ? shared[t] : 0.0f);
#else
    constexpr int LAST = WARP_UNROLL == 0 ? 1 : 32;
    shared[t] = sum;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half >= LAST; half /= 2) {
        if (t < half)
            shared[t] = sum = sum + shared[t + half];
        __syncthreads();
    }
#if WARP_UNROLL == 1
    if (t < 32) {
#pragma unroll
        for (int half = 16; half > 0; half /= 2) {
            float other = t < half ? shared[t + half] : 0.0f;
            __syncwarp();
            shared[t] = sum = sum + other;
            __syncwarp();
        }
    }
#elif WARP_UNROLL == 2
    if (t < 32)
        sum = warp_sum(sum);
#endif
#endif
    return sum;
}

/* This thread's share of `in`. */
__device__ __forceinline__ float thread_sum(const float *__restrict__ in,
                                            long long n)
{
    long long step = (long long)gridDim.x * THREADS;
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    vector sum[UNROLL] = {};
    bool aligned = ((size_t)in & (VECTOR * 4 - 1)) == 0;
    long long vectors = aligned ? n / VECTOR : 0;
    const vector *wide = (const vector *)in;
    /* Whole steps of UNROLL loads, then single ones, then the last few. */
    for (; i + (UNROLL - 1) * step < vectors; i += UNROLL * step) {
        vector held[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            held[k] = load(wide + i + k * step);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                sum[k].part[v] += held[k].part[v];
    }
#pragma unroll
    for (int k = 0; k < UNROLL - 1; k++) {
        if (i < vectors) {
            vector held = load(wide + i);
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                sum[k].part[v] += held.part[v];
            i += step;
        }
    }
    float rest = 0.0f;
    for (i = vectors * VECTOR + (long long)blockIdx.x * THREADS +
             threadIdx.x; i < n; i += step)
        rest += in[i];
#pragma unroll
    for (int half = UNROLL / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                sum[k].part[v] += sum[k + half].part[v];
#pragma unroll
    for (int half = VECTOR / 2; half > 0; half /= 2)
#pragma unroll
        for (int v = 0; v < half; v++)
            sum[0].part[v] += sum[0].part[v + half];
    return sum[0].part[0] + rest;
}

/* The sum of the partial sums: by one block, always in the same order. */
__device__ __forceinline__ float finish(const float *partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += __ldcg(partial + i);
    return sum;
}

#if FINISH == FINISH_ticket
extern "C" __global__ void __launch_bounds__(THREADS)
reduce(float *out, const float *__restrict__ in, float *partial,
       unsigned *ticket, long long n)
{
    SHARED(shared);
    float sum = block_sum(thread_sum(in, n), shared);
    bool last = false;
    if (threadIdx.x == 0) {
        __stcg(partial + blockIdx.x, sum);
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    /* A barrier too: what block_sum left in `shared` is done with. */
    if (!__syncthreads_or(last))
        return;
    __threadfence();
    sum = block_sum(finish(partial, gridDim.x), shared);
    if (threadIdx.x == 0) {
        *out = sum;
        *ticket = 0;
    }
}
#else
extern "C" __global__ void __launch_bounds__(THREADS)
reduce(float *partial, const float *__restrict__ in, long long n)
{
    SHARED(shared);
    float sum = block_sum(thread_sum(in, n), shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
reduce_finish(float *out, const float *partial, int count)
{
    SHARED(shared);
    float sum = block_sum(finish(partial, count), shared);
    if (threadIdx.x == 0)
        *out = sum;
}
#endif

#ifdef SHMTUNE_REFERENCE
/* The oracle adds in double: first a sum a thread, then all of those. */
extern "C" __global__ void reduce_reference(double *sums, const float *in,
                                            long long n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (long long k = i; k < n; k += gridDim.x * blockDim.x)
        sum += in[k];
    sums[i] = sum;
}

extern "C" __global__ void reduce_reference_finish(float *out,
                                                   const double *sums,
                                                   int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += sums[i];
    *out = (float)sum;
}
#endif
