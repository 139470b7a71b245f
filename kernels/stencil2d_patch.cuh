/* SPDX-License-Identifier: MIT */
/*
 * stencil2d_patch: WALK = patch, a warp takes one step on a patch as a copy
 * would.  Of stencil2d.cu alone.
 */

constexpr int SPAN = 32 * VECTOR;     /* columns of a patch */
constexpr int ACROSS = TILE_X / SPAN; /* patches of a block side by side */

/* Columns that a lane loads together; a warp's are in line. */
template <int LENGTH> struct alignas(4 * LENGTH) piece {
    float at[LENGTH];
};

template <int LENGTH> struct line {
    static constexpr int PIECES = VECTOR / LENGTH;
    piece<LENGTH> of[PIECES];
};

struct patch {
    const float *in;
    float *out;
    int rows, cols;
    int x0, y0;        /* where it begins in the grid */
};

__device__ __forceinline__ int within(int at, int count)
{
    return min(max(at, 0), count - 1);
}

/* This lane's pieces of a row.  At the edge of the grid, what lies beyond it
 * is never used: any point of it will do. */
template <int LENGTH, bool EDGE>
__device__ __forceinline__ void load(line<LENGTH> &to, const patch &my, int y)
{
    int x = my.x0 + (int)threadIdx.x % 32 * LENGTH;
    const float *from =
        my.in + (long long)(EDGE ? within(y, my.rows) : y) * my.cols;
#pragma unroll
    for (int p = 0; p < line<LENGTH>::PIECES; p++) {
        int at = x + p * 32 * LENGTH;
        at = EDGE ? min(at, my.cols - LENGTH) : at;
        to.of[p] = *(const piece<LENGTH> *)(from + at);
    }
}

template <int LENGTH>
__device__ __forceinline__ void store(float *to, const piece<LENGTH> &from)
{
#if STREAM
    if (LENGTH == 4)
        __stcs((float4 *)to, *(const float4 *)&from);
    else
        __stcs(to, from.at[0]);
#else
    *(piece<LENGTH> *)to = from;
#endif
}

/* The points beside a patch, loaded at once: those to the left of its rows
 * in one half of the warp, those to the right in the other. */
template <bool EDGE>
__device__ __forceinline__ float load_sides(const patch &my)
{
    int lane = threadIdx.x % 32;
    int x = lane < 16 ? my.x0 - 1 : my.x0 + SPAN;
    int y = my.y0 + min(lane % 16, STRIP - 1);
    if (EDGE) {
        x = within(x, my.cols);
        y = within(y, my.rows);
    }
    return my.in[(long long)y * my.cols + x];
}

/* Writes row y of the patch from it, those above and below, and the points
 * beside it, of which lane 0 has the left one and lane 31 the right one. */
template <int LENGTH, bool EDGE>
__device__ __forceinline__ void step(const line<LENGTH> &up,
                                     const line<LENGTH> &here,
                                     const line<LENGTH> &down, float side,
                                     const patch &my, int y)
{
    constexpr int PIECES = line<LENGTH>::PIECES;
    int lane = threadIdx.x % 32;
    /* Ends of the neighbours' pieces, the warp taken as a ring: where it
     * closes, the one wanted is of the piece before or after. */
    float left[PIECES + 1], right[PIECES + 1];
    left[0] = right[PIECES] = side;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        left[p + 1] = __shfl_sync(0xffffffffu, here.of[p].at[LENGTH - 1],
                                  (lane + 31) % 32);
        right[p] = __shfl_sync(0xffffffffu, here.of[p].at[0], (lane + 1) % 32);
    }
    int x = my.x0 + lane * LENGTH;
    float *to = my.out + (long long)y * my.cols + x;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        float first = lane == 0 ? left[p] : left[p + 1];
        float last = lane == 31 ? right[p + 1] : right[p];
        const float *at = here.of[p].at;
        int offset = p * 32 * LENGTH;
        piece<LENGTH> next;
#pragma unroll
        for (int i = 0; i < LENGTH; i++) {
            next.at[i] = mean(up.of[p].at[i], down.of[p].at[i],
                              i > 0 ? at[i - 1] : first,
                              i + 1 < LENGTH ? at[i + 1] : last);
            if (EDGE && fixed_point(x + offset + i, y, my.rows, my.cols))
                next.at[i] = at[i];
        }
        if (!EDGE || (y < my.rows && x + offset < my.cols))
            store(to + offset, next);
    }
}

template <int LENGTH>
__device__ __forceinline__ void do_patch(const patch &my)
{
    int lane = threadIdx.x % 32;
    line<LENGTH> at[STRIP + 2];
    float sides = load_sides<false>(my);
#pragma unroll
    for (int k = 0; k < STRIP + 2; k++)
        load<LENGTH, false>(at[k], my, my.y0 - 1 + k);
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        float side = __shfl_sync(0xffffffffu, sides, lane < 16 ? k : 16 + k);
        step<LENGTH, false>(at[k], at[k + 1], at[k + 2], side, my,
                            my.y0 + k);
    }
}

__device__ __forceinline__ void ask_for(const float *at)
{
    asm volatile("prefetch.global.L2 [%0];" :: "l"(at));
}

/* At the edge of the grid a patch is gone through row by row, so that what it
 * asks there takes no registers from those inside; asking for all of it
 * first, as they do, takes none. */
__device__ __forceinline__ void do_edge(const patch &my)
{
    int lane = threadIdx.x % 32;
    int x = min(my.x0 + lane * VECTOR, my.cols - 1);
    float sides = load_sides<true>(my);
    line<1> up, here, down;
#pragma unroll 1
    for (int k = -1; k <= STRIP; k++)
        ask_for(my.in + (long long)within(my.y0 + k, my.rows) * my.cols + x);
    load<1, true>(up, my, my.y0 - 1);
    load<1, true>(here, my, my.y0);
#pragma unroll 1
    for (int k = 0; k < STRIP; k++) {
        float side = __shfl_sync(0xffffffffu, sides, lane < 16 ? k : 16 + k);
        load<1, true>(down, my, my.y0 + k + 1);
        step<1, true>(up, here, down, side, my, my.y0 + k);
        up = here;
        here = down;
    }
}

__device__ __forceinline__ void go(float *__restrict__ out,
                                   const float *__restrict__ in, int rows,
                                   int cols, int, int, int)
{
    unsigned tiles = ((unsigned)cols + TILE_X - 1) / TILE_X;
    unsigned warp = threadIdx.x / 32;
    patch my = {in, out, rows, cols,
                int(blockIdx.x % tiles * TILE_X + warp % ACROSS * SPAN),
                int(blockIdx.x / tiles * TILE_Y + warp / ACROSS * STRIP)};
    bool wide = cols % 4 == 0 && (((size_t)in | (size_t)out) & 15) == 0;
    bool edge = my.x0 == 0 || my.y0 == 0 || my.x0 + SPAN >= cols ||
                my.y0 + STRIP >= rows;
    /* Warps are of one mind; the vote tells the compiler, which would make
     * ready for shuffles among some lanes otherwise. */
    if (__any_sync(0xffffffffu, edge))
        do_edge(my);
    else if (wide)
        do_patch<4>(my);
    else
        do_patch<1>(my);
}
