/* SPDX-License-Identifier: MIT */
/*
 * driver_device: finds a device of the driver by number or UUID and reads its
 * description.
 */
#include "gpu/driver_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

enum { UUID_TEXT = 64 };

enum shmtune_status shmt_driver_device_count(const struct shmt_driver *driver,
                                             int *count, struct shmt_error *err)
{
    int found = 0;
    const CUresult result = driver->DeviceGetCount(&found);

    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "cuDeviceGetCount");
    if (found == 0)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "the CUDA driver finds no GPU; see what "
                              "nvidia-smi says and $CUDA_VISIBLE_DEVICES");
    *count = found;
    return SHMTUNE_OK;
}

/* "GPU-8-4-4-4-12", as nvidia-smi writes it. */
static enum shmtune_status uuid_of(const struct shmt_driver *driver,
                                   int ordinal, char text[UUID_TEXT],
                                   struct shmt_error *err)
{
    CUdevice device = 0;
    CUuuid uuid;
    CUresult result = driver->DeviceGet(&device, ordinal);
    size_t used;

    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetUuid(&uuid, device);
    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "UUID of device %d",
                                 ordinal);
    used = (size_t)snprintf(text, UUID_TEXT, "GPU-");
    for (size_t i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, UUID_TEXT - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-"
                                                                       : "",
                                 (unsigned)(unsigned char)uuid.bytes[i]);
    return SHMTUNE_OK;
}

static enum shmtune_status refuse(const struct shmt_driver *driver,
                                  const char *text, int count, int fits,
                                  struct shmt_error *err)
{
    struct shmt_text list = {0};
    char uuid[UUID_TEXT];

    for (int k = 0; k < count && k < 16; k++)
        if (uuid_of(driver, k, uuid, NULL) == SHMTUNE_OK)
            shmt_text_addf(&list, "%s%d (%s)", k > 0 ? ", " : "", k, uuid);
    shmt_error_set(err, SHMTUNE_NO_DEVICE, "%s device \"%s\"; there %s %s",
                   fits > 1 ? "more than one" : "no", text,
                   count == 1 ? "is" : "are", shmt_text_string(&list));
    shmt_text_free(&list);
    return SHMTUNE_NO_DEVICE;
}

enum shmtune_status shmt_driver_find_device(const struct shmt_driver *driver,
                                            const char *text, int *ordinal,
                                            struct shmt_error *err)
{
    int count = 0, fits = 0, found = 0;
    char uuid[UUID_TEXT], *end;
    long number;
    enum shmtune_status status = shmt_driver_device_count(driver, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    number = strtol(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0') {
        if (number >= count)
            return refuse(driver, text, count, 0, err);
        *ordinal = (int)number;
        return SHMTUNE_OK;
    }
    for (int k = 0; k < count; k++) {
        status = uuid_of(driver, k, uuid, err);
        if (status != SHMTUNE_OK)
            return status;
        if (strlen(text) > 4 && strncasecmp(uuid, text, strlen(text)) == 0) {
            found = k;
            fits++;
        }
    }
    if (fits != 1)
        return refuse(driver, text, count, fits, err);
    *ordinal = found;
    return SHMTUNE_OK;
}

/* X(field, attribute) */
#define ATTRIBUTE_LIST(X)                                                    \
    X(compute_major, COMPUTE_CAPABILITY_MAJOR)                               \
    X(compute_minor, COMPUTE_CAPABILITY_MINOR)                               \
    X(multiprocessors, MULTIPROCESSOR_COUNT)                                 \
    X(max_threads_per_block, MAX_THREADS_PER_BLOCK)                          \
    X(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR)        \
    X(max_blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR)          \
    X(registers_per_block, MAX_REGISTERS_PER_BLOCK)                          \
    X(registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)        \
    X(warp_size, WARP_SIZE)                                                  \
    X(shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK)                         \
    X(shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)             \
    X(shared_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)       \
    X(shared_reserved_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK)           \
    X(l2_bytes, L2_CACHE_SIZE)                                               \
    X(max_grid_y, MAX_GRID_DIM_Y)                                            \
    X(clock_khz, CLOCK_RATE)                                                 \
    X(memory_clock_khz, MEMORY_CLOCK_RATE)                                   \
    X(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH)

enum shmtune_status
shmt_driver_describe_device(const struct shmt_driver *driver,
                            int ordinal, struct shmtune_device *out,
                            struct shmt_error *err)
{
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    const char *what = "cuDeviceGet";
    enum shmtune_status status;
    CUdevice handle = 0;
    CUresult result = driver->DeviceGet(&handle, ordinal);
    size_t bytes = 0;

    if (result == CUDA_SUCCESS) {
        what = "cuDeviceGetName";
        result = driver->DeviceGetName(device.name, sizeof device.name,
                                       handle);
    }
#define ASK(field, attribute)                                                \
    if (result == CUDA_SUCCESS) {                                            \
        int number_ = 0;                                                     \
        what = "device attribute " #attribute;                               \
        result = driver->DeviceGetAttribute(                                 \
            &number_, CU_DEVICE_ATTRIBUTE_##attribute, handle);              \
        device.field = number_;                                              \
    }
    ATTRIBUTE_LIST(ASK)
#undef ASK
    if (result == CUDA_SUCCESS) {
        what = "cuDeviceTotalMem";
        result = driver->DeviceTotalMem(&bytes, handle);
    }
    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "%s of device %d", what,
                                 ordinal);
    status = uuid_of(driver, ordinal, device.uuid, err);
    if (status != SHMTUNE_OK)
        return status;
    device.memory_bytes = (int64_t)bytes;
    device.driver_version = driver->version;
    *out = device;
    return SHMTUNE_OK;
}
