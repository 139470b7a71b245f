/* SPDX-License-Identifier: MIT */
/*
 * occupancy: resident blocks of a launch on a device that need not be here,
 * by the toolkit's cuda_occupancy.h.
 */
#ifndef SHMT_DEVICE_OCCUPANCY_H
#define SHMT_DEVICE_OCCUPANCY_H

#include "base/base.h"
#include "device/resources.h"

struct shmt_occupancy {
    int resident_blocks;      /* per multiprocessor; 0: cannot run */
    int percent;              /* of the multiprocessor's threads, rounded */
    enum shmt_limiter limiter;
};

/* `threads` per block, `shared_dynamic` bytes at the launch, `carveout` in
 * percent or -1.  Resources that exceed a limit of the device give 0 blocks
 * and the limiter, not an error. */
enum shmtune_status
shmt_occupancy_compute(const struct shmtune_device *device,
                       const struct shmt_resources *resources, int threads,
                       int64_t shared_dynamic, int carveout,
                       struct shmt_occupancy *out, struct shmt_error *err);

#endif
