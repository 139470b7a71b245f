/* SPDX-License-Identifier: MIT */
/*
 * softmax: out[r][c] = exp(in[r][c]) / the sum of exp over row r, each row
 * shifted by its greatest element, for a rows x cols matrix of floats of any
 * shape.
 *
 * A row is read for its greatest element and its sum before its first output
 * can be written.  What the space spans is where it stays meanwhile:
 *
 * THREADS, ROWS  a block works on ROWS rows side by side, THREADS / ROWS
 *            threads each: a few lanes for short rows, the whole block for
 *            long ones.
 * HOLD       `registers`: ITEMS vectors a thread hold the row; `shared`: the
 *            row is staged in shared memory, up to what an SM has; `again`:
 *            nothing is held, and the row is read again, at best from L2.
 * LOAD       `plain`; `async`: by cp.async (sm_80 up); `bulk`: by the copy
 *            engine (sm_90 up), with `registers` the next rows come into
 *            shared memory while these are being worked on.
 * METHOD     `passes`: greatest element first, then the sum; `online`: both at
 *            once, the sum rescaled whenever a greater element turns up, and
 *            one exchange between threads instead of two.
 * CLUSTER    blocks of a cluster that share a row (sm_90 up), for rows that
 *            are too long for one SM.
 * VECTOR, ITEMS  floats a load; loads a thread has in flight, or holds.
 * STREAM     stores that ask not to stay in cache.
 * BLOCKS     0: a block for every ROWS rows; else that many, which stride
 *            through them.
 *
 * Vectors need rows whose length is a multiple of VECTOR and aligned buffers;
 * others go float by float.
 */

constexpr int GROUP = THREADS / ROWS;    /* threads of a row in a block */
constexpr int NEAR = GROUP < 32 ? GROUP : 32;
constexpr int SPAN = GROUP / NEAR;       /* warps of a row, if several */
constexpr float LOWEST = -3.402823466e38f;

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#elif LOAD == LOAD_bulk && __CUDA_ARCH__ >= 900
#define COPY_BULK 1
#endif
#if CLUSTER > 1 && __CUDA_ARCH__ >= 900
#define CLUSTERED 1
#endif

template <int W> struct alignas(W * 4) piece {
    float part[W];
};

#include "softmax_join.cuh"

template <int W>
__device__ __forceinline__ void put(piece<W> *to, const piece<W> &value)
{
#if STREAM
    if constexpr (W == 4)
        __stcs((float4 *)to, *(const float4 *)&value);
    else if constexpr (W == 2)
        __stcs((float2 *)to, *(const float2 *)&value);
    else
        __stcs((float *)to, value.part[0]);
#else
    *to = value;
#endif
}

/* A thread's part of a row: pieces GROUP apart, from its own to `end`. */
template <int W> struct line {
    const piece<W> *from;
    piece<W> *to;
    piece<W> *stage;   /* the row in shared memory */
    int first, end;
};

/* The pieces first, first + GROUP, ... of a batch; nothing beyond the end. */
template <int W, int COUNT>
__device__ __forceinline__ void take(piece<W> (&held)[COUNT],
                                     const piece<W> *from, int i, int end)
{
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        if (i + k * GROUP < end) {
            held[k] = from[i + k * GROUP];
        } else {
#pragma unroll
            for (int v = 0; v < W; v++)
                held[k].part[v] = LOWEST;
        }
    }
}

template <int W, int COUNT>
__device__ __forceinline__ float batch_high(const piece<W> (&held)[COUNT])
{
    float high = LOWEST;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
#pragma unroll
        for (int v = 0; v < W; v++)
            high = fmaxf(high, held[k].part[v]);
    return high;
}

/* Puts exp(element - high) in place of the elements; returns their sum. */
template <int W, int COUNT>
__device__ __forceinline__ float batch_weigh(piece<W> (&held)[COUNT],
                                             float high)
{
    float sum[W] = {};
#pragma unroll
    for (int k = 0; k < COUNT; k++)
#pragma unroll
        for (int v = 0; v < W; v++)
            sum[v] += held[k].part[v] = weight(held[k].part[v], high);
#pragma unroll
    for (int v = 1; v < W; v++)
        sum[0] += sum[v];
    return sum[0];
}

template <int W, int COUNT>
__device__ __forceinline__ void batch_put(piece<W> (&held)[COUNT], float scale,
                                          piece<W> *to, int i, int end)
{
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        if (i + k * GROUP < end) {
#pragma unroll
            for (int v = 0; v < W; v++)
                held[k].part[v] *= scale;
            put(to + i + k * GROUP, held[k]);
        }
    }
}

/* -- the copy engine ------------------------------------------------------ */
#ifdef COPY_BULK
__device__ __forceinline__ unsigned address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

__device__ __forceinline__ void bulk_issue(float *stage, const float *from,
                                           int bytes,
                                           unsigned long long *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(address(arrived)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(address(stage)), "l"(from), "r"(bytes),
                    "r"(address(arrived)) : "memory");
}

__device__ __forceinline__ void bulk_wait(unsigned long long *arrived,
                                          unsigned phase)
{
    asm volatile("{\n\t"
                 ".reg .pred done;\n\t"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 "
                 "done, [%0], %1;\n\t"
                 "@!done bra again;\n\t"
                 "}" :: "r"(address(arrived)), "r"(phase) : "memory");
}

__device__ __forceinline__ void bulk_after_reads()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif

/* One block's view of the matrix. */
struct view {
    float *out;
    const float *in;
    int rows, cols;
    int start, length;   /* its columns: all of them but in a cluster */
    int base, step;      /* its first rows; rows on to its next */
};

#ifdef COPY_BULK
__device__ __forceinline__ void bulk_rows(const view &my, int base,
                                          float *stage,
                                          unsigned long long *arrived)
{
    int bytes = min(ROWS, my.rows - base) * my.length * 4;
    if (base < my.rows && bytes > 0)
        bulk_issue(stage, my.in + (long long)base * my.cols + my.start, bytes,
                   arrived);
}
#endif

/* -- a row ---------------------------------------------------------------- */
#if HOLD == HOLD_registers
constexpr int HELD = ITEMS * VECTOR;   /* floats a thread */

template <int W, class Next>
__device__ __forceinline__ void do_row(const line<W> &my, int &turn,
                                       bool staged, Next next)
{
    piece<W> held[HELD / W];
#ifdef COPY_BULK
    if (staged)
        take(held, (const piece<W> *)my.stage, my.first, my.end);
    else
        take(held, my.from, my.first, my.end);
    /* The stage may be filled again once its rows are in registers, and not
     * only on their way: a barrier does not wait for that, and the copy
     * engine is not behind these reads in line as a store would be. */
    if (staged) {
        bulk_after_reads();
        __syncthreads();
        next();
    }
#else
    take(held, my.from, my.first, my.end);
#endif
    float high = batch_high(held);
#if METHOD == METHOD_passes
    high = exchange<greatest>(high, turn);
    float sum = exchange<total>(batch_weigh(held, high), turn);
    float scale = 1.0f / sum;
#else
    float sum = batch_weigh(held, high);
    state all = exchange<both>(state{high, sum}, turn);
    float scale = weight(high, all.high) / all.sum;
#endif
    batch_put(held, scale, my.to, my.first, my.end);
}
#else
/* The first reading of a row: from global memory, into the stage too. */
template <int W>
__device__ __forceinline__ void fetch(piece<W> (&held)[ITEMS],
                                      const line<W> &my, int i, bool staged)
{
    if (staged) {
        take(held, (const piece<W> *)my.stage, i, my.end);
        return;
    }
    take(held, my.from, i, my.end);
#if HOLD == HOLD_shared
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        if (i + k * GROUP < my.end)
            my.stage[i + k * GROUP] = held[k];
#endif
}

template <int W, class Next>
__device__ __forceinline__ void do_row(const line<W> &my, int &turn,
                                       bool staged, Next next)
{
#ifdef COPY_ASYNC
    /* A thread reads only what it copied itself: no barrier is needed. */
    for (int i = my.first; i < my.end; i += GROUP) {
        unsigned to = (unsigned)__cvta_generic_to_shared(my.stage + i);
        if constexpr (W == 4)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(to), "l"(my.from + i) : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                         :: "r"(to), "l"(my.from + i), "n"(W * 4) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    staged = true;
#endif
    constexpr int STEP = ITEMS * GROUP;
#if HOLD == HOLD_shared
    const piece<W> *from = my.stage;
#else
    const piece<W> *from = my.from;
#endif
    piece<W> held[ITEMS];
#if METHOD == METHOD_passes
    float high = LOWEST;
    for (int i = my.first; i < my.end; i += STEP) {
        fetch(held, my, i, staged);
        high = fmaxf(high, batch_high(held));
    }
    high = exchange<greatest>(high, turn);
    float sum = 0.0f;
    for (int i = my.first; i < my.end; i += STEP) {
        take(held, from, i, my.end);
        sum += batch_weigh(held, high);
    }
    state all = {high, exchange<total>(sum, turn)};
#else
    state all = both::NONE;
    for (int i = my.first; i < my.end; i += STEP) {
        fetch(held, my, i, staged);
        float high = fmaxf(all.high, batch_high(held));
        all.sum *= weight(all.high, high);
        all.sum += batch_weigh(held, high);
        all.high = high;
    }
    all = exchange<both>(all, turn);
#endif
    float scale = 1.0f / all.sum;
    for (int i = my.first; i < my.end; i += STEP) {
        take(held, from, i, my.end);
        batch_weigh(held, all.high);
        batch_put(held, scale, my.to, i, my.end);
    }
#ifdef COPY_BULK
    if (staged) {
        __syncthreads();
        next();
    }
#endif
}
#endif

/* -- all rows of a block -------------------------------------------------- */
template <int W>
__device__ __forceinline__ void do_rows(const view &my, int pitch)
{
    extern __shared__ __align__(128) float stage[];
    int turn = -1;
    bool staged = false;
#ifdef COPY_BULK
    __shared__ unsigned long long arrived;
    unsigned phase = 0;
    staged = my.cols % 4 == 0 && ((size_t)my.in & 15) == 0 && my.length > 0;
    if (staged && threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                     "fence.proxy.async.shared::cta;"
                     :: "r"(address(&arrived)) : "memory");
        bulk_rows(my, my.base, stage, &arrived);
    }
    __syncthreads();
#endif
    for (int base = my.base; base < my.rows; base += my.step) {
        int row = base + threadIdx.x / GROUP;
        long long offset = (long long)row * my.cols + my.start;
        line<W> mine = {
            (const piece<W> *)(my.in + offset), (piece<W> *)(my.out + offset),
            (piece<W> *)(stage + threadIdx.x / GROUP * pitch),
            (int)threadIdx.x % GROUP, row < my.rows ? my.length / W : 0};
#ifdef COPY_BULK
        if (staged) {
            bulk_wait(&arrived, phase);
            phase ^= 1;
        }
        do_row(mine, turn, staged, [&]() {
            if (threadIdx.x == 0)
                bulk_rows(my, base + my.step, stage, &arrived);
        });
#else
        do_row(mine, turn, staged, []() {});
#endif
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
softmax(float *__restrict__ out, const float *__restrict__ in, int rows,
        int cols)
{
    /* A block's columns, and the floats between rows in the stage. */
    int pitch = ((cols + CLUSTER - 1) / CLUSTER + 3) / 4 * 4;
    view my = {out, in, rows, cols, 0, cols, (int)blockIdx.x * ROWS,
               (int)gridDim.x * ROWS};
#ifdef CLUSTERED
    cluster_arrive();
    my.start = min(cols, (int)cluster_rank() * pitch);
    my.length = min(pitch, cols - my.start);
    my.base = blockIdx.x / CLUSTER;
    my.step = gridDim.x / CLUSTER;
#endif
    if (cols % VECTOR == 0 &&
        (((size_t)in | (size_t)out) & (VECTOR * 4 - 1)) == 0)
        do_rows<VECTOR>(my, pitch);
    else
        do_rows<1>(my, pitch);
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: a warp a row, in double. */
extern "C" __global__ void softmax_reference(float *out, const float *in,
                                             int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    in += (long long)row * cols;
    out += (long long)row * cols;
    float high = in[0];
    for (int i = 1; i < cols; i++)
        high = fmaxf(high, in[i]);
    double sum = 0.0;
    for (int i = lane; i < cols; i += 32)
        sum += exp((double)in[i] - high);
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, half);
    for (int i = lane; i < cols; i += 32)
        out[i] = (float)(exp((double)in[i] - high) / sum);
}
#endif
