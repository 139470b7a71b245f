/* SPDX-License-Identifier: MIT */
/*
 * fake_variable: results in variables of the device: a histogram and two limits
 * that are written, sums that go on from what they hold, and the head of a
 * queue, which is nobody's result.  The fake driver runs C in its stead
 * (kernels.c).
 */
namespace counters {
__device__ unsigned histogram[bins];
}
__device__ float sums[bins];
__device__ int limits[2];
__device__ unsigned head;

extern "C" __global__ void count(const int *x, int n, int fault)
{
    for (unsigned i = atomicAdd(&head, 1u); i < (unsigned)n;
         i = atomicAdd(&head, 1u)) {
        atomicAdd(&counters::histogram[x[i]], fault == 3 && i == 0 ? 2u : 1u);
        atomicAdd(&sums[x[i]], fault == 4 && i == 0 ? 2.0f : 1.0f);
    }
    if (blockIdx.x * BLOCK + threadIdx.x == 0) {
        limits[0] = fault == 1 ? n - 1 : n;
        if (fault != 2)
            limits[1] = bins;
    }
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void count_reference(const int *x, int n)
{
    for (int i = 0; i < n; i++) {
        counters::histogram[x[i]]++;
        sums[x[i]] += 1;
    }
    limits[0] = n;
    limits[1] = bins;
}
#endif

#ifdef SHMTUNE_SETUP
extern "C" __global__ void make_sums(float *sum)
{
    for (int k = 0; k < bins; k++)
        sum[k] = 8 * k;
}
#endif

#ifdef SHMTUNE_COMPARE
extern "C" __global__ void compare_limits(unsigned long long *mismatches,
                                          const int *limit,
                                          const int *expected)
{
    for (int k = 0; k < 2; k++)
        *mismatches += limit[k] != expected[k];
}
#endif
