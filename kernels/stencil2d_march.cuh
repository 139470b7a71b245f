/* SPDX-License-Identifier: MIT */
/*
 * stencil2d_march: WALK = march, a warp goes down a band with all its steps
 * under way at once.  Of stencil2d.cu alone.
 */

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
