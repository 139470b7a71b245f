// SPDX-License-Identifier: MIT
//
// capture: a program of the CUDA runtime, as nvcc builds it, with a kernel whose
// source nobody sees at run time and pointers inside of a struct.  Prints what
// it has computed.  Run by capture.sh.
#include <cstdio>

#include <cuda_runtime.h>

struct Pair {
    const float *x;
    float *y;
    int n;
    float a;
};

template <class T>
__global__ void add_scaled(T *z, Pair pair)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < pair.n) {
        pair.y[i] += pair.a * pair.x[i];
        z[i] = 2 * pair.y[i];
    }
}

static void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "capture: %s: %s\n", what, cudaGetErrorString(result));
    exit(8);
}

int main()
{
    const int n = 100000;
    float *x, *y, *z, *host = new float[n];
    double sum = 0;

    must(cudaMalloc(&x, n * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&y, n * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&z, n * sizeof(float)), "cudaMalloc");
    for (int i = 0; i < n; i++)
        host[i] = i % 11;
    must(cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyDefault), "copy");
    must(cudaMemcpy(y, host, n * sizeof(float), cudaMemcpyDefault), "copy");
    must(cudaMemset(z, 0, n * sizeof(float)), "set");
    for (int k = 0; k < 3; k++)
        add_scaled<float><<<(n + 127) / 128, 128>>>(z, Pair{x, y, n, 0.5f});
    must(cudaMemcpy(host, z, n * sizeof(float), cudaMemcpyDefault), "copy");
    for (int i = 0; i < n; i++)
        sum += host[i];
    printf("sum %.3f\n", sum);
    return 3;
}
