/* SPDX-License-Identifier: MIT */
/*
 * check: may this configuration run on this device for this problem?  Checked
 * for every tuned entry when it is opened, and for every choice that is not an
 * exact match.  It allocates nothing unless it has to write a message.
 */
#ifndef SHMT_RUNTIME_CHECK_H
#define SHMT_RUNTIME_CHECK_H

#include "device/device.h"
#include "kernel/kernel.h"

/* Constraints, geometry, shared memory and resident blocks, the problem being
 * one of the kernel's.  SHMTUNE_NO_CONFIGURATION with the first thing that
 * does not hold. */
enum shmtune_status shmt_runtime_check(const struct shmt_fit_launches *ask,
                                       struct shmt_error *err);
/* The same without the constraints. */
enum shmtune_status
shmt_runtime_check_launches(const struct shmt_fit_launches *ask,
                            struct shmt_error *err);

/* Wave efficiency (see NVIDIA's "wave quantization"): the share of a device's
 * block slots that a launch uses, the last wave counted in full.  9 blocks on a
 * device that holds 8 need two waves and use 9 of 16 slots.  It says what a
 * configuration loses when a problem has too few blocks for the device, or a
 * few too many.
 *
 * Greater than 0, at most 1; 1 when the device or the launch is not known well
 * enough.  Of several launches, the first used one that reads an input counts,
 * because one that only clears an output takes little time; if none reads an
 * input, the first used one.  ask->resources is not NULL; allocates nothing. */
double shmt_runtime_wave_efficiency(const struct shmt_fit_launches *ask);

#endif
