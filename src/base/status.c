/* SPDX-License-Identifier: MIT */
/*
 * status: functions that write the message of a struct shmt_error.  Called by
 * every module.
 */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum shmtune_status shmt_error_set(struct shmt_error *err,
                                   enum shmtune_status status,
                                   const char *format, ...)
{
    va_list arguments;

    if (err == NULL)
        return status;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
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
    vsnprintf(err->text, sizeof err->text, format, arguments);
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
    vsnprintf(err->text + used, sizeof err->text - used, format, arguments);
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
