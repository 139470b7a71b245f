/* SPDX-License-Identifier: MIT */
/*
 * interface: the texts of status codes; copies our error messages and our
 * structs to the caller's, which may come from an older or a newer header.
 * Every public function that fails or hands out a struct calls it.
 */
#include "runtime/interface.h"

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

enum shmtune_status shmt_runtime_check_size(const void *sized, size_t least,
                                            const char *what,
                                            struct shmt_error *err)
{
    if (sized == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "%s is NULL",
                              what);
    if (!shmt_runtime_is_sized(sized, least))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s->size is %zu, expected %zu to %d bytes; "
                              "initialise the struct by its macro "
                              "SHMTUNE_..._INIT", what,
                              *(const size_t *)sized, least,
                              SHMTUNE_SIZE_MAX);
    return SHMTUNE_OK;
}

void shmt_runtime_copy_sized(void *to, const void *from, size_t known)
{
    const size_t size = *(size_t *)to;
    const size_t both = size < known ? size : known;

    memcpy((char *)to + sizeof size, (const char *)from + sizeof size,
           both - sizeof size);
    memset((char *)to + both, 0, size - both);
}

enum shmtune_status shmt_runtime_message_set(struct shmtune_message *message,
                                             enum shmtune_status status,
                                             const char *format, ...)
{
    va_list arguments;

    if (message == NULL)
        return status;
    va_start(arguments, format);
    shmt_error_format(message->text, sizeof message->text, 0, format,
                      arguments);
    va_end(arguments);
    return status;
}

enum shmtune_status shmt_runtime_message_copy(struct shmtune_message *message,
                                              enum shmtune_status status,
                                              const struct shmt_error *err)
{
    if (message != NULL && status != SHMTUNE_OK)
        memcpy(message->text, err->text, sizeof message->text);
    return status;
}
