/* SPDX-License-Identifier: MIT */
/*
 * devices: the GPUs of this machine, as a worker process sees them: the tuner
 * itself opens no driver.
 */
#ifndef SHMT_TARGET_DEVICES_H
#define SHMT_TARGET_DEVICES_H

#include "target/request.h"

/* The GPUs by number; those that `device` (a UUID) names when it is not NULL,
 * which has to be so for a MIG- one.  One that cannot be described has no name.
 * `worker` as in live.h.  SHMTUNE_NO_DEVICE: there is none, or no driver.
 * *out is freed by the caller. */
enum shmtune_status shmt_live_devices(const char *worker, const char *device,
                                      struct shmtune_device **out,
                                      size_t *count, struct shmt_error *err);

#endif
