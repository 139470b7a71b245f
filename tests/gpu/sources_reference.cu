/* SPDX-License-Identifier: MIT */
#ifdef BLOCK
#error a reference in a source of its own has no parameters
#endif
extern "C" __global__ void sources_reference(float *out, const float *in,
                                             int n)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;

    if (at < n)
        out[at] = FACTOR * in[at];
}
