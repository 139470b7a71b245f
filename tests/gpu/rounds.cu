// SPDX-License-Identifier: MIT
// What graphed.c compiles on a GPU, as tests/fake/data/chain.cu: kernels of which
// each reads what another wrote, and one of which waits for nothing.
#define ROUNDS 20

extern "C" __global__ void cover(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;

    if (i < n)
        z[i] = a * x[i];
}

extern "C" __global__ void many(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;

    for (int k = 0; k < ROUNDS; k++)
        __nanosleep(500);
    if (i < n)
        z[i] = a * x[i];
}

extern "C" __global__ void plenty(float *z, const float *x, float a, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;

    if (i < n)
        z[i] = a * x[i];
}
