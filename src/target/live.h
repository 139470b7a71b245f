/* SPDX-License-Identifier: MIT */
/*
 * live: the target that is a GPU of this machine: compile workers, and one
 * measure worker that alone touches the device.
 *
 * Whatever a candidate does to a worker ends as a verdict of that candidate.
 * A worker that dies for no stated reason gets a second chance with the same
 * candidate, because it may have been somebody else who killed it.
 */
#ifndef SHMT_TARGET_LIVE_H
#define SHMT_TARGET_LIVE_H

#include "target/request.h"

struct shmt_live_options {
    const char *worker;     /* the program; NULL: this one */
    const char *device;     /* "0" or "GPU-...".  NULL: none, only inspect */
    const char *arch;       /* then: "sm_90"; the device is that of the table
                               of architectures */
    const char *images;     /* folder for binaries; NULL: a temporary one,
                               removed on close */
    size_t jobs;            /* compile workers, 1 or more */
    uint64_t data_seed;     /* of the inputs */
    double start_s;         /* deadlines; 0: the usual ones */
    double compile_s;
    double measure_s;       /* less where the others are quick */
    double first_s;         /* added for the first measurement of a problem:
                               buffers, inputs, reference */
};

/* SHMTUNE_NO_DEVICE and the like are the measure worker's own words.  The
 * kernel must outlive the target. */
enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
                                   const struct shmt_live_options *options,
                                   struct shmt_target **out,
                                   struct shmt_error *err);

#endif
