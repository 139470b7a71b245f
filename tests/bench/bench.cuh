/* SPDX-License-Identifier: MIT */
/*
 * bench: what the CUDA benchmarks share: what to do when CUDA fails, and the
 * hash that inputs are made of.  BENCH, defined before, names the program.
 */
#ifndef SHMT_BENCH_BENCH_CUH
#define SHMT_BENCH_BENCH_CUH

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

[[noreturn]] static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    std::fprintf(stderr, BENCH ": ");
    std::vfprintf(stderr, format, arguments);
    std::fprintf(stderr, "\n");
    va_end(arguments);
    std::exit(1);
}

#define CUDA(call)                                                           \
    do {                                                                     \
        cudaError_t error_ = (call);                                         \
        if (error_ != cudaSuccess)                                           \
            die("%s: %s", #call, cudaGetErrorString(error_));                \
    } while (0)

__host__ __device__ static unsigned mix(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (unsigned)(x >> 32);
}

/* From -1 to 1. */
__host__ __device__ static float unit(size_t i, unsigned seed)
{
    return (float)mix(i ^ ((unsigned long long)seed << 40)) *
               (2.0f / 4294967296.0f) - 1.0f;
}

#endif
