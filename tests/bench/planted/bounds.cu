/* SPDX-License-Identifier: MIT */
/*
 * bounds: y = 2 x + 1.  Without CHECK the last block writes behind the end of
 * y: every element of it is right, and what lies there is not any more.
 */
extern "C" __global__ void line(float *y, const float *x, int n)
{
    const int first = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;

#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = first + k * BLOCK;
#if CHECK
        if (i < n)
#endif
            y[i] = 2 * x[i] + 1;
    }
}

extern "C" __global__ void line_reference(float *y, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = 2 * x[i] + 1;
}
