/* SPDX-License-Identifier: MIT */
/*
 * reduce: out[0] = the sum of n floats, any n.
 *
 * The ladder of every reduction tutorial, as one space:
 *
 * THREADS, BLOCKS  a block strides through the input with the whole grid;
 *            as many blocks as stay resident keep the memory busy and leave
 *            few partial sums.  BLOCKS is a launch parameter: one binary.
 * VECTOR, UNROLL   floats a load, loads a thread has in flight; what one step
 *            brings is added as a tree before it joins the thread's sum, which
 *            keeps the rounding small and leaves registers for more loads.
 * EXCHANGE   `tree`: every thread's sum goes to shared memory and halves are
 *            folded; `warps`: shuffles first, one word a warp.
 * WARP_UNROLL      where the tree stops synchronising the block: 0 never,
 *            1 the last warp by __syncwarp, 2 the last warp by shuffles.
 * FINISH     how the partial sums of blocks meet, always added in the same
 *            order, so that the result does not depend on timing.  `stages`:
 *            a second launch.  `ticket`: the block that draws the last ticket
 *            adds them: a fence, an atomic and a read in turn.  `mail`: a
 *            block sends its sum and a mark in one 64-bit word, and the last
 *            block waits for all words, which costs one trip through L2
 *            instead of three.  No block waits for a later one, and the words
 *            are 0 again at the end.
 * CACHE      `stream` loads once and asks no cache to keep it.
 *
 * Small sums are all latency: on an H100 an input of 4 bytes takes 4.5 us, and
 * 16 MiB 5.5 us more, which is what its memory takes.
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

/* What UNROLL loads brought, in held[0]. */
__device__ __forceinline__ void fold(vector (&held)[UNROLL])
{
#pragma unroll
    for (int half = UNROLL / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                held[k].part[v] += held[k + half].part[v];
}

/* This thread's share of `in`. */
__device__ __forceinline__ float thread_sum(const float *__restrict__ in,
                                            long long n)
{
    long long step = (long long)gridDim.x * THREADS;
    long long first = (long long)blockIdx.x * THREADS + threadIdx.x;
    bool aligned = ((size_t)in & (VECTOR * 4 - 1)) == 0;
    long long vectors = aligned ? n / VECTOR : 0;
    const vector *from = (const vector *)in + first;
    long long left = vectors - first;
    vector held[UNROLL];
    vector sum = {};
    /* Whole steps of UNROLL loads, then one step of those that are left, all
     * of them in flight too, then the last few floats. */
    for (; left > (UNROLL - 1) * step; left -= UNROLL * step) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            held[k] = load(from + k * step);
        from += UNROLL * step;
        fold(held);
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            sum.part[v] += held[0].part[v];
    }
    if (UNROLL > 1 && left > 0) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            held[k] = k * step < left ? load(from + k * step) : vector{};
        fold(held);
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            sum.part[v] += held[0].part[v];
    }
#pragma unroll
    for (int half = VECTOR / 2; half > 0; half /= 2)
#pragma unroll
        for (int v = 0; v < half; v++)
            sum.part[v] += sum.part[v + half];
    for (long long i = vectors * VECTOR + first; i < n; i += step)
        sum.part[0] += in[i];
    return sum.part[0];
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
#elif FINISH == FINISH_mail
extern "C" __global__ void __launch_bounds__(THREADS)
reduce(float *out, const float *__restrict__ in, unsigned long long *mail,
       long long n)
{
    SHARED(shared);
    float sum = block_sum(thread_sum(in, n), shared);
    if (threadIdx.x == 0)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :: "l"(mail + blockIdx.x),
                        "l"(1ull << 32 | __float_as_uint(sum)) : "memory");
    /* Blocks start in the order of their index: the last one waits. */
    if (blockIdx.x != gridDim.x - 1)
        return;
    sum = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
        unsigned long long word;
        do
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word) : "l"(mail + i) : "memory");
        while (word >> 32 == 0);
        sum += __uint_as_float((unsigned)word);
        mail[i] = 0;
    }
    __syncthreads();   /* what block_sum left in `shared` is done with */
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        *out = sum;
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
