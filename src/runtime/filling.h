/* SPDX-License-Identifier: MIT */
/*
 * filling: the share of a device's places for blocks that a launch keeps in
 * use, its last round counted in full: 9 blocks where 8 fit need two rounds
 * and fill 9 of 16 places.  What a configuration loses when a problem has
 * too few blocks for it, or some too many.  Private to runtime.
 */
#ifndef SHMT_RUNTIME_FILLING_H
#define SHMT_RUNTIME_FILLING_H

#include "runtime/admit.h"

/* Above 0 and at most 1, of the first launch that the problem needs and that
 * is given an input, or of the first one if none is: what only clears an
 * output before it is added to is over soon.  1 where the device or the
 * launch is not known well enough.  candidate->resources is not NULL;
 * allocates nothing. */
double shmt_filling(const struct shmtune_device *device,
                    const struct shmt_candidate *candidate);

#endif
