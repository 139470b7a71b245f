/* SPDX-License-Identifier: MIT */
/* A whole program, with headers that NVRTC does not read; for nvcc. */
#include <cstdio>
#include <vector>

namespace whole {
template <typename T, int N>
__global__ void twice(T *out, const T *in, const T *more, int n)
{
    __shared__ T tile[N];
    const int at = blockIdx.x * N + threadIdx.x;

    tile[threadIdx.x] = at < n ? in[at] : T(0);
    __syncthreads();
    if (at < n)
        out[at] = tile[threadIdx.x] + more[at];
}
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void reference(float *out, const float *in, int n)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;

    if (at < n)
        out[at] = 2 * in[at];
}
#endif

int main()
{
    std::vector<float> host(1024);

    whole::twice<float, 256><<<4, 256>>>(host.data(), host.data(),
                                         host.data(), 1024);
    std::printf("%f\n", host[0]);
}
