/* SPDX-License-Identifier: MIT */
/*
 * occupancy: our structures to cuda_occupancy.h's and back.  What that
 * header takes for granted (nothing negative, nothing that overflows an int)
 * is checked first: a device may come from a file.
 */
#include "device/occupancy.h"

#include <cuda_occupancy.h>
#include <inttypes.h>

enum {
    WARP = 32,
    REGISTERS = 255,          /* per thread, every architecture */
    MOST_BYTES = 1 << 28,
    MOST_THREADS = 1 << 20,
    NEWEST_MAJOR = 9,         /* whose rules serve for what is newer than */
    NEWEST_SHARED = 228 << 10 /* the toolkit's header */
};

static const char *const limiter_words[SHMT_LIMITER_COUNT] = {
#define LIMITER_WORD(name, word) word,
    SHMT_LIMITER_LIST(LIMITER_WORD)
#undef LIMITER_WORD
};

const char *shmt_limiter_word(enum shmt_limiter limiter)
{
    return limiter_words[limiter];
}

/* A launch, and what is known of the device it is for. */
struct launch {
    const struct shmtune_device *device;
    const struct shmt_resources *resources;
    int threads;
    int64_t shared_dynamic;
    int carveout;
};

static enum shmtune_status check_device(const struct shmtune_device *device,
                                        struct shmt_error *err)
{
    const struct {
        const char *name;
        int64_t value, low, high;
    } bounds[] = {
        {"compute_major", device->compute_major, 7, 99},
        {"compute_minor", device->compute_minor, 0, 9},
        {"warp_size", device->warp_size, WARP, WARP},
        {"multiprocessors", device->multiprocessors, 1, INT_MAX},
        {"max_threads_per_block", device->max_threads_per_block, 1,
         MOST_THREADS},
        {"max_threads_per_multiprocessor",
         device->max_threads_per_multiprocessor, 1, MOST_THREADS},
        {"registers_per_block", device->registers_per_block, 1, INT_MAX},
        {"registers_per_multiprocessor",
         device->registers_per_multiprocessor, 1, INT_MAX},
        {"shared_per_block", device->shared_per_block, 1, MOST_BYTES},
        {"shared_per_block_optin", device->shared_per_block_optin, 1,
         MOST_BYTES},
        {"shared_per_multiprocessor", device->shared_per_multiprocessor, 1,
         MOST_BYTES},
        {"shared_reserved_per_block", device->shared_reserved_per_block, 0,
         MOST_BYTES},
    };

    for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++)
        if (bounds[k].value < bounds[k].low
            || bounds[k].value > bounds[k].high)
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT,
                "device \"%.64s\": found %s = %" PRId64 ", expected %" PRId64
                " to %" PRId64 "; fill the description from the driver or a "
                "tuning", device->name, bounds[k].name, bounds[k].value,
                bounds[k].low, bounds[k].high);
    return SHMTUNE_OK;
}

static enum shmtune_status check_launch(const struct launch *launch,
                                        struct shmt_error *err)
{
    if (launch->threads < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "found %d "
                              "threads a block, expected at least 1",
                              launch->threads);
    if (launch->shared_dynamic < 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "found %" PRId64
                              " bytes of dynamic shared memory, expected 0 "
                              "or more", launch->shared_dynamic);
    if (launch->carveout < -1 || launch->carveout > 100)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "found a "
                              "carve-out of %d, expected 0 to 100 percent or "
                              "-1 for the driver's choice",
                              launch->carveout);
    if (launch->resources->registers < 0
        || launch->resources->shared_static_bytes < 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "registers or "
                              "static shared memory are not known, expected "
                              "the compiler's report");
    return SHMTUNE_OK;
}

/* The limit that is passed by one block alone, or NONE. */
static enum shmt_limiter exceeded(const struct launch *launch)
{
    const struct shmtune_device *device = launch->device;
    const struct shmt_resources *resources = launch->resources;
    const int64_t optin = device->shared_per_block_optin;

    if (launch->threads > device->max_threads_per_block
        || (resources->max_threads > 0
            && launch->threads > resources->max_threads))
        return SHMT_LIMITER_THREADS;
    if (resources->registers > REGISTERS)
        return SHMT_LIMITER_REGISTERS;
    if (launch->shared_dynamic > optin
        || resources->shared_static_bytes > optin
        || resources->shared_static_bytes > device->shared_per_block
        || resources->shared_static_bytes + launch->shared_dynamic > optin)
        return SHMT_LIMITER_SHARED;
    return SHMT_LIMITER_NONE;
}

static cudaOccError ask(const struct launch *launch, int major, int minor,
                        cudaOccResult *result)
{
    const struct shmtune_device *device = launch->device;
    const int64_t shared =
        major == device->compute_major
                || device->shared_per_multiprocessor < NEWEST_SHARED
            ? device->shared_per_multiprocessor
            : NEWEST_SHARED;
    const cudaOccDeviceProp properties = {
        .computeMajor = major,
        .computeMinor = minor,
        .maxThreadsPerBlock = device->max_threads_per_block,
        .maxThreadsPerMultiprocessor = device->max_threads_per_multiprocessor,
        .regsPerBlock = device->registers_per_block,
        .regsPerMultiprocessor = device->registers_per_multiprocessor,
        .warpSize = device->warp_size,
        .sharedMemPerBlock = (size_t)device->shared_per_block,
        .sharedMemPerMultiprocessor = (size_t)shared,
        .numSms = device->multiprocessors,
        .sharedMemPerBlockOptin = (size_t)device->shared_per_block_optin,
        .reservedSharedMemPerBlock =
            (size_t)device->shared_reserved_per_block,
    };
    const cudaOccFuncAttributes attributes = {
        .maxThreadsPerBlock = device->max_threads_per_block,
        .numRegs = launch->resources->registers,
        .sharedSizeBytes = (size_t)launch->resources->shared_static_bytes,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = (size_t)launch->shared_dynamic,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {
        .cacheConfig = CACHE_PREFER_NONE,
        .carveoutConfig = launch->carveout,
    };

    return cudaOccMaxActiveBlocksPerMultiprocessor(
        result, &properties, &attributes, &state, launch->threads,
        (size_t)launch->shared_dynamic);
}

/* The first of equals: more of the later ones would not help. */
static enum shmt_limiter limiter_of(const cudaOccResult *result, int blocks)
{
    if (result->blockLimitWarps == blocks)
        return SHMT_LIMITER_WARPS;
    if (result->blockLimitRegs == blocks)
        return SHMT_LIMITER_REGISTERS;
    if (result->blockLimitSharedMem == blocks)
        return SHMT_LIMITER_SHARED;
    return SHMT_LIMITER_BLOCKS;
}

enum shmtune_status
shmt_occupancy_compute(const struct shmtune_device *device,
                       const struct shmt_resources *resources, int threads,
                       int64_t shared_dynamic, int carveout,
                       struct shmt_occupancy *out, struct shmt_error *err)
{
    const struct launch launch = {device, resources, threads, shared_dynamic,
                                  carveout};
    cudaOccResult result = {0};
    enum shmtune_status status = check_device(device, err);
    enum shmt_limiter limiter;
    cudaOccError code;
    int warps, most;

    if (status == SHMTUNE_OK)
        status = check_launch(&launch, err);
    if (status != SHMTUNE_OK)
        return status;
    limiter = exceeded(&launch);
    if (limiter != SHMT_LIMITER_NONE) {
        *out = (struct shmt_occupancy){0, 0, limiter};
        return SHMTUNE_OK;
    }
    code = ask(&launch, device->compute_major, device->compute_minor,
               &result);
    if (code == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        code = ask(&launch, NEWEST_MAJOR, 0, &result);
    if (code != CUDA_OCC_SUCCESS)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "device "
                              "\"%.64s\": its limits are not those of "
                              "compute capability %d.%d", device->name,
                              device->compute_major, device->compute_minor);
    most = result.activeBlocksPerMultiprocessor;
    limiter = limiter_of(&result, most);
    if (device->max_blocks_per_multiprocessor > 0
        && most > device->max_blocks_per_multiprocessor) {
        most = device->max_blocks_per_multiprocessor;
        limiter = SHMT_LIMITER_BLOCKS;
    }
    warps = device->max_threads_per_multiprocessor / WARP;
    out->resident_blocks = most;
    out->percent = warps == 0 ? 0
                              : (most * ((threads + WARP - 1) / WARP) * 100
                                 + warps / 2) / warps;
    out->limiter = limiter;
    return SHMTUNE_OK;
}
