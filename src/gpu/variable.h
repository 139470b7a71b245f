/* SPDX-License-Identifier: MIT */
/*
 * variable: which variables of a binary, __constant__ or __device__, are
 * arguments of the spec, and which nobody fills.  For image.c and the command
 * `check`.
 */
#ifndef SHMT_GPU_VARIABLE_H
#define SHMT_GPU_VARIABLE_H

#include "gpu/image.h"

/* Sets image->variables.  SHMTUNE_INVALID_FILE when the bytes of one are not
 * those of its argument, when one that is an output is not there, or when a
 * __constant__ variable has no initialiser and no argument.  The last is an
 * error only where the binary has no kernel but those of the spec: another one
 * may be its only reader.  *misfit, unless that is NULL, is the one whose bytes
 * are wrong or that nobody fills. */
enum shmtune_status
shmt_variable_check(struct shmt_kernel_evaluated *evaluated,
                    struct shmt_image *image,
                    struct shmt_image_misfit *misfit, struct shmt_error *err);

/* A line for each variable without an initialiser that no argument fills, and
 * for each argument whose variable is not in the binary. */
void shmt_variable_note(const struct shmt_kernel *kernel,
                        const struct shmt_image *image,
                        struct shmt_text *notes);

#endif
