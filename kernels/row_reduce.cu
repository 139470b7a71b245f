/* SPDX-License-Identifier: MIT */
/*
 * row_reduce: out[r] = the sum of row r of a rows x cols matrix of floats,
 * any shape.
 *
 * THREADS, ROWS  a block sums ROWS rows side by side, THREADS / ROWS threads
 *            each: a few lanes for short rows, the whole block for long ones.
 * VECTOR, UNROLL   floats a load, loads a thread has in flight, each with a
 *            sum of its own.
 * LOAD       `plain` into registers; `async` by cp.async (sm_80 up) into
 *            STAGES buffers in shared memory, which run ahead across rows, so
 *            that loads stay in flight while a row is being finished.
 * CACHE      `stream` loads once and asks no cache to keep it.
 * BLOCKS     0: a block for every ROWS rows; else that many blocks, which
 *            stride through them.
 * SPLIT      blocks that share a row, for matrices of few long rows; a second
 *            launch adds their partial sums.
 *
 * Vectors need rows whose length is a multiple of VECTOR and an aligned
 * buffer; others go float by float.
 */

constexpr int GROUP = THREADS / ROWS;    /* threads of a row */
constexpr int NEAR = GROUP < 32 ? GROUP : 32;
constexpr int SPAN = GROUP / NEAR;       /* warps of a row, if several */

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#endif

template <int W> struct alignas(W * 4) piece {
    float part[W];
};

/* One block's share of the columns, counted in pieces, and its rows. */
struct share {
    const float *in;
    int rows, cols;
    int begin, end;
};

template <int W>
__device__ __forceinline__ piece<W> load(const piece<W> *from)
{
#if CACHE == CACHE_stream
    if constexpr (W == 4) {
        float4 v = __ldcs((const float4 *)from);
        return {v.x, v.y, v.z, v.w};
    } else if constexpr (W == 2) {
        float2 v = __ldcs((const float2 *)from);
        return {v.x, v.y};
    } else {
        return {__ldcs((const float *)from)};
    }
#else
    return *from;
#endif
}

template <int W>
__device__ __forceinline__ void add(piece<W> &sum, const piece<W> &other)
{
#pragma unroll
    for (int v = 0; v < W; v++)
        sum.part[v] += other.part[v];
}

template <int W>
__device__ __forceinline__ float fold(piece<W> (&sum)[UNROLL])
{
#pragma unroll
    for (int half = UNROLL / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++)
            add(sum[k], sum[k + half]);
#pragma unroll
    for (int half = W / 2; half > 0; half /= 2)
#pragma unroll
        for (int v = 0; v < half; v++)
            sum[0].part[v] += sum[0].part[v + half];
    return sum[0].part[0];
}

template <int LANES> __device__ __forceinline__ float lanes_sum(float sum)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, half);
    return sum;
}

/* The sum of a row, in its first thread.  `turn` alternates: the words of
 * one row may still be read while those of the next are written. */
__device__ __forceinline__ float group_sum(float sum, int turn)
{
    sum = lanes_sum<NEAR>(sum);
    if constexpr (SPAN > 1) {
        __shared__ float word[2][THREADS / 32];
        int warp = threadIdx.x / 32;
        int lane = threadIdx.x % 32;
        if (lane == 0)
            word[turn][warp] = sum;
        __syncthreads();
        if (warp % SPAN == 0)
            sum = lanes_sum<SPAN>(lane < SPAN ? word[turn][warp + lane]
                                              : 0.0f);
    }
    return sum;
}

__device__ __forceinline__ void store(float *out, float *partial, int row,
                                      float sum)
{
    if (gridDim.y == 1)
        out[row] = sum;
    else
        partial[(long long)row * gridDim.y + blockIdx.y] = sum;
}

#ifdef COPY_ASYNC
/* A thread's next loads: each thread reads only what it copied itself, so
 * that the stages need no barrier. */
template <int W> struct runner {
    const share &my;
    piece<W> *stage;     /* this thread's first piece of stage 0 */
    int base, at;        /* rows, first piece of the row */
    int slot;

    __device__ __forceinline__ void issue()
    {
        int row = base + threadIdx.x / GROUP;
        bool valid = row < my.rows;
        const piece<W> *from =
            (const piece<W> *)(my.in + (valid ? (long long)row * my.cols : 0));
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            int i = at + k * GROUP + threadIdx.x % GROUP;
            bool held = valid && i < my.end;
            unsigned to = (unsigned)__cvta_generic_to_shared(
                stage + (slot * UNROLL + k) * THREADS);
            if constexpr (W == 4)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                             :: "r"(to), "l"(from + (held ? i : 0)),
                                "r"(held ? 16 : 0) : "memory");
            else
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                             :: "r"(to), "l"(from + (held ? i : 0)),
                                "n"(W * 4), "r"(held ? W * 4 : 0)
                             : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        at += UNROLL * GROUP;
        if (at >= my.end) {
            at = my.begin;
            base += gridDim.x * ROWS;
        }
    }
};

template <int W>
__device__ __forceinline__ void sum_rows(float *out, float *partial,
                                         const share &my)
{
    extern __shared__ __align__(16) float stages[];
    piece<W> *stage = (piece<W> *)stages + threadIdx.x;
    runner<W> ahead = {my, stage, (int)blockIdx.x * ROWS, my.begin, 0};
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++)
        ahead.issue();
    int slot = 0;
    int turn = 0;
    for (int base = blockIdx.x * ROWS; base < my.rows;
         base += gridDim.x * ROWS) {
        piece<W> sum[UNROLL] = {};
        int at = my.begin;
        /* Once even for an empty share: the runner did so too. */
        do {
            ahead.issue();
            asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 1)
                         : "memory");
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                add(sum[k], stage[(slot * UNROLL + k) * THREADS]);
            slot = slot + 1 == STAGES ? 0 : slot + 1;
            at += UNROLL * GROUP;
        } while (at < my.end);
        float total = group_sum(fold(sum), turn);
        turn ^= 1;
        int row = base + threadIdx.x / GROUP;
        if (row < my.rows && threadIdx.x % GROUP == 0)
            store(out, partial, row, total);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#else
template <int W>
__device__ __forceinline__ void sum_rows(float *out, float *partial,
                                         const share &my)
{
    int turn = 0;
    for (int base = blockIdx.x * ROWS; base < my.rows;
         base += gridDim.x * ROWS) {
        int row = base + threadIdx.x / GROUP;
        int end = row < my.rows ? my.end : 0;
        const piece<W> *from =
            (const piece<W> *)(my.in + (long long)row * my.cols);
        piece<W> sum[UNROLL] = {};
        int i = my.begin + threadIdx.x % GROUP;
        for (; i + (UNROLL - 1) * GROUP < end; i += UNROLL * GROUP) {
            piece<W> held[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                held[k] = load(from + i + k * GROUP);
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                add(sum[k], held[k]);
        }
#pragma unroll
        for (int k = 0; k < UNROLL - 1; k++)
            if (i + k * GROUP < end)
                add(sum[k], load(from + i + k * GROUP));
        float total = group_sum(fold(sum), turn);
        turn ^= 1;
        if (row < my.rows && threadIdx.x % GROUP == 0)
            store(out, partial, row, total);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
row_reduce(float *__restrict__ out, float *__restrict__ partial,
           const float *__restrict__ in, int rows, int cols)
{
    bool wide = cols % VECTOR == 0 && ((size_t)in & (VECTOR * 4 - 1)) == 0;
    int pieces = wide ? cols / VECTOR : cols;
    int each = (pieces + gridDim.y - 1) / gridDim.y;
    int begin = min(pieces, (int)blockIdx.y * each);
    share my = {in, rows, cols, begin, min(pieces, begin + each)};
    if (wide)
        sum_rows<VECTOR>(out, partial, my);
    else
        sum_rows<1>(out, partial, my);
}

extern "C" __global__ void row_reduce_finish(float *__restrict__ out,
                                             const float *__restrict__ partial,
                                             int rows, int splits)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int s = 0; s < splits; s++)
        sum += partial[(long long)row * splits + s];
    out[row] = sum;
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: a warp a row, added in double. */
extern "C" __global__ void row_reduce_reference(float *out, const float *in,
                                                int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int i = threadIdx.x % 32; i < cols; i += 32)
        sum += in[(long long)row * cols + i];
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (threadIdx.x % 32 == 0)
        out[row] = (float)sum;
}
#endif
