/* SPDX-License-Identifier: MIT */
/*
 * status: what a function of ours returns when it could not do its work, and
 * the text that says why.  Every module uses it; it depends on shmtune.h
 * alone.
 *
 * A candidate that fails is never a status: it is a verdict in a result
 * (record/result.h).
 */
#ifndef SHMT_BASE_STATUS_H
#define SHMT_BASE_STATUS_H

#include <stdarg.h>

#include "shmtune.h"

#define SHMT_ERROR_BYTES 1024

/* A caller's place for one message.  Every function that takes one accepts
 * NULL.  The text has no newline at its end and names, where they apply, the
 * place (file:line:column), both sides of the comparison with their units,
 * and the remedy. */
struct shmt_error {
    enum shmtune_status status;
    char text[SHMT_ERROR_BYTES];
};

/* Writes a message of at most `room` bytes, its NUL included, behind the `used`
 * ones of `text`.  One that is longer loses its middle, not its end: the
 * beginning says where, the end what to do. */
void shmt_error_format(char *text, size_t room, size_t used,
                       const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

/* Write a message and return `status`, so that a failing function can end
 * with `return shmt_error_set(err, ...)`. */
enum shmtune_status shmt_error_set(struct shmt_error *err,
                                   enum shmtune_status status,
                                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives the message in `err` another status; returns it. */
enum shmtune_status shmt_error_set_status(struct shmt_error *err,
                                          enum shmtune_status status);

/* Puts "`context`: " in front of the message in `err`, and returns its
 * status. */
enum shmtune_status shmt_error_prefix(struct shmt_error *err,
                                      const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends text to the message in `err`, and returns its status. */
enum shmtune_status shmt_error_append(struct shmt_error *err,
                                      const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The message for a system call that has just failed with errno: "`path`:
 * `what`: " and the system's words.  Returns SHMTUNE_STORAGE, or
 * SHMTUNE_NO_MEMORY for ENOMEM. */
enum shmtune_status shmt_error_system(struct shmt_error *err,
                                      const char *path, const char *what);

/* The message for a failed allocation. */
enum shmtune_status shmt_error_memory(struct shmt_error *err);

#endif
