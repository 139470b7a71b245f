/* SPDX-License-Identifier: MIT */
/*
 * function: a choice in a context, as load.c makes it and launch.c reads it.
 * Private to runtime.  Never changes once it is made.
 */
#ifndef SHMT_RUNTIME_FUNCTION_H
#define SHMT_RUNTIME_FUNCTION_H

#include "gpu/gpu.h"
#include "runtime/binary.h"
#include "runtime/library.h"

struct shmt_step {
    const struct shmt_function *function;   /* in the module */
    struct shmt_geometry geometry;
    const struct shmt_launch *launch;
};

struct shmt_parameter_slot {
    bool scalar;
    bool array;                  /* passed by value */
    bool needed;                 /* a step uses it */
    int64_t cleared;             /* bytes to set to 0 first */
    union shmt_scalar value;     /* of a scalar: the spec's */
};

struct shmtune_function {
    struct shmt_binary *binary;  /* one of its users */
    const struct shmtune_kernel *kernel;
    size_t step_count;
    struct shmt_step steps[SHMT_KERNEL_LAUNCHES];
    size_t slot_count;
    struct shmt_parameter_slot slots[SHMT_KERNEL_ARGUMENTS];
};

#endif
