// SPDX-License-Identifier: MIT
//
// capture_tiles: a program of the CUDA runtime, as nvcc builds it, with a
// transpose whose tile and whose block are 16 high both, so that the numbers of
// a launch do not say by which of them its grid is made.  Prints what it has
// computed.  Run by capture.sh.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define TILE_DIM 16
#define BLOCK_ROWS 16

// Width and height are multiples of TILE_DIM, and that is one of BLOCK_ROWS.
__global__ void transpose(float *odata, const float *idata, int width,
                          int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        tile[threadIdx.y + i][threadIdx.x] = idata[x + width * (y + i)];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        odata[x + height * (y + i)] = tile[threadIdx.x][threadIdx.y + i];
}

static void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "capture_tiles: %s: %s\n", what,
            cudaGetErrorString(result));
    exit(8);
}

int main()
{
    const int wide = 1024, high = 512;
    const size_t bytes = sizeof(float) * wide * high;
    void (*kernel)(float *, const float *, int, int) = &transpose;
    dim3 grid(wide / TILE_DIM, high / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
    float *in, *out, *host = new float[wide * high];
    double sum = 0;

    must(cudaMalloc(&in, bytes), "cudaMalloc");
    must(cudaMalloc(&out, bytes), "cudaMalloc");
    for (int i = 0; i < wide * high; i++)
        host[i] = i % 1009;
    must(cudaMemcpy(in, host, bytes, cudaMemcpyDefault), "copy");
    must(cudaMemset(out, 0, bytes), "set");
    kernel<<<grid, threads>>>(out, in, wide, high);
    must(cudaMemcpy(host, out, bytes, cudaMemcpyDefault), "copy");
    for (int i = 0; i < wide * high; i++)
        sum += (double)host[i] * (i % 17);
    printf("sum %.1f\n", sum);
    return 3;
}
