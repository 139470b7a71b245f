// SPDX-License-Identifier: MIT
// y = a x, for the tests of the command line.
#include "scale.h"

extern "C" __global__ void scale(float *y, const float *x, float a, int n)
{
#if MEMORY == MEMORY_dynamic
    extern __shared__ float tile[];
#else
    __shared__ float tile[BLOCK + PAD];
#endif
    const int i = INDEX(BLOCK);

    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n)
        y[i] = a * tile[threadIdx.x];
}

extern "C" __global__ void scale_reference(float *y, const float *x, float a,
                                           int n)
{
    const int i = INDEX(256);

    if (i < n)
        y[i] = a * x[i];
}
