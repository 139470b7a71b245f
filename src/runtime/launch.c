/* SPDX-License-Identifier: MIT */
/*
 * launch: shmtune_launch, the hot path.  It neither allocates nor waits:
 * prepare.c has computed everything that does not depend on the call.
 */
#include <string.h>

#include "runtime/function.h"
#include "runtime/interface.h"

/* A message with the driver's error and its likely cause. */
static enum shmtune_status refuse(const struct shmtune_function *function,
                                  CUresult result, const char *what,
                                  struct shmtune_message *message)
{
    const struct shmt_driver *driver = function->binary->driver;
    CUcontext current = NULL;
    const bool elsewhere =
        driver->CtxGetCurrent(&current) == CUDA_SUCCESS &&
        current != function->binary->context;

    return shmt_runtime_message_set(
        message, SHMTUNE_CUDA, "kernel %s: %s: %s (%d)%s",
        function->kernel->spec->name, what,
        shmt_driver_error_name(driver, result), (int)result,
        elsewhere ? "; the current context is not the one it was prepared in"
        : shmt_driver_is_sticky(result)
            ? "; this or earlier work on the device failed, and the context "
              "is lost"
            : "");
}

/* A pointer may be declared as a CUdeviceptr or as any device pointer. */
static bool is_null(const void *argument)
{
    CUdeviceptr pointer;

    memcpy(&pointer, argument, sizeof pointer);
    return pointer == 0;
}

/* One pointer for each argument, the spec's value where none is given. */
static enum shmtune_status collect(const struct shmtune_function *function,
                                   void *const *arguments, void **out,
                                   struct shmtune_message *message)
{
    static const CUdeviceptr no_buffer;
    const struct shmt_kernel *spec = function->kernel->spec;

    for (size_t k = 0; k < function->slot_count; k++) {
        const struct shmt_runtime_argument *slot = &function->slots[k];

        if (arguments[k] != NULL)
            out[k] = arguments[k];
        else if (slot->scalar)
            out[k] = (void *)&slot->value;
        else
            out[k] = (void *)&no_buffer;
        if (slot->needed && !slot->scalar &&
            (slot->array ? arguments[k] == NULL : is_null(out[k])))
            return shmt_runtime_message_set(
                message, SHMTUNE_INVALID_ARGUMENT,
                "kernel %s: the %s %s (argument %zu) is null", spec->name,
                slot->array ? "array" : "buffer", spec->arguments[k].name,
                k);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status clear(const struct shmtune_function *function,
                                 void *const *pointers, CUstream stream,
                                 struct shmtune_message *message)
{
    for (size_t k = 0; k < function->slot_count; k++) {
        const struct shmt_runtime_argument *slot = &function->slots[k];
        CUdeviceptr buffer;
        CUresult result;

        if (slot->cleared == 0)
            continue;
        memcpy(&buffer, pointers[k], sizeof buffer);
        result = function->binary->driver->MemsetD8Async(
            buffer, 0, (size_t)slot->cleared, stream);
        if (result != CUDA_SUCCESS)
            return refuse(function, result, "cuMemsetD8Async", message);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmtune_launch(const struct shmtune_function *function,
                                   void *const *arguments, void *stream,
                                   struct shmtune_message *message)
{
    void *pointers[SHMT_KERNEL_ARGUMENTS];
    void *given[SHMT_KERNEL_ARGUMENTS];
    enum shmtune_status status;

    if (function == NULL || (arguments == NULL && function->slot_count > 0))
        return shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                        "shmtune_launch: a NULL");
    status = collect(function, arguments, pointers, message);
    if (status == SHMTUNE_OK)
        status = clear(function, pointers, stream, message);
    for (size_t s = 0; status == SHMTUNE_OK && s < function->step_count;
         s++) {
        const struct shmt_runtime_step *step = &function->steps[s];
        CUresult result;

        for (size_t k = 0; k < step->launch->argument_count; k++)
            given[k] = pointers[step->launch->arguments[k]];
        result = shmt_function_launch(function->binary->driver, step->function,
                                      &step->geometry, given, stream);
        if (result != CUDA_SUCCESS)
            status = refuse(function, result, step->launch->entry, message);
    }
    return status;
}
