/* SPDX-License-Identifier: MIT */
/*
 * matmul_multiply: a lane's sums over all slices of k, with as many of them on
 * their way as there are stages.  Of matmul.cu alone.
 */

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
