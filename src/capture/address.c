/* SPDX-License-Identifier: MIT */
/*
 * address: what an address leads to, as the driver has it: memory of the
 * device, managed memory, or memory of the host that the device reaches.  What
 * the application got from malloc is none of these, and on some systems a
 * kernel reaches it all the same.
 */
#define _GNU_SOURCE   /* getline */
#include "capture/library.h"

#include <stdio.h>
#include <stdlib.h>

bool shmt_capture_device_has(const struct shmt_capture_driver *driver,
                             CUdevice_attribute attribute)
{
    CUdevice device;
    int value = 0;

    return driver->CtxGetDevice(&device) == CUDA_SUCCESS &&
           driver->DeviceGetAttribute(&value, attribute, device) ==
               CUDA_SUCCESS &&
           value != 0;
}

/* Of memory of the device cuMemGetAddressRange knows what is mapped, and the
 * attributes what is reserved.  Of other memory not every driver has the
 * former. */
static bool find_range(const struct shmt_capture_driver *driver,
                       CUdeviceptr address, struct shmt_capture_range *out)
{
    if (driver->MemGetAddressRange(&out->base, &out->size, address) ==
        CUDA_SUCCESS)
        return true;
    return out->kind != SHMT_CAPTURE_OF_DEVICE &&
           driver->PointerGetAttribute(&out->base,
                                       CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                       address) == CUDA_SUCCESS &&
           driver->PointerGetAttribute(&out->size,
                                       CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                       address) == CUDA_SUCCESS;
}

bool shmt_capture_range_of(const struct shmt_capture_driver *driver,
                           CUdeviceptr address, struct shmt_capture_range *out)
{
    unsigned type = 0, managed = 0;

    *out = (struct shmt_capture_range){0};
    if (address == 0 ||
        driver->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    address) != CUDA_SUCCESS || type == 0)
        return false;
    /* Managed memory may be said to be of either. */
    if (driver->PointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    address) == CUDA_SUCCESS && managed != 0)
        out->kind = SHMT_CAPTURE_MANAGED;
    else if (type != CU_MEMORYTYPE_DEVICE)
        out->kind = SHMT_CAPTURE_OF_HOST;
    /* Memory of the host may have another address on the device. */
    if (!find_range(driver, address, out) ||
        address - out->base >= out->size)
        out->size = 0;
    return true;
}

/* Whether the process may read there. */
static bool is_readable(uint64_t address)
{
    FILE *const file = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (file != NULL && !found && getline(&line, &room, file) > 0) {
        unsigned long long begin, end;
        char right;

        found = sscanf(line, "%llx-%llx %c", &begin, &end, &right) == 3 &&
                address >= begin && address < end && right == 'r';
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

bool shmt_capture_is_pageable(const struct shmt_capture_driver *driver,
                              CUdeviceptr address)
{
    return shmt_capture_device_has(
               driver, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) &&
           is_readable(address);
}
