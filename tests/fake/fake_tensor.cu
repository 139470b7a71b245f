/* SPDX-License-Identifier: MIT */
/*
 * fake_tensor: tiles of a pitched matrix by a tensor map (TMA), doubled, into
 * another pitched matrix.  The fake driver runs C in its stead (kernels.c).
 */
struct alignas(64) Map {
    unsigned long long at[16];
};

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void tensor_reference(float *out, const float *x,
                                            int rows, int cols, int pitch)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < cols; k++)
            out[i * pitch + k] = 2 * x[i * pitch + k];
}
#else
extern "C" __global__ void tiles(float *out, const __grid_constant__ Map map,
                                 int rows, int cols, int pitch, int shift)
{
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(128) float tile[TILE][TILE];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    const unsigned wait = (unsigned)__cvta_generic_to_shared(&barrier);
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(wait));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
            :: "r"(wait), "r"((unsigned)sizeof tile) : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global"
            ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(to), "l"(&map), "r"(left), "r"(top + shift), "r"(wait)
            : "memory");
    }
    __syncthreads();
    asm volatile(
        "{ .reg .pred done; AGAIN: "
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0; "
        "@!done bra AGAIN; }" :: "r"(wait) : "memory");
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        const int row = top + i / TILE, col = left + i % TILE;

        if (row < rows && col < cols)
            out[row * pitch + col] = 2 * tile[i / TILE][i % TILE];
    }
#endif
}
#endif
