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
 * matrix is too small to fill the GPU.  What else the space spans:
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

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#endif

/* What a thread moves: where its first piece of the next slice begins in A
 * and B, and how much of the matrices is left from the block's corner. */
struct work {
    const float *a, *b;
    int m, n, k;           /* rows, columns, and k left */
    long long lda, ldb;
    bool inside;           /* 16-byte accesses are aligned, and no row or
                              column is beyond the edge */
};

/* `bytes` 4 or 16; nothing is read and zeros are written unless `valid`. */
template <int bytes>
__device__ __forceinline__ void copy(float *to, const float *from, bool valid)
{
#ifdef COPY_ASYNC
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int size = valid ? bytes : 0;
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(address), "l"(from), "r"(size) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     :: "r"(address), "l"(from), "r"(size) : "memory");
#else
    if (bytes == 16)
        *(float4 *)to = valid ? *(const float4 *)from
                              : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    else
        *to = valid ? *from : 0.0f;
#endif
}

__device__ __forceinline__ void commit()
{
#ifdef COPY_ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most `pending` of the last slices are still on their way. */
template <int pending>
__device__ __forceinline__ void await()
{
#ifdef COPY_ASYNC
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
#endif
}

/* The first `left` of four floats, and zeros. */
__device__ __forceinline__ float4 fetch(const float *from, int left)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (left > 0)
        v.x = from[0];
    if (left > 1)
        v.y = from[1];
    if (left > 2)
        v.z = from[2];
    if (left > 3)
        v.w = from[3];
    return v;
}

/* The same number, but one that the compiler knows nothing about: what
 * follows from it is computed where it is used, not kept in registers for
 * the whole of the main loop, where the sums need them. */
__device__ __forceinline__ long long hidden(long long value)
{
    asm volatile("" : "+l"(value));
    return value;
}

/* The pieces of a slice that this thread moves: `unit` words each, `across`
 * of them a line. */
template <int lines, int across, int unit>
struct walk {
    static constexpr int PIECES = lines * across;
    static constexpr int STEPS = (PIECES + THREADS - 1) / THREADS;
    static constexpr bool EVEN = THREADS % across == 0;

    static __device__ __forceinline__ unsigned piece(int i)
    {
        return threadIdx.x + i * THREADS;
    }
    static __device__ __forceinline__ bool mine(int i)
    {
        return PIECES % THREADS == 0 || piece(i) < PIECES;
    }
    static __device__ __forceinline__ int line(int i)
    {
        return EVEN ? threadIdx.x / across + i * (THREADS / across)
                    : piece(i) / across;
    }
    static __device__ __forceinline__ int place(int i)
    {
        return (EVEN ? threadIdx.x : piece(i)) % across * unit;
    }
    /* Piece i, `from` being piece 0. */
    static __device__ __forceinline__ const float *at(const float *from,
                                                      long long ld, int i)
    {
        if (EVEN)
            return from + i * (ld * (THREADS / across));
        return from + (line(i) - line(0)) * ld + (place(i) - place(0));
    }
};

/* Turning A while copying takes single words, for which a warp reads along
 * k; all else moves in 16-byte pieces. */
constexpr int UNIT = TURNED && LOAD == LOAD_async ? 1 : 4;
typedef walk<TILE_M, TILE_K / UNIT, UNIT> walk_a;
typedef walk<TILE_K, TILE_N / 4, 4> walk_b;
/* Between two steps of walk_a, in a stage. */
constexpr int STEP_A = THREADS / (TILE_K / UNIT) * (TURNED ? 1 : PITCH_A);

/* Where A's element stands in a stage. */
__device__ __forceinline__ int place_a(int row, int k)
{
    return TURNED ? k * PITCH_A + row : row * PITCH_A + k;
}

/* Slices by way of registers: `fetch_slice` starts the loads,
 * `store_slice` puts them into the stage.  `whole`: nothing to guard. */
template <bool whole>
__device__ __forceinline__ void fetch_slice(const work &w, float4 *held_a,
                                            float4 *held_b)
{
    long long lda = hidden(w.lda);
    long long ldb = hidden(w.ldb);
    int m = whole ? 0 : (int)hidden(w.m);
    int n = whole ? 0 : (int)hidden(w.n);
#pragma unroll
    for (int i = 0; i < walk_a::STEPS; i++) {
        const float *from = walk_a::at(w.a, lda, i);
        int left = walk_a::line(i) < m ? w.k - walk_a::place(i) : 0;
        if (walk_a::mine(i))
            held_a[i] = whole ? *(const float4 *)from : fetch(from, left);
    }
#pragma unroll
    for (int i = 0; i < walk_b::STEPS; i++) {
        const float *from = walk_b::at(w.b, ldb, i);
        int left = walk_b::line(i) < w.k ? n - walk_b::place(i) : 0;
        if (walk_b::mine(i))
            held_b[i] = whole ? *(const float4 *)from : fetch(from, left);
    }
}

__device__ __forceinline__ void fetch_slice(const work &w, float4 *held_a,
                                            float4 *held_b)
{
    if (w.inside && w.k >= TILE_K)
        fetch_slice<true>(w, held_a, held_b);
    else
        fetch_slice<false>(w, held_a, held_b);
}

__device__ __forceinline__ void store_slice(float *stage, const float4 *held_a,
                                            const float4 *held_b)
{
    float *a = stage + place_a(walk_a::line(0), walk_a::place(0));
    float *b = stage + WORDS_A + threadIdx.x * 4;
#pragma unroll
    for (int i = 0; i < walk_a::STEPS; i++) {
        float *to = a + i * STEP_A;
        if (!walk_a::mine(i))
            continue;
        if (TURNED) {
            to[0] = held_a[i].x;
            to[PITCH_A] = held_a[i].y;
            to[2 * PITCH_A] = held_a[i].z;
            to[3 * PITCH_A] = held_a[i].w;
        } else {
            *(float4 *)to = held_a[i];
        }
    }
#pragma unroll
    for (int i = 0; i < walk_b::STEPS; i++)
        if (walk_b::mine(i))
            *(float4 *)(b + i * THREADS * 4) = held_b[i];
}

/* A whole slice straight into the stage. */
__device__ __forceinline__ void copy_whole(const work &w, float *stage)
{
    long long lda = hidden(w.lda);
    long long ldb = hidden(w.ldb);
    float *to_a = stage + place_a(walk_a::line(0), walk_a::place(0));
    float *to_b = stage + WORDS_A + threadIdx.x * 4;
#pragma unroll
    for (int i = 0; i < walk_a::STEPS; i++)
        if (walk_a::mine(i))
            copy<4 * UNIT>(to_a + i * STEP_A, walk_a::at(w.a, lda, i), true);
#pragma unroll
    for (int i = 0; i < walk_b::STEPS; i++)
        if (walk_b::mine(i))
            copy<16>(to_b + i * THREADS * 4, walk_b::at(w.b, ldb, i), true);
}

/* Any slice, word by word, zeros beyond the edges. */
__device__ __forceinline__ void copy_edge(const work &w, float *stage)
{
    const float *a =
        w.a - (hidden(walk_a::line(0)) * w.lda + walk_a::place(0));
    const float *b =
        w.b - (hidden(walk_b::line(0)) * w.ldb + walk_b::place(0));
#pragma unroll 2
    for (unsigned e = threadIdx.x; e < TILE_M * TILE_K; e += THREADS) {
        int row = e / TILE_K;
        int k = e % TILE_K;
        copy<4>(stage + place_a(row, k), a + row * w.lda + k,
                row < w.m && k < w.k);
    }
#pragma unroll 2
    for (unsigned e = threadIdx.x; e < TILE_K * TILE_N; e += THREADS) {
        int k = e / TILE_N;
        int col = e % TILE_N;
        copy<4>(stage + WORDS_A + e, b + k * w.ldb + col,
                k < w.k && col < w.n);
    }
}

__device__ __forceinline__ void copy_slice(const work &w, float *stage)
{
    if (w.inside && w.k >= TILE_K)
        copy_whole(w, stage);
    else
        copy_edge(w, stage);
}

__device__ __forceinline__ void advance(work *w)
{
    w->a += TILE_K;
    w->b += TILE_K * w->ldb;
    w->k -= TILE_K;
}

/* A lane's rows and columns within the block's tile: in groups of four
 * columns (and rows, where A is turned) dealt round the lanes.  Neighbours
 * (bit 0) share rows, the next (bit 1) columns: that lets the hardware join
 * the quarters of a 16-byte load. */
__device__ __forceinline__ int first_row()
{
    int lane = threadIdx.x % 32;
    int at = (lane >> 1 & 1) | lane / (2 * LANES_N) << 1;
    int warp = threadIdx.x / 32 % WARPS_M;
    return warp * THREAD_M * LANES_M + at * (TURNED ? 4 : 1);
}

__device__ __forceinline__ int first_col()
{
    int lane = threadIdx.x % 32;
    int at = (lane & 1) | (lane >> 2 & (LANES_N / 2 - 1)) << 1;
    int warp = threadIdx.x / 32 / WARPS_M;
    return warp * THREAD_N * LANES_N + at * 4;
}

__device__ __forceinline__ constexpr int row_step(int i)
{
    return TURNED ? i / 4 * (4 * LANES_M) + i % 4 : i * LANES_M;
}

__device__ __forceinline__ constexpr int col_step(int j)
{
    return j / 4 * (4 * LANES_N) + j % 4;
}

struct alignas(16) sums {
    float at[THREAD_M][THREAD_N];
};

__device__ __forceinline__ void multiply(sums &c, const float (&a)[THREAD_M],
                                         const float (&b)[THREAD_N])
{
#pragma unroll
    for (int i = 0; i < THREAD_M; i++)
#pragma unroll
        for (int j = 0; j < THREAD_N; j++) {
            /* To and fro: an operand is still in its register's cache. */
            int s = i % 2 ? THREAD_N - 1 - j : j;
            c.at[i][s] = fmaf(a[i], b[s], c.at[i][s]);
        }
}

__device__ __forceinline__ void take_b(float (&b)[THREAD_N],
                                       const float *from)
{
#pragma unroll
    for (int j = 0; j < THREAD_N; j += 4) {
        float4 v = *(const float4 *)(from + col_step(j));
        b[j] = v.x;
        b[j + 1] = v.y;
        b[j + 2] = v.z;
        b[j + 3] = v.w;
    }
}

#if LAYOUT == LAYOUT_turned
/* `a` and `b` point at the lane's first row and column of the stage. */
__device__ __forceinline__ void take_a(float (&a)[THREAD_M],
                                       const float *from)
{
#pragma unroll
    for (int i = 0; i < THREAD_M; i += 4) {
        float4 v = *(const float4 *)(from + row_step(i));
        a[i] = v.x;
        a[i + 1] = v.y;
        a[i + 2] = v.z;
        a[i + 3] = v.w;
    }
}

__device__ __forceinline__ void multiply_slice(sums &c, const float *a,
                                               const float *b)
{
#pragma unroll
    for (int k = 0; k < TILE_K; k++) {
        float left[THREAD_M], right[THREAD_N];
        take_a(left, a + k * PITCH_A);
        take_b(right, b + k * TILE_N);
        multiply(c, left, right);
    }
}
#else
__device__ __forceinline__ void multiply_slice(sums &c, const float *a,
                                               const float *b)
{
#pragma unroll
    for (int k = 0; k < TILE_K; k += 4) {
        float4 four[THREAD_M];
#pragma unroll
        for (int i = 0; i < THREAD_M; i++)
            four[i] = *(const float4 *)(a + row_step(i) * PITCH_A + k);
#pragma unroll
        for (int part = 0; part < 4; part++) {
            float left[THREAD_M], right[THREAD_N];
#pragma unroll
            for (int i = 0; i < THREAD_M; i++)
                left[i] = part == 0   ? four[i].x
                          : part == 1 ? four[i].y
                          : part == 2 ? four[i].z
                                      : four[i].w;
            take_b(right, b + (k + part) * TILE_N);
            multiply(c, left, right);
        }
    }
}
#endif

/* The sums of all slices.  Every thread of the block takes every step, for
 * the barriers' sake: bounds guard accesses only. */
__device__ __forceinline__ void multiply_slices(sums &c, work w,
                                                float *shared)
{
    int slices = (w.k + TILE_K - 1) / TILE_K;
    int row = first_row() * (TURNED ? 1 : PITCH_A);
    int col = WORDS_A + first_col();

#if STAGES == 1
    for (int s = 0; s < slices; s++) {
#if LOAD == LOAD_plain
        float4 held_a[walk_a::STEPS], held_b[walk_b::STEPS];
        fetch_slice(w, held_a, held_b);
        __syncthreads();
        store_slice(shared, held_a, held_b);
#else
        __syncthreads();
        copy_slice(w, shared);
        commit();
        await<0>();
#endif
        __syncthreads();
        advance(&w);
        multiply_slice(c, shared + row, shared + col);
    }
#else
#if LOAD == LOAD_plain
    float4 held_a[walk_a::STEPS], held_b[walk_b::STEPS];
    fetch_slice(w, held_a, held_b);
    store_slice(shared, held_a, held_b);
#else
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < slices)
            copy_slice(w, shared + s * WORDS);
        advance(&w);
        commit();
    }
#endif
    int now = 0;                       /* the stage being multiplied */
    int next = (STAGES - 1) * WORDS;   /* the one being filled */
#if AHEAD
    float a[2][THREAD_M], b[2][THREAD_N];
    await<STAGES - 2>();
    __syncthreads();
    take_a(a[0], shared + row);
    take_b(b[0], shared + col);
#endif
    for (int s = 0; s < slices; s++) {
        int after = now + WORDS == STAGES * WORDS ? 0 : now + WORDS;
#if !AHEAD
        /* This slice is there, and all are done with the one before. */
        await<STAGES - 2>();
        __syncthreads();
#endif
#if LOAD == LOAD_plain
        advance(&w);
        if (s + 1 < slices)
            fetch_slice(w, held_a, held_b);
#else
        if (s + STAGES - 1 < slices)
            copy_slice(w, shared + next);
        advance(&w);
        commit();
#endif
#if AHEAD
#pragma unroll
        for (int k = 0; k < TILE_K; k++) {
            const float *from = shared + now + (k + 1) * PITCH_A;
            const float *from_b = shared + now + (k + 1) * TILE_N;
            if (k == TILE_K - 1) {
#if LOAD == LOAD_plain
                store_slice(shared + next, held_a, held_b);
#endif
                await<STAGES - 2>();
                __syncthreads();
                from = from_b = shared + after;
            }
            take_a(a[(k + 1) % 2], from + row);
            take_b(b[(k + 1) % 2], from_b + col);
            multiply(c, a[k % 2], b[k % 2]);
        }
#else
        multiply_slice(c, shared + now + row, shared + now + col);
#if LOAD == LOAD_plain
        store_slice(shared + next, held_a, held_b);
#endif
#endif
        next = now;
        now = after;
    }
    await<0>();
#endif
}

/* out = alpha c (+ beta out) for what lies in m x n; `out` at the corner. */
__device__ __forceinline__ void store(const sums &c, float *out, int m, int n,
                                      long long ld, bool wide, float alpha,
                                      float beta)
{
    int row = first_row();
    int col = first_col();
#pragma unroll
    for (int i = 0; i < THREAD_M; i++) {
        int y = row + row_step(i);
        if (y >= m)
            continue;
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            int x = col + col_step(j);
            float *to = out + y * ld + x;
            if (wide && x < n) {
                float4 v = make_float4(
                    alpha * c.at[i][j], alpha * c.at[i][j + 1],
                    alpha * c.at[i][j + 2], alpha * c.at[i][j + 3]);
                if (beta != 0.0f) {
                    float4 old = *(const float4 *)to;
                    v.x = fmaf(beta, old.x, v.x);
                    v.y = fmaf(beta, old.y, v.y);
                    v.z = fmaf(beta, old.z, v.z);
                    v.w = fmaf(beta, old.w, v.w);
                }
                *(float4 *)to = v;
            } else {
#pragma unroll
                for (int p = 0; p < 4; p++)
                    if (x + p < n) {
                        float v = alpha * c.at[i][j + p];
                        to[p] = beta != 0.0f ? fmaf(beta, to[p], v) : v;
                    }
            }
        }
    }
}

__device__ __forceinline__ bool aligned(const void *base, int ld)
{
    return ((size_t)base & 15) == 0 && ld % 4 == 0;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
matmul(float *__restrict__ c, float *__restrict__ partial,
       const float *__restrict__ a, const float *__restrict__ b, int m, int n,
       int k, float alpha, float beta, int band)
{
#if MEMORY == MEMORY_static
    __shared__ alignas(16) float shared[STAGES * WORDS];
#else
    extern __shared__ __align__(16) float shared[];
#endif
    int across = (n + TILE_N - 1) / TILE_N;
    int down = (m + TILE_M - 1) / TILE_M;
    int first = blockIdx.x / (band * across) * band;
    int high = min(down - first, band);
    int rest = blockIdx.x - first * across;
    int m0 = (first + rest % high) * TILE_M;
    int n0 = rest / high * TILE_N;

    /* This block's share of k: whole slices, none for the last ones if need
     * be, whose partial sums are then zeros. */
    int splits = gridDim.y;
    int share = ((k + TILE_K - 1) / TILE_K + splits - 1) / splits * TILE_K;
    int k0 = min((long long)blockIdx.y * share, (long long)k);

    work w;
    w.a = a + (long long)(m0 + walk_a::line(0)) * k + k0 + walk_a::place(0);
    w.b = b + (long long)(k0 + walk_b::line(0)) * n + n0 + walk_b::place(0);
    w.m = m - m0;
    w.n = n - n0;
    w.k = min(k - k0, share);
    w.lda = k;
    w.ldb = n;
    w.inside = aligned(a, k) && aligned(b, n) && w.m >= TILE_M &&
               w.n >= TILE_N;

    sums sum = {};
    multiply_slices(sum, w, shared);
    float *out = c;
    if (splits > 1) {
        out = partial + (long long)blockIdx.y * m * n;
        alpha = 1.0f;
        beta = 0.0f;
    }
    store(sum, out + (long long)m0 * n + n0, w.m, w.n, n, aligned(out, n),
          alpha, beta);
}

/* c = alpha * the partial sums, in order, + beta c. */
extern "C" __global__ void matmul_combine(float *__restrict__ c,
                                          const float *__restrict__ partial,
                                          int m, int n, float alpha,
                                          float beta, int splits)
{
    long long count = (long long)m * n;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; s++)
        sum += partial[s * count + i];
    sum *= alpha;
    c[i] = beta != 0.0f ? fmaf(beta, c[i], sum) : sum;
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
