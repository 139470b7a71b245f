/* SPDX-License-Identifier: MIT */
/* CUB's sum of a whole array: a function of the host, which launches two
 * kernels with a policy of its own or with CUB's. */
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>

#ifndef SHMTUNE_REFERENCE
struct Policies {
    struct Policy : cub::ChainedPolicy<500, Policy, Policy> {
        using ReducePolicy =
            cub::AgentReducePolicy<THREADS, ITEMS, float, 4,
                                   cub::BLOCK_REDUCE_WARP_REDUCTIONS,
                                   cub::LOAD_LDG>;
        using SingleTilePolicy = ReducePolicy;
        using SegmentedReducePolicy = ReducePolicy;
    };
    using MaxPolicy = Policy;
};

static cudaError_t reduce(void *scratch, size_t &bytes, const float *in,
                          float *out, int n, cudaStream_t stream)
{
#if POLICY == POLICY_cub
    return cub::DeviceReduce::Sum(scratch, bytes, in, out, n, stream);
#else
    return cub::DispatchReduce<const float *, float *, int, cuda::std::plus<>,
                               float, float, cuda::std::identity,
                               Policies>::Dispatch(scratch, bytes, in, out, n,
                                                   {}, 0.0f, stream);
#endif
}

extern "C" int sum(cudaStream_t stream, void **arguments)
{
    float *out = *static_cast<float **>(arguments[0]);
    const float *in = *static_cast<const float **>(arguments[1]);
    const int n = *static_cast<int *>(arguments[2]);
    void *scratch = *static_cast<void **>(arguments[3]);
    size_t has = *static_cast<size_t *>(arguments[4]), needs = 0;
    const cudaError_t error = reduce(nullptr, needs, in, out, n, stream);

    if (error != cudaSuccess)
        return error;
    return needs > has ? cudaErrorInvalidValue
                       : reduce(scratch, has, in, out, n, stream);
}
#else
extern "C" __global__ void reference(float *out, const float *in, int n)
{
    typedef cub::BlockReduce<double, 1024> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    double mine = 0;

    for (int i = threadIdx.x; i < n; i += 1024)
        mine += in[i];
    mine = Reduce(storage).Sum(mine);
    if (threadIdx.x == 0)
        *out = mine;
}
#endif
