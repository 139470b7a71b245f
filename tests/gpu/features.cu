/* SPDX-License-Identifier: MIT */
/* setmaxnreg, which the target sm_90 has not and sm_90a has. */
extern "C" __global__ void
    features(float *out, const float *in, int n)
{
    const int at = blockIdx.x * BLOCK + threadIdx.x;

#if !defined SHMTUNE_REFERENCE && __CUDA_ARCH__ >= 900
#if SHRINK
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
#endif
    if (at < n)
        out[at] = 2 * in[at];
}
