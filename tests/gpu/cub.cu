/* SPDX-License-Identifier: MIT */
/* Sums of rows, by CUB; the optional is libcu++'s. */
#include <cub/cub.cuh>
#include <optional>

extern "C" __global__ void row_sums(float *out, const float *in, int cols)
{
    typedef cub::BlockReduce<float, BLOCK, HOW == HOW_warp
                             ? cub::BLOCK_REDUCE_WARP_REDUCTIONS
                             : cub::BLOCK_REDUCE_RAKING> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    std::optional<float> sum;

    for (int c = threadIdx.x; c < cols; c += BLOCK)
        sum = sum.value_or(0) + in[(long long)blockIdx.x * cols + c];
    const float all = Reduce(storage).Sum(sum.value_or(0));
    if (threadIdx.x == 0)
        out[blockIdx.x] = all;
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void row_sums_reference(float *out, const float *in,
                                              int cols)
{
    double sum = 0;

    for (int c = 0; c < cols; c++)
        sum += in[(long long)blockIdx.x * cols + c];
    out[blockIdx.x] = sum;
}
#endif
