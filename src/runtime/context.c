/* SPDX-License-Identifier: MIT */
/*
 * current: devices, as an application asks for them.
 */
#include "runtime/context.h"

#include <stdio.h>

#include "device/device.h"
#include "gpu/gpu.h"
#include "runtime/interface.h"

enum shmtune_status
shmt_runtime_current_context(const struct shmt_driver *driver,
                             CUcontext *out,
                             struct shmt_error *err)
{
    CUcontext context = NULL;
    const CUresult result = driver->CtxGetCurrent(&context);

    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "cuCtxGetCurrent");
    if (context == NULL)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "no CUDA context is current in this thread; "
                              "call cudaSetDevice or cuCtxSetCurrent first");
    *out = context;
    return SHMTUNE_OK;
}

/* cuCtxGetDevice gives a handle; find the number of that device. */
static enum shmtune_status ordinal_of(const struct shmt_driver *driver,
                                      CUdevice device, int *ordinal,
                                      struct shmt_error *err)
{
    int count = 0;
    enum shmtune_status status = shmt_driver_device_count(driver, &count, err);

    for (int k = 0; status == SHMTUNE_OK && k < count; k++) {
        CUdevice other = 0;

        if (driver->DeviceGet(&other, k) == CUDA_SUCCESS && other == device) {
            *ordinal = k;
            return SHMTUNE_OK;
        }
    }
    if (status != SHMTUNE_OK)
        return status;
    return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                          "the current context is on none of the %d devices",
                          count);
}

enum shmtune_status
shmt_runtime_current_device(const struct shmt_driver *driver,
                            struct shmtune_device *out,
                            struct shmt_error *err)
{
    CUcontext context;
    CUdevice device = 0;
    CUresult result;
    int ordinal = 0;
    enum shmtune_status status =
        shmt_runtime_current_context(driver, &context, err);

    if (status != SHMTUNE_OK)
        return status;
    result = driver->CtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "cuCtxGetDevice");
    status = ordinal_of(driver, device, &ordinal, err);
    return status == SHMTUNE_OK ?
        shmt_driver_describe_device(driver, ordinal, out, err)
                                : status;
}

static enum shmtune_status query_ordinal(const struct shmt_driver *driver,
                                         int ordinal,
                                         struct shmtune_device *out,
                                         struct shmt_error *err)
{
    int count = 0;
    enum shmtune_status status = shmt_driver_device_count(driver, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    if (ordinal < 0 || ordinal >= count)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "no device %d: there %s %d, counted from 0",
                              ordinal, count == 1 ? "is" : "are", count);
    return shmt_driver_describe_device(driver, ordinal, out, err);
}

enum shmtune_status shmtune_device_query(int ordinal,
                                         struct shmtune_device *out,
                                         struct shmtune_message *message)
{
    const struct shmt_driver *driver;
    struct shmtune_device found;
    struct shmt_error err;
    enum shmtune_status status =
        shmt_runtime_check_size(out, SHMT_RUNTIME_LEAST_DEVICE,
                                "shmtune_device_query: out", &err);

    if (status == SHMTUNE_OK)
        status = shmt_driver_open(&driver, &err);
    if (status == SHMTUNE_OK)
        status = ordinal == SHMTUNE_CURRENT_DEVICE
                     ? shmt_runtime_current_device(driver, &found, &err)
                     : query_ordinal(driver, ordinal, &found, &err);
    if (status == SHMTUNE_OK)
        shmt_runtime_copy_sized(out, &found, sizeof found);
    return shmt_runtime_message_copy(message, status, &err);
}

enum shmtune_status shmtune_device_for_arch(const char *arch,
                                            struct shmtune_device *out,
                                            struct shmtune_message *message)
{
    struct shmtune_device found;
    struct shmt_error err;
    enum shmtune_status status =
        shmt_runtime_check_size(out, SHMT_RUNTIME_LEAST_DEVICE,
                                "shmtune_device_for_arch: out", &err);

    if (status == SHMTUNE_OK && arch == NULL)
        status = shmt_error_set(&err, SHMTUNE_INVALID_ARGUMENT,
                                "shmtune_device_for_arch: arch is NULL");
    if (status == SHMTUNE_OK)
        status = shmt_device_for_arch(arch, &found, &err);
    if (status == SHMTUNE_OK)
        shmt_runtime_copy_sized(out, &found, sizeof found);
    return shmt_runtime_message_copy(message, status, &err);
}
