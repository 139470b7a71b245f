/* SPDX-License-Identifier: MIT */
/*
 * waves: wave efficiency (see NVIDIA's "wave quantization"): the share of a
 * device's block slots that a launch uses, the last wave counted in full. 9
 * blocks on a device that holds 8 need two waves and use 9 of 16 slots.  It
 * says what a configuration loses when a problem has too few blocks for the
 * device, or a few too many.
 */
#ifndef SHMT_RUNTIME_WAVES_H
#define SHMT_RUNTIME_WAVES_H

#include "runtime/check.h"

/* Greater than 0, at most 1; 1 when the device or the launch is not known well
 * enough.  Of several launches, the first used one that reads an input counts,
 * because one that only clears an output takes little time; if none reads an
 * input, the first used one.  candidate->resources is not NULL; allocates
 * nothing. */
double
shmt_runtime_wave_efficiency(const struct shmtune_device *device,
                             const struct shmt_runtime_candidate *candidate);

#endif
