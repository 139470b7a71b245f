/* SPDX-License-Identifier: MIT */
/*
 * query: what the driver says of its devices.
 */
#ifndef SHMT_GPU_QUERY_H
#define SHMT_GPU_QUERY_H

#include "gpu/driver.h"

/* 0 devices is SHMTUNE_NO_DEVICE. */
enum shmtune_status shmt_query_count(const struct shmt_driver *driver,
                                     int *count, struct shmt_error *err);

/* "0", "1", ... or a UUID, "GPU-..." (a beginning that fits one is enough).
 * SHMTUNE_NO_DEVICE names the devices that are there. */
enum shmtune_status shmt_query_find(const struct shmt_driver *driver,
                                    const char *text, int *ordinal,
                                    struct shmt_error *err);

/* Every field. */
enum shmtune_status shmt_query_device(const struct shmt_driver *driver,
                                      int ordinal, struct shmtune_device *out,
                                      struct shmt_error *err);

#endif
