/* SPDX-License-Identifier: MIT */
/*
 * race: the sum of each row, by one block.  Without SYNC the steps of its tree
 * do not wait for each other: right for a block of one warp alone.
 */
extern "C" __global__ void row_sums(float *out, const float *in, int cols)
{
    __shared__ float part[BLOCK];
    const float *const row = in + (size_t)blockIdx.x * cols;
    float sum = 0;

#pragma unroll UNROLL
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        sum += row[c];
    part[threadIdx.x] = sum;
#pragma unroll
    for (int half = BLOCK / 2; half > 0; half /= 2) {
#if SYNC
        __syncthreads();
#else
        __syncwarp();
#endif
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

extern "C" __global__ void row_sums_reference(float *out, const float *in,
                                              int cols, int rows)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;

    for (int c = 0; r < rows && c < cols; c++)
        sum += in[(size_t)r * cols + c];
    if (r < rows)
        out[r] = (float)sum;
}
