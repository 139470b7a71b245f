/* SPDX-License-Identifier: MIT */
/*
 * device_shim: what the text of bench/source.c takes from CUDA, for a C++
 * compiler of the host.  device_text.c compiles the two together; a kernel's
 * threads run one after the other, or each in a thread of its own where they
 * exchange values in a warp.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

#define __device__
#define __noinline__ __attribute__((noinline))
#define __global__ __attribute__((visibility("default")))
#define SHIM extern "C" __attribute__((visibility("default")))

struct shim_place {
    unsigned x;
};
struct uint4 {
    unsigned x, y, z, w;
};
static thread_local shim_place blockIdx, threadIdx, blockDim, gridDim;

/* The calling thread is this thread of a grid. */
SHIM void shim_enter(unsigned block, unsigned thread, unsigned blocks,
                     unsigned threads)
{
    blockIdx.x = block;
    threadIdx.x = thread;
    gridDim.x = blocks;
    blockDim.x = threads;
}

/* All threads of a grid wait here for each other; NULL when they run one after
 * the other. */
SHIM pthread_barrier_t *shim_barrier;
pthread_barrier_t *shim_barrier;
static unsigned long long shim_lanes[1024];

static inline unsigned long long
__shfl_xor_sync(unsigned, unsigned long long value, int other)
{
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long got;

    shim_lanes[me] = value;
    pthread_barrier_wait(shim_barrier);
    got = shim_lanes[me ^ (unsigned)other];
    pthread_barrier_wait(shim_barrier);
    return got;
}

static inline double __dmul_rn(double a, double b)
{
    volatile double product = a * b;

    return product;
}

static inline double __dadd_rn(double a, double b)
{
    volatile double sum = a + b;

    return sum;
}

static inline double __ddiv_rn(double a, double b)
{
    volatile double quotient = a / b;

    return quotient;
}

static inline long long min(long long a, long long b)
{
    return a < b ? a : b;
}

static inline unsigned long long max(unsigned long long a,
                                     unsigned long long b)
{
    return a > b ? a : b;
}

template <typename T> static inline void atomicAdd(T *at, T value)
{
    __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

template <typename T> static inline void atomicMin(T *at, T value)
{
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);

    while (value < old &&
           !__atomic_compare_exchange_n(at, &old, value, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

template <typename T> static inline void atomicMax(T *at, T value)
{
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);

    while (value > old &&
           !__atomic_compare_exchange_n(at, &old, value, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}
