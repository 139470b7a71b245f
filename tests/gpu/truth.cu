/* SPDX-License-Identifier: MIT */
/*
 * truth: outputs that are compared in each way there is, with faults that each
 * way has to see, or to let pass.
 */
typedef unsigned long long u64;

/* y = 2 x, `off` numbers beside it. */
__device__ float beside(float number, int off)
{
    return __int_as_float(__float_as_int(number) + off);
}

extern "C" __global__ void truth(float *y, float *padded, unsigned *set,
                                 const float *x, int rows, int cols,
                                 int fault)
{
    const int n = rows * cols, pitch = cols + 3;
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    int off = fault == 1 ? 4 : 0;

    if (i >= n)
        return;
    if (fault == 2 && i == n / 3)
        off = 16;
    y[i] = beside(2 * x[i], off);
    padded[2 + i / cols * pitch + i % cols] = x[i];
    if (fault == 3 && i == n - 1)
        padded[2 + cols] = 1;
    set[fault == 4 ? n - 1 - i : i] = i + (fault == 5 && i == 7);
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void truth_reference(float *y, float *padded,
                                           unsigned *set, const float *x,
                                           int rows, int cols)
{
    const int i = blockIdx.x * 256 + threadIdx.x;

    if (i >= rows * cols)
        return;
    y[i] = 2 * x[i];
    padded[2 + i / cols * (cols + 3) + i % cols] = x[i];
    set[i] = i;
}
#endif

#ifdef SHMTUNE_COMPARE
/* Each number is there once, in any order: if it is, each has its own place. */
extern "C" __global__ void same_set(u64 *mismatches, const unsigned *set,
                                    const unsigned *expected, int rows,
                                    int cols)
{
    const int i = blockIdx.x * 256 + threadIdx.x, n = rows * cols;

    if (i < n && (set[i] >= n ||
                  (set[i] != expected[i] &&
                   set[i] != expected[n - 1 - i])))
        atomicAdd(mismatches, 1ull);
}
#endif

extern "C" __global__ void twice(float *y, const float *x, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        y[i] = 2 * x[i];
}
