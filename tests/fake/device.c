/* SPDX-License-Identifier: MIT */
/* device: what the fake driver says of devices, and their contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/cuda.h"

/* Of each thread its own, as in CUDA. */
static _Thread_local CUcontext current;

CUresult fake_DeviceGetCount(int *out)
{
    FAKE_ENTER_DEVICE("DeviceGetCount");
    *out = (int)fake_number("FAKE_CUDA_DEVICES", 1);
    return CUDA_SUCCESS;
}

CUresult fake_DeviceGet(CUdevice *out, int ordinal)
{
    FAKE_ENTER_DEVICE("DeviceGet");
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult fake_DeviceGetName(char *out, int size, CUdevice ordinal)
{
    snprintf(out, (size_t)size, "Fake device %d", ordinal);
    return CUDA_SUCCESS;
}

CUresult fake_DeviceGetUuid(CUuuid *out, CUdevice ordinal)
{
    FAKE_ENTER_DEVICE("DeviceGetUuid");
    memset(out->bytes, 0xab, sizeof out->bytes);
    out->bytes[15] = (char)ordinal;
    return CUDA_SUCCESS;
}

/* An H100's, with a small cache so that flushing it is quick. */
CUresult fake_DeviceGetAttribute(int *out, CUdevice_attribute which,
                                 CUdevice ordinal)
{
    static const struct {
        CUdevice_attribute which;
        int value;
    } table[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4096},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    };

    (void)ordinal;
    if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) {
        *out = (int)fake_number("FAKE_CUDA_MAJOR", 9);
        return CUDA_SUCCESS;
    }
    if (which == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS ||
        which == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) {
        *out = which == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
                   ? getenv("FAKE_CUDA_PAGEABLE") != NULL
                   : getenv("FAKE_CUDA_ATTACHED") == NULL;
        return CUDA_SUCCESS;
    }
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (table[k].which == which) {
            *out = table[k].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_DeviceTotalMem(size_t *out, CUdevice ordinal)
{
    (void)ordinal;
    *out = fake_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    return CUDA_SUCCESS;
}

/* A new context: what an earlier one suffered is forgotten, as if by a new
 * process. */
/* A context that nobody has any more, or that is lost, is another one the next
 * time. */
static int retained;

CUresult fake_DevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal)
{
    const bool anew = retained == 0 || fake.stuck != CUDA_SUCCESS;

    (void)ordinal;
    fake.stuck = CUDA_SUCCESS;
    FAKE_ENTER_DEVICE("DevicePrimaryCtxRetain");
    if (anew) {
        fake_memory_forget();
        fake_textures_forget();
        fake.contexts++;
        retained = 0;
    }
    retained++;
    *out = (CUcontext)(void *)&fake;
    return CUDA_SUCCESS;
}

CUresult fake_DevicePrimaryCtxRelease(CUdevice ordinal)
{
    (void)ordinal;
    if (retained > 0)
        retained--;
    return CUDA_SUCCESS;
}

CUresult fake_DevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags,
                                       int *active)
{
    (void)ordinal;
    FAKE_ENTER_DEVICE("DevicePrimaryCtxGetState");
    *flags = 0;
    *active = retained > 0;
    return CUDA_SUCCESS;
}

CUresult fake_DevicePrimaryCtxReset(CUdevice ordinal)
{
    (void)ordinal;
    FAKE_ENTER_DEVICE("DevicePrimaryCtxReset");
    retained = 0;
    fake.contexts++;
    return CUDA_SUCCESS;
}

CUresult fake_CtxSetCurrent(CUcontext context)
{
    FAKE_ENTER("CtxSetCurrent");
    current = context;
    return CUDA_SUCCESS;
}

CUresult fake_CtxGetCurrent(CUcontext *out)
{
    *out = current;
    return CUDA_SUCCESS;
}

CUresult fake_CtxGetDevice(CUdevice *out)
{
    *out = 0;
    return current != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult fake_CtxSynchronize(void)
{
    FAKE_ENTER("CtxSynchronize");
    return CUDA_SUCCESS;
}
