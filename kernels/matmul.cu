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

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#endif

/* What a block moves: the next slice's corners in A and B, and how much is
 * left below them in A, and of k. */
struct work {
    const float *a, *b;
    int m, n, k;           /* rows left, B's columns, and k left */
    int lda, ldb;
    int wide;              /* k left at which 16-byte pieces are aligned, with
                              nothing beyond an edge */
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

/* The same number, but one that the compiler knows nothing about: what
 * follows from it is computed where it is used, not kept in registers for
 * the whole of the main loop, where the sums need them. */
__device__ __forceinline__ int hidden(int value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* The pieces of a slice that this thread moves: `unit` words each, `across`
 * of them a line. */
template <int lines, int across, int unit>
struct walk {
    static constexpr int PIECES = lines * across;
    static constexpr int STEPS = (PIECES + THREADS - 1) / THREADS;
    static constexpr bool EVEN = THREADS % across == 0;

    static __device__ __forceinline__ unsigned piece(unsigned t, int i)
    {
        return t + i * THREADS;
    }
    static __device__ __forceinline__ bool mine(unsigned t, int i)
    {
        return PIECES % THREADS == 0 || piece(t, i) < PIECES;
    }
    static __device__ __forceinline__ int line(unsigned t, int i)
    {
        return EVEN ? t / across + i * (THREADS / across)
                    : piece(t, i) / across;
    }
    static __device__ __forceinline__ int place(unsigned t, int i)
    {
        return (EVEN ? t : piece(t, i)) % across * unit;
    }
    /* Piece i, `from` being piece 0, in lines of `ld` words. */
    static __device__ __forceinline__ float *at(float *from, unsigned t,
                                                int ld, int i)
    {
        if (EVEN)
            return from + i * (ld * (THREADS / across));
        return from + (line(t, i) - line(t, 0)) * ld +
               (place(t, i) - place(t, 0));
    }
    /* Piece i below a corner of a matrix with rows of `bytes`. */
    static __device__ __forceinline__ const float *
    below(const float *corner, unsigned t, unsigned bytes, int i)
    {
        const char *at = (const char *)(corner + place(t, i)) +
                         (size_t)(unsigned)line(t, EVEN ? 0 : i) * bytes;
        if (EVEN)
            at += (size_t)bytes * (i * (THREADS / across));
        return (const float *)at;
    }
    /* The same, no further down than line `last`. */
    static __device__ __forceinline__ const float *
    below(const float *corner, unsigned t, unsigned bytes, int i, int last)
    {
        unsigned down = min(line(t, i), last);
        return (const float *)((const char *)(corner + place(t, i)) +
                               (size_t)down * bytes);
    }
};

/* 16-byte pieces, and single words where these are not aligned: of A a
 * warp's words then lie along k, of B the four of a piece lie a quarter of
 * the line apart, so that a warp always reads neighbours. */
typedef walk<TILE_M, TILE_K / 4, 4> walk_a;
typedef walk<TILE_M, TILE_K, 1> words_a;
typedef walk<TILE_K, TILE_N / 4, 4> walk_b;
typedef walk<TILE_K, TILE_N / 4, 1> words_b;
constexpr int QUARTER = TILE_N / 4;

/* Where A's element stands in a stage, and from line to line. */
__device__ __forceinline__ int place_a(int row, int k)
{
    return TURNED ? k * PITCH_A + row : row * PITCH_A + k;
}
constexpr int LINE_A = TURNED ? 1 : PITCH_A;

/* May the next slice be moved in 16-byte pieces?  If not, may words of B be
 * read without guards? */
__device__ __forceinline__ bool wide(const work &w)
{
    return w.k >= w.wide;
}

__device__ __forceinline__ bool inside(const work &w)
{
    return w.k >= TILE_K && w.n >= TILE_N;
}

__device__ __forceinline__ void hold(float (&to)[4], const float *from)
{
    float4 v = *(const float4 *)from;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

#if LOAD == LOAD_plain
/* What a thread holds of a slice on its way through registers. */
struct held {
    float a[walk_a::STEPS][4], b[walk_b::STEPS][4];
};

/* Single words; `guard`: k or the columns end in the slice, and are followed
 * by zeros. */
template <bool guard>
__device__ __forceinline__ void fetch_words(const work &w, held *h)
{
    unsigned t = hidden(threadIdx.x);
    unsigned bytes_a = hidden(w.lda) * 4;
    unsigned bytes_b = hidden(w.ldb) * 4;
#pragma unroll
    for (int i = 0; i < words_a::STEPS; i++) {
        const float *from = words_a::below(w.a, t, bytes_a, i, w.m - 1);
        bool valid = !guard || words_a::place(t, 0) < w.k;
        h->a[i / 4][i % 4] = valid && words_a::mine(t, i) ? *from : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < words_b::STEPS; i++) {
        const float *from = words_b::below(w.b, t, bytes_b, i);
        int left = !guard ? TILE_N
                   : words_b::line(t, i) < w.k ? w.n - words_b::place(t, i)
                                               : 0;
#pragma unroll
        for (int j = 0; j < 4; j++)
            h->b[i][j] = words_b::mine(t, i) &&
                                 (!guard || j * QUARTER < left)
                             ? from[j * QUARTER] : 0.0f;
    }
}

/* Starts the loads of a slice. */
__device__ __forceinline__ void fetch_slice(const work &w, held *h)
{
    if (wide(w)) {
        unsigned t = hidden(threadIdx.x);
        unsigned bytes_a = hidden(w.lda) * 4;
        unsigned bytes_b = hidden(w.ldb) * 4;
#pragma unroll
        for (int i = 0; i < walk_a::STEPS; i++)
            if (walk_a::mine(t, i))
                hold(h->a[i], walk_a::below(w.a, t, bytes_a, i, w.m - 1));
#pragma unroll
        for (int i = 0; i < walk_b::STEPS; i++)
            if (walk_b::mine(t, i))
                hold(h->b[i], walk_b::below(w.b, t, bytes_b, i));
    } else if (inside(w)) {
        fetch_words<false>(w, h);
    } else {
        fetch_words<true>(w, h);
    }
}

/* Puts what `fetch_slice` fetched, `w` being what it was, into the stage. */
__device__ __forceinline__ void store_slice(const work &w, float *stage,
                                            const held &h)
{
    if (wide(w)) {
        unsigned t = hidden(threadIdx.x);
        float *a = stage + place_a(walk_a::line(t, 0), walk_a::place(t, 0));
        float *b = stage + WORDS_A + t * 4;
#pragma unroll
        for (int i = 0; i < walk_a::STEPS; i++)
            if (walk_a::mine(t, i))
#pragma unroll
                for (int j = 0; j < 4; j++)
                    walk_a::at(a, t, LINE_A, i)[place_a(0, j)] = h.a[i][j];
#pragma unroll
        for (int i = 0; i < walk_b::STEPS; i++)
            if (walk_b::mine(t, i))
                *(float4 *)(b + i * (THREADS * 4)) = make_float4(
                    h.b[i][0], h.b[i][1], h.b[i][2], h.b[i][3]);
        return;
    }
    unsigned t = hidden(threadIdx.x);
    float *a = stage + place_a(words_a::line(t, 0), words_a::place(t, 0));
    float *b = stage + WORDS_A + words_b::line(t, 0) * TILE_N +
               words_b::place(t, 0);
#pragma unroll
    for (int i = 0; i < words_a::STEPS; i++)
        if (words_a::mine(t, i))
            *words_a::at(a, t, LINE_A, i) = h.a[i / 4][i % 4];
#pragma unroll
    for (int i = 0; i < words_b::STEPS; i++)
        if (words_b::mine(t, i))
#pragma unroll
            for (int j = 0; j < 4; j++)
                words_b::at(b, t, TILE_N, i)[j * QUARTER] = h.b[i][j];
}
#else
/* Single words; `guard`: k or the columns end in the slice, and are followed
 * by zeros. */
template <bool guard>
__device__ __forceinline__ void copy_words_a(const work &w, float *stage)
{
    unsigned t = hidden(threadIdx.x);
    unsigned bytes = hidden(w.lda) * 4;
    float *to = stage + place_a(words_a::line(t, 0), words_a::place(t, 0));
    bool valid = !guard || words_a::place(t, 0) < w.k;
#pragma unroll
    for (int i = 0; i < words_a::STEPS; i++)
        if (words_a::mine(t, i))
            copy<4>(words_a::at(to, t, LINE_A, i),
                    words_a::below(w.a, t, bytes, i, w.m - 1), valid);
}

template <bool guard>
__device__ __forceinline__ void copy_words_b(const work &w, float *stage)
{
    unsigned t = hidden(threadIdx.x);
    unsigned bytes = hidden(w.ldb) * 4;
    float *to = stage + WORDS_A + words_b::line(t, 0) * TILE_N +
                words_b::place(t, 0);
#pragma unroll
    for (int i = 0; i < words_b::STEPS; i++) {
        const float *from = words_b::below(w.b, t, bytes, i);
        int left = words_b::line(t, i) < w.k ? w.n - words_b::place(t, i) : 0;
        if (words_b::mine(t, i))
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy<4>(words_b::at(to, t, TILE_N, i) + j * QUARTER,
                        from + j * QUARTER, !guard || j * QUARTER < left);
    }
}

/* A slice straight into the stage.  Turning A takes single words in any
 * case. */
__device__ __forceinline__ void copy_slice(const work &w, float *stage)
{
    if (wide(w)) {
        unsigned t = hidden(threadIdx.x);
        unsigned bytes_a = hidden(w.lda) * 4;
        unsigned bytes_b = hidden(w.ldb) * 4;
        float *a = stage + place_a(walk_a::line(t, 0), walk_a::place(t, 0));
        float *b = stage + WORDS_A + t * 4;
        if (TURNED)
            copy_words_a<false>(w, stage);
#pragma unroll
        for (int i = 0; i < walk_a::STEPS; i++)
            if (!TURNED && walk_a::mine(t, i))
                copy<16>(walk_a::at(a, t, LINE_A, i),
                         walk_a::below(w.a, t, bytes_a, i, w.m - 1), true);
#pragma unroll
        for (int i = 0; i < walk_b::STEPS; i++)
            if (walk_b::mine(t, i))
                copy<16>(b + i * (THREADS * 4),
                         walk_b::below(w.b, t, bytes_b, i), true);
    } else if (inside(w)) {
        copy_words_a<false>(w, stage);
        copy_words_b<false>(w, stage);
    } else {
        copy_words_a<true>(w, stage);
        copy_words_b<true>(w, stage);
    }
}
#endif

__device__ __forceinline__ void advance(work *w)
{
    w->a += TILE_K;
    w->b += (long long)TILE_K * w->ldb;
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
    int row = first_row() * (TURNED ? 1 : PITCH_A);
    int col = WORDS_A + first_col();

#if STAGES == 1
    while (w.k > 0) {
#if LOAD == LOAD_plain
        held h;
        fetch_slice(w, &h);
        __syncthreads();
        store_slice(w, shared, h);
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
    held h;
    fetch_slice(w, &h);
    store_slice(w, shared, h);
#else
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        if (w.k > 0)
            copy_slice(w, shared + s * WORDS);
        advance(&w);
        commit();
    }
#endif
    int now = 0;                       /* the stage being multiplied */
    int last = (STAGES - 1) * WORDS;   /* the one multiplied before */
#if AHEAD
    float a[2][THREAD_M], b[2][THREAD_N];
    await<STAGES - 2>();
    __syncthreads();
    take_a(a[0], shared + row);
    take_b(b[0], shared + col);
#endif
    constexpr int AHEAD_K = LOAD == LOAD_async ? (STAGES - 1) * TILE_K : 0;
    while (w.k + AHEAD_K > 0) {
        int after = now + WORDS == STAGES * WORDS ? 0 : now + WORDS;
        int next = STAGES == 2 ? after : last;     /* being filled */
#if !AHEAD
        /* This slice is there, and all are done with the one before. */
        await<STAGES - 2>();
        __syncthreads();
#endif
#if LOAD == LOAD_plain
        advance(&w);
        if (w.k > 0)
            fetch_slice(w, &h);
#else
        if (w.k > 0)
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
                store_slice(w, shared + next, h);
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
        store_slice(w, shared + next, h);
#endif
#endif
        last = now;
        now = after;
    }
    await<0>();
#endif
}

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
