/* SPDX-License-Identifier: MIT */
/* tally: what application.c compiles where a launch is to change variables of
 * its module alone.  The fake driver runs C in its stead (kernels.c). */
namespace counters {
__device__ unsigned seen[3 + 4];
}
__device__ float mean;
__device__ int untouched[2];
__constant__ float offsets[2];
extern "C" __global__ void blend(float *y) { y[0] = offsets[0]; }
extern "C" __global__ void __launch_bounds__(BLOCK)
tally(float *z, const float *x, SCALAR a, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        atomicAdd(&counters::seen[(int)x[i]], 1u);
    if (i == 0)
        mean = a * n + untouched[0];
}
