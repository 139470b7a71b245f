/* SPDX-License-Identifier: MIT */
/*
 * handle: the public functions that read a handle: its kernels, their
 * dimensions, arguments, parameters and tuned devices.
 */
#include <string.h>

#include "config.h"
#include "runtime/interface.h"
#include "runtime/library.h"

int shmtune_version_number(void)
{
    return SHMTUNE_VERSION_NUMBER;
}

const char *shmtune_version(void)
{
    return PACKAGE_VERSION;
}

size_t shmtune_kernel_count(const struct shmtune *library)
{
    return library == NULL ? 0 : library->kernel_count;
}

const struct shmtune_kernel *shmtune_kernel_at(const struct shmtune *library,
                                               size_t k)
{
    return k < shmtune_kernel_count(library) ? &library->kernels[k] : NULL;
}

const struct shmtune_kernel *shmtune_kernel_find(const struct shmtune *library,
                                                 const char *name)
{
    size_t low = 0, high = shmtune_kernel_count(library);

    while (name != NULL && low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct shmtune_kernel *kernel = &library->kernels[middle];
        const int order = strcmp(name, kernel->spec->name);

        if (order == 0)
            return kernel;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *shmtune_kernel_name(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? NULL : kernel->spec->name;
}

const char *shmtune_kernel_summary(const struct shmtune_kernel *kernel)
{
    if (kernel == NULL)
        return NULL;
    return kernel->spec->summary == NULL ? "" : kernel->spec->summary;
}

size_t shmtune_dimension_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->dimension_count;
}

enum shmtune_status shmtune_dimension_at(const struct shmtune_kernel *kernel,
                                         size_t k,
                                         struct shmtune_dimension *out)
{
    const struct shmt_dimension *dimension;
    struct shmtune_dimension made;

    if (kernel == NULL || !shmt_runtime_is_sized(out, sizeof *out))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->spec->dimension_count)
        return SHMTUNE_NOT_FOUND;
    dimension = &kernel->spec->dimensions[k];
    made = (struct shmtune_dimension){
        .name = dimension->name, .fallback = dimension->default_size,
        .low = dimension->low, .high = dimension->high,
    };
    shmt_runtime_copy_sized(out, &made, sizeof made);
    return SHMTUNE_OK;
}

size_t shmtune_argument_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->argument_count;
}

enum shmtune_status shmtune_argument_at(const struct shmtune_kernel *kernel,
                                        size_t k,
                                        struct shmtune_argument *out)
{
    static const enum shmtune_role roles[] = {
        [SHMT_ROLE_INPUT] = SHMTUNE_INPUT,
        [SHMT_ROLE_OUTPUT] = SHMTUNE_OUTPUT,
        [SHMT_ROLE_INOUT] = SHMTUNE_INOUT,
        [SHMT_ROLE_WORKSPACE] = SHMTUNE_WORKSPACE,
        [SHMT_ROLE_VALUE] = SHMTUNE_VALUE,
        [SHMT_ROLE_SCALAR] = SHMTUNE_SCALAR,
    };
    const struct shmt_argument *argument;
    struct shmtune_argument made;

    if (kernel == NULL || !shmt_runtime_is_sized(out, sizeof *out))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->spec->argument_count)
        return SHMTUNE_NOT_FOUND;
    argument = &kernel->spec->arguments[k];
    made = (struct shmtune_argument){
        .name = argument->name,
        .type = shmt_element_word(argument->element),
        .element_bytes = shmt_element_bytes(argument->element),
        .role = roles[argument->role],
        .zeroed = argument->zeroed,
    };
    shmt_runtime_copy_sized(out, &made, sizeof made);
    return SHMTUNE_OK;
}

size_t shmtune_parameter_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->parameter_count;
}

const char *shmtune_parameter_name(const struct shmtune_kernel *kernel,
                                   size_t k)
{
    return k < shmtune_parameter_count(kernel)
               ? kernel->spec->parameters[k].name
               : NULL;
}

size_t shmtune_tuned_device_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->tuning_count;
}

enum shmtune_status
shmtune_tuned_device_at(const struct shmtune_kernel *kernel, size_t k,
                        struct shmtune_device *out)
{
    if (kernel == NULL ||
        !shmt_runtime_is_sized(out, SHMT_RUNTIME_LEAST_DEVICE))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->tuning_count)
        return SHMTUNE_NOT_FOUND;
    shmt_runtime_copy_sized(out, &kernel->tunings[k].device,
                            sizeof kernel->tunings[k].device);
    return SHMTUNE_OK;
}
