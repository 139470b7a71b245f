/* SPDX-License-Identifier: MIT */
/*
 * fake_grid: a cooperative launch, whose blocks wait for each other, and one
 * whose blocks read the shared memory of others of their cluster.  The fake
 * driver runs C in its stead (kernels.c).
 */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void mirror(int *out, int *twice, const int *x, int n)
{
    const int step = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = first; i < n; i += step)
        twice[i] = 2 * x[i];
    cg::this_grid().sync();
    for (int i = first; i < n; i += step)
        out[i] = twice[n - 1 - i];
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void grid_reference(int *out, const int *x, int n,
                                          int *across, int edge)
{
    const int wide = 2 * edge, high = 3 * edge;

    for (int i = 0; i < n; i++)
        out[i] = 2 * x[n - 1 - i];
    for (int z = 0; z < edge; z++)
        for (int y = 0; y < high; y++)
            for (int x = 0; x < wide; x++) {
                const int ox = x / edge * edge + edge - 1 - x % edge;
                const int oy = y / edge * edge + edge - 1 - y % edge;
                const int oz = edge - 1 - z;

                across[(z * high + y) * wide + x] =
                    (oz * high + oy) * wide + ox;
            }
}
#elif __CUDA_ARCH__ >= 900
/* Each block learns the number of the opposite one of its cluster. */
extern "C" __global__ void opposite(int *across)
{
    __shared__ int number;
    auto cluster = cg::this_cluster();
    const dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    const unsigned rank =
        ((size.z - 1 - at.z) * size.y + size.y - 1 - at.y) * size.x +
        size.x - 1 - at.x;
    const int own =
        (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;

    if (threadIdx.x == 0)
        number = own;
    cluster.sync();
    if (threadIdx.x == 0)
        across[own] = *cluster.map_shared_rank(&number, rank);
    cluster.sync();
}
#endif
