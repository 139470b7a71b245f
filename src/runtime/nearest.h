/* SPDX-License-Identifier: MIT */
/*
 * nearest: finds, among configurations measured for other problems, the one
 * that is likely to lose the least at this one.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_NEAREST_H
#define SHMT_RUNTIME_NEAREST_H

#include "runtime/select.h"

struct shmt_nearest {
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *entry;
    const shmt_config *values;      /* the winner's there, or a tie's */
    double distance;                /* in doublings of a size */
};

/* Among the tunings of this device, or of other devices of its compute
 * capability; false when none fits.  Every limit of `device` is known.
 * Allocates nothing but the trace's lines. */
bool shmt_nearest_find(const struct shmt_select_request *request,
                       const struct shmtune_device *device,
                       bool other_devices, struct shmt_nearest *out);

#endif
