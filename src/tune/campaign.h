/* SPDX-License-Identifier: MIT */
/*
 * campaign: tunes many problems on several devices at a time, and several of
 * them together on each (sizes.h): what is compiled for one size of a kernel is
 * measured for the others.  Devices of one model share the problems of their
 * model; a kernel's problems are dealt in their order, to a device that has the
 * kernel already where there is one.  Where fewer problems than devices are
 * left, the others measure candidates for their runs (lend.c).  A device that
 * fails for good drops out, and another of its model goes on with its problems.
 *
 * Called by command/tune.c and tests.
 */
#ifndef SHMT_TUNE_CAMPAIGN_H
#define SHMT_TUNE_CAMPAIGN_H

#include "tune/run.h"

/* Runs that search on one device at a time: most kernels have all of their
 * sizes open together then.  Those of a kernel share a measure worker, which
 * takes some 500 MB of the device's memory besides the buffers.  Where all that
 * there are are no more than MOST, none waits for the end of others. */
enum { SHMT_CAMPAIGN_TOGETHER = 20, SHMT_CAMPAIGN_MOST = 32 };

/* The problems of a kernel, on the devices of one model. */
struct shmt_campaign_kernel {
    const struct shmt_kernel *kernel;
    size_t model;
    double weight;               /* of each problem, when time is shared; 0:
                                    all are equal */
    /* `opened` may set them, where they are not known before. */
    size_t count;
    int64_t (*problems)[SHMT_KERNEL_DIMENSIONS];
    void *more;                  /* the caller's */
};

/* A problem that is to begin, or has ended. */
struct shmt_campaign_task {
    struct shmt_campaign_kernel *kernel;
    size_t number;               /* of its problems */
    size_t device;
    size_t lane;                 /* of those that there are */
    bool again;                  /* on a device before that dropped out */
    struct shmt_target *target;
    double since_s;              /* when the device was given the problem, on
                                    shmt_clock_s */
    size_t left, devices;        /* problems of the model that have not ended
                                    and that nobody has, with this one, and
                                    those of its kernel that end with it; and
                                    devices */
    double part;                 /* the weight of this over the mean of those
                                    left */
    size_t together;             /* runs that share the device, with this one */
    double busy_s;               /* what the other searches still have */
    bool full;                   /* so many share the devices that one which
                                    ends early leaves time to others */
};

struct shmt_campaign_calls {
    /* Opens the target; it may be ready later. */
    enum shmtune_status (*open)(void *context,
                                const struct shmt_campaign_kernel *kernel,
                                size_t device, struct shmt_target **out,
                                struct shmt_error *err);
    /* It is ready.  A failure is the kernel's: none of its problems begins. */
    enum shmtune_status (*opened)(void *context,
                                  struct shmt_campaign_kernel *kernel,
                                  struct shmt_target *target,
                                  struct shmt_error *err);
    /* Fills in the options of a run; they stay until it has ended.
     * SHMTUNE_INTERRUPTED: there is no time for any more. */
    enum shmtune_status (*begin)(void *context,
                                 const struct shmt_campaign_task *task,
                                 struct shmt_tune_options *options,
                                 struct shmt_error *err);
    /* A run has ended.  `outcome` is freed afterwards, and NULL where there is
     * none; `why` is NULL when all is well.  Returns whether others are to
     * begin. */
    bool (*end)(void *context, const struct shmt_campaign_task *task,
                const struct shmt_tune_outcome *outcome,
                const struct shmt_error *why);
    /* These of a kernel's problems could not begin; none: they are not known.
     * As `end`. */
    bool (*refused)(void *context, const struct shmt_campaign_kernel *kernel,
                    const size_t *numbers, size_t count,
                    const struct shmt_error *why);
    /* These were left when nothing more was to begin; `why` is NULL where `end`
     * said so.  Called when all has ended. */
    void (*left)(void *context, const struct shmt_campaign_kernel *kernel,
                 const size_t *numbers, size_t count,
                 const struct shmt_error *why);
    /* A device has dropped out; the others go on. */
    void (*lost)(void *context, size_t device, const struct shmt_error *why);
    /* Whether a problem whose device still starts has no time left; `why` says
     * so then.  NULL: it always has. */
    bool (*is_late)(void *context, const struct shmt_campaign_task *task,
                    struct shmt_error *why);
};

struct shmt_campaign {
    const struct shmt_campaign_calls *calls;
    void *context;
    struct shmt_campaign_kernel *kernels;
    size_t kernel_count;
    const size_t *models;        /* of each device */
    size_t device_count;
    size_t together;             /* runs that search on a device at a time, at
                                    most SHMT_CAMPAIGN_MOST; 0: one */
    bool queued;                 /* the devices may be long in coming, or never
                                    come: no run counts on one that is not
                                    there */
    double began_s;              /* on shmt_clock_s */
    const volatile sig_atomic_t *stop;   /* NULL, or != 0: stop */
};

/* How many runs there may be at a time: while one has its finals, the next
 * begins. */
size_t shmt_campaign_lanes(const struct shmt_campaign *campaign);

/* Tunes everything.  What becomes of each problem is told by the calls; the
 * status is SHMTUNE_NO_MEMORY or a failure to wait. */
enum shmtune_status shmt_campaign_run(const struct shmt_campaign *campaign,
                                      struct shmt_error *err);

#endif
