/* SPDX-License-Identifier: MIT */
/*
 * fake_steps: as many launches as a kernel may have, each of its own function.
 * The fake driver runs C in its stead (kernels.c).
 */
template <int K> __global__ void step(unsigned *out, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = 3 * out[i] + K + i;
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void steps_reference(unsigned *out, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int k = 0; k < 64; k++)
            out[i] = 3 * out[i] + k + i;
    }
}
#endif
