/* SPDX-License-Identifier: MIT */
/*
 * choice: what a choice means in bytes and blocks.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_CHOICE_H
#define SHMT_RUNTIME_CHOICE_H

#include "kernel/kernel.h"

/* Room for the values of any kernel's scope. */
enum { SHMT_CHOICE_VALUES = SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS };

/* The values of the scope of the choice's kernel. */
void shmt_choice_values(const struct shmtune_choice *choice,
                        struct shmt_value values[SHMT_CHOICE_VALUES]);

/* Bytes of the buffer that argument `k` needs, 0 for a scalar.
 * SHMTUNE_INVALID_ARGUMENT: negative, too large, or not to be worked out. */
enum shmtune_status shmt_choice_bytes(const struct shmt_kernel *spec, size_t k,
                                      const struct shmt_value *values,
                                      int64_t *bytes, struct shmt_error *err);

#endif
