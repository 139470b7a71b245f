/* SPDX-License-Identifier: MIT */
/*
 * put: what a command makes and `-o FILE` names a place for.  Called by
 * export*.c, init.c, pack.c, report.c, score.c and tune*.c.
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

enum shmtune_status shmt_command_check_output(const char *output,
                                              const char *input,
                                              struct shmt_error *err)
{
    if (shmt_command_is_standard(output) || !shmt_path_is_same(output, input))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "%s cannot be written: it is the file %s, which is "
                          "read; name another", output, input);
}

enum shmtune_status
shmt_command_check_output_of(const char *output,
                             const struct shmt_kernel *kernel,
                             struct shmt_error *err)
{
    const struct {
        const struct shmt_kernel_header *files;
        size_t count;
    } parts[] = {
        {kernel->code.files, kernel->code.file_count},
        {kernel->reference_code.files, kernel->reference_code.file_count},
        {kernel->headers, kernel->header_count}};
    enum shmtune_status status =
        shmt_command_check_output(output, kernel->path, err);

    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t k = 0; status == SHMTUNE_OK && k < parts[p].count; k++)
            status = shmt_command_check_output(output, parts[p].files[k].path,
                                               err);
    return status;
}

enum shmtune_status shmt_command_check_apart(const char *option,
                                             const char *page,
                                             const char *plot,
                                             struct shmt_error *err)
{
    if (shmt_command_is_standard(page) || shmt_command_is_standard(plot) ||
        (strcmp(page, plot) != 0 && !shmt_path_is_same(page, plot)))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--%s and --plot are both %s; name two files",
                          option, plot);
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
