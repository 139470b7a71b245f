/* SPDX-License-Identifier: MIT */
/*
 * conv2d: out = image correlated with a filter x filter window of weights,
 * one channel of floats, zeros beyond the border, any height and width, any
 * odd filter.
 *
 * A block of THREADS_X x THREADS_Y computes a tile of outputs from its
 * inputs and their halo in shared memory.  A thread computes OUT_X x OUT_Y
 * outputs that touch: it goes down columns of inputs, OUT_X side by side in
 * one load, and each input serves every output of the thread that it is in
 * reach of.  A small filter is bound by memory and wants wide loads of the
 * halo tile and many bytes in flight; a large one is bound by multiply-adds
 * and wants as few other instructions as possible between them.  What else
 * the space spans:
 *
 * WEIGHTS  `constant`: read where they are used, from constant memory; an
 *          operand of the multiply-add when the steps are unrolled.  They
 *          come by value, in the constant bank of one launch: a __constant__
 *          array would belong to the module, so that two streams could not
 *          have two filters.  `shared`: copied at the start, then read a
 *          column at a time, broadcast, which the compiler moves into
 *          uniform registers, an operand as cheap.
 * UNROLL   0: a loop over the steps across the filter, small code; 1: all
 *          steps spelt out.
 * VECTOR   floats a load of the halo tile; 4 makes the tile begin at a
 *          multiple of 4, up to three columns early.  Where rows are not
 *          aligned, it is one float all the same.
 * LOAD     through registers, or by cp.async (sm_80 up).
 * METHOD   `direct`: filter multiply-adds an output and column; `fast_fir`:
 *          rows in pairs, the 2-parallel fast FIR algorithm (Parker and
 *          Parhi): three filters of half the length make two outputs, where
 *          it takes four, for one more addition a pair of inputs.
 * LAYOUT   of the tile: its `rows` lie in line, or its `columns`, so that
 *          one 16-byte load goes four inputs down.
 * PAD      words after each of those lines.
 * WARPS    that the compiler must leave registers for on a multiprocessor;
 *          0: as it likes.
 */

constexpr int REACH = filter / 2;
constexpr int THREADS = THREADS_X * THREADS_Y;
constexpr int BLOCK_X = THREADS_X * OUT_X;
constexpr int BLOCK_Y = THREADS_Y * OUT_Y;
/* Columns of the tile before the first one that is needed. */
constexpr int EARLY = VECTOR == 1 ? 0 : (4 - REACH % 4) % 4;
constexpr int START = EARLY / OUT_X * OUT_X;
constexpr int SKEW = EARLY - START;
/* A thread takes OUT_X columns a step. */
constexpr int STEPS = (SKEW + OUT_X + filter - 1 + OUT_X - 1) / OUT_X;
constexpr int WIDTH =
    (START + (THREADS_X - 1 + STEPS) * OUT_X + 3) / 4 * 4;
constexpr int ROWS = BLOCK_Y + filter - 1;
constexpr bool DOWN = LAYOUT == LAYOUT_columns;
/* From a row, and from a column, to the next. */
constexpr int STRIDE_X = DOWN ? (ROWS + 3) / 4 * 4 + PAD : 1;
constexpr int STRIDE_Y = DOWN ? 1 : WIDTH + PAD;
[[maybe_unused]] constexpr int TILE = DOWN ? WIDTH * STRIDE_X
                                           : ROWS * STRIDE_Y;
/* The columns of the tile that are used, and how many more than a block has;
 * without unrolling, all. */
constexpr bool WHOLE = OUT_X > 1 && UNROLL == 0;
constexpr int USED = WHOLE ? 0 : EARLY;
constexpr int BEYOND = WHOLE ? WIDTH - BLOCK_X : filter - 1;
/* Weights stand in columns, with columns of zeros before and after, so that
 * a step need not ask which of its columns exist. */
#if METHOD == METHOD_fast_fir
/* Even and odd weights, and their sums. */
constexpr int HALF = (filter / 2 + 1 + 3) / 4 * 4;
constexpr int COLUMN = 3 * HALF;
#else
constexpr int COLUMN = (filter + 3) / 4 * 4;
#endif
constexpr int COLUMNS = STEPS * OUT_X + OUT_X - 1;
constexpr int FIRST = -(OUT_X - 1) - SKEW;
[[maybe_unused]] constexpr int WORDS =
    TILE + (WEIGHTS == WEIGHTS_shared ? COLUMNS * COLUMN : 0);

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#endif

struct Weights {
    float at[filter * filter];
};

struct alignas(OUT_X * 4) span {
    float at[OUT_X];
};

#if VECTOR == 4
typedef float4 vector;
#else
typedef float vector;
#endif

__host__ __device__ constexpr int at_most(int a, int b)
{
    return a < b ? a : b;
}

__host__ __device__ constexpr int power_of_two(int at_least)
{
    return at_least <= 1 ? 1 : 2 * power_of_two((at_least + 1) / 2);
}

/* Where a block's tile begins in the image, and whether all of it is
 * inside. */
struct corner {
    int x, y;
    bool inside;
};

/* A thread's walk over the tile's pieces, of `unit` floats: where it is, and
 * how many bytes from the tile's corner, in the image and in shared memory.
 * Warps go along rows; into columns they take eight rows of four vectors,
 * whose words go to sixteen banks, where those of a row would go to two. */
template <int unit> struct walk {
    static constexpr int TALL = DOWN && unit > 1 ? 8 : 1;
    static constexpr int ACROSS = WIDTH / unit;
    static constexpr int PIECES = (ROWS + TALL - 1) / TALL * TALL * ACROSS;
    static constexpr int STEPS = (PIECES + THREADS - 1) / THREADS;
    /* A step goes that far to the right and down; beyond the right end,
     * TALL rows further down instead. */
    static constexpr int RIGHT = THREADS / TALL % ACROSS * unit;
    static constexpr int BELOW = THREADS / TALL / ACROSS * TALL;
    int x, y;
    unsigned from, to;

    __device__ __forceinline__ walk(int width)
    {
        int group = threadIdx.x / TALL;
        x = group % ACROSS * unit;
        y = group / ACROSS * TALL + threadIdx.x % TALL;
        from = 4 * (y * width + x);
        to = 4 * (y * STRIDE_Y + x * STRIDE_X);
    }
    __device__ __forceinline__ void step(int width)
    {
        constexpr int TO = 4 * (RIGHT * STRIDE_X + BELOW * STRIDE_Y);
        constexpr int WRAP = 4 * (TALL * STRIDE_Y - WIDTH * STRIDE_X);
        bool beyond = x >= WIDTH - RIGHT;
        x += beyond ? RIGHT - WIDTH : RIGHT;
        y += beyond ? BELOW + TALL : BELOW;
        from += 4 * (RIGHT + BELOW * width);
        if (beyond)
            from += 4 * (TALL * width - WIDTH);
        to += beyond ? TO + WRAP : TO;
    }
};

/* Loads the tile in vectors, the image's rows being aligned; `inside`: no
 * bounds to guard.  Vectors are wholly inside the image or wholly outside
 * when its width is a multiple of 4. */
template <typename piece, bool inside>
__device__ __forceinline__ void load_tile(float *tile,
                                          const float *__restrict__ image,
                                          corner at, int height, int width)
{
    typedef walk<sizeof(piece) / 4> walk;
    constexpr int BATCH = walk::STEPS < 8 ? walk::STEPS : 8;
    const char *first = (const char *)(image + (long long)at.y * width + at.x);
    char *corner = (char *)tile;
    walk piece_at(width);
#pragma unroll 1
    for (int base = 0; base < walk::STEPS; base += BATCH) {
#ifndef COPY_ASYNC
        piece held[BATCH];
        unsigned to[BATCH];
        bool mine[BATCH];
#endif
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            bool valid = piece_at.y < ROWS;
#ifdef COPY_ASYNC
            bool mine = valid;
#else
            to[i] = piece_at.to;
            mine[i] = valid;
#endif
            if (!inside)
                valid = valid &&
                        (unsigned)(at.x + piece_at.x) < (unsigned)width &&
                        (unsigned)(at.y + piece_at.y) < (unsigned)height;
            const void *from = first + piece_at.from;
#ifdef COPY_ASYNC
            if (mine)
                asm volatile(
                    "cp.async.ca.shared.global [%0], [%1], %2, %3;"
                    :: "r"((unsigned)__cvta_generic_to_shared(
                           corner + piece_at.to)),
                       "l"(valid ? from : image), "n"(sizeof(piece)),
                       "r"(valid ? (int)sizeof(piece) : 0) : "memory");
#else
            if (!inside)
                held[i] = piece{};
            if (valid)
                held[i] = *(const piece *)from;
#endif
            piece_at.step(width);
        }
#ifndef COPY_ASYNC
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            float *put = (float *)(corner + to[i]);
            if (!mine[i])
                continue;
            if (!DOWN)
                *(piece *)put = held[i];
            else
#pragma unroll
                for (int k = 0; k < (int)sizeof(piece) / 4; k++)
                    put[k * STRIDE_X] = ((const float *)&held[i])[k];
        }
#endif
    }
#ifdef COPY_ASYNC
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Loads it by single floats, for rows that begin anywhere: `COUNT` columns of
 * the tile from `FROM` on.  A thread stays in its columns and goes down, so
 * that a float takes little more than its load, and whether a column is in
 * the image is asked once.  Warps go along rows; into columns they take four
 * rows of eight, whose words go to 32 banks. */
template <int FROM, int COUNT, bool inside> struct columns {
    static constexpr int TALL = DOWN ? 4 : 1;
    static constexpr int SPAN = at_most(power_of_two(COUNT), THREADS / TALL);
    static constexpr int ACROSS = (COUNT + SPAN - 1) / SPAN;
    static constexpr int BELOW = THREADS / SPAN;
    static constexpr int STEPS = (ROWS + BELOW - 1) / BELOW;
    /* Steps down in one go: about 16 loads. */
    static constexpr int BATCHES = (STEPS * ACROSS + 15) / 16;
    static constexpr int BATCH = (STEPS + BATCHES - 1) / BATCHES;
    static_assert(THREADS % (TALL * SPAN) == 0, "rows are whole");
    const float *image, *from;
    float *to;
    int height, width;
    int x, y;          /* this thread's first place in the tile */
    int row;           /* of the image, there */
    bool valid[ACROSS];
#ifndef COPY_ASYNC
    float held[BATCH][ACROSS];
#endif

    __device__ __forceinline__ columns(float *tile,
                                       const float *__restrict__ image,
                                       corner at, int height, int width)
        : image(image), height(height), width(width)
    {
        int group = threadIdx.x / TALL;
        x = FROM + group % SPAN;
        y = group / SPAN * TALL + threadIdx.x % TALL;
        row = at.y + y;
        from = image + (long long)row * width + (at.x + x);
        to = tile + y * STRIDE_Y + x * STRIDE_X;
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            valid[j] = inside ||
                       (unsigned)(at.x + x + j * SPAN) < (unsigned)width;
    }
    __device__ __forceinline__ bool exists(int step, int j)
    {
        return ((step + 1) * BELOW <= ROWS || y + step * BELOW < ROWS) &&
               ((j + 1) * SPAN <= COUNT || x + j * SPAN < FROM + COUNT);
    }
    /* Asks for a batch of steps from `base` on. */
    __device__ __forceinline__ void load(int base)
    {
#pragma unroll
        for (int i = 0; i < BATCH; i++, from += (long long)BELOW * width) {
            bool fits = inside || (unsigned)(row + (base + i) * BELOW) <
                                      (unsigned)height;
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                bool loads = exists(base + i, j) && fits && valid[j];
#ifdef COPY_ASYNC
                float *put = to + i * BELOW * STRIDE_Y + j * SPAN * STRIDE_X;
                if (exists(base + i, j))
                    asm volatile(
                        "cp.async.ca.shared.global [%0], [%1], 4, %2;"
                        :: "r"((unsigned)__cvta_generic_to_shared(put)),
                           "l"(loads ? from + j * SPAN : image),
                           "r"(loads ? 4 : 0) : "memory");
#else
                if (!inside)
                    held[i][j] = 0.0f;
                if (loads)
                    held[i][j] = from[j * SPAN];
#endif
            }
        }
    }
    /* Puts it where it belongs. */
    __device__ __forceinline__ void store(int base)
    {
#ifndef COPY_ASYNC
#pragma unroll
        for (int i = 0; i < BATCH; i++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
                if (exists(base + i, j))
                    to[i * BELOW * STRIDE_Y + j * SPAN * STRIDE_X] =
                        held[i][j];
#endif
        to += BATCH * BELOW * STRIDE_Y;
    }
    /* All that is left, from `base` on. */
    __device__ __forceinline__ void copy(int base)
    {
#pragma unroll (BATCHES <= 2 ? BATCHES : 1)
        for (; base < STEPS; base += BATCH) {
            load(base);
            store(base);
        }
    }
};

/* All columns that are used, even to multiply zeros: a block's width, and
 * those that the filter reaches beyond it. */
template <bool inside>
__device__ __forceinline__ void load_floats(float *tile,
                                            const float *__restrict__ image,
                                            corner at, int height, int width)
{
    columns<USED, BLOCK_X, inside> most(tile, image, at, height, width);
#if filter > 1
    columns<USED + BLOCK_X, BEYOND, inside> rest(tile, image, at, height,
                                                 width);
    rest.load(0);
    most.copy(0);
    rest.store(0);
    rest.copy(rest.BATCH);
#else
    most.copy(0);
#endif
#ifdef COPY_ASYNC
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#if WEIGHTS == WEIGHTS_shared
__device__ __forceinline__ void load_weights(float *to, const Weights &weights)
{
    /* By a pointer that might lead anywhere: constant memory would serve the
     * lanes of a warp, which want different weights, one by one. */
    const float *from = weights.at;
    asm("" : "+l"(from));
    for (int e = threadIdx.x; e < COLUMNS * COLUMN; e += THREADS) {
        int x = e / COLUMN + FIRST;
        int y = e % COLUMN;
        bool inside = x >= 0 && x < filter;
#if METHOD == METHOD_fast_fir
        int kind = y / HALF;
        y = y % HALF * 2;
        float even = inside && y < filter ? from[y * filter + x] : 0.0f;
        float odd = inside && y + 1 < filter ? from[(y + 1) * filter + x]
                                             : 0.0f;
        to[e] = kind == 0 ? even : kind == 1 ? odd : even + odd;
#else
        to[e] = inside && y < filter ? from[y * filter + x] : 0.0f;
#endif
    }
}
#endif

/* Where the steps read them. */
#if WEIGHTS == WEIGHTS_shared
typedef const float *weights_at;
#else
typedef const Weights &weights_at;
#endif

/* The columns of weights for one step: x - FIRST counts from 0. */
__device__ __forceinline__ void take_weights(float (&w)[2 * OUT_X - 1][COLUMN],
                                             weights_at weights, int step)
{
#pragma unroll
    for (int d = 0; d < 2 * OUT_X - 1; d++) {
#if WEIGHTS == WEIGHTS_shared
        const float4 *from =
            (const float4 *)(weights + (step * OUT_X + d) * COLUMN);
#pragma unroll
        for (int y = 0; y < COLUMN; y += 4) {
            float4 v = from[y / 4];
            w[d][y] = v.x;
            w[d][y + 1] = v.y;
            w[d][y + 2] = v.z;
            w[d][y + 3] = v.w;
        }
#else
        int x = step * OUT_X + d + FIRST;
#pragma unroll
        for (int y = 0; y < filter; y++)
            w[d][y] = x >= 0 && x < filter ? weights.at[y * filter + x]
                                           : 0.0f;
#endif
    }
}

#if METHOD == METHOD_fast_fir
/* What two rows of outputs are made of: with a and b the even and the odd
 * weights of a column, E and O its even and odd inputs,
 *
 *     both[p] = sum over j of (a[j] + b[j]) * (E[p + j] + O[p + j])
 *     odd[p]  = sum over j of  a[j]         *  O[p + j]
 *     even[p] = sum over j of  b[j]         *  E[p + j]
 *
 * output 2 p is both[p] - odd[p] - even[p], and 2 p + 1 odd[p] + even[p + 1].
 */
constexpr int PAIRS = OUT_Y / 2;
struct sums {
    float both[PAIRS], odd[PAIRS], even[PAIRS + 1];
};

/* Inputs 2 j and 2 j + 1 of a column. */
__device__ __forceinline__ void take_pair(sums &sum, float even, float odd,
                                          const float (&w)[COLUMN], int j)
{
    float both = even + odd;
#pragma unroll
    for (int p = 0; p <= PAIRS; p++) {
        int tap = j - p;
        if (tap < 0 || tap > filter / 2)
            continue;
        if (p < PAIRS) {
            sum.both[p] = fmaf(w[2 * HALF + tap], both, sum.both[p]);
            sum.odd[p] = fmaf(w[tap], odd, sum.odd[p]);
        }
        if (tap < filter / 2)
            sum.even[p] = fmaf(w[HALF + tap], even, sum.even[p]);
    }
}

/* A column of inputs, from `from` down. */
__device__ __forceinline__ void take_column(sums &sum, const float *from,
                                            weights_at weights, int step)
{
    constexpr int REACHED = OUT_Y + filter - 1;
    float w[1][COLUMN];
    take_weights(w, weights, step);
    from += step * STRIDE_X;
#if LAYOUT == LAYOUT_rows
#pragma unroll
    for (int row = 0; row < REACHED; row += 2)
        take_pair(sum, from[row * STRIDE_Y], from[(row + 1) * STRIDE_Y], w[0],
                  row / 2);
#else
#pragma unroll
    for (int row = 0; row < REACHED; row += 4) {
        float4 v = *(const float4 *)(from + row);
        take_pair(sum, v.x, v.y, w[0], row / 2);
        if (row + 2 < REACHED)
            take_pair(sum, v.z, v.w, w[0], row / 2 + 1);
    }
#endif
}

__device__ __forceinline__ void put_together(float (&out)[OUT_Y][OUT_X],
                                             const sums &sum)
{
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
        out[2 * p][0] = sum.both[p] - sum.odd[p] - sum.even[p];
        out[2 * p + 1][0] = sum.odd[p] + sum.even[p + 1];
    }
}
#endif

/* OUT_X inputs side by side, into all outputs in reach. */
__device__ __forceinline__ void take_row(float (&sum)[OUT_Y][OUT_X],
                                         const float (&v)[OUT_X],
                                         const float (&w)[2 * OUT_X - 1]
                                                         [COLUMN],
                                         int row, int step)
{
#pragma unroll
    for (int y = 0; y < OUT_Y; y++) {
        if (row < y || row - y >= filter)
            continue;
#pragma unroll
        for (int j = 0; j < OUT_X; j++)
#pragma unroll
            for (int x = 0; x < OUT_X; x++) {
#if UNROLL
                int place = step * OUT_X + j - x - SKEW;
                if (place < 0 || place >= filter)
                    continue;
#endif
                sum[y][x] = fmaf(w[j - x + OUT_X - 1][row - y], v[j],
                                 sum[y][x]);
            }
    }
}

/* OUT_X columns of inputs, from `from` down. */
__device__ __forceinline__ void take_step(float (&sum)[OUT_Y][OUT_X],
                                          const float *from,
                                          weights_at weights, int step)
{
    constexpr int REACHED = OUT_Y + filter - 1;
    float w[2 * OUT_X - 1][COLUMN];
    take_weights(w, weights, step);
    from += step * OUT_X * STRIDE_X;
#if LAYOUT == LAYOUT_rows
#pragma unroll
    for (int row = 0; row < REACHED; row++) {
        span v = *(const span *)(from + row * STRIDE_Y);
        take_row(sum, v.at, w, row, step);
    }
#else
#pragma unroll
    for (int row = 0; row < REACHED; row += 4) {
        float4 four[OUT_X];
        float v[4][OUT_X];
#pragma unroll
        for (int j = 0; j < OUT_X; j++) {
            four[j] = *(const float4 *)(from + j * STRIDE_X + row);
            v[0][j] = four[j].x;
            v[1][j] = four[j].y;
            v[2][j] = four[j].z;
            v[3][j] = four[j].w;
        }
#pragma unroll
        for (int i = 0; i < 4 && row + i < REACHED; i++)
            take_row(sum, v[i], w, row + i, step);
    }
#endif
}

/* Stores a thread's outputs, the first row of which is aligned; `REST` is the
 * width modulo OUT_X.  In rows that are not aligned, a lane puts together an
 * aligned word of its last outputs and the first ones of the next lane; the
 * ends of a warp's row are left, for single floats.  Its own part takes part
 * in the shuffles too: otherwise the compiler lays out the sums for words of
 * each kind at once, and takes up to 16 registers more. */
template <int REST>
__device__ __forceinline__ void put_rows(float *out,
                                         const float (&sum)[OUT_Y][OUT_X],
                                         int width)
{
#if OUT_X > 1
    constexpr int LANES = at_most(THREADS_X, 32);
    [[maybe_unused]] int lane = threadIdx.x % LANES;
    [[maybe_unused]] int next = lane + 1;
    [[maybe_unused]] bool first = lane == 0;
    [[maybe_unused]] bool last = next == LANES;
#endif
#pragma unroll
    for (int k = 0; k < OUT_Y; k++, out += width) {
        /* Outputs that go into the lane's word: its last ones. */
        int own = REST * k % OUT_X;
        if (own == 0) {
            *(span *)out = *(const span *)sum[k];
            continue;
        }
#if OUT_X > 1
        int before = OUT_X - own;
        span word;
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            word.at[i] = __shfl_sync(0xffffffffu, sum[k][(before + i) % OUT_X],
                                     i < own ? lane : next, LANES);
        if (!last)
            *(span *)(out + before) = word;
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            if (i < before ? first : last)
                out[i] = sum[k][i];
#endif
    }
}

#if WARPS
#define BOUNDS THREADS, (WARPS * 32 > THREADS ? WARPS * 32 / THREADS : 1)
#else
#define BOUNDS THREADS
#endif

extern "C" __global__ void __launch_bounds__(BOUNDS)
conv2d(float *__restrict__ out, const float *__restrict__ image,
       const __grid_constant__ Weights weights, int height, int width)
{
#if MEMORY == MEMORY_static
    __shared__ alignas(16) float tile[WORDS];
#else
    extern __shared__ __align__(16) float tile[];
#endif
    int across = (width + BLOCK_X - 1) / BLOCK_X;
    int x0 = blockIdx.x % across * BLOCK_X;
    int y0 = blockIdx.x / across * BLOCK_Y;

#if WEIGHTS == WEIGHTS_shared
    load_weights(tile + TILE, weights);
    weights_at near = tile + TILE;
#else
    weights_at near = weights;
#endif
    corner at = {x0 - REACH - EARLY, y0 - REACH};
    at.inside = at.x >= 0 && at.y >= 0 && at.x + WIDTH <= width &&
                at.y + ROWS <= height;
    if (VECTOR == 1 || ((size_t)image & (sizeof(vector) - 1)) != 0 ||
        width % VECTOR != 0) {
        if (at.inside)
            load_floats<true>(tile, image, at, height, width);
        else
            load_floats<false>(tile, image, at, height, width);
    } else if (at.inside)
        load_tile<vector, true>(tile, image, at, height, width);
    else
        load_tile<vector, false>(tile, image, at, height, width);
    __syncthreads();

    int tx = threadIdx.x % THREADS_X * OUT_X;
    int ty = threadIdx.x / THREADS_X * OUT_Y;
    const float *from = tile + ty * STRIDE_Y + (tx + START) * STRIDE_X;
    float sum[OUT_Y][OUT_X] = {};
#if METHOD == METHOD_fast_fir
    sums parts = {};
#endif
#if UNROLL
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int step = 0; step < STEPS; step++)
#if METHOD == METHOD_fast_fir
        take_column(parts, from, near, step);
    put_together(sum, parts);
#else
        take_step(sum, from, near, step);
#endif

    int x = x0 + tx;
    int y = y0 + ty;
    bool whole = x0 + BLOCK_X <= width && y0 + BLOCK_Y <= height &&
                 ((size_t)out & (OUT_X * 4 - 1)) == 0;
    out += (long long)y * width + x;
    if (whole) {
        if (width % OUT_X == 0)
            return put_rows<0>(out, sum, width);
#if OUT_X > 1 && OUT_Y % OUT_X == 0
        if (OUT_X == 2 || width % OUT_X == 1)
            return put_rows<1>(out, sum, width);
        if (width % OUT_X == 2)
            return put_rows<2>(out, sum, width);
        return put_rows<3>(out, sum, width);
#endif
    }
#pragma unroll
    for (int k = 0; k < OUT_Y; k++, out += width)
#pragma unroll
        for (int i = 0; i < OUT_X; i++)
            if (y + k < height && x + i < width)
                out[i] = sum[k][i];
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: an output a thread, added in double. */
extern "C" __global__ void
conv2d_reference(float *out, const float *image,
                 const __grid_constant__ Weights weights, int height,
                 int width)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)height * width)
        return;
    int x = i % width;
    int y = i / width;
    double sum = 0.0;
    for (int fy = 0; fy < filter; fy++)
        for (int fx = 0; fx < filter; fx++) {
            int ix = x + fx - REACH;
            int iy = y + fy - REACH;
            if (ix >= 0 && ix < width && iy >= 0 && iy < height)
                sum += (double)image[(long long)iy * width + ix] *
                       weights.at[fy * filter + fx];
        }
    out[i] = (float)sum;
}
#endif
