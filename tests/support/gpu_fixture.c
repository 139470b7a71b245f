/* SPDX-License-Identifier: MIT */
/*
 * gpu_fixture: the kernel tests/fake/fake_kernel.yaml, configurations of it,
 * and temporary folders.
 */
#include "tests/support/gpu_fixture.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static void remove_folder(void)
{
    char path[600];
    DIR *list = opendir(folder);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(path);
    }
    if (list != NULL)
        closedir(list);
    rmdir(folder);
}

const char *fixture_folder(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%.200s/shmtune-test.XXXXXX",
             base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
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
