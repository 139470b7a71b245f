/* SPDX-License-Identifier: MIT */
/*
 * drift: sums of columns.  Where SPLIT blocks share a column they add to what
 * the output holds, and nobody sets that to zero: right at the first launch
 * alone, if the output was zero before.  More blocks are faster.
 */
extern "C" __global__ void column_sums(float *out, const float *in, int rows,
                                       int cols)
{
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    const int part = (rows + SPLIT - 1) / SPLIT;
    const int end = min(rows, (int)(blockIdx.y + 1) * part);
    float sum = 0;

    if (c >= cols)
        return;
#pragma unroll UNROLL
    for (int r = blockIdx.y * part; r < end; r++)
        sum += in[(size_t)r * cols + c];
#if SPLIT == 1
    out[c] = sum;
#else
    atomicAdd(&out[c], sum);
#endif
}

extern "C" __global__ void column_sums_reference(float *out, const float *in,
                                                 int rows, int cols)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;

    for (int r = 0; c < cols && r < rows; r++)
        sum += in[(size_t)r * cols + c];
    if (c < cols)
        out[c] = (float)sum;
}
