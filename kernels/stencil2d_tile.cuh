/* SPDX-License-Identifier: MIT */
/*
 * stencil2d_tile: WALK = tile, a block takes its steps on a tile in shared
 * memory.  Of stencil2d.cu alone.
 */

constexpr int WIDTH = TILE_X + 2 * TIME;
constexpr int HEIGHT = TILE_Y + 2 * TIME;
constexpr int PITCH = WIDTH + PAD;
constexpr int WORDS = 2 * HEIGHT * PITCH;
constexpr int WARPS = THREADS / 32;

/* One step on a strip down column x of the tile, from row y to y + STRIP or
 * `bottom`; x0, y0 is where the tile lies in the grid. */
__device__ __forceinline__ void do_strip(float *to, const float *from, int x,
                                         int y, int bottom)
{
    const float *at = from + y * PITCH + x;
    float up = at[-PITCH];
    float here = at[0];
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        if (y + k >= bottom)
            break;
        float down = at[(k + 1) * PITCH];
        to[(y + k) * PITCH + x] =
            mean(up, down, at[k * PITCH - 1], at[k * PITCH + 1]);
        up = here;
        here = down;
    }
}

/* The same where the strip touches the border of the grid. */
__device__ __noinline__ void do_border_strip(float *to, const float *from,
                                             int x, int y, int bottom, int gx,
                                             int gy, int rows, int cols)
{
    for (int k = 0; k < STRIP && y + k < bottom; k++) {
        int at = (y + k) * PITCH + x;
        to[at] = fixed_point(gx, gy + k, rows, cols)
                     ? from[at]
                     : mean(from[at - PITCH], from[at + PITCH], from[at - 1],
                            from[at + 1]);
    }
}

__device__ __forceinline__ void go(float *__restrict__ out,
                                   const float *__restrict__ in, int rows,
                                   int cols, int count, int, int)
{
    SHARED(tile);
    int across = (cols + TILE_X - 1) / TILE_X;
    int x0 = blockIdx.x % across * TILE_X - TIME;
    int y0 = blockIdx.x / across * TILE_Y - TIME;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float *from = tile;
    float *to = tile + HEIGHT * PITCH;

    /* Points outside the grid are never used: its border stands before
     * them. */
#pragma unroll 4
    for (int e = threadIdx.x; e < HEIGHT * WIDTH; e += THREADS) {
        int x = e % WIDTH;
        int y = e / WIDTH;
        bool inside = x0 + x >= 0 && x0 + x < cols && y0 + y >= 0 &&
                      y0 + y < rows;
        from[y * PITCH + x] =
            inside ? in[(long long)(y0 + y) * cols + x0 + x] : 0.0f;
    }
    __syncthreads();

    bool border = x0 <= 0 || y0 <= 0 || x0 + WIDTH >= cols ||
                  y0 + HEIGHT >= rows;
    for (int step = 1; step <= count; step++) {
        int right = WIDTH - step;
        int bottom = HEIGHT - step;
        for (int y = step + warp * STRIP; y < bottom; y += WARPS * STRIP)
            for (int x = step + lane; x < right; x += 32) {
                if (border)
                    do_border_strip(to, from, x, y, bottom, x0 + x, y0 + y,
                                    rows, cols);
                else
                    do_strip(to, from, x, y, bottom);
            }
        __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }

    for (int y = warp; y < TILE_Y; y += WARPS)
        for (int x = lane; x < TILE_X; x += 32) {
            int gx = x0 + TIME + x;
            int gy = y0 + TIME + y;
            if (gx < cols && gy < rows)
                out[(long long)gy * cols + gx] =
                    from[(y + TIME) * PITCH + x + TIME];
        }
}
