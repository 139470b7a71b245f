/* SPDX-License-Identifier: MIT */
/* claims_matmul: matrix products from global memory and from tiles. */
#ifndef SHMT_BENCH_CLAIMS_MATMUL_CUH
#define SHMT_BENCH_CLAIMS_MATMUL_CUH

#include <cmath>
#include <vector>

#include "claims_timing.cuh"

template <int B>
__global__ void matmul_global(float *c, const float *a, const float *b, int n)
{
    const int x = blockIdx.x * B + threadIdx.x;
    const int y = blockIdx.y * B + threadIdx.y;
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[(size_t)y * n + k] * b[(size_t)k * n + x];
    c[(size_t)y * n + x] = sum;
}

template <int B, bool DYNAMIC_TILE>
__global__ void matmul_shared(float *c, const float *a, const float *b, int n)
{
    __shared__ float fixed[DYNAMIC_TILE ? 1 : 2 * B * B];
    extern __shared__ float flexible[];
    float *const tile_a = DYNAMIC_TILE ? flexible : fixed;
    float *const tile_b = tile_a + B * B;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
    float sum = 0;

    for (int k = 0; k < n; k += B) {
        tile_a[ty * B + tx] = a[(size_t)y * n + k + tx];
        tile_b[ty * B + tx] = b[(size_t)(k + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < B; i++)
            sum += tile_a[ty * B + i] * tile_b[i * B + tx];
        __syncthreads();
    }
    c[(size_t)y * n + x] = sum;
}

/* 64 elements by float64 on the host, every other one against those of the
 * plainest kernel. */
struct Product {
    int n;
    float *a, *b, *c, *first;

    bool right() const
    {
        const size_t count = (size_t)n * n;
        std::vector<float> ha(count), hb(count), hc(count), hf(count);

        CUDA(cudaMemcpy(hc.data(), c, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(hf.data(), first, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(ha.data(), a, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemcpy(hb.data(), b, 4 * count, cudaMemcpyDefault));
        CUDA(cudaMemset(c, 0xff, 4 * count));
        for (int k = 0; k < 64; k++) {
            const int y = mix(k) % n, x = mix(k + 99) % n;
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += (double)ha[(size_t)y * n + i] * hb[(size_t)i * n + x];
            if (!(std::fabs(sum - hf[(size_t)y * n + x]) < 1e-2))
                return false;
        }
        for (size_t i = 0; i < count; i++)
            if (!(std::fabs(hc[i] - hf[i]) < 1e-2))
                return false;
        return true;
    }
};

static void products(const Flush &flush, int n)
{
    const size_t count = (size_t)n * n;
    const Product p = {n, allocate(count), allocate(count), allocate(count),
                       allocate(count)};
    std::vector<Variant> all;

    fill_unit<<<1024, 256>>>(p.a, count, 2);
    fill_unit<<<1024, 256>>>(p.b, count, 3);
    matmul_global<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(p.first, p.a,
                                                             p.b, n);
    auto add = [&](const char *name, Launch launch) {
        all.push_back({"matmul", name, (double)n, nullptr, launch,
                       [=] { return p.right(); }, 0, 2.0 * n * n * n,
                       n == 1024});
    };
#define GLOBAL(name, block)                                                  \
    add(name, [=](cudaStream_t s) {                                          \
        matmul_global<block><<<dim3(n / block, n / block),                   \
                               dim3(block, block), 0, s>>>(p.c, p.a, p.b,    \
                                                           n);               \
    })
#define SHARED(name, block, dynamic)                                         \
    add(name, [=](cudaStream_t s) {                                          \
        matmul_shared<block, dynamic>                                        \
            <<<dim3(n / block, n / block), dim3(block, block),               \
               dynamic ? 8 * block * block : 0, s>>>(p.c, p.a, p.b, n);      \
    })
    GLOBAL("global 16x16", 16);
    GLOBAL("global 32x32", 32);
    SHARED("shared 16x16", 16, false);
    SHARED("shared 32x32", 32, false);
    SHARED("shared 16x16 dynamic", 16, true);
    SHARED("shared 32x32 dynamic", 32, true);
#undef GLOBAL
#undef SHARED
    perform(flush, all);
    for (float *q : {p.a, p.b, p.c, p.first})
        CUDA(cudaFree(q));
}

#endif
