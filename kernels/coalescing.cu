/* SPDX-License-Identifier: MIT */
/*
 * coalescing: a demonstration.  out = 2 in + 1 for each element of a
 * rows x cols matrix; the space is the order in which threads take them:
 *
 * ORDER    `rows`: neighbouring threads along a row, as memory lies;
 *          `columns`: down a column, a whole row apart; `stride`: the matrix
 *          is taken as one array, in passes: thread t of pass p takes element
 *          t * STRIDE + p.
 * BLOCK_X, BLOCK_Y   threads side by side in that order, and lines of them.
 * ITEMS    elements a thread, a block's height (or length) apart.
 * STREAM   loads and stores that ask not to stay in cache.
 *
 * A warp's request takes as many sectors of 32 bytes as it touches: 4 when 32
 * threads read 32 floats in a row, min(4 * STRIDE, 32) by strides, 32 down a
 * column.  How much of that reaches memory is up to the caches: the other
 * floats of a sector are wanted soon when a block is high enough to take
 * whole sectors, and a whole pass later by strides.
 */

__device__ __forceinline__ void take(float *__restrict__ out,
                                     const float *__restrict__ in, long long i)
{
#if STREAM
    __stcs(out + i, fmaf(2.0f, __ldcs(in + i), 1.0f));
#else
    out[i] = fmaf(2.0f, in[i], 1.0f);
#endif
}

#if ORDER == ORDER_stride
extern "C" __global__ void __launch_bounds__(BLOCK_X)
coalescing(float *__restrict__ out, const float *__restrict__ in, int rows,
           int cols)
{
    long long n = (long long)rows * cols;
    long long length = (n + STRIDE - 1) / STRIDE;   /* of a pass */
    unsigned blocks = (length + BLOCK_X * ITEMS - 1) / (BLOCK_X * ITEMS);
    unsigned turn = blockIdx.x / blocks;
    long long t = (long long)(blockIdx.x % blocks) * (BLOCK_X * ITEMS) +
                  threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        long long i = (t + k * BLOCK_X) * STRIDE + turn;
        if (i < n)
            take(out, in, i);
    }
}
#else
extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
coalescing(float *__restrict__ out, const float *__restrict__ in, int rows,
           int cols)
{
    /* Along: the way neighbouring threads go. */
    int along = ORDER == ORDER_rows ? cols : rows;
    int across = ORDER == ORDER_rows ? rows : cols;
    unsigned blocks = ((unsigned)along + BLOCK_X - 1) / BLOCK_X;
    int a = blockIdx.x % blocks * BLOCK_X + threadIdx.x;
    int b = blockIdx.x / blocks * (BLOCK_Y * ITEMS) + threadIdx.y;
    if (a >= along)
        return;
#pragma unroll
    for (int k = 0; k < ITEMS; k++, b += BLOCK_Y)
        if (b < across)
            take(out, in, ORDER == ORDER_rows ? (long long)b * cols + a
                                              : (long long)a * cols + b);
}
#endif

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void coalescing_reference(float *out, const float *in,
                                                int rows, int cols)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)rows * cols)
        out[i] = (float)(2.0 * in[i] + 1.0);
}
#endif
