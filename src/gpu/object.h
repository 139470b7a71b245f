/* SPDX-License-Identifier: MIT */
/*
 * object: the shared object of an image whose entries are functions of the
 * host.  It is opened where candidates are measured, in a process that may die
 * of it, and nowhere else.
 */
#ifndef SHMT_GPU_OBJECT_H
#define SHMT_GPU_OBJECT_H

#include "gpu/driver.h"
#include "gpu/image.h"

/* What stands behind the source (nvcc.c): `arguments` are as cuLaunchKernel
 * wants them; 0, or what the function says went wrong. */
typedef int shmt_object_function(CUstream stream, void **arguments);

struct shmt_object {
    void *handle;                  /* NULL: none is open */
    shmt_object_function *functions[SHMT_KERNEL_LAUNCHES];   /* by entry */
};

/* Runs what the object has for its start.  SHMTUNE_CUDA with the loader's
 * words. */
enum shmtune_status shmt_object_open(const struct shmt_image *image,
                                     struct shmt_object *out,
                                     struct shmt_error *err);
/* Nothing of it may be running. */
void shmt_object_close(struct shmt_object *object);

#endif
