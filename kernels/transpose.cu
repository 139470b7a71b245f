/* SPDX-License-Identifier: MIT */
/*
 * transpose: out (cols x rows) = in (rows x cols) transposed, for elements
 * of 4 or 8 bytes, any shape.
 *
 * A block carries one TILE_X x TILE_Y tile through shared memory, so that
 * both its reads and its writes run along rows.  What the space spans:
 *
 * TURN     where the transposing happens.  `gather`: the tile keeps the
 *          input's rows and each output vector is gathered down a column.
 *          `registers`: a thread turns a VECTOR x VECTOR patch in registers
 *          and the tile keeps the output's rows, so that both sides move
 *          whole vectors.
 * LOAD     `plain` through registers, `async` by cp.async (sm_80 up),
 *          `bulk` by the copy engine, a row at a time (sm_90 up).  An older
 *          GPU compiles the plain form of each.
 * PAD, SWIZZLE   the two cures for bank conflicts: extra elements a row, or
 *          column groups permuted by an exclusive or with the row.
 * ORDER    which tile a block takes: along rows, down columns, or in bands
 *          of eight rows of tiles, which keeps both sides near in L2.
 * STREAM   stores that ask not to stay in cache.
 *
 * Vectors need rows whose length is a multiple of VECTOR and aligned
 * buffers; tiles at the edge, and matrices that have neither, go element by
 * element.  Every thread reaches the barrier: bounds guard accesses only.
 */

#if element == 8
typedef double item;
#else
typedef float item;
#endif

/* 16 bytes at most. */
struct alignas(VECTOR * element) vector {
    item part[VECTOR];
};

constexpr int GATHER = TURN == TURN_gather;
constexpr int ROW = GATHER ? TILE_X : TILE_Y;  /* of the tile in memory */
constexpr int PITCH = ROW + PAD;
constexpr int LINES = GATHER ? TILE_Y : TILE_X;
constexpr int TILE_BYTES = LINES * PITCH * (int)sizeof(item);
/* The bulk form keeps its barrier behind the tile. */
[[maybe_unused]] constexpr int BYTES =
    TILE_BYTES + (LOAD == LOAD_bulk ? 8 : 0);

#if LOAD == LOAD_async && __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#elif LOAD == LOAD_bulk && __CUDA_ARCH__ >= 900
#define COPY_BULK 1
#endif

/* Where the element of input column x, input row y stands in the tile. */
__device__ __forceinline__ int at(int x, int y)
{
    int line = GATHER ? y : x;
    int place = GATHER ? x : y;
#if SWIZZLE
    place ^= (line / VECTOR * VECTOR) & (ROW - 1);
#endif
    return line * PITCH + place;
}

__device__ __forceinline__ void put(item *to, item value)
{
#if STREAM
    __stcs(to, value);
#else
    *to = value;
#endif
}

__device__ __forceinline__ void put(vector *to, const vector &value)
{
#if STREAM && VECTOR * element == 16
    __stcs((float4 *)to, *(const float4 *)&value);
#elif STREAM && VECTOR * element == 8
    __stcs((float2 *)to, *(const float2 *)&value);
#else
    *to = value;
#endif
}

__device__ __forceinline__ unsigned address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* The tile's upper left corner. */
__device__ __forceinline__ void place(int rows, int cols, int *x0, int *y0)
{
    [[maybe_unused]] unsigned across = ((unsigned)cols + TILE_X - 1) / TILE_X;
    [[maybe_unused]] unsigned down = ((unsigned)rows + TILE_Y - 1) / TILE_Y;
    unsigned b = blockIdx.x;
#if ORDER == ORDER_rows
    unsigned x = b % across;
    unsigned y = b / across;
#elif ORDER == ORDER_columns
    unsigned x = b / down;
    unsigned y = b % down;
#else
    constexpr unsigned BAND = 8;
    unsigned band = b / (BAND * across);
    unsigned high = min(down - band * BAND, BAND);
    unsigned rest = b - band * BAND * across;
    unsigned x = rest / high;
    unsigned y = band * BAND + rest % high;
#endif
    *x0 = (int)(x * TILE_X);
    *y0 = (int)(y * TILE_Y);
}

/* Element by element: edges, and rows that vectors do not fit. */
__device__ void load_narrow(item *tile, const item *__restrict__ in, int w,
                            int h, int cols)
{
#pragma unroll 4
    for (int e = threadIdx.x; e < TILE_X * TILE_Y; e += THREADS) {
        int x = e % TILE_X;
        int y = e / TILE_X;
        if (x < w && y < h)
            tile[at(x, y)] = in[(size_t)y * cols + x];
    }
}

__device__ void store_narrow(const item *tile, item *__restrict__ out, int w,
                             int h, int rows)
{
#pragma unroll 4
    for (int e = threadIdx.x; e < TILE_X * TILE_Y; e += THREADS) {
        int y = e % TILE_Y;
        int x = e / TILE_Y;
        if (x < w && y < h)
            put(&out[(size_t)x * rows + y], tile[at(x, y)]);
    }
}

/* A whole tile.  `in` points at its corner. */
#if TURN == TURN_registers
constexpr int ITEMS = TILE_X * TILE_Y / (VECTOR * VECTOR * THREADS);

__device__ __forceinline__ void load_wide(item *tile,
                                          const item *__restrict__ in,
                                          int cols)
{
    constexpr int ACROSS = TILE_X / VECTOR;
    vector patch[ITEMS][VECTOR];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int e = threadIdx.x + k * THREADS;
        const item *from = in + (size_t)(e / ACROSS * VECTOR) * cols +
                           e % ACROSS * VECTOR;
#pragma unroll
        for (int j = 0; j < VECTOR; j++)
            patch[k][j] = *(const vector *)(from + (size_t)j * cols);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int e = threadIdx.x + k * THREADS;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            vector turned;
#pragma unroll
            for (int j = 0; j < VECTOR; j++)
                turned.part[j] = patch[k][j].part[i];
            *(vector *)(tile + at(e % ACROSS * VECTOR + i,
                                  e / ACROSS * VECTOR)) = turned;
        }
    }
}
#elif defined(COPY_BULK)
/* One barrier counts the bytes of all rows; a lane starts each row. */
__device__ __forceinline__ void load_wide(item *tile,
                                          const item *__restrict__ in,
                                          int cols)
{
    constexpr unsigned LINE = TILE_X * sizeof(item);
    unsigned barrier = address((char *)tile + TILE_BYTES);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                     :: "r"(barrier) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(barrier), "r"(LINE * TILE_Y) : "memory");
    }
    __syncthreads();
    for (int y = threadIdx.x; y < TILE_Y; y += THREADS)
        asm volatile("cp.async.bulk.shared::cluster.global"
                     ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(address(tile + at(0, y))),
                        "l"(__cvta_generic_to_global(in + (size_t)y * cols)),
                        "r"(LINE), "r"(barrier) : "memory");
    asm volatile("{\n\t.reg .pred done;\n"
                 "WAIT: mbarrier.try_wait.parity.shared::cta.b64"
                 " done, [%0], 0;\n\t"
                 "@!done bra WAIT;\n\t}"
                 :: "r"(barrier) : "memory");
}
#else
constexpr int ITEMS = TILE_X * TILE_Y / (VECTOR * THREADS);

__device__ __forceinline__ void load_wide(item *tile,
                                          const item *__restrict__ in,
                                          int cols)
{
    constexpr int ACROSS = TILE_X / VECTOR;
#ifdef COPY_ASYNC
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int e = threadIdx.x + k * THREADS;
        int x = e % ACROSS * VECTOR;
        int y = e / ACROSS;
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :: "r"(address(tile + at(x, y))),
                        "l"(__cvta_generic_to_global(in + (size_t)y * cols +
                                                     x)),
                        "n"(VECTOR * element) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
#else
    vector held[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int e = threadIdx.x + k * THREADS;
        held[k] = *(const vector *)(in + (size_t)(e / ACROSS) * cols +
                                    e % ACROSS * VECTOR);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int e = threadIdx.x + k * THREADS;
        int x = e % ACROSS * VECTOR;
        int y = e / ACROSS;
#if PAD % VECTOR == 0
        *(vector *)(tile + at(x, y)) = held[k];
#else
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            tile[at(x, y) + i] = held[k].part[i];
#endif
    }
#endif
}
#endif

__device__ __forceinline__ void store_wide(const item *tile,
                                           item *__restrict__ out, int rows)
{
    constexpr int VECTORS = TILE_X * TILE_Y / (VECTOR * THREADS);
    constexpr int ACROSS = TILE_Y / VECTOR;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        int e = threadIdx.x + k * THREADS;
        int y = e % ACROSS * VECTOR;
        int x = e / ACROSS;
        vector held;
#if TURN == TURN_registers
        held = *(const vector *)(tile + at(x, y));
#else
#pragma unroll
        for (int j = 0; j < VECTOR; j++)
            held.part[j] = tile[at(x, y + j)];
#endif
        put((vector *)(out + (size_t)x * rows + y), held);
    }
}

__device__ __forceinline__ bool fits(const void *base, int length, int unit)
{
    return ((size_t)base & (unit * sizeof(item) - 1)) == 0 &&
           length % unit == 0;
}

extern "C" __global__ void __launch_bounds__(THREADS)
transpose(item *__restrict__ out, const item *__restrict__ in, int rows,
          int cols)
{
#if MEMORY == MEMORY_static
    __shared__ alignas(16) unsigned char bytes[BYTES];
#else
    extern __shared__ __align__(16) unsigned char bytes[];
#endif
    item *tile = (item *)bytes;
    int x0, y0;
    place(rows, cols, &x0, &y0);
    int w = min(cols - x0, TILE_X);
    int h = min(rows - y0, TILE_Y);
    bool whole = w == TILE_X && h == TILE_Y;
    /* The copy engine moves 16 bytes or none. */
    constexpr int UNIT = LOAD == LOAD_bulk ? 16 / element : VECTOR;

    in += (size_t)y0 * cols + x0;
    if (whole && fits(in, cols, UNIT))
        load_wide(tile, in, cols);
    else
        load_narrow(tile, in, w, h, cols);
    __syncthreads();
    out += (size_t)x0 * rows + y0;
    if (whole && fits(out, rows, VECTOR))
        store_wide(tile, out, rows);
    else
        store_narrow(tile, out, w, h, rows);
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: one thread an element, nothing shared. */
extern "C" __global__ void transpose_reference(item *out, const item *in,
                                               int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols)
        out[i % cols * rows + i / cols] = in[i];
}
#endif
