/* SPDX-License-Identifier: MIT */
/*
 * fake_cuda: a CUDA driver with no device, for tests: a shared object that
 * $SHMTUNE_LIBCUDA names.  Device memory is host memory, launches run at
 * once in C, time is what kernels say they cost.  It knows the kernels of
 * src/gpu/bench_source.c and the kernel of tests/fake_kernel.cu.
 *
 * Environment: FAKE_CUDA_MEMORY   bytes of device memory, default 1 GiB
 *              FAKE_CUDA_VERSION  what cuDriverGetVersion says
 *              FAKE_CUDA_MISSING  a function that is not there
 *              FAKE_CUDA_DEVICES  how many devices
 *              FAKE_CUDA_FAIL     NAME=CODE[,N]: the N-th call of cuNAME
 *                                 (default: each) returns CODE
 *              FAKE_CUDA_PROFILE  a file that gets the name of each kernel
 *                                 launched while a profiler would look
 */
#ifndef SHMT_TESTS_FAKE_CUDA_H
#define SHMT_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

/* What a function of a module is, by its name. */
struct fake_function {
    const char *name;
    int registers;
    int shared_static;
};

/* A launch that has been checked; `stuck` is an error that every later call
 * returns. */
struct fake_launch {
    const struct fake_function *function;
    unsigned grid, threads;
    void **arguments;
    double cost_us;        /* out */
    CUresult stuck;        /* out */
};

/* -- fake_kernels.c ------------------------------------------------------- */

/* False when it knows no kernel of that name. */
bool fake_kernel_run(struct fake_launch *launch);

/* -- fake_image.c --------------------------------------------------------- */

/* Registers and static shared memory of `name` in a cubin; false when it has
 * no such function. */
bool fake_image_find(const void *cubin, const char *name,
                     struct fake_function *out);

#endif
