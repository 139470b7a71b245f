/* SPDX-License-Identifier: MIT */
/*
 * launch_kernels: a kernel's buffers, and what four kernels of the library
 * make of them, in float64 on the CPU.  For launch.c.
 */
#ifndef SHMT_TESTS_GPU_LAUNCH_KERNELS_H
#define SHMT_TESTS_GPU_LAUNCH_KERNELS_H

#include "gpu/driver.h"
#include "shmtune.h"

enum { LAUNCH_ARGUMENTS = 16, LAUNCH_SIZES = 6 };

/* Here: as they were filled.  There: on the device. */
struct buffers {
    size_t count;
    struct shmtune_argument arguments[LAUNCH_ARGUMENTS];
    int64_t bytes[LAUNCH_ARGUMENTS];
    CUdeviceptr there[LAUNCH_ARGUMENTS];
    void *here[LAUNCH_ARGUMENTS];
    void *pointers[LAUNCH_ARGUMENTS];
};

/* What is here of an argument; NULL when there is none. */
void *named(const struct buffers *buffers, const char *name);

struct reference {
    const char *kernel;
    const char *result;             /* the argument */
    /* How many elements of `result`, as the device left it, are wrong. */
    int64_t (*wrong)(const struct buffers *buffers, const void *result,
                     const int64_t *size);
    int64_t sizes[LAUNCH_SIZES][SHMTUNE_DIMENSIONS];   /* 0 ends them */
};

extern const struct reference references[];
extern const size_t reference_count;

#endif
