/* SPDX-License-Identifier: MIT */
/* unsteady: what application.c compiles where launches are to leave something
 * else each time, or nothing.  The fake driver runs C in its stead
 * (unsteady.c). */
__constant__ float offsets[2];
extern "C" __global__ void blend(float *y) { y[0] = offsets[0]; }
extern "C" __global__ void __launch_bounds__(BLOCK)
ticks(int *z, const float *x, SCALAR a, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        z[i] = clock();
}
extern "C" __global__ void __launch_bounds__(BLOCK)
timed(float *z, int *x, SCALAR a, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        z[i] = a * i;
        x[i] = clock();
    }
}
extern "C" __global__ void __launch_bounds__(BLOCK)
wander(float *z, const float *x, SCALAR a, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n / 2)
        z[i] = a * x[i];
    if (i == 0)
        atomicAdd(&z[n / 2 + clock() % 3], 1e-6f);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
idle(float *z, float *x, SCALAR a, int n)
{
    if (n < 0)
        z[threadIdx.x] = a * x[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(BLOCK)
only(const float *z, const float *x, SCALAR a, int n)
{
    if (n < 0)
        __trap();
}
