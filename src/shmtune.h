/* SPDX-License-Identifier: MIT */
/*
 * shmtune: launch CUDA kernels in the configuration that was measured to be
 * the fastest for the device and the problem at hand.
 *
 * This header is the whole public interface of libshmtune.  It needs no CUDA
 * header and may be included from C17 and from C++.
 */
#ifndef SHMTUNE_H
#define SHMTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text): the results of every function, and the exit codes of
 * the command `shmtune`. */
#define SHMTUNE_STATUS_LIST(X)                                               \
    X(OK, 0, "success")                                                      \
    X(INVALID_ARGUMENT, 1, "invalid argument")                               \
    X(INVALID_FILE, 2, "invalid file")                                       \
    X(NO_CONFIGURATION, 3, "no valid configuration")                         \
    X(WRONG_RESULT, 4, "the reference or the default is wrong")              \
    X(STORAGE, 5, "a file could not be read or written")                     \
    X(NO_DEVICE, 6, "no usable device or driver")                            \
    X(NO_MEMORY, 7, "out of memory")                                         \
    X(NOT_FOUND, 8, "not found")                                             \
    X(COMPILE, 9, "the kernel does not compile")                             \
    X(CUDA, 10, "a CUDA call failed")                                        \
    X(INTERNAL, 70, "a defect in shmtune")                                   \
    X(INTERRUPTED, 130, "interrupted")

enum shmtune_status {
#define SHMTUNE_STATUS_ENUM(name, value, text) SHMTUNE_##name = value,
    SHMTUNE_STATUS_LIST(SHMTUNE_STATUS_ENUM)
#undef SHMTUNE_STATUS_ENUM
    SHMTUNE_STATUS_COUNT_GUARD = 255
};

/* A constant text; never NULL. */
const char *shmtune_status_text(enum shmtune_status status);

/*
 * What selection needs to know of a device.  shmtune_device_query fills it
 * from the driver; an application without CUDA, or a test, may fill it by
 * hand or from a tuning.  Zero bytes and counts mean "unknown".
 */
struct shmtune_device {
    char name[256];
    char uuid[64];                 /* "GPU-...", or "" */
    int compute_major;             /* 9 for an H100 */
    int compute_minor;
    int multiprocessors;
    int max_threads_per_block;
    int max_threads_per_multiprocessor;
    int max_blocks_per_multiprocessor;
    int registers_per_block;
    int registers_per_multiprocessor;
    int warp_size;
    int64_t shared_per_block;         /* bytes without opt-in: 49152 */
    int64_t shared_per_block_optin;   /* bytes: 232448 on an H100 */
    int64_t shared_per_multiprocessor;
    int64_t shared_reserved_per_block; /* bytes the driver takes: 1024 */
    int64_t l2_bytes;
    int64_t memory_bytes;
    int64_t max_grid_y;               /* 65535 */
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int driver_version;               /* 13000 */
};

#ifdef __cplusplus
}
#endif

#endif
