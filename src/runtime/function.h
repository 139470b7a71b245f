/* SPDX-License-Identifier: MIT */
/*
 * function: a choice that is loaded into a context. prepare.c makes it,
 * launch.c reads it; it never changes.
 */
#ifndef SHMT_RUNTIME_FUNCTION_H
#define SHMT_RUNTIME_FUNCTION_H

#include "gpu/gpu.h"
#include "runtime/module.h"
#include "runtime/library.h"

struct shmt_runtime_step {
    const struct shmt_function *function;   /* in the module */
    struct shmt_geometry geometry;
    const struct shmt_launch *launch;
};

struct shmt_runtime_argument {
    bool scalar;
    bool array;                  /* passed by value */
    bool needed;                 /* a step uses it */
    int64_t cleared;             /* bytes to set to 0 first */
    union shmt_element_scalar value; /* of a scalar: the spec's */
};

struct shmtune_function {
    struct shmt_runtime_module *binary; /* one of its users */
    const struct shmtune_kernel *kernel;
    size_t step_count;
    struct shmt_runtime_step steps[SHMT_KERNEL_LAUNCHES];
    size_t slot_count;
    struct shmt_runtime_argument slots[SHMT_KERNEL_ARGUMENTS];
};

#endif
