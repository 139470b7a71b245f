/* SPDX-License-Identifier: MIT */
/*
 * conv2d: out = image correlated with a filter x filter window of weights,
 * one channel of floats, zeros beyond the border, any height and width, any
 * odd filter.
 *
 * A block of THREADS_X x THREADS_Y computes a tile of outputs from its
 * inputs and their halo in shared memory.  A thread computes OUT_X x OUT_Y
 * outputs that touch: it goes down columns of inputs, OUT_X side by side in
 * one load, and each input serves every output of the thread that it is in
 * reach of.  A small filter is bound by memory and wants wide loads of the
 * halo tile and many bytes in flight; a large one is bound by multiply-adds
 * and wants as few other instructions as possible between them.  What else
 * the space spans:
 *
 * WEIGHTS  `constant`: read where they are used, from constant memory; an
 *          operand of the multiply-add when the steps are unrolled.  They
 *          come by value, in the constant bank of one launch: a __constant__
 *          array would belong to the module, so that two streams could not
 *          have two filters.  `shared`: copied at the start, then read a
 *          column at a time, broadcast, which the compiler moves into
 *          uniform registers, an operand as cheap.
 * UNROLL   0: a loop over the steps across the filter, small code; 1: all
 *          steps spelt out.
 * VECTOR   floats a load of the halo tile; 4 makes the tile begin at a
 *          multiple of 4, up to three columns early.  Where rows are not
 *          aligned, it is one float all the same.
 * LOAD     through registers, or by cp.async (sm_80 up).
 * METHOD   `direct`: filter multiply-adds an output and column; `fast_fir`:
 *          rows in pairs, the 2-parallel fast FIR algorithm (Parker and
 *          Parhi): three filters of half the length make two outputs, where
 *          it takes four, for one more addition a pair of inputs.
 * LAYOUT   of the tile: its `rows` lie in line, or its `columns`, so that
 *          one 16-byte load goes four inputs down.
 * PAD      words after each of those lines.
 * WARPS    that the compiler must leave registers for on a multiprocessor;
 *          0: as it likes.
 */

constexpr int REACH = filter / 2;
constexpr int THREADS = THREADS_X * THREADS_Y;
constexpr int BLOCK_X = THREADS_X * OUT_X;
constexpr int BLOCK_Y = THREADS_Y * OUT_Y;
/* Columns of the tile before the first one that is needed. */
constexpr int EARLY = VECTOR == 1 ? 0 : (4 - REACH % 4) % 4;
constexpr int START = EARLY / OUT_X * OUT_X;
constexpr int SKEW = EARLY - START;
/* A thread takes OUT_X columns a step. */
constexpr int STEPS = (SKEW + OUT_X + filter - 1 + OUT_X - 1) / OUT_X;
constexpr int WIDTH =
    (START + (THREADS_X - 1 + STEPS) * OUT_X + 3) / 4 * 4;
constexpr int ROWS = BLOCK_Y + filter - 1;
constexpr bool DOWN = LAYOUT == LAYOUT_columns;
/* From a row, and from a column, to the next. */
constexpr int STRIDE_X = DOWN ? (ROWS + 3) / 4 * 4 + PAD : 1;
constexpr int STRIDE_Y = DOWN ? 1 : WIDTH + PAD;
[[maybe_unused]] constexpr int TILE = DOWN ? WIDTH * STRIDE_X
                                           : ROWS * STRIDE_Y;
/* The columns of the tile that are used, and how many more than a block has;
 * without unrolling, all. */
constexpr bool WHOLE = OUT_X > 1 && UNROLL == 0;
constexpr int USED = WHOLE ? 0 : EARLY;
constexpr int BEYOND = WHOLE ? WIDTH - BLOCK_X : filter - 1;
/* Weights stand in columns, with columns of zeros before and after, so that
 * a step need not ask which of its columns exist. */
#if METHOD == METHOD_fast_fir
/* Even and odd weights, and their sums. */
constexpr int HALF = (filter / 2 + 1 + 3) / 4 * 4;
constexpr int COLUMN = 3 * HALF;
#else
constexpr int COLUMN = (filter + 3) / 4 * 4;
#endif
constexpr int COLUMNS = STEPS * OUT_X + OUT_X - 1;
constexpr int FIRST = -(OUT_X - 1) - SKEW;
[[maybe_unused]] constexpr int WORDS =
    TILE + (WEIGHTS == WEIGHTS_shared ? COLUMNS * COLUMN : 0);

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#endif

struct Weights {
    float at[filter * filter];
};

struct alignas(OUT_X * 4) span {
    float at[OUT_X];
};

#if VECTOR == 4
typedef float4 vector;
#else
typedef float vector;
#endif

__host__ __device__ constexpr int at_most(int a, int b)
{
    return a < b ? a : b;
}

__host__ __device__ constexpr int power_of_two(int at_least)
{
    return at_least <= 1 ? 1 : 2 * power_of_two((at_least + 1) / 2);
}

#include "conv2d_tile.cuh"

#if WEIGHTS == WEIGHTS_shared
__device__ __forceinline__ void load_weights(float *to, const Weights &weights)
{
    /* By a pointer that might lead anywhere: constant memory would serve the
     * lanes of a warp, which want different weights, one by one. */
    const float *from = weights.at;
    asm("" : "+l"(from));
    for (int e = threadIdx.x; e < COLUMNS * COLUMN; e += THREADS) {
        int x = e / COLUMN + FIRST;
        int y = e % COLUMN;
        bool inside = x >= 0 && x < filter;
#if METHOD == METHOD_fast_fir
        int kind = y / HALF;
        y = y % HALF * 2;
        float even = inside && y < filter ? from[y * filter + x] : 0.0f;
        float odd = inside && y + 1 < filter ? from[(y + 1) * filter + x]
                                             : 0.0f;
        to[e] = kind == 0 ? even : kind == 1 ? odd : even + odd;
#else
        to[e] = inside && y < filter ? from[y * filter + x] : 0.0f;
#endif
    }
}
#endif

/* Where the steps read them. */
#if WEIGHTS == WEIGHTS_shared
typedef const float *weights_at;
#else
typedef const Weights &weights_at;
#endif

/* The columns of weights for one step: x - FIRST counts from 0. */
__device__ __forceinline__ void take_weights(float (&w)[2 * OUT_X - 1][COLUMN],
                                             weights_at weights, int step)
{
#pragma unroll
    for (int d = 0; d < 2 * OUT_X - 1; d++) {
#if WEIGHTS == WEIGHTS_shared
        const float4 *from =
            (const float4 *)(weights + (step * OUT_X + d) * COLUMN);
#pragma unroll
        for (int y = 0; y < COLUMN; y += 4) {
            float4 v = from[y / 4];
            w[d][y] = v.x;
            w[d][y + 1] = v.y;
            w[d][y + 2] = v.z;
            w[d][y + 3] = v.w;
        }
#else
        int x = step * OUT_X + d + FIRST;
#pragma unroll
        for (int y = 0; y < filter; y++)
            w[d][y] = x >= 0 && x < filter ? weights.at[y * filter + x]
                                           : 0.0f;
#endif
    }
}

#if METHOD == METHOD_fast_fir
/* What two rows of outputs are made of: with a and b the even and the odd
 * weights of a column, E and O its even and odd inputs,
 *
 *     both[p] = sum over j of (a[j] + b[j]) * (E[p + j] + O[p + j])
 *     odd[p]  = sum over j of  a[j]         *  O[p + j]
 *     even[p] = sum over j of  b[j]         *  E[p + j]
 *
 * output 2 p is both[p] - odd[p] - even[p], and 2 p + 1 odd[p] + even[p + 1].
 */
constexpr int PAIRS = OUT_Y / 2;
struct sums {
    float both[PAIRS], odd[PAIRS], even[PAIRS + 1];
};

/* Inputs 2 j and 2 j + 1 of a column. */
__device__ __forceinline__ void take_pair(sums &sum, float even, float odd,
                                          const float (&w)[COLUMN], int j)
{
    float both = even + odd;
#pragma unroll
    for (int p = 0; p <= PAIRS; p++) {
        int tap = j - p;
        if (tap < 0 || tap > filter / 2)
            continue;
        if (p < PAIRS) {
            sum.both[p] = fmaf(w[2 * HALF + tap], both, sum.both[p]);
            sum.odd[p] = fmaf(w[tap], odd, sum.odd[p]);
        }
        if (tap < filter / 2)
            sum.even[p] = fmaf(w[HALF + tap], even, sum.even[p]);
    }
}

/* A column of inputs, from `from` down. */
__device__ __forceinline__ void take_column(sums &sum, const float *from,
                                            weights_at weights, int step)
{
    constexpr int REACHED = OUT_Y + filter - 1;
    float w[1][COLUMN];
    take_weights(w, weights, step);
    from += step * STRIDE_X;
#if LAYOUT == LAYOUT_rows
#pragma unroll
    for (int row = 0; row < REACHED; row += 2)
        take_pair(sum, from[row * STRIDE_Y], from[(row + 1) * STRIDE_Y], w[0],
                  row / 2);
#else
#pragma unroll
    for (int row = 0; row < REACHED; row += 4) {
        float4 v = *(const float4 *)(from + row);
        take_pair(sum, v.x, v.y, w[0], row / 2);
        if (row + 2 < REACHED)
            take_pair(sum, v.z, v.w, w[0], row / 2 + 1);
    }
#endif
}

__device__ __forceinline__ void put_together(float (&out)[OUT_Y][OUT_X],
                                             const sums &sum)
{
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
        out[2 * p][0] = sum.both[p] - sum.odd[p] - sum.even[p];
        out[2 * p + 1][0] = sum.odd[p] + sum.even[p + 1];
    }
}
#endif

/* OUT_X inputs side by side, into all outputs in reach. */
__device__ __forceinline__ void take_row(float (&sum)[OUT_Y][OUT_X],
                                         const float (&v)[OUT_X],
                                         const float (&w)[2 * OUT_X - 1]
                                                         [COLUMN],
                                         int row, int step)
{
#pragma unroll
    for (int y = 0; y < OUT_Y; y++) {
        if (row < y || row - y >= filter)
            continue;
#pragma unroll
        for (int j = 0; j < OUT_X; j++)
#pragma unroll
            for (int x = 0; x < OUT_X; x++) {
#if UNROLL
                int place = step * OUT_X + j - x - SKEW;
                if (place < 0 || place >= filter)
                    continue;
#endif
                sum[y][x] = fmaf(w[j - x + OUT_X - 1][row - y], v[j],
                                 sum[y][x]);
            }
    }
}

/* OUT_X columns of inputs, from `from` down. */
__device__ __forceinline__ void take_step(float (&sum)[OUT_Y][OUT_X],
                                          const float *from,
                                          weights_at weights, int step)
{
    constexpr int REACHED = OUT_Y + filter - 1;
    float w[2 * OUT_X - 1][COLUMN];
    take_weights(w, weights, step);
    from += step * OUT_X * STRIDE_X;
#if LAYOUT == LAYOUT_rows
#pragma unroll
    for (int row = 0; row < REACHED; row++) {
        span v = *(const span *)(from + row * STRIDE_Y);
        take_row(sum, v.at, w, row, step);
    }
#else
#pragma unroll
    for (int row = 0; row < REACHED; row += 4) {
        float4 four[OUT_X];
        float v[4][OUT_X];
#pragma unroll
        for (int j = 0; j < OUT_X; j++) {
            four[j] = *(const float4 *)(from + j * STRIDE_X + row);
            v[0][j] = four[j].x;
            v[1][j] = four[j].y;
            v[2][j] = four[j].z;
            v[3][j] = four[j].w;
        }
#pragma unroll
        for (int i = 0; i < 4 && row + i < REACHED; i++)
            take_row(sum, v[i], w, row + i, step);
    }
#endif
}

/* Stores a thread's outputs, the first row of which is aligned; `REST` is the
 * width modulo OUT_X.  In rows that are not aligned, a lane puts together an
 * aligned word of its last outputs and the first ones of the next lane; the
 * ends of a warp's row are left, for single floats.  Its own part takes part
 * in the shuffles too: otherwise the compiler lays out the sums for words of
 * each kind at once, and takes up to 16 registers more. */
template <int REST>
__device__ __forceinline__ void put_rows(float *out,
                                         const float (&sum)[OUT_Y][OUT_X],
                                         int width)
{
#if OUT_X > 1
    constexpr int LANES = at_most(THREADS_X, 32);
    [[maybe_unused]] int lane = threadIdx.x % LANES;
    [[maybe_unused]] int next = lane + 1;
    [[maybe_unused]] bool first = lane == 0;
    [[maybe_unused]] bool last = next == LANES;
#endif
#pragma unroll
    for (int k = 0; k < OUT_Y; k++, out += width) {
        /* Outputs that go into the lane's word: its last ones. */
        int own = REST * k % OUT_X;
        if (own == 0) {
            *(span *)out = *(const span *)sum[k];
            continue;
        }
#if OUT_X > 1
        int before = OUT_X - own;
        span word;
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            word.at[i] = __shfl_sync(0xffffffffu, sum[k][(before + i) % OUT_X],
                                     i < own ? lane : next, LANES);
        if (!last)
            *(span *)(out + before) = word;
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            if (i < before ? first : last)
                out[i] = sum[k][i];
#endif
    }
}

#if WARPS
#define BOUNDS THREADS, (WARPS * 32 > THREADS ? WARPS * 32 / THREADS : 1)
#else
#define BOUNDS THREADS
#endif

extern "C" __global__ void __launch_bounds__(BOUNDS)
conv2d(float *__restrict__ out, const float *__restrict__ image,
       const __grid_constant__ Weights weights, int height, int width)
{
#if MEMORY == MEMORY_static
    __shared__ alignas(16) float tile[WORDS];
#else
    extern __shared__ __align__(16) float tile[];
#endif
    int across = (width + BLOCK_X - 1) / BLOCK_X;
    int x0 = blockIdx.x % across * BLOCK_X;
    int y0 = blockIdx.x / across * BLOCK_Y;

#if WEIGHTS == WEIGHTS_shared
    load_weights(tile + TILE, weights);
    weights_at near = tile + TILE;
#else
    weights_at near = weights;
#endif
    corner at = {x0 - REACH - EARLY, y0 - REACH};
    at.inside = at.x >= 0 && at.y >= 0 && at.x + WIDTH <= width &&
                at.y + ROWS <= height;
    if (VECTOR == 1 || ((size_t)image & (sizeof(vector) - 1)) != 0 ||
        width % VECTOR != 0) {
        if (at.inside)
            load_floats<true>(tile, image, at, height, width);
        else
            load_floats<false>(tile, image, at, height, width);
    } else if (at.inside)
        load_tile<vector, true>(tile, image, at, height, width);
    else
        load_tile<vector, false>(tile, image, at, height, width);
    __syncthreads();

    int tx = threadIdx.x % THREADS_X * OUT_X;
    int ty = threadIdx.x / THREADS_X * OUT_Y;
    const float *from = tile + ty * STRIDE_Y + (tx + START) * STRIDE_X;
    float sum[OUT_Y][OUT_X] = {};
#if METHOD == METHOD_fast_fir
    sums parts = {};
#endif
#if UNROLL
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int step = 0; step < STEPS; step++)
#if METHOD == METHOD_fast_fir
        take_column(parts, from, near, step);
    put_together(sum, parts);
#else
        take_step(sum, from, near, step);
#endif

    int x = x0 + tx;
    int y = y0 + ty;
    bool whole = x0 + BLOCK_X <= width && y0 + BLOCK_Y <= height &&
                 ((size_t)out & (OUT_X * 4 - 1)) == 0;
    out += (long long)y * width + x;
    if (whole) {
        if (width % OUT_X == 0)
            return put_rows<0>(out, sum, width);
#if OUT_X > 1 && OUT_Y % OUT_X == 0
        if (OUT_X == 2 || width % OUT_X == 1)
            return put_rows<1>(out, sum, width);
        if (width % OUT_X == 2)
            return put_rows<2>(out, sum, width);
        return put_rows<3>(out, sum, width);
#endif
    }
#pragma unroll
    for (int k = 0; k < OUT_Y; k++, out += width)
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            if (y + k < height && x + i < width)
                out[i] = sum[k][i];
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: an output a thread, added in double. */
extern "C" __global__ void
conv2d_reference(float *out, const float *image,
                 const __grid_constant__ Weights weights, int height,
                 int width)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)height * width)
        return;
    int x = i % width;
    int y = i / width;
    double sum = 0.0;
    for (int fy = 0; fy < filter; fy++)
        for (int fx = 0; fx < filter; fx++) {
            int ix = x + fx - REACH;
            int iy = y + fy - REACH;
            if (ix >= 0 && ix < width && iy >= 0 && iy < height)
                sum += (double)image[(long long)iy * width + ix] *
                       weights.at[fy * filter + fx];
        }
    out[i] = (float)sum;
}
#endif
