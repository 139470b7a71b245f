/* SPDX-License-Identifier: MIT */
/*
 * status: functions that write the message of a struct shmt_error.  Called by
 * every module.
 */
#include "base/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A message before it is shortened: two paths as long as they may be. */
enum { WHOLE_BYTES = 2 * 4096 + SHMT_ERROR_BYTES };

/* Whether a character of UTF-8 goes on with this byte. */
static bool goes_on(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

void shmt_error_format(char *text, size_t room, size_t used,
                       const char *format, va_list arguments)
{
    static const char gap[] = "...";
    char whole[WHOLE_BYTES];
    size_t length, head, tail;

    memcpy(whole, text, used);
    vsnprintf(whole + used, sizeof whole - used, format, arguments);
    length = strlen(whole);
    if (length < room) {
        memcpy(text + used, whole + used, length - used + 1);
        return;
    }
    head = (room - sizeof gap) / 2;
    tail = length - (room - sizeof gap - head);
    while (head > 0 && goes_on(whole[head]))
        head--;
    while (goes_on(whole[tail]))
        tail++;
    memcpy(text, whole, head);
    memcpy(text + head, gap, sizeof gap - 1);
    memcpy(text + head + sizeof gap - 1, whole + tail, length - tail + 1);
}

enum shmtune_status shmt_error_set(struct shmt_error *err,
                                   enum shmtune_status status,
                                   const char *format, ...)
{
    va_list arguments;

    if (err == NULL)
        return status;
    va_start(arguments, format);
    shmt_error_format(err->text, sizeof err->text, 0, format, arguments);
    va_end(arguments);
    err->status = status;
    return status;
}

enum shmtune_status shmt_error_set_status(struct shmt_error *err,
                                          enum shmtune_status status)
{
    if (err != NULL)
        err->status = status;
    return status;
}

enum shmtune_status shmt_error_prefix(struct shmt_error *err,
                                      const char *format, ...)
{
    char rest[SHMT_ERROR_BYTES];
    va_list arguments;

    if (err == NULL)
        return SHMTUNE_INTERNAL;
    memcpy(rest, err->text, sizeof rest);
    va_start(arguments, format);
    shmt_error_format(err->text, sizeof err->text, 0, format, arguments);
    va_end(arguments);
    return shmt_error_append(err, ": %s", rest);
}

enum shmtune_status shmt_error_append(struct shmt_error *err,
                                      const char *format, ...)
{
    const size_t used = err == NULL ? 0 : strlen(err->text);
    va_list arguments;

    if (err == NULL)
        return SHMTUNE_INTERNAL;
    va_start(arguments, format);
    shmt_error_format(err->text, sizeof err->text, used, format, arguments);
    va_end(arguments);
    return err->status;
}

enum shmtune_status shmt_error_system(struct shmt_error *err,
                                      const char *path, const char *what)
{
    const int code = errno;

    return code == ENOMEM
               ? shmt_error_memory(err)
               : shmt_error_set(err, SHMTUNE_STORAGE, "%s: %s: %s", path,
                                what, strerror(code));
}

enum shmtune_status shmt_error_memory(struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_NO_MEMORY, "out of memory");
}
