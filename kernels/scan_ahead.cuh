/* SPDX-License-Identifier: MIT */
/*
 * scan_ahead: METHOD = ahead, one pass by blocks that stay.  Of scan.cu alone.
 *
 * A block has two tiles under way: the one that it stores, and the next, in
 * registers too, whose sum it publishes before it turns to the first.  What a
 * tile needs is the sum up to the block's last one, which the block carries,
 * and the sums of the tiles between, published while the tiles before were
 * being stored: they are there, and none is passed on from tile to tile.
 *
 * Tiles are taken in turn by blocks that run, and a block publishes the next
 * sum before it waits for those before the present tile: whoever has the first
 * sum that is missing waits for none.
 */

constexpr int ROWS = ITEMS / 4;        /* of 128 neighbours, in a warp's part */
constexpr int RESIDENT = BLOCKS < 128 ? 1 : BLOCKS / 128;

/* A lane's share: four neighbours of each of its warp's rows. */
struct share {
    float4 row[ROWS];
};

struct array {
    float *out;
    const float *in;
    long long n;
};

__device__ __forceinline__ int own_place()
{
    return threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32 * 4;
}

__device__ __forceinline__ bool whole(const array &a, int tile)
{
    return (tile + 1ll) * TILE <= a.n && aligned(a.in) && aligned(a.out);
}

__device__ __forceinline__ void take(share &mine, const array &a, int tile)
{
    long long start = (long long)tile * TILE + own_place();
    if (whole(a, tile)) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            mine.row[k] = load(a.in + start + k * 128);
        return;
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        float v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            long long at = start + k * 128 + i;
            v[i] = at < a.n ? a.in[at] : 0.0f;
        }
        mine.row[k] = make_float4(v[0], v[1], v[2], v[3]);
    }
}

__device__ __forceinline__ void give(const share &mine, const array &a,
                                     int tile, float before)
{
    long long start = (long long)tile * TILE + own_place();
    bool wide = whole(a, tile);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        float4 v = mine.row[k];
        v = make_float4(before + v.x, before + v.y, before + v.z,
                        before + v.w);
        long long at = start + k * 128;
        if (wide) {
            put(a.out + at, v);
            continue;
        }
        if (at < a.n)
            a.out[at] = v.x;
        if (at + 1 < a.n)
            a.out[at + 1] = v.y;
        if (at + 2 < a.n)
            a.out[at + 2] = v.z;
        if (at + 3 < a.n)
            a.out[at + 3] = v.w;
    }
}

/* Scans a warp's part; returns its sum. */
__device__ __forceinline__ float scan_rows(share &mine)
{
    int lane = threadIdx.x % 32;
    float upto[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        float4 v = mine.row[k];
        v.y += v.x;
        v.z += v.y;
        upto[k] = v.z + v.w;
        mine.row[k] = EXCLUSIVE ? make_float4(0.0f, v.x, v.y, v.z)
                                : make_float4(v.x, v.y, v.z, upto[k]);
    }
#pragma unroll
    for (int by = 1; by < 32; by *= 2)
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            float left = __shfl_up_sync(0xffffffffu, upto[k], by);
            upto[k] += lane >= by ? left : 0.0f;
        }
    float rows = 0.0f;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        float left = __shfl_up_sync(0xffffffffu, upto[k], 1);
        float before = rows + (lane > 0 ? left : 0.0f);
        rows += __shfl_sync(0xffffffffu, upto[k], 31);
        mine.row[k].x += before;
        mine.row[k].y += before;
        mine.row[k].z += before;
        mine.row[k].w += before;
    }
    return rows;
}

/* This thread's part of the sums of tiles from `from` to before `to`; `w` is
 * the first of them, asked for before. */
__device__ __forceinline__ double sums_between(const word *state, word w,
                                               int from, int to)
{
    double sum = 0.0;
    for (int at = from + threadIdx.x; at < to; at += THREADS) {
        if (at >= from + THREADS)
            w = peek(state + at);
        while ((w & 3) == NOTHING)
            w = peek(state + at);
        sum += __longlong_as_double((long long)(w & ~3ull));
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
scan_ahead(float *__restrict__ out, const float *__restrict__ in,
           word *__restrict__ state, int tiles, long long n)
{
    __shared__ double parts[WARPS];
    __shared__ float totals[WARPS];
    __shared__ int number;             /* of the next tile */
    array a = {out, in, n};
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    bool leader = threadIdx.x == THREADS - 32;
    unsigned *taken = (unsigned *)(state + tiles);

    share now, next;
    int tile = -1;                     /* of `now`; none yet */
    int last = -1;                     /* the block's tile before */
    float before_now = 0.0f;           /* of the tile, before this warp */
    float before_next = 0.0f;
    float sum_now = 0.0f;
    float sum_next = 0.0f;
    double carry = 0.0;                /* of all tiles up to `last` */
    if (leader)
        number = (int)atomicAdd(taken, 1u);
    __syncthreads();
    for (;;) {
        int following = number;
        bool more = following < tiles;
        word w = OWN;
        int first = last + 1 + threadIdx.x;
        if (first < tile)
            w = peek(state + first);
        if (more) {
            take(next, a, following);
            float sum = scan_rows(next);
            if (lane == 0)
                totals[warp] = sum;
        }
        __syncthreads();
        if (more) {
            sum_next = 0.0f;
#pragma unroll
            for (int i = 0; i < WARPS; i++) {
                before_next = i == warp ? sum_next : before_next;
                sum_next += totals[i];
            }
            if (leader) {
                publish(state + following, sum_next, OWN);
                number = (int)atomicAdd(taken, 1u);
            }
        }
        double part = sums_between(state, w, last + 1, tile);
#pragma unroll
        for (int half = 16; half > 0; half /= 2)
            part += __shfl_xor_sync(0xffffffffu, part, half);
        if (lane == 0)
            parts[warp] = part;
        __syncthreads();
        if (tile >= 0) {
#pragma unroll
            for (int i = 0; i < WARPS; i++)
                carry += parts[i];
            give(now, a, tile, (float)(carry + before_now));
            carry += sum_now;
            last = tile;
        }
        if (!more)
            return;
        now = next;
        tile = following;
        before_now = before_next;
        sum_now = sum_next;
    }
}
