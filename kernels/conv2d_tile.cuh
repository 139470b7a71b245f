/* SPDX-License-Identifier: MIT */
/*
 * conv2d_tile: loads a block's inputs and their halo into shared memory, zeros
 * beyond the border, in vectors where rows are aligned.  Of conv2d.cu alone.
 */

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
