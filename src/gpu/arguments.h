/* SPDX-License-Identifier: MIT */
/*
 * arguments: what the spec passes to each launch, against what the kernel
 * takes.  The driver cannot tell: it is given addresses alone, and reads as
 * many, and as many bytes at each, as the kernel has parameters.  For
 * image.c, by which no image gets past it.
 */
#ifndef SHMT_GPU_ARGUMENTS_H
#define SHMT_GPU_ARGUMENTS_H

#include "gpu/image.h"

/* SHMTUNE_INVALID_FILE with both sides and the place in the spec for the
 * first used launch whose arguments are not as many, or not as large, as the
 * parameters of its kernel in `image`.  A kernel whose parameters cannot be
 * read from the binary (gpu/params.h) is let pass. */
enum shmtune_status
shmt_arguments_check(struct shmt_kernel_evaluated *evaluated,
                     const struct shmt_image *image, struct shmt_error *err);

#endif
