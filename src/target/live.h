/* SPDX-License-Identifier: MIT */
/*
 * live: the target for a GPU of this machine: several compile workers, and one
 * measure worker, the only process that uses the device.  Targets for several
 * GPUs and kernels share a pool of compile workers.
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

/* Compile workers and a folder of binaries that several targets use: `jobs`
 * processes in all, which the targets share. */
struct shmt_live_pool;
/* How many of the processors that there are a pool takes, if nobody says it:
 * all; where several GPUs measure, the worker of each and the tuner, which all
 * of them wait for, have one of their own, and a quarter of all in any case, as
 * long as those are a half at most. */
size_t shmt_live_pool_jobs(size_t processors, size_t gpus);
/* `images` is a folder for binaries; NULL: a temporary one, removed on
 * close. */
enum shmtune_status shmt_live_pool_open(size_t jobs, const char *images,
                                        struct shmt_live_pool **out,
                                        struct shmt_error *err);
/* All of its targets are closed.  NULL is allowed. */
void shmt_live_pool_close(struct shmt_live_pool *pool);

struct shmt_live_options {
    struct shmt_live_pool *pool;   /* NULL: one of its own, of: */
    const char *images;     /* as of shmt_live_pool_open */
    size_t jobs;
    const char *worker;     /* the program; NULL: this one */
    const char *device;     /* "0" or "GPU-...".  NULL: none, only inspect */
    bool seen;              /* it is a UUID that the driver has shown */
    const char *arch;       /* then: "sm_90"; the device is that of the table
                               of architectures */
    bool warm;              /* measure with the L2 cache left warm */
    uint64_t data_seed;     /* of the inputs, */
    const char *data_digest;   /* and of the files that they are filled from;
                               NULL or "": none */
    double start_s;         /* deadlines in seconds; 0: the default */
    double compile_s;
    double measure_s;       /* shortened when other candidates are quick */
    double first_s;         /* added for the first measurement of a problem:
                               buffers, inputs, reference; by default
                               SHMT_LIVE_FIRST_S */
    const char *on;         /* a launcher: the device is that of the machine
                               where it leads (courier.h); NULL: of this
                               one */
    const char *far_program;   /* then: shmtune's there, */
    const char *far_timeout;   /* and seconds of silence after which a worker
                               there is lost */
    void (*notice)(void *to, const char *text);   /* NULL, or is told when a
                               worker is waited for, or lost, and when another
                               tuner has the GPU */
    void *notice_to;
    const volatile sig_atomic_t *stop;   /* NULL, or != 0: the first worker is
                               no longer waited for */
};

/* A status such as SHMTUNE_NO_DEVICE comes from the measure worker, with its
 * message.  The kernel must outlive the target. */
enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
                                   const struct shmt_live_options *options,
                                   struct shmt_target **out,
                                   struct shmt_error *err);

/* The same, without waiting for the first worker: the target is ready after a
 * wait for any target of its pool, or has failed. */
enum shmtune_status shmt_live_start(const struct shmt_kernel *kernel,
                                    const struct shmt_live_options *options,
                                    struct shmt_target **out,
                                    struct shmt_error *err);

#endif
