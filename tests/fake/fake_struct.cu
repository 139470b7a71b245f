/* SPDX-License-Identifier: MIT */
/*
 * fake_struct: a struct by value with numbers of several sizes and pointers, a
 * pointer into a buffer, and a null pointer.  The fake driver runs C in its
 * stead (kernels.c).
 */
struct Parameters {
    signed char sign;
    float *out;
    short steps[3];
    double scale;
    int n;
    const float *none;
    bool last;
};

extern "C" __global__ void combine(Parameters p, const float *behind,
                                   const float *null)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < p.n)
        p.out[i] = p.sign * (float)(p.scale * behind[i]) + p.steps[i % 3] +
                   (p.none == nullptr && null == nullptr && p.last ? 0 : 1);
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void combine_reference(float *out, const float *x, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = -(float)(1.5 * x[n + i]) + (i % 3 == 2 ? n % 100 : i % 3);
}
#endif
