/* SPDX-License-Identifier: MIT */
/*
 * stencil2d: `steps` Jacobi steps of the 5-point stencil on a rows x cols
 * grid of floats:
 *
 *     next[y][x] = (up + down + left + right) / 4
 *
 * The border, its first and last row and column, keeps its values.
 *
 * One step moves 8 bytes a point and does next to nothing with them, so what
 * pays is taking TIME steps in one launch, on a part of the grid that comes
 * with a halo TIME points wide and is worked on where it is.  The space spans
 * two ways to do so, and a third one for a step that is alone, where all that
 * counts is how memory is gone through:
 *
 * WALK = tile   a block loads a tile into shared memory; each step writes a
 *     second tile, one point less far into the halo.
 *     TILE_X, TILE_Y  the tile without its halo; PAD  floats after a row;
 *     STRIP  points a thread takes one below the other, so that it loads
 *     three points a point and not five.
 * WALK = march  a warp goes down a band of 32 * VECTOR columns, some rows and
 *     their halo, with all TIME steps under way at once, each a row behind
 *     the one before.  A step needs the last two rows of the one before, in
 *     registers; neighbours to the side come by shuffles.
 *     VECTOR  columns a lane; AHEAD  rows that are loaded ahead.
 *     TILE_Y  rows of a band; or BLOCKS, over which the grid is spread in
 *     bands of equal height, half of that at the border, which takes longer:
 *     the device is filled at any size.
 * WALK = patch  one step, as a copy would do it: a warp asks for all of a
 *     patch of 32 * VECTOR columns and STRIP rows, and its halo, before it
 *     uses any of it, then writes the patch and ends, so that the blocks
 *     under way at a time lie together in memory and move down it.
 *     TILE_X, TILE_Y  a block's patches; those that touch find each other's
 *     halo in the cache of the multiprocessor.  Rows that are not aligned
 *     are taken a column a lane and not four: no worse in line.
 * STREAM   of the last two: stores that ask not to stay in cache.
 *
 * Launch `turn` of several does TIME steps, the last one those that are left;
 * between them the grid goes back and forth between `spare` and `out`.
 */

constexpr int TURNS = (steps + TIME - 1) / TIME;
constexpr int REST = steps - (TURNS - 1) * TIME;

#if MEMORY == MEMORY_static
#define SHARED(name) __shared__ __align__(16) float name[WORDS]
#else
#define SHARED(name) extern __shared__ __align__(16) float name[]
#endif

__device__ __forceinline__ float mean(float up, float down, float left,
                                      float right)
{
    return 0.25f * ((up + down) + (left + right));
}

__device__ __forceinline__ bool fixed_point(int x, int y, int rows, int cols)
{
    return x <= 0 || y <= 0 || x >= cols - 1 || y >= rows - 1;
}

#if WALK == WALK_tile
#include "stencil2d_tile.cuh"
#elif WALK == WALK_march
#include "stencil2d_march.cuh"
#else
#include "stencil2d_patch.cuh"
#endif

/* To save registers, the compiler would put off the last loads of a large
 * patch until the first ones have come: told that one block is enough, it
 * does not. */
#if WALK == WALK_patch && VECTOR * STRIP > 16
#define BOUNDS __launch_bounds__(THREADS, 1)
#else
#define BOUNDS __launch_bounds__(THREADS)
#endif

extern "C" __global__ void BOUNDS
stencil2d(float *out, float *spare, const float *in, int rows, int cols,
          int turn, int height, int edge)
{
    bool last = turn == TURNS - 1;
    float *to = (TURNS - 1 - turn) % 2 == 0 ? out : spare;
    const float *from = turn == 0 ? in : to == out ? spare : out;
    go(to, from, rows, cols, last ? REST : TIME, height, edge);
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: each of up to eight launches does DEPTH steps, by the
 * definition, in double: a point's value after some steps is the mean of its
 * neighbours' values after one less. */
constexpr int DEPTH = (steps + 7) / 8;

template <class number>
__device__ double value(const number *in, int x, int y, int rows, int cols,
                        int depth)
{
    const number *at = in + (long long)y * cols + x;
    if (depth == 0 || fixed_point(x, y, rows, cols))
        return *at;
    if (depth == 1)
        return ((double)at[-cols] + at[cols] + at[-1] + at[1]) / 4;
    return (value(in, x, y - 1, rows, cols, depth - 1) +
            value(in, x, y + 1, rows, cols, depth - 1) +
            value(in, x - 1, y, rows, cols, depth - 1) +
            value(in, x + 1, y, rows, cols, depth - 1)) / 4;
}

extern "C" __global__ void stencil2d_reference(float *out, double *even,
                                               double *odd, const float *in,
                                               int rows, int cols, int turn)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols)
        return;
    int x = i % cols;
    int y = i / cols;
    int depth = min(DEPTH, steps - turn * DEPTH);
    double *to = turn % 2 == 0 ? even : odd;
    const double *from = turn % 2 == 0 ? odd : even;
    double next = turn == 0 ? value(in, x, y, rows, cols, depth)
                            : value(from, x, y, rows, cols, depth);
    to[i] = next;
    if ((turn + 1) * DEPTH >= steps)
        out[i] = (float)next;
}
#endif
