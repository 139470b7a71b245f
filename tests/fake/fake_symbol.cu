/* SPDX-License-Identifier: MIT */
/*
 * fake_symbol: two variables of the source, one of them filled by the setup.
 * The fake driver runs C in its stead (kernels.c).
 */
#if !defined(WEIGHTS) || WEIGHTS == WEIGHTS_constant
namespace filters {
__constant__ float weights[taps];
}
#endif
__device__ int offsets[taps];

static __device__ float convolved(const float *x, int i, int n)
{
    float sum = 0;

    for (int t = 0; t < taps; t++)
#if !defined(WEIGHTS) || WEIGHTS == WEIGHTS_constant
        sum += filters::weights[t] * x[(i + offsets[t]) % n];
#else
        sum += x[(i + offsets[t]) % n];
#endif
    return sum;
}

extern "C" __global__ void convolve(float *out, const float *x, int n,
                                    int fault)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = convolved(x, i, n);
    if (fault == 1 && i == 0)
        offsets[0]++;
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void convolve_reference(float *out, const float *x,
                                              int n)
{
    for (int i = 0; i < n; i++)
        out[i] = convolved(x, i, n);
}
#endif

#ifdef SHMTUNE_SETUP
extern "C" __global__ void make_offsets(int *offset)
{
    for (int t = 0; t < taps; t++)
        offset[t] = t * t;
}
#endif
