/* SPDX-License-Identifier: MIT */
/*
 * interface: what crosses the public interface: messages, and the structs that
 * begin with the size which the caller's header gave them.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_INTERFACE_H
#define SHMT_RUNTIME_INTERFACE_H

#include "base/base.h"

/* Where the members end that the library cannot do without; what lies beyond
 * may be missing in the caller's struct.  The other structs have to be whole:
 * the first member that is added to one of them becomes its offset here. */
enum {
    SHMT_RUNTIME_LEAST_DEVICE = offsetof(struct shmtune_device, l2_bytes),
    SHMT_RUNTIME_LEAST_ARGUMENT = offsetof(struct shmtune_argument, count),
    SHMT_RUNTIME_LEAST_CHOICE = offsetof(struct shmtune_choice, time_us)
};

/* Whether the struct is there and says that it has at least `least` bytes. */
static inline bool shmt_runtime_is_sized(const void *sized, size_t least)
{
    const size_t *size = sized;

    return size != NULL && *size >= least && *size <= SHMTUNE_SIZE_MAX;
}

/* The same with a message, in which `what` names the struct. */
enum shmtune_status shmt_runtime_check_size(const void *sized, size_t least,
                                            const char *what,
                                            struct shmt_error *err);

/* Copies a struct of `known` bytes to one that may be shorter or longer: its
 * size stays, and what `from` lacks becomes 0. */
void shmt_runtime_copy_sized(void *to, const void *from, size_t known);

/* Write a message, `message` may be NULL, and return `status`. */
enum shmtune_status shmt_runtime_message_set(struct shmtune_message *message,
                                             enum shmtune_status status,
                                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the text of `err`, unless `status` is SHMTUNE_OK. */
enum shmtune_status shmt_runtime_message_copy(struct shmtune_message *message,
                                              enum shmtune_status status,
                                              const struct shmt_error *err);

#endif
