/* SPDX-License-Identifier: MIT */
/*
 * gpu_fixture: the kernel tests/fake/fake_kernel.yaml, configurations of it,
 * and temporary folders.
 */
#include "tests/support/gpu_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/folder.h"

static char folder[FOLDER_ROOM];

static void remove_folder(void)
{
    folder_remove(folder);
}

const char *fixture_folder(void)
{
    folder_make(folder);
    atexit(remove_folder);
    return folder;
}

struct shmt_kernel *fixture_kernel(void)
{
    const char *source = getenv("SHMT_SRCDIR");
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/fake/fake_kernel.yaml",
             source != NULL ? source : ".");
    if (shmt_kernel_read(path, &kernel, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return kernel;
}

static shmt_config find(const struct shmt_parameter *parameter,
                        const char *text)
{
    for (size_t k = 0; k < parameter->count; k++) {
        const struct shmt_value *value = &parameter->values[k];
        char written[64];

        if (value->type == SHMT_VALUE_WORD)
            snprintf(written, sizeof written, "%s", value->w);
        else
            snprintf(written, sizeof written, "%lld", (long long)value->i);
        if (strcmp(written, text) == 0)
            return (shmt_config)k;
    }
    printf("Bail out! %s has no value %s\n", parameter->name, text);
    exit(EXIT_FAILURE);
}

void fixture_choice(const struct shmt_kernel *kernel, shmt_config *config,
                    ...)
{
    va_list list;
    const char *name;

    shmt_kernel_default(kernel, config);
    va_start(list, config);
    while ((name = va_arg(list, const char *)) != NULL) {
        const char *text = va_arg(list, const char *);

        for (size_t p = 0; p < kernel->parameter_count; p++)
            if (strcmp(kernel->parameters[p].name, name) == 0)
                config[p] = find(&kernel->parameters[p], text);
    }
    va_end(list);
}
