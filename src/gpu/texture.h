/* SPDX-License-Identifier: MIT */
/*
 * texture: a texture object of a buffer, or of a CUDA array with a copy of it.
 * The caller's context is current.
 */
#ifndef SHMT_GPU_TEXTURE_H
#define SHMT_GPU_TEXTURE_H

#include "gpu/driver.h"
#include "kernel/kernel.h"

/* Zeros: there is none. */
struct shmt_texture {
    CUtexObject object;        /* what a kernel is passed */
    CUarray array;             /* NULL: it reads the buffer itself */
    CUdeviceptr address;       /* of the buffer that it is of */
};

/* Makes it, of the buffer at `address`; an array has no contents yet.  Returns
 * the driver's own result, and in *what which call that is of. */
CUresult shmt_texture_make(const struct shmt_driver *driver,
                           const struct shmt_argument_texture *as,
                           CUdeviceptr address, struct shmt_texture *out,
                           const char **what);
/* Copies the buffer into the array, on the stream; nothing without one. */
CUresult shmt_texture_copy(const struct shmt_driver *driver,
                           const struct shmt_argument_texture *as,
                           const struct shmt_texture *texture,
                           CUstream stream);
/* No kernel that reads it may be running.  Zeros are allowed. */
void shmt_texture_free(const struct shmt_driver *driver,
                       struct shmt_texture *texture);

#endif
