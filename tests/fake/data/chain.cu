// SPDX-License-Identifier: MIT
// What graphed.c compiles: kernels of which each reads what another wrote.
#define BLOCK 256

extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        z[i] = a * x[i];
}

extern "C" __global__ void many(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        z[i] = a * x[i];
}

extern "C" __global__ void plenty(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        z[i] = a * x[i];
}
