/* SPDX-License-Identifier: MIT */
/*
 * oracle: what the built-in kernels compute, in float64 on the CPU, from the
 * inputs the tuner fills in.
 */
#ifndef SHMT_TESTS_GPU_ORACLE_H
#define SHMT_TESTS_GPU_ORACLE_H

#include "bench/bench.h"
#include "data/data.h"

enum { ORACLE_SEED = 11, ORACLE_DIMENSIONS = 4, ORACLE_SIZES = 6 };

/* A kernel at one size. */
struct trial {
    struct shmt_kernel *kernel;
    struct shmt_bench *bench;
    int64_t size[SHMT_KERNEL_DIMENSIONS];
};

struct oracle {
    const char *kernel;
    void (*compute)(const struct trial *trial, double *out);
    const char *result;             /* the argument */
    const char *dimensions[ORACLE_DIMENSIONS];
    int64_t sizes[ORACLE_SIZES][ORACLE_DIMENSIONS];   /* {0} ends them */
};

extern const struct oracle oracles[];
extern const size_t oracle_count;

/* An argument of the kernel; ends the program when there is none. */
size_t argument_of(const struct shmt_kernel *kernel, const char *name);
/* What it is filled with. */
struct shmt_pattern pattern_of(const struct trial *trial, size_t number);
/* Element `index` of an argument as it was filled. */
double filled(const struct trial *trial, size_t number, uint64_t index);

#endif
