/* SPDX-License-Identifier: MIT */
/*
 * live: the target for a GPU of this machine: several compile workers, and one
 * measure worker, the only process that uses the device.
 *
 * Whatever a candidate does to a worker becomes a verdict of that candidate.
 * If a worker dies without a reason, the same candidate is tried once more in
 * a new worker, because something else may have killed the first.
 */
#ifndef SHMT_TARGET_LIVE_H
#define SHMT_TARGET_LIVE_H

#include <signal.h>

#include "target/request.h"

enum { SHMT_LIVE_FIRST_S = 60 };

struct shmt_live_options {
    const char *worker;     /* the program; NULL: this one */
    const char *device;     /* "0" or "GPU-...".  NULL: none, only inspect */
    const char *arch;       /* then: "sm_90"; the device is that of the table
                               of architectures */
    const char *images;     /* folder for binaries; NULL: a temporary one,
                               removed on close */
    size_t jobs;            /* compile workers, 1 or more */
    uint64_t data_seed;     /* of the inputs, */
    const char *data_digest;   /* and of the files that they are filled from;
                               NULL or "": none */
    double start_s;         /* deadlines in seconds; 0: the default */
    double compile_s;
    double measure_s;       /* shortened when other candidates are quick */
    double first_s;         /* added for the first measurement of a problem:
                               buffers, inputs, reference; by default
                               SHMT_LIVE_FIRST_S */
    const volatile sig_atomic_t *stop;   /* NULL, or != 0: the first worker is
                               no longer waited for */
};

/* A status such as SHMTUNE_NO_DEVICE comes from the measure worker, with its
 * message.  The kernel must outlive the target. */
enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
                                   const struct shmt_live_options *options,
                                   struct shmt_target **out,
                                   struct shmt_error *err);

#endif
