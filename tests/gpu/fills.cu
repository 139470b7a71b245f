/* SPDX-License-Identifier: MIT */
/*
 * fills: writes one output and leaves an in-out as it is; what counts is what
 * the inputs were filled with.
 */
extern "C" __global__ void fills(int *out, unsigned *changed,
                                 int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;

    if (i < n)
        out[i] = i + 0 * (NOTHING + (int)changed[i]);
}
