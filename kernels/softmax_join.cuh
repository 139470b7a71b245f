/* SPDX-License-Identifier: MIT */
/*
 * softmax_join: the greatest element and the sum of a row, from what its
 * threads know of it: over lanes, warps and the blocks of a cluster.  Of
 * softmax.cu alone.
 */

/* What is known of some elements: the greatest, and the sum of
 * exp(element - high). */
struct alignas(8) state {
    float high, sum;
};

__device__ __forceinline__ float weight(float x, float high)
{
    float y = (x - high) * 1.4426950408889634f;
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(y));
    return y;
}

struct greatest {
    static constexpr float NONE = LOWEST;
    static __device__ __forceinline__ float join(float a, float b)
    {
        return fmaxf(a, b);
    }
};

struct total {
    static constexpr float NONE = 0.0f;
    static __device__ __forceinline__ float join(float a, float b)
    {
        return a + b;
    }
};

struct both {
    static constexpr state NONE = {LOWEST, 0.0f};
    static __device__ __forceinline__ state join(state a, state b)
    {
        float high = fmaxf(a.high, b.high);
        return {high, a.sum * weight(a.high, high) +
                          b.sum * weight(b.high, high)};
    }
};

__device__ __forceinline__ float pass(float value, int lanes)
{
    return __shfl_xor_sync(0xffffffffu, value, lanes);
}

__device__ __forceinline__ state pass(state value, int lanes)
{
    return {pass(value.high, lanes), pass(value.sum, lanes)};
}

template <class Kind, int LANES, class Value>
__device__ __forceinline__ Value lanes_join(Value value)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2)
        value = Kind::join(value, pass(value, half));
    return value;
}

#ifdef CLUSTERED
__device__ __forceinline__ unsigned cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Gives each block of the cluster the value of this one, and joins all. */
template <class Kind, class Value>
__device__ __forceinline__ Value cluster_join(Value value, int turn)
{
    __shared__ Value given[2][CLUSTER];
    /* Only a block that has begun has shared memory to write to. */
    if (turn < 0)
        cluster_wait();
    if (threadIdx.x < CLUSTER) {
        unsigned mine = (unsigned)__cvta_generic_to_shared(
            &given[turn & 1][cluster_rank()]);
        unsigned there;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(there) : "r"(mine), "r"(threadIdx.x));
        if constexpr (sizeof value == 8)
            asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};"
                         :: "r"(there), "f"(value.high), "f"(value.sum)
                         : "memory");
        else
            asm volatile("st.shared::cluster.f32 [%0], %1;"
                         :: "r"(there), "f"(value) : "memory");
    }
    cluster_arrive();
    cluster_wait();
    value = given[turn & 1][0];
#pragma unroll
    for (int b = 1; b < CLUSTER; b++)
        value = Kind::join(value, given[turn & 1][b]);
    return value;
}
#endif

/* Joins the values of all threads of a row; all of them get the result.
 * `turn` alternates: words of one exchange may still be read while those of
 * the next are written.  It is -1 before the first. */
template <class Kind, class Value>
__device__ __forceinline__ Value exchange(Value value, int &turn)
{
    value = lanes_join<Kind, NEAR>(value);
    if constexpr (SPAN > 1) {
        __shared__ Value word[2][THREADS / 32];
        int warp = threadIdx.x / 32;
        int lane = threadIdx.x % 32;
        if (lane == 0)
            word[turn & 1][warp] = value;
        __syncthreads();
        value = word[turn & 1][warp / SPAN * SPAN + lane % SPAN];
        value = lanes_join<Kind, SPAN>(value);
    }
#ifdef CLUSTERED
    value = cluster_join<Kind>(value, turn);
#endif
    turn = ~turn & 1;
    return value;
}
