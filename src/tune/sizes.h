/* SPDX-License-Identifier: MIT */
/*
 * sizes: what the runs of a kernel that are open together tell each other: each
 * configuration that was compiled, with its time at a size over that of the
 * default there, or that it fails at any size.
 *
 * Called by campaign.c, which has one for each kernel, and by runs.
 */
#ifndef SHMT_TUNE_SIZES_H
#define SHMT_TUNE_SIZES_H

#include "kernel/kernel.h"

/* Bytes of device memory that a run of this problem may need. */
double shmt_sizes_bytes(const struct shmt_kernel *kernel,
                        const int64_t *problem);

#endif
