/* SPDX-License-Identifier: MIT */
/*
 * fake_kernel: compiled for its resources; the fake driver runs C in its
 * stead (fake_kernels.c).
 */
extern "C" __global__ void scale(float *out, const float *x, int *acc,
                                 int *counter, int n, int fault, int cost)
{
    __shared__ float tile[TILE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    tile[threadIdx.x % TILE] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        out[i] = 2 * tile[threadIdx.x % TILE] + 0 * (fault + cost);
        acc[i] += 1;
    }
    if (i == 0)
        atomicAdd(counter, 1);
}

extern "C" __global__ void scale_reference(float *out, const float *x,
                                           int *acc, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = 2 * x[i];
        acc[i] += 1;
    }
}

#ifdef SHMTUNE_COMPARE
extern "C" __global__ void scale_compare(unsigned long long *mismatches,
                                         const float *out,
                                         const float *expected, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabsf(out[i] - expected[i]) <= 0.25f))
            atomicAdd(mismatches, 1ull);
}
#endif
