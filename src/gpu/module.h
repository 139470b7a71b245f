/* SPDX-License-Identifier: MIT */
/*
 * launch: an image on a device: its functions, their attributes, and a launch
 * with a geometry.  The caller's context is current.
 */
#ifndef SHMT_GPU_MODULE_H
#define SHMT_GPU_MODULE_H

#include "gpu/driver.h"
#include "gpu/image.h"
#include "gpu/object.h"
#include "kernel/kernel.h"

/* Attributes as the driver reports them, -1: not known. */
struct shmt_function {
    CUfunction handle;
    int registers;
    int local_bytes;
    int shared_static_bytes;
    int constant_bytes;
    int max_threads;
    /* what is set on the function now */
    int64_t dynamic_limit;
    int carveout;
    bool large_cluster;
};

/* A variable of the source, which argument `argument` is. */
struct shmt_module_variable {
    size_t argument;
    CUdeviceptr address;
    size_t bytes;
};

/* Launches of one entry share a function.  Of functions of the host there is an
 * object, and no module. */
struct shmt_module {
    CUmodule handle;
    struct shmt_object object;
    size_t variable_count;
    struct shmt_module_variable variables[SHMT_KERNEL_VARIABLES];
    size_t function_count;
    struct shmt_function functions[SHMT_KERNEL_LAUNCHES];
    int launch_function[SHMT_KERNEL_LAUNCHES];   /* -1: not used */
};

/* The function of launch k, NULL when the launch is not used. */
struct shmt_function *shmt_module_function(struct shmt_module *module,
                                           size_t launch);

/* The same where the launches are functions of the host. */
shmt_object_function *shmt_module_host(const struct shmt_module *module,
                                       size_t launch);

/* SHMTUNE_NO_CONFIGURATION: the driver cannot load this binary; it may be able
 * to load one made by an older compiler. */
enum shmtune_status shmt_module_load(const struct shmt_driver *driver,
                                     const struct shmt_image *image,
                                     struct shmt_module *out,
                                     struct shmt_error *err);
/* Nothing of it may be running.  A module of zeros is allowed. */
void shmt_module_unload(const struct shmt_driver *driver,
                        struct shmt_module *module);

/* Whether each launch says its own carve-out.  Older drivers have one of each
 * function: the last that was prepared. */
bool shmt_function_has_own_carveout(const struct shmt_driver *driver);

/* Dynamic shared memory above what is allowed without opt-in, the carve-out
 * where launches do not say it, clusters above the portable size.  Cheap when
 * everything is set already.  Only one thread at a time may prepare a
 * function. */
enum shmtune_status shmt_function_prepare(const struct shmt_driver *driver,
                                          struct shmt_function *function,
                                          const struct shmt_geometry *geometry,
                                          struct shmt_error *err);

/* Resident blocks per multiprocessor, by the driver.  After prepare. */
enum shmtune_status
shmt_function_occupancy(const struct shmt_driver *driver,
                        const struct shmt_function *function,
                        const struct shmt_geometry *geometry, int *blocks,
                        struct shmt_error *err);

/* Encodes a tensor map of the buffer at `address` into the
 * SHMT_ARGUMENT_MAP_BYTES at `out`, aligned as SHMT_ARGUMENT_MAP_ALIGNMENT. */
CUresult shmt_function_encode_map(const struct shmt_driver *driver,
                                  const struct shmt_argument_map *map,
                                  uint64_t address, void *out);

/* `arguments` as cuLaunchKernel wants them.  Returns the driver's own result;
 * the caller decides what it means. */
CUresult shmt_function_launch(const struct shmt_driver *driver,
                              const struct shmt_function *function,
                              const struct shmt_geometry *geometry,
                              void **arguments, CUstream stream);

#endif
