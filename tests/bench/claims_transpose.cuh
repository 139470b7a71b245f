/* SPDX-License-Identifier: MIT */
/* claims_transpose: transposes with and without a tile, beside copies. */
#ifndef SHMT_BENCH_CLAIMS_TRANSPOSE_CUH
#define SHMT_BENCH_CLAIMS_TRANSPOSE_CUH

#include <vector>

#include "claims_timing.cuh"

__global__ void transpose_reads(float *out, const float *in, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 32 + threadIdx.y;

    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}

__global__ void transpose_writes(float *out, const float *in, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 32 + threadIdx.y;

    out[(size_t)y * n + x] = in[(size_t)x * n + y];
}

template <int PAD, int ROWS, bool DYNAMIC_TILE>
__global__ void transpose_tile(float *out, const float *in, int n)
{
    __shared__ float fixed[DYNAMIC_TILE ? 1 : 32 * (32 + PAD)];
    extern __shared__ float flexible[];
    float *const tile = DYNAMIC_TILE ? flexible : fixed;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

#pragma unroll
    for (int k = 0; k < 32; k += ROWS)
        tile[(threadIdx.y + k) * (32 + PAD) + threadIdx.x] =
            in[(size_t)(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += ROWS)
        out[(size_t)(y + k) * n + x] =
            tile[threadIdx.x * (32 + PAD) + threadIdx.y + k];
}

static void transposes(const Flush &flush, int n)
{
    const size_t count = (size_t)n * n;
    float *in = allocate(count), *out = allocate(count);
    unsigned long long *wrong;
    const dim3 grid(n / 32, n / 32);
    std::vector<Variant> all;

    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    fill_unit<<<1024, 256>>>(in, count, 1);
    auto add = [&](const char *name, bool turned, Launch launch) {
        auto right = [=] {
            unsigned long long bad = 0;
            CUDA(cudaMemset(wrong, 0, sizeof bad));
            count_differences<<<grid, dim3(32, 32)>>>(wrong, out, in, n,
                                                      turned);
            CUDA(cudaMemcpy(&bad, wrong, sizeof bad, cudaMemcpyDefault));
            CUDA(cudaMemset(out, 0xff, 4 * count));
            return bad == 0;
        };
        all.push_back({"transpose", name, (double)n, nullptr, launch, right,
                       8.0 * count, 0, n == 8192});
    };
    add("copy", false, [=](cudaStream_t s) {
        copy_matrix<<<(unsigned)(count / 256), 256, 0, s>>>(out, in, count);
    });
    add("cudaMemcpyAsync", false, [=](cudaStream_t s) {
        CUDA(cudaMemcpyAsync(out, in, 4 * count, cudaMemcpyDeviceToDevice,
                             s));
    });
    all.back().profiled = false;          /* not a kernel of ours */
    add("naive (writes strided)", true, [=](cudaStream_t s) {
        transpose_reads<<<grid, dim3(32, 32), 0, s>>>(out, in, n);
    });
    add("naive (reads strided)", true, [=](cudaStream_t s) {
        transpose_writes<<<grid, dim3(32, 32), 0, s>>>(out, in, n);
    });
#define TILE(name, pad, rows, dynamic)                                       \
    add(name, true, [=](cudaStream_t s) {                                    \
        transpose_tile<pad, rows, dynamic>                                   \
            <<<grid, dim3(32, rows), dynamic ? 4 * 32 * (32 + pad) : 0,      \
               s>>>(out, in, n);                                             \
    })
    TILE("tile 32x32", 0, 32, false);
    TILE("tile 32x32 padded", 1, 32, false);
    TILE("tile 32x8", 0, 8, false);
    TILE("tile 32x8 padded", 1, 8, false);
    TILE("tile 32x8 padded dynamic", 1, 8, true);
#undef TILE
    perform(flush, all);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(wrong));
}

#endif
