/* SPDX-License-Identifier: MIT */
/*
 * y = a x.  BLOCK threads a block, ITEMS elements a thread: the tuner defines
 * both as macros.
 */
extern "C" __global__ void scale(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * BLOCK * ITEMS + threadIdx.x, k = 0;
         k < ITEMS && i < n; k++, i += BLOCK)
        y[i] = a * x[i];
}

/* The plain kernel that every candidate is compared with. */
extern "C" __global__ void scale_reference(float *y, const float *x, float a,
                                           int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    if (i < n)
        y[i] = a * x[i];
}
