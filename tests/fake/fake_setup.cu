/* SPDX-License-Identifier: MIT */
/*
 * fake_setup: one input in two layouts, the second made of the first by the
 * setup, with faults to choose from.  The fake driver runs C in its stead
 * (kernels.c).
 */
#if defined(SHMTUNE_SETUP) || defined(SHMTUNE_REFERENCE) || \
    LAYOUT == LAYOUT_structures
extern "C" __global__ void lengths_structures(float *out, const float *points,
                                              int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;

    if (i < n)
        out[i] = points[2 * i] * points[2 * i];
}
#endif

extern "C" __global__ void lengths_arrays(float *out, const float *split,
                                          float *sums, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;

    if (i < n)
        out[i] = split[i] * split[i] + 0 * sums[i];
}

#ifdef SHMTUNE_SETUP
/* Faults: 2 leaves an element of split unwritten, 3 changes points, 4 writes
 * behind split, 5 leaves an element of sums unwritten. */
extern "C" __global__ void split_points(float *split, float *sums,
                                        float *points, int n, int fault)
{
    for (int i = 0; i < n; i++) {
        split[i] = points[2 * i];
        if (fault != 2 || i > 0)
            split[n + i] = points[2 * i + 1];
        if (fault != 5 || i > 0)
            sums[i] = points[2 * i] + points[2 * i + 1];
    }
    if (fault == 3)
        points[n] += 1;
    if (fault == 4)
        split[2 * n] = 1;
}
#endif
