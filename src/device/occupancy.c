/* SPDX-License-Identifier: MIT */
/*
 * occupancy: translates our structures to those of cuda_occupancy.h and back.
 * That header assumes that no number is negative and that nothing overflows an
 * int; this is checked first, because a device may come from a file. fit.c,
 * the only caller, has checked the limits of the device before.
 */
#include "device/occupancy.h"

#include <cuda_occupancy.h>

enum {
    WARP = 32,
    PARTITIONS = 4,           /* of a multiprocessor, from Volta on */
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
    const struct shmt_geometry *geometry;
    const struct shmt_resources *resources;
    int threads;
};

static bool is_between(int64_t value, int64_t low, int64_t high)
{
    return value >= low && value <= high;
}

static bool is_known(const struct shmtune_device *device)
{
    return is_between(device->compute_major, 7, 99) &&
           is_between(device->compute_minor, 0, 9) &&
           is_between(device->warp_size, WARP, WARP) &&
           is_between(device->multiprocessors, 1, INT_MAX) &&
           is_between(device->max_threads_per_block, 1, MOST_THREADS) &&
           is_between(device->max_threads_per_multiprocessor, 1,
                      MOST_THREADS) &&
           is_between(device->registers_per_block, 1, INT_MAX) &&
           is_between(device->registers_per_multiprocessor, 1, INT_MAX) &&
           is_between(device->shared_per_block, 1, MOST_BYTES) &&
           is_between(device->shared_per_block_optin, 1, MOST_BYTES) &&
           is_between(device->shared_per_multiprocessor, 1, MOST_BYTES) &&
           is_between(device->shared_reserved_per_block, 0, MOST_BYTES);
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
        .maxDynamicSharedSizeBytes = (size_t)launch->geometry->shared_dynamic,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {
        .cacheConfig = CACHE_PREFER_NONE,
        .carveoutConfig = launch->geometry->carveout,
    };

    return cudaOccMaxActiveBlocksPerMultiprocessor(
        result, &properties, &attributes, &state, launch->threads,
        (size_t)launch->geometry->shared_dynamic);
}

/* The resource that limits the blocks.  Of several that limit equally, the
 * first. */
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

/* How much one block needs of the resource that it exceeds. */
static void say_why(const struct launch *launch, const cudaOccResult *result,
                    struct shmt_fit *out)
{
    const struct shmtune_device *device = launch->device;
    const int warps = (launch->threads + WARP - 1) / WARP;

    if (out->occupancy.limiter == SHMT_LIMITER_WARPS) {
        out->limit = SHMT_FIT_RESIDENT_WARPS;
        out->wanted = (int64_t)warps * WARP;
        out->bound = device->max_threads_per_multiprocessor;
    } else if (out->occupancy.limiter == SHMT_LIMITER_REGISTERS) {
        /* The hardware allows for as many warps in every partition. */
        out->limit = SHMT_FIT_RESIDENT_REGISTERS;
        out->wanted = (int64_t)result->allocatedRegistersPerBlock / warps *
                      ((warps + PARTITIONS - 1) / PARTITIONS * PARTITIONS);
        out->bound = device->registers_per_block <
                             device->registers_per_multiprocessor
                         ? device->registers_per_block
                         : device->registers_per_multiprocessor;
    } else {
        out->limit = SHMT_FIT_RESIDENT_SHARED;
        out->wanted = (int64_t)result->allocatedSharedMemPerBlock;
        out->bound = device->shared_per_block_optin +
                     device->shared_reserved_per_block;
    }
}

void shmt_occupancy_compute(const struct shmtune_device *device,
                            const struct shmt_geometry *geometry,
                            const struct shmt_resources *resources,
                            struct shmt_fit *out)
{
    const struct launch launch = {
        device, geometry, resources,
        (int)(geometry->block[0] * geometry->block[1] * geometry->block[2])
    };
    cudaOccResult result = {0};
    enum shmt_limiter limiter;
    cudaOccError code;
    int warps, most;

    if (!is_known(device) || launch.threads < 1)
        return;
    code = ask(&launch, device->compute_major, device->compute_minor,
               &result);
    if (code == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        code = ask(&launch, NEWEST_MAJOR, 0, &result);
    if (code != CUDA_OCC_SUCCESS)
        return;
    most = result.activeBlocksPerMultiprocessor;
    limiter = limiter_of(&result, most);
    if (device->max_blocks_per_multiprocessor > 0
        && most > device->max_blocks_per_multiprocessor) {
        most = device->max_blocks_per_multiprocessor;
        limiter = SHMT_LIMITER_BLOCKS;
    }
    warps = device->max_threads_per_multiprocessor / WARP;
    out->occupancy.resident_blocks = most;
    out->occupancy.percent =
        warps == 0 ? 0
                   : (most * ((launch.threads + WARP - 1) / WARP) * 100
                      + warps / 2) / warps;
    out->occupancy.limiter = limiter;
    if (most == 0)
        say_why(&launch, &result, out);
}
