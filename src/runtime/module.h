/* SPDX-License-Identifier: MIT */
/*
 * module: a binary loaded into a CUDA context, shared by all functions that
 * differ only in their problem.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_MODULE_H
#define SHMT_RUNTIME_MODULE_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/gpu.h"

struct shmt_runtime_module {
    atomic_int users;
    const struct shmt_driver *driver;
    CUcontext context;
    struct shmtune_device device;      /* of the context */
    char key[SHMT_DIGEST_TEXT];        /* of the image */
    const char *origin;                /* "shipped", "cached", "compiled" */
    pthread_mutex_t lock;              /* of what is set on its functions */
    struct shmt_module module;
    atomic_uint_least64_t filled;      /* a bit for each of its variables */
};

/* A choice, and the same evaluated. */
struct shmt_runtime_module_request {
    const struct shmtune_choice *choice;
    struct shmt_kernel_evaluated *evaluated;
    unsigned flags;                    /* of shmtune_prepare */
};

/* Loads the binary into the current context; it has one user.  Returns the
 * statuses of shmtune_prepare. */
enum shmtune_status
shmt_runtime_module_load(const struct shmt_runtime_module_request *request,
                         struct shmt_runtime_module **out,
                         struct shmt_error *err);

/* Whether this is the binary that the configuration needs. */
enum shmtune_status
shmt_runtime_module_matches(const struct shmt_runtime_module *binary,
                            struct shmt_kernel_evaluated *evaluated,
                            bool *matches,
                            struct shmt_error *err);

/* Removes one user.  The last one unloads the module in its own context and
 * restores the current context. */
void shmt_runtime_module_release(struct shmt_runtime_module *binary);

#endif
