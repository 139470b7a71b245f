/* SPDX-License-Identifier: MIT */
/*
 * put: what a command makes and `-o FILE` names a place for.  Called by
 * export.c, init.c and report.c.
 */
#include "config.h"

#include "command/command.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

bool shmt_command_is_standard(const char *output)
{
    return output == NULL || strcmp(output, "-") == 0;
}

enum shmtune_status shmt_command_put(const char *output,
                                     const struct shmt_text *text,
                                     struct shmt_error *err)
{
    const char *const data = shmt_text_string(text);

    if (text->failed)
        return shmt_error_memory(err);
    if (shmt_command_is_standard(output))
        return fwrite(data, 1, text->length, stdout) == text->length &&
                       fflush(stdout) == 0
                   ? SHMTUNE_OK
                   : shmt_error_set(err, SHMTUNE_STORAGE,
                                    "standard output: cannot write");
    if (shmt_path_write(output, data, text->length, err) ==
        SHMTUNE_OK)
        return SHMTUNE_OK;
    return shmt_command_change_status(err, SHMTUNE_NOT_FOUND, SHMTUNE_STORAGE);
}
