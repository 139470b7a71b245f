/* SPDX-License-Identifier: MIT */
/*
 * choice: what a choice means in bytes and blocks.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_CHOICE_H
#define SHMT_RUNTIME_CHOICE_H

#include "kernel/kernel.h"

/* Whether a selection filled in the choice, which `what` names in the
 * message. */
enum shmtune_status shmt_choice_check(const struct shmtune_choice *choice,
                                      const char *what,
                                      struct shmt_error *err);

/* The choice, evaluated. */
void shmt_choice_evaluate(const struct shmtune_choice *choice,
                          struct shmt_kernel_evaluated *out);

/* Cuts to `room` and returns the length of the whole, as snprintf does; `text`
 * may be NULL.  Frees `from`. */
size_t shmt_choice_copy_text(struct shmt_text *from, char *text, size_t room);

/* Bytes of the buffer that argument `k` needs, 0 for a scalar.
 * SHMTUNE_INVALID_ARGUMENT: negative, too large, or not to be worked out. */
enum shmtune_status
shmt_choice_bytes(struct shmt_kernel_evaluated *evaluated, size_t k,
                  int64_t *bytes, struct shmt_error *err);

#endif
