/* SPDX-License-Identifier: MIT */
/*
 * arguments: what the spec passes to each launch, against what the kernel
 * takes.  The driver cannot check this: it gets an array of addresses and
 * reads as many of them, and as many bytes at each, as the kernel has
 * parameters.  Called by image.c for every image.
 */
#ifndef SHMT_GPU_IMAGE_ARGUMENTS_H
#define SHMT_GPU_IMAGE_ARGUMENTS_H

#include "gpu/image.h"

/* SHMTUNE_INVALID_FILE with both sides and the place in the spec for the first
 * used launch whose arguments are not as many, or not as large, as the
 * parameters of its kernel in `image`.  A kernel whose parameters cannot be
 * read from the binary (gpu/cubin.h) is accepted. */
enum shmtune_status
shmt_image_check_arguments(struct shmt_kernel_evaluated *evaluated,
                           const struct shmt_image *image,
                           struct shmt_error *err);

#endif
