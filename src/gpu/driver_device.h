/* SPDX-License-Identifier: MIT */
/*
 * query: what the driver says of its devices.
 */
#ifndef SHMT_GPU_DRIVER_DEVICE_H
#define SHMT_GPU_DRIVER_DEVICE_H

#include "gpu/driver.h"

/* 0 devices is SHMTUNE_NO_DEVICE. */
enum shmtune_status shmt_driver_device_count(const struct shmt_driver *driver,
                                             int *count,
                                             struct shmt_error *err);

/* "0", "1", ... or a UUID, "GPU-..." (a beginning that fits one is enough).
 * SHMTUNE_NO_DEVICE names the devices that are there. */
enum shmtune_status shmt_driver_find_device(const struct shmt_driver *driver,
                                            const char *text, int *ordinal,
                                            struct shmt_error *err);

/* Every field. */
enum shmtune_status
shmt_driver_describe_device(const struct shmt_driver *driver,
                            int ordinal, struct shmtune_device *out,
                            struct shmt_error *err);

#endif
