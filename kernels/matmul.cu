/* SPDX-License-Identifier: MIT */
/*
 * matmul: C = alpha A B + beta C in fp32, without tensor cores; A is m x k,
 * B k x n, C m x n, all row-major, any sizes.
 *
 * Three levels of tiles.  A block owns TILE_M x TILE_N of C and walks along
 * k in slices of TILE_K through shared memory; its warps (WARPS_M x WARPS_N)
 * and their lanes (LANES_M x LANES_N) share it out; a lane keeps
 * THREAD_M x THREAD_N sums in registers.  The multiply-adds a lane does for
 * each word it loads from shared memory is what decides, so the larger
 * thread tiles win until registers run out; smaller tiles win where the
 * matrix is too small to fill the GPU.
 *
 * Sizes need not be multiples of anything.  Only the slice in which k ends
 * is guarded, word by word: the last columns' tiles are moved back to end
 * where the matrix ends, and rows beyond A's last are that last row.  Rows
 * that are not 16-byte aligned are read in single words, by neighbouring
 * lanes.  What else the space spans:
 *
 * LAYOUT   how A lies in shared memory: `turned` (k by rows), so that four
 *          rows are one 16-byte load, or `rows` (as in global memory), so
 *          that four k are one 16-byte load and copies stay 16 bytes wide.
 * LOAD     `plain` through registers, or `async` by cp.async (sm_80 up).
 * STAGES   slices in flight: 1 is the textbook's two barriers a slice.
 * AHEAD    fragments of the next step are loaded before this step's
 *          multiply-adds, across the barrier too.
 * PAD      words after each line of A in shared memory.
 * RESIDENT blocks a multiprocessor the compiler must leave registers for.
 * SPLIT    slices of k worked on side by side and added by a second launch,
 *          for matrices with few tiles.
 * TAIL     sixteenths of the tiles, the last ones, that are split further,
 *          for multiprocessors that would have nothing left to do.
 * ROUND    how many multiprocessors there are, so that the same choice fills
 *          them at any size: every tile is cut into as many shares as end
 *          soonest; or, with TAIL, the tiles that give not all of them one
 *          are, into about TAIL blocks for each.
 * BAND     rows of tiles that run together before the next columns, so
 *          that A and B are read from L2.
 */

constexpr int LANES_N = 32 / LANES_M;
constexpr int TILE_M = THREAD_M * LANES_M * WARPS_M;
constexpr int TILE_N = THREAD_N * LANES_N * WARPS_N;
constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr bool TURNED = LAYOUT == LAYOUT_turned;
constexpr int PITCH_A = (TURNED ? TILE_M : TILE_K) + PAD;
constexpr int WORDS_A = (TURNED ? TILE_K : TILE_M) * PITCH_A;
[[maybe_unused]] constexpr int WORDS =                  /* a stage */
    WORDS_A + TILE_K * TILE_N;
static_assert(THREADS % TILE_K == 0, "a walk over A steps whole rows");

#include "matmul_slice.cuh"
#include "matmul_multiply.cuh"

/* Where sums go: `at` for the tile's corner, rows `ld` apart, from column
 * `skip` up to `m` rows and `n` columns. */
struct target {
    float *at;
    int m, n, skip, ld;
};

/* out = alpha c (+ beta out) for what lies in `out`; `unit` words at once.
 * What is there is on its way for several rows together. */
template <int unit>
__device__ __forceinline__ void store(const sums &c, const target &out,
                                      float alpha, float beta)
{
    constexpr int ROWS = unit == 4 ? 4 : 1;
    unsigned width = out.n - out.skip;
    unsigned width_old = beta != 0.0f ? width : 0;
#pragma unroll
    for (int i = 0; i < THREAD_M; i += ROWS) {
        int row = hidden(first_row());
        int col = hidden(first_col());
        float old[ROWS][THREAD_N];
#pragma unroll
        for (int e = 0; e < ROWS * THREAD_N; e += unit) {
            int y = row + row_step(i + e / THREAD_N);
            int x = col + col_step(e % THREAD_N);
            const float *from = out.at + (long long)y * out.ld + x;
            float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (y < out.m && (unsigned)(x - out.skip) < width_old) {
                if (unit == 4)
                    v = *(const float4 *)from;
                else
                    v.x = *from;
            }
            float *to = &old[e / THREAD_N][e % THREAD_N];
            to[0] = v.x;
            if (unit == 4) {
                to[1] = v.y;
                to[2] = v.z;
                to[3] = v.w;
            }
        }
#pragma unroll
        for (int e = 0; e < ROWS * THREAD_N; e += unit) {
            int y = row + row_step(i + e / THREAD_N);
            int x = col + col_step(e % THREAD_N);
            float *to = out.at + (long long)y * out.ld + x;
            float v[4];
#pragma unroll
            for (int p = 0; p < unit; p++)
                v[p] = fmaf(beta, old[e / THREAD_N][e % THREAD_N + p],
                            alpha * c.at[i + e / THREAD_N][e % THREAD_N + p]);
            if (y >= out.m || (unsigned)(x - out.skip) >= width)
                continue;
            if (unit == 4)
                *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]);
            else
                *to = v[0];
        }
    }
}

/* Tile `tile` of C, in bands; the last columns' tiles reach back over their
 * neighbours, by `skip`, so as to end where the matrix ends and to have no
 * edge to guard while they multiply. */
struct place {
    int m0, n0, skip;
};

__device__ __forceinline__ place place_of(int tile, int m, int n, int band)
{
    int across = (n + TILE_N - 1) / TILE_N;
    int row = tile / across;
    int col = tile - row * across;
    if (band > 1) {
        int first = row / band * band;
        int high = min((m + TILE_M - 1) / TILE_M - first, band);
        int rest = tile - first * across;
        col = rest / high;
        row = first + rest - col * high;
    }
    int m0 = row * TILE_M;
    int n0 = col * TILE_N;
    int skip = max(min(n0 + TILE_N - n, n0), 0);
    return {m0, n0 - skip, skip};
}

__device__ __forceinline__ bool aligned(const void *at, int ld)
{
    return ((size_t)at & 15) == 0 && ld % 4 == 0;
}

/* What a block does: its tile, slices of k from `first` up to `last`, and
 * where its sums go if they are partial, -1 if not. */
struct job {
    place at;
    int first, last;
    int slot;
};

/* `splits` blocks a tile, and `fine` times as many for the `late` last tiles:
 * their shares of k are what the multiprocessors that are done first find
 * left to do. */
__device__ __forceinline__ job job_of(int block, int m, int n, int k,
                                      int band, int splits, int late,
                                      int fine)
{
    int across = (n + TILE_N - 1) / TILE_N;
    int down = (m + TILE_M - 1) / TILE_M;
    int early = across * down - late;
    bool is_late = block >= early * splits;
    int parts = is_late ? splits * fine : splits;
    unsigned slices = (k + TILE_K - 1) / TILE_K;
    job j = {{}, 0, (int)slices, -1};
    if (parts > 1) {
        j.slot = splits > 1 ? block : block - early;
        int tiles = is_late ? late : early;
        if (is_late)
            block -= early * splits;
        /* No slices if there are fewer than parts: the sums are zeros. */
        unsigned part = block / tiles;
        block -= part * tiles;
        if (is_late)
            block += early;
        j.first = part * slices / parts;
        j.last = (part + 1) * slices / parts;
    }
    j.at = place_of(block, m, n, band);
    return j;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
matmul(float *__restrict__ c, float *__restrict__ partial,
       const float *__restrict__ a, const float *__restrict__ b, int m, int n,
       int k, float alpha, float beta, int band, int splits, int late,
       int fine)
{
#if MEMORY == MEMORY_static
    __shared__ alignas(16) float shared[STAGES * WORDS];
#else
    extern __shared__ __align__(16) float shared[];
#endif
    job j = job_of(blockIdx.x, m, n, k, band, splits, late, fine);
    work w;
    w.a = a + (long long)j.at.m0 * k + j.first * TILE_K;
    w.b = b + (long long)j.first * TILE_K * n + j.at.n0;
    w.m = m - j.at.m0;
    w.n = n;
    w.k = min(j.last * TILE_K, k) - j.first * TILE_K;
    w.lda = k;
    w.ldb = n;
    bool pieces = aligned(a, k) && aligned(b, n) && w.n >= TILE_N;
    w.wide = pieces ? TILE_K : 0x7fffffff;

    sums sum = {};
    multiply_slices(sum, w, shared);

    /* Found out once more, so that no register holds it in between. */
    j = job_of(hidden(blockIdx.x), m, n, k, band, splits, late, fine);
    target out = {c + (long long)j.at.m0 * n + j.at.n0, m - j.at.m0,
                  n - j.at.n0, j.at.skip, n};
    if (j.slot >= 0) {
        out.at = partial + (long long)j.slot * (TILE_M * TILE_N);
        out.n = out.ld = TILE_N;
        out.skip = 0;
        alpha = 1.0f;
        beta = 0.0f;
    }
    if (aligned(out.at, out.ld))
        store<4>(sum, out, alpha, beta);
    else
        store<1>(sum, out, alpha, beta);
}

__device__ __forceinline__ void add(float4 &sum, float4 v)
{
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
}

/* Adds the shares from `s` on, `most` of them or as many as there are, all on
 * their way together. */
template <int most>
__device__ __forceinline__ void add_shares(float4 &sum, const float4 *from,
                                           int step, int s, int parts)
{
    float4 part[most];
#pragma unroll
    for (int i = 0; i < most; i++)
        part[i] = from[(long long)min(s + i, parts - 1) * step];
#pragma unroll
    for (int i = 0; i < most; i++)
        if (s + i < parts)
            add(sum, part[i]);
}

/* c = alpha * the partial sums + beta c, of the tiles that more than one block
 * worked on; four elements a thread, as there is little to do for each.  A
 * thread adds eight shares, all on their way together; where there are more,
 * as many rows of threads as it takes, up to eight, add theirs side by side,
 * and the first row adds what these found, in order.  (For more blocks than
 * four the compiler would have too few registers for the eight.) */
extern "C" __global__ void __launch_bounds__(256, 4)
matmul_combine(float *__restrict__ c, const float *__restrict__ partial,
               int m, int n, float alpha, float beta, int band, int splits,
               int late, int fine)
{
    constexpr int TILE = TILE_M * TILE_N;
    extern __shared__ __align__(16) float shared[];
    int tiles = (n + TILE_N - 1) / TILE_N * ((m + TILE_M - 1) / TILE_M);
    int early = tiles - late;
    unsigned word = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int count = word / TILE + (splits > 1 ? 0 : early);
    int tile = min(count, tiles - 1);       /* the last block may be beyond */
    int e = word % TILE;
    int row = e / TILE_N;
    int col = e % TILE_N;
    bool is_late = tile >= early;
    int parts = is_late ? splits * fine : splits;
    int step = (is_late ? late : early) * (TILE / 4);
    int slot = !is_late ? tile
               : splits > 1 ? early * splits + (tile - early) : tile - early;
    const float4 *from =
        (const float4 *)(partial + (long long)slot * TILE + e);

    /* Of the four, those from `first` up to `end` are in the matrix. */
    place at = place_of(tile, m, n, band);
    float *to = c + (long long)(at.m0 + row) * n + at.n0 + col;
    int first = at.skip - col;
    bool mine = count == tile && row < m - at.m0 && threadIdx.y == 0;
    int end = mine ? n - at.n0 - col : 0;
    bool whole = aligned(c, n);
    float old[4] = {};
    if (beta != 0.0f) {
        if (whole && first <= 0 && end >= 4)
            hold(old, to);
        else if (!whole)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i >= first && i < end)
                    old[i] = to[i];
    }

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int s = 8 * threadIdx.y;
    if (parts <= 2)
        add_shares<2>(sum, from, step, s, parts);
    else if (parts <= 4)
        add_shares<4>(sum, from, step, s, parts);
    else
#pragma unroll 1
        for (; s < parts; s += 8 * blockDim.y)
            add_shares<8>(sum, from, step, s, parts);
    if (blockDim.y > 1) {
        float4 *found = (float4 *)shared + threadIdx.x;
        found[threadIdx.y * blockDim.x] = sum;
        __syncthreads();
#pragma unroll 1
        for (int y = 1; y < (int)blockDim.y && end > 0; y++)
            add(sum, found[y * blockDim.x]);
    }

    float v[4] = {fmaf(beta, old[0], alpha * sum.x),
                  fmaf(beta, old[1], alpha * sum.y),
                  fmaf(beta, old[2], alpha * sum.z),
                  fmaf(beta, old[3], alpha * sum.w)};
    if (whole && first <= 0 && end >= 4)
        *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]);
    else if (!whole)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i >= first && i < end)
                to[i] = v[i];
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: an element a thread, added in double. */
extern "C" __global__ void matmul_reference(float *c, const float *a,
                                            const float *b, int m, int n,
                                            int k, float alpha, float beta)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)m * n)
        return;
    long long row = i / n;
    long long col = i % n;
    double sum = 0.0;
    for (int p = 0; p < k; p++)
        sum += (double)a[row * k + p] * b[(long long)p * n + col];
    c[i] = (float)(alpha * sum + (double)beta * c[i]);
}
#endif
