/* SPDX-License-Identifier: MIT */
/*
 * occupancy: the resident blocks of a launch, by the toolkit's
 * cuda_occupancy.h; the device need not be in this machine.  Called by fit.c
 * alone.
 */
#ifndef SHMT_DEVICE_OCCUPANCY_H
#define SHMT_DEVICE_OCCUPANCY_H

#include "device/fit.h"

/* The occupancy of a launch that is within the limits of the device and whose
 * resources are known, and what it wants where no block is resident.  Where
 * the device is not fully known, *out stays as it is. */
void shmt_occupancy_compute(const struct shmtune_device *device,
                            const struct shmt_geometry *launch,
                            const struct shmt_resources *resources,
                            struct shmt_fit *out);

#endif
