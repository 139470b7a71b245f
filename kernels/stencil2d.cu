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
/* -- tiles ---------------------------------------------------------------- */
constexpr int WIDTH = TILE_X + 2 * TIME;
constexpr int HEIGHT = TILE_Y + 2 * TIME;
constexpr int PITCH = WIDTH + PAD;
constexpr int WORDS = 2 * HEIGHT * PITCH;
constexpr int WARPS = THREADS / 32;

/* One step on a strip down column x of the tile, from row y to y + STRIP or
 * `bottom`; x0, y0 is where the tile lies in the grid. */
__device__ __forceinline__ void do_strip(float *to, const float *from, int x,
                                         int y, int bottom)
{
    const float *at = from + y * PITCH + x;
    float up = at[-PITCH];
    float here = at[0];
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        if (y + k >= bottom)
            break;
        float down = at[(k + 1) * PITCH];
        to[(y + k) * PITCH + x] =
            mean(up, down, at[k * PITCH - 1], at[k * PITCH + 1]);
        up = here;
        here = down;
    }
}

/* The same where the strip touches the border of the grid. */
__device__ __noinline__ void do_border_strip(float *to, const float *from,
                                             int x, int y, int bottom, int gx,
                                             int gy, int rows, int cols)
{
    for (int k = 0; k < STRIP && y + k < bottom; k++) {
        int at = (y + k) * PITCH + x;
        to[at] = fixed_point(gx, gy + k, rows, cols)
                     ? from[at]
                     : mean(from[at - PITCH], from[at + PITCH], from[at - 1],
                            from[at + 1]);
    }
}

__device__ __forceinline__ void go(float *__restrict__ out,
                                   const float *__restrict__ in, int rows,
                                   int cols, int count, int, int)
{
    SHARED(tile);
    int across = (cols + TILE_X - 1) / TILE_X;
    int x0 = blockIdx.x % across * TILE_X - TIME;
    int y0 = blockIdx.x / across * TILE_Y - TIME;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float *from = tile;
    float *to = tile + HEIGHT * PITCH;

    /* Points outside the grid are never used: its border stands before
     * them. */
#pragma unroll 4
    for (int e = threadIdx.x; e < HEIGHT * WIDTH; e += THREADS) {
        int x = e % WIDTH;
        int y = e / WIDTH;
        bool inside = x0 + x >= 0 && x0 + x < cols && y0 + y >= 0 &&
                      y0 + y < rows;
        from[y * PITCH + x] =
            inside ? in[(long long)(y0 + y) * cols + x0 + x] : 0.0f;
    }
    __syncthreads();

    bool border = x0 <= 0 || y0 <= 0 || x0 + WIDTH >= cols ||
                  y0 + HEIGHT >= rows;
    for (int step = 1; step <= count; step++) {
        int right = WIDTH - step;
        int bottom = HEIGHT - step;
        for (int y = step + warp * STRIP; y < bottom; y += WARPS * STRIP)
            for (int x = step + lane; x < right; x += 32) {
                if (border)
                    do_border_strip(to, from, x, y, bottom, x0 + x, y0 + y,
                                    rows, cols);
                else
                    do_strip(to, from, x, y, bottom);
            }
        __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }

    for (int y = warp; y < TILE_Y; y += WARPS)
        for (int x = lane; x < TILE_X; x += 32) {
            int gx = x0 + TIME + x;
            int gy = y0 + TIME + y;
            if (gx < cols && gy < rows)
                out[(long long)gy * cols + gx] =
                    from[(y + TIME) * PITCH + x + TIME];
        }
}
#elif WALK == WALK_march
/* -- marching ------------------------------------------------------------- */
/* A single step asks for one column to either side: the outer lanes load
 * them, and the band begins and ends where vectors and sectors do. */
constexpr bool ALONE = TIME == 1;
constexpr int HALO = ALONE ? 0 : (TIME + 3) / 4 * 4;
constexpr int BAND = 32 * VECTOR - 2 * HALO;
/* Steps between divisions: four of them stay far from overflow. */
constexpr int DIVIDE = 4;
/* Rows that are gone through together: an even number, so that the two rows
 * a step remembers need not be moved. */
constexpr int ROUND = AHEAD < 2 ? 2 : AHEAD;

struct alignas(16) quad {
    float part[4];
};

struct row {
    float at[VECTOR];
    float side;        /* beyond the band, in its outer lanes; if ALONE */
};

/* One warp's band. */
struct band {
    const float *in;
    float *out;
    int rows, cols;
    int x;             /* this lane's first column */
    int top, bottom;   /* rows to write */
    bool wide;         /* rows are aligned */
};

/* Where a band is: at the border of the grid, or inside, with rows that are
 * aligned or not. */
enum { EDGE, NARROW, WIDE };

template <int PLACE>
__device__ __forceinline__ void load(row &to, const band &my, int y)
{
    constexpr bool INSIDE = PLACE != EDGE;
    const float *from = my.in + (long long)y * my.cols + my.x;
    bool valid = INSIDE || (y >= 0 && y < my.rows);
    bool wide = PLACE == WIDE || (PLACE == EDGE && my.wide);
#pragma unroll
    for (int v = 0; v < VECTOR; v += 4) {
        bool whole = INSIDE || (my.x + v >= 0 && my.x + v + 4 <= my.cols);
        if (valid && whole && wide) {
            quad q = *(const quad *)(from + v);
#pragma unroll
            for (int i = 0; i < 4; i++)
                to.at[v + i] = q.part[i];
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int x = my.x + v + i;
                bool inside = INSIDE || (valid && x >= 0 && x < my.cols);
                to.at[v + i] = inside ? from[v + i] : 0.0f;
            }
        }
    }
    if (ALONE) {
        int lane = threadIdx.x % 32;
        int place = lane == 0 ? -1 : VECTOR;
        bool inside = INSIDE || (valid && my.x + place >= 0 &&
                                 my.x + place < my.cols);
        if ((lane == 0 || lane == 31) && inside)
            to.side = from[place];
    }
}

template <int PLACE>
__device__ __forceinline__ void store(const band &my, int y, const row &from)
{
    int lane = threadIdx.x % 32;
    if (y < my.top || y >= my.bottom)
        return;
    float *to = my.out + (long long)y * my.cols + my.x;
    bool wide = PLACE == WIDE || (PLACE == EDGE && my.wide);
#pragma unroll
    for (int v = 0; v < VECTOR; v += 4) {
        int place = lane * VECTOR + v;
        if (place < HALO || place >= HALO + BAND ||
            (PLACE == EDGE && my.x + v < 0))
            continue;
        if (wide && (PLACE == WIDE || my.x + v + 4 <= my.cols)) {
            quad q;
#pragma unroll
            for (int i = 0; i < 4; i++)
                q.part[i] = from.at[v + i];
#if STREAM
            __stcs((float4 *)(to + v), *(const float4 *)&q);
#else
            *(quad *)(to + v) = q;
#endif
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (PLACE == NARROW || my.x + v + i < my.cols)
                    to[v + i] = from.at[v + i];
        }
    }
}

/* The row between `up` and `down`, one step on and four times as much. */
template <int PLACE>
__device__ __forceinline__ row advance(const row &up, const row &here,
                                       const row &down, const band &my, int y,
                                       const bool (&fixed)[VECTOR])
{
    float left = __shfl_up_sync(0xffffffffu, here.at[VECTOR - 1], 1);
    float right = __shfl_down_sync(0xffffffffu, here.at[0], 1);
    if (ALONE) {
        left = threadIdx.x % 32 == 0 ? here.side : left;
        right = threadIdx.x % 32 == 31 ? here.side : right;
    }
    row next;
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
        float sides = (v > 0 ? here.at[v - 1] : left) +
                      (v + 1 < VECTOR ? here.at[v + 1] : right);
        next.at[v] = (sides + up.at[v]) + down.at[v];
        if (PLACE == EDGE && fixed[v])
            next.at[v] = 4.0f * here.at[v];
    }
    /* One after the other: predicates are few, and what both say together
     * would be worked out anew for every point.  What lies beyond the border
     * may become anything. */
#pragma unroll
    for (int v = 0; v < VECTOR; v++)
        if (PLACE == EDGE && (y == 0 || y == my.rows - 1))
            next.at[v] = 4.0f * here.at[v];
    return next;
}

/* Divides what `after` steps made of a row, if it is time to. */
template <int COUNT>
__device__ __forceinline__ void divide(row &next, int after)
{
    if (after % DIVIDE != 0 && after != COUNT)
        return;
    float factor = 1.0f;
#pragma unroll
    for (int k = (after - 1) / DIVIDE * DIVIDE; k < after; k++)
        factor *= 0.25f;
#pragma unroll
    for (int v = 0; v < VECTOR; v++)
        next.at[v] *= factor;
}

template <int PLACE, int COUNT>
__device__ __forceinline__ void march(const band &my)
{
    row up[COUNT], here[COUNT], ahead[ROUND];
#pragma unroll
    for (int s = 0; s < COUNT; s++) {
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            up[s].at[v] = here[s].at[v] = 0.0f;
        up[s].side = here[s].side = 0.0f;
    }
    bool fixed[VECTOR];                 /* this lane's columns */
#pragma unroll
    for (int v = 0; v < VECTOR; v++)
        fixed[v] = my.x + v == 0 || my.x + v == my.cols - 1;
    int first = my.top - COUNT;
    int last = my.bottom + COUNT;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        ahead[k].side = 0.0f;
        load<PLACE>(ahead[k], my, min(first + k, last - 1));
    }
#pragma unroll 1
    for (int base = first; base < last; base += ROUND) {
#pragma unroll
        for (int k = 0; k < ROUND; k++) {
            int y = base + k;
            row now = ahead[k % AHEAD];
            load<PLACE>(ahead[k % AHEAD], my, min(y + AHEAD, last - 1));
#pragma unroll
            for (int s = 0; s < COUNT; s++) {
                row next = advance<PLACE>(up[s], here[s], now, my, y - 1 - s,
                                          fixed);
                divide<COUNT>(next, s + 1);
                up[s] = here[s];
                here[s] = now;
                now = next;
            }
            store<PLACE>(my, y - COUNT, now);
        }
    }
}

template <int COUNT>
__device__ __forceinline__ void march_band(const band &my)
{
    int x0 = my.x - threadIdx.x % 32 * VECTOR;
    if (x0 - ALONE < 0 || x0 + 32 * VECTOR + ALONE > my.cols ||
        my.top < COUNT || my.bottom + COUNT > my.rows)
        march<EDGE, COUNT>(my);
    else if (my.wide)
        march<WIDE, COUNT>(my);
    else
        march<NARROW, COUNT>(my);
}

/* Finds this warp's band; false if there is none left for it.  Bands are
 * `height` rows; those that touch the border, which take longer, are `edge`
 * rows and come first, unless that is 0. */
__device__ __forceinline__ bool find_band(band &my, int height, int edge)
{
    int strips = (my.cols + BAND - 1) / BAND;
    int unit = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    my.x = -HALO + (int)threadIdx.x % 32 * VECTOR;
    if (edge == 0) {
        my.x += unit % strips * BAND;
        my.top = unit / strips * height;
        my.bottom = min(my.rows, my.top + height);
        return my.top < my.rows;
    }
    /* What the strips are too wide lies half to the left: no more than the
     * outer two touch the border. */
    my.x -= (strips * BAND - my.cols) / 16 * 8;
    int outer = min(strips, 2);
    int inner = strips - outer;
    int edges = outer * ((my.rows + edge - 1) / edge);
    if (unit < edges) {
        my.x += unit % outer * (strips - 1) * BAND;
        my.top = unit / outer * edge;
        my.bottom = min(my.rows, my.top + edge);
        return true;
    }
    if (inner == 0)
        return false;
    unit -= edges;
    my.x += (1 + unit % inner) * BAND;
    int place = unit / inner;
    if (place == 0) {
        my.top = 0;
        my.bottom = min(edge, my.rows);
    } else if (place == 1) {
        my.top = max(edge, my.rows - edge);
        my.bottom = my.rows;
    } else {
        my.top = edge + (place - 2) * height;
        my.bottom = min(my.rows - edge, my.top + height);
    }
    return my.top < my.bottom;
}

__device__ __forceinline__ void go(float *__restrict__ out,
                                   const float *__restrict__ in, int rows,
                                   int cols, int count, int height, int edge)
{
    band my = {in, out, rows, cols};
    if (!find_band(my, height, edge))
        return;
    my.wide = cols % 4 == 0 && (((size_t)in | (size_t)out) & 15) == 0;
    if (count == TIME)
        march_band<TIME>(my);
    else
        march_band<REST>(my);
}
#else
/* -- patches -------------------------------------------------------------- */
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
