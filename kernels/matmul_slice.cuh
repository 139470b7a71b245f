/* SPDX-License-Identifier: MIT */
/*
 * matmul_slice: moves slices of A and B from global to shared memory, through
 * registers or by cp.async, guarded where k ends.  Of matmul.cu alone.
 */

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
