/* SPDX-License-Identifier: MIT */
/*
 * binary: what NVRTC made of a configuration, loaded into a context, shared
 * by the functions that differ in their problem alone.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_BINARY_H
#define SHMT_RUNTIME_BINARY_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/gpu.h"

struct shmt_binary {
    atomic_int users;
    const struct shmt_driver *driver;
    CUcontext context;
    struct shmtune_device device;      /* of the context */
    char key[SHMT_DIGEST_TEXT];        /* of the image */
    pthread_mutex_t lock;              /* of what is set on its functions */
    struct shmt_module module;
};

/* A choice, and the same evaluated. */
struct shmt_binary_request {
    const struct shmtune_choice *choice;
    struct shmt_kernel_evaluated *evaluated;
    unsigned flags;                    /* of shmtune_prepare */
};

/* For the current context, with one user.  Statuses of shmtune_prepare. */
enum shmtune_status
shmt_binary_load(const struct shmt_binary_request *request,
                 struct shmt_binary **out, struct shmt_error *err);

/* Whether it is the binary of that configuration. */
enum shmtune_status
shmt_binary_matches(const struct shmt_binary *binary,
                    struct shmt_kernel_evaluated *evaluated, bool *matches,
                    struct shmt_error *err);

/* One user less; the last one's unloads it in its own context and leaves the
 * current context as it was. */
void shmt_binary_release(struct shmt_binary *binary);

#endif
