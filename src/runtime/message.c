/* SPDX-License-Identifier: MIT */
/*
 * message: the texts of status codes, and our error messages, copied to the
 * caller's struct shmtune_message.
 */
#include "runtime/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)SHMTUNE_MESSAGE_BYTES == (int)SHMT_ERROR_BYTES,
               "an error fits a message");

const char *shmtune_status_text(enum shmtune_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text) case SHMTUNE_##name: return text;
    SHMTUNE_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    default: return "unknown status";
    }
}

enum shmtune_status shmt_runtime_message_set(struct shmtune_message *message,
                                             enum shmtune_status status,
                                             const char *format, ...)
{
    va_list arguments;

    if (message == NULL)
        return status;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return status;
}

enum shmtune_status shmt_runtime_message_copy(struct shmtune_message *message,
                                              enum shmtune_status status,
                                              const struct shmt_error *err)
{
    if (message != NULL)
        memcpy(message->text, err->text, sizeof message->text);
    return status;
}
