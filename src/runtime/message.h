/* SPDX-License-Identifier: MIT */
/*
 * message: our errors in the caller's place.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_MESSAGE_H
#define SHMT_RUNTIME_MESSAGE_H

#include "base/base.h"

/* Write a message, `message` may be NULL, and return `status`. */
enum shmtune_status shmt_runtime_message_set(struct shmtune_message *message,
                                             enum shmtune_status status,
                                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the text of `err`. */
enum shmtune_status shmt_runtime_message_copy(struct shmtune_message *message,
                                              enum shmtune_status status,
                                              const struct shmt_error *err);

#endif
