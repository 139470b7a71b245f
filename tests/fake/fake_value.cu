/* SPDX-License-Identifier: MIT */
/*
 * fake_value: an array that is passed by value.  Compiled for its resources;
 * the fake driver runs C in its stead (fake_kernels.c).
 */
struct Weights {
    float at[taps];
};

extern "C" __global__ void smooth(float *out, const float *x, Weights weights,
                                  int n, int shift)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;

    if (i >= n)
        return;
    for (int t = 0; t < taps; t++)
        sum += weights.at[t] * x[(i + t + shift) % n];
    out[i] = sum;
}

extern "C" __global__ void smooth_reference(float *out, const float *x,
                                            Weights weights, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int t = 0; t < taps; t++)
            out[i] += weights.at[t] * x[(i + t) % n];
    }
}
