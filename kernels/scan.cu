/* SPDX-License-Identifier: MIT */
/*
 * scan: prefix sums of n floats, any n.  form = 1, inclusive: out[i] = in[0]
 * + ... + in[i]; form = 2, exclusive: the same without in[i].
 *
 * A block scans a tile of THREADS x ITEMS and adds the sum of all tiles
 * before it.  What the space spans:
 *
 * METHOD   where that sum comes from.  `phases`: sums of tiles, a scan of
 *          those, and the tiles again: a third more traffic, no waiting.
 *          `lookback`: one pass (decoupled look-back, Merrill and Garland);
 *          a tile publishes its own sum at once and the sum up to its end
 *          as soon as it knows it, and a warp looks back over the tiles
 *          before until it meets one of the latter.  `ahead`: one pass by
 *          blocks that stay, each a tile ahead of what it stores, so that
 *          nobody waits for a chain of others; see scan_ahead.cuh.
 * ORDER    `ticket`: tiles are taken in the order in which blocks begin to
 *          run, so that a block never waits for one that cannot start;
 *          `index`: the block's index, an atomic less, which relies on the
 *          hardware starting blocks in order, as NVIDIA's own library does.
 * EXCHANGE a thread scans ITEMS neighbours but a warp should load and store
 *          along lines: `shared` turns one into the other through shared
 *          memory, `direct` leaves it to the cache.
 * PAD      words after every 32 of that exchange.
 * WARP_SCAN  by shuffles, or in shared memory.
 * STREAM   loads and stores that ask not to stay in cache.
 * BLOCKS   that stay, of `ahead`.
 *
 * Sums of tiles are carried in double, so that the rounding does not grow
 * with the number of tiles.  A double and its flag travel in one 64-bit
 * word, the flag in the two lowest bits: no fence is needed between them.
 */

typedef unsigned long long word;

constexpr bool EXCLUSIVE = form == 2;
constexpr int WARPS = THREADS / 32;
constexpr int TILE = THREADS * ITEMS;
constexpr int VECTORS = ITEMS / 4;
/* Shared memory, in words of 4 bytes. */
constexpr int HEAD = 4;   /* the sum before the tile, the tile's number */
constexpr int TOTALS = (WARPS + 3) / 4 * 4;
constexpr int LANES = WARP_SCAN == WARP_SCAN_shared ? THREADS : 0;
[[maybe_unused]] constexpr int TURN = 32 * ITEMS + ITEMS * PAD;   /* a warp */
[[maybe_unused]] constexpr int WORDS =
    HEAD + TOTALS + LANES + (EXCHANGE == EXCHANGE_shared ? WARPS * TURN : 0);

enum { NOTHING = 0, OWN = 1, ALL = 2 };   /* what a tile has published */

#if MEMORY == MEMORY_static
#define SHARED(name) __shared__ alignas(16) float name[WORDS]
#else
#define SHARED(name) extern __shared__ __align__(16) float name[]
#endif

__device__ __forceinline__ float4 load(const float *from)
{
#if STREAM
    return __ldcs((const float4 *)from);
#else
    return *(const float4 *)from;
#endif
}

__device__ __forceinline__ void put(float *to, float4 v)
{
#if STREAM
    __stcs((float4 *)to, v);
#else
    *(float4 *)to = v;
#endif
}

/* Four neighbours' place in a warp's exchange. */
__device__ __forceinline__ int at(int i)
{
    return i + i / 32 * PAD;
}

__device__ __forceinline__ bool aligned(const float *base)
{
    return ((size_t)base & 15) == 0;
}

/* ITEMS neighbours a thread: `in` is the tile's, `count` how much of it
 * there is. */
__device__ __forceinline__ void load_items(float (&x)[ITEMS],
                                           const float *__restrict__ in,
                                           int count, bool wide, float *turn)
{
    int first = threadIdx.x * ITEMS;
    if (!wide) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            x[i] = first + i < count ? in[first + i] : 0.0f;
        return;
    }
#if EXCHANGE == EXCHANGE_shared
    int lane = threadIdx.x % 32;
    in += threadIdx.x / 32 * 32 * ITEMS;
    float4 held[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        held[k] = load(in + (k * 32 + lane) * 4);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        *(float4 *)(turn + at((k * 32 + lane) * 4)) = held[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        *(float4 *)(x + 4 * k) =
            *(const float4 *)(turn + at(lane * ITEMS + 4 * k));
    __syncwarp();
#else
    (void)turn;
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        *(float4 *)(x + 4 * k) = load(in + first + 4 * k);
#endif
}

__device__ __forceinline__ void store_items(const float (&x)[ITEMS],
                                            float *__restrict__ out, int count,
                                            bool wide, float *turn)
{
    int first = threadIdx.x * ITEMS;
    if (!wide) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (first + i < count)
                out[first + i] = x[i];
        return;
    }
#if EXCHANGE == EXCHANGE_shared
    int lane = threadIdx.x % 32;
    out += threadIdx.x / 32 * 32 * ITEMS;
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        *(float4 *)(turn + at(lane * ITEMS + 4 * k)) =
            *(const float4 *)(x + 4 * k);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        put(out + (k * 32 + lane) * 4,
            *(const float4 *)(turn + at((k * 32 + lane) * 4)));
#else
    (void)turn;
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        put(out + first + 4 * k, *(const float4 *)(x + 4 * k));
#endif
}

/* The sum of the lanes up to this one. */
__device__ __forceinline__ float warp_scan(float sum, float *lanes)
{
    int lane = threadIdx.x % 32;
#if WARP_SCAN == WARP_SCAN_shuffle
    (void)lanes;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        float before = __shfl_up_sync(0xffffffffu, sum, by);
        sum += lane >= by ? before : 0.0f;
    }
#else
    lanes += threadIdx.x - lane;
    lanes[lane] = sum;
    __syncwarp();
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        float before = lane >= by ? lanes[lane - by] : 0.0f;
        __syncwarp();
        lanes[lane] = sum = sum + before;
        __syncwarp();
    }
#endif
    return sum;
}

/* What the threads before this one sum to; *total: all of them. */
__device__ __forceinline__ float block_scan(float sum, float *totals,
                                            float *lanes, float *total)
{
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float upto = warp_scan(sum, lanes);
    if (lane == 31)
        totals[warp] = upto;
    float before = __shfl_up_sync(0xffffffffu, upto, 1);
    if (lane == 0)
        before = 0.0f;
    __syncthreads();
    float warps = 0.0f;
    float all = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        warps = w == warp ? all : warps;
        all += totals[w];
    }
    *total = all;
    return before + warps;
}

__device__ __forceinline__ void publish(word *to, double sum, int flag)
{
    word w = ((word)__double_as_longlong(sum) & ~3ull) | flag;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                 :: "l"(to), "l"(w) : "memory");
}

__device__ __forceinline__ word peek(const word *from)
{
    word w;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(w) : "l"(from) : "memory");
    return w;
}

#if METHOD == METHOD_lookback
/* A warp: the sum of all tiles before `tile`. */
__device__ __forceinline__ double look_back(const word *state, int tile)
{
    int lane = threadIdx.x % 32;
    double sum = 0.0;
    for (int nearest = tile - 1;; nearest -= 32) {
        int other = nearest - lane;
        word w = ALL;   /* before the first tile: nothing, and all of it */
        unsigned all, none;
        do {
            if (other >= 0)
                w = peek(state + other);
            all = __ballot_sync(0xffffffffu, (w & 3) == ALL);
            none = __ballot_sync(0xffffffffu, (w & 3) == NOTHING);
            /* What is behind the nearest ALL does not matter. */
            none &= (all & -all) - 1;
        } while (none);
        double part = __longlong_as_double((long long)(w & ~3ull));
        if (all && lane > __ffs(all) - 1)
            part = 0.0;
#pragma unroll
        for (int half = 16; half > 0; half /= 2)
            part += __shfl_xor_sync(0xffffffffu, part, half);
        sum += part;
        if (all)
            return sum;
    }
}
#endif

/* `state` has a word a tile and a counter behind them, all 0. */
extern "C" __global__ void __launch_bounds__(THREADS)
scan(float *__restrict__ out, const float *__restrict__ in,
     word *__restrict__ state, const double *__restrict__ sums, int tiles,
     long long n)
{
    SHARED(shared);
    [[maybe_unused]] double *before = (double *)shared;
    float *totals = shared + HEAD;
    float *lanes = totals + TOTALS;
#if EXCHANGE == EXCHANGE_shared
    float *turn = lanes + LANES + threadIdx.x / 32 * TURN;
#else
    float *turn = 0;
#endif
    int tile = blockIdx.x;
#if METHOD == METHOD_lookback && ORDER == ORDER_ticket
    int *number = (int *)(shared + 2);
    if (threadIdx.x == 0)
        *number = (int)atomicAdd((unsigned *)(state + tiles), 1u);
    __syncthreads();
    tile = *number;
#endif
    long long start = (long long)tile * TILE;
    int count = (int)min(n - start, (long long)TILE);
    bool wide = count == TILE && aligned(in) && aligned(out);

    alignas(16) float x[ITEMS];
    load_items(x, in + start, count, wide, turn);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        float next = sum + x[i];
        x[i] = EXCLUSIVE ? sum : next;
        sum = next;
    }
    float total;
    float offset = block_scan(sum, totals, lanes, &total);
#if METHOD == METHOD_lookback
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            publish(state + tile, total, tile == 0 ? ALL : OWN);
        double all = tile == 0 ? 0.0 : look_back(state, tile);
        if (threadIdx.x == 0) {
            if (tile > 0)
                publish(state + tile, all + total, ALL);
            *before = all;
        }
    }
    __syncthreads();
    float base = (float)*before;
#else
    float base = (float)sums[tile];
#endif
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        x[i] = base + (offset + x[i]);
    store_items(x, out + start, count, wide, turn);
}

#if METHOD == METHOD_ahead
#include "scan_ahead.cuh"
#endif

#if METHOD == METHOD_phases
/* The sum of each tile. */
extern "C" __global__ void __launch_bounds__(THREADS)
scan_sums(double *__restrict__ sums, const float *__restrict__ in,
          long long n)
{
    __shared__ double totals[WARPS];
    long long start = (long long)blockIdx.x * TILE;
    int count = (int)min(n - start, (long long)TILE);
    in += start;
    float sum = 0.0f;
    if (count == TILE && aligned(in)) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            float4 v = load(in + (k * THREADS + threadIdx.x) * 4);
            sum += (v.x + v.y) + (v.z + v.w);
        }
    } else {
        for (int i = threadIdx.x; i < count; i += THREADS)
            sum += in[i];
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, half);
    if (threadIdx.x % 32 == 0)
        totals[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0.0;
        for (int w = 0; w < WARPS; w++)
            all += totals[w];
        sums[blockIdx.x] = all;
    }
}

/* One block: each sum becomes the sum of those before it. */
extern "C" __global__ void __launch_bounds__(1024)
scan_offsets(double *sums, int tiles)
{
    __shared__ double totals[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    double carry = 0.0;
    for (int start = 0; start < tiles; start += 1024) {
        int i = start + threadIdx.x;
        double own = i < tiles ? sums[i] : 0.0;
        double upto = own;
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            double left = __shfl_up_sync(0xffffffffu, upto, by);
            upto += lane >= by ? left : 0.0;
        }
        if (lane == 31)
            totals[warp] = upto;
        __syncthreads();
        double warps = 0.0;
        double all = 0.0;
        for (int w = 0; w < 32; w++) {
            warps = w == warp ? all : warps;
            all += totals[w];
        }
        if (i < tiles)
            sums[i] = carry + warps + (upto - own);
        carry += all;
        __syncthreads();
    }
}
#endif

#ifdef SHMTUNE_REFERENCE
/* The oracle, in double: sums of 65,536 stretches, their scan, and each
 * stretch by one thread. */
extern "C" __global__ void scan_reference_sums(double *parts, const float *in,
                                               long long n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    long long each = (n + 65535) / 65536;
    double sum = 0.0;
    for (long long i = t * each; i < n && i < (t + 1) * each; i++)
        sum += in[i];
    parts[t] = sum;
}

extern "C" __global__ void scan_reference_offsets(double *parts)
{
    double sum = 0.0;
    for (int t = 0; t < 65536; t++) {
        double own = parts[t];
        parts[t] = sum;
        sum += own;
    }
}

extern "C" __global__ void scan_reference(float *out, const double *parts,
                                          const float *in, long long n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    long long each = (n + 65535) / 65536;
    double sum = parts[t];
    for (long long i = t * each; i < n && i < (t + 1) * each; i++) {
        double next = sum + in[i];
        out[i] = (float)(EXCLUSIVE ? sum : next);
        sum = next;
    }
}
#endif
