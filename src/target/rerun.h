/* SPDX-License-Identifier: MIT */
/*
 * rerun: makes a recorded launch again in a measure worker, which may die of
 * it.  Called by command/draft_rerun.c.
 */
#ifndef SHMT_TARGET_RERUN_H
#define SHMT_TARGET_RERUN_H

#include <signal.h>

#include "kernel/kernel.h"
#include "record/record.h"

struct shmt_live_rerun {
    const struct shmt_kernel *kernel;   /* with its default problem */
    const shmt_config *config; /* NULL: its default */
    double most_s;             /* for an answer; 0: five minutes, as at most */
    const char *program;       /* of the worker; NULL: this one */
    const char *device;        /* as --device has it */
    const char *images;        /* a folder for binaries */
    const volatile sig_atomic_t *stop;
};

/* What became of one request. */
struct shmt_live_reran {
    bool ran;
    bool crashed;                       /* it was made, and broke off */
    char why[SHMT_RESULT_REASON];       /* not; or "" */
    struct shmt_rerun found;            /* where it ran */
};

/* With other old contents in the in-out `poisoned`, unless it is NULL.
 * SHMTUNE_NO_DEVICE and others where no worker can be started: then nothing can
 * be made again. */
enum shmtune_status shmt_live_rerun(const struct shmt_live_rerun *request,
                                    const struct shmt_argument *poisoned,
                                    struct shmt_live_reran *out,
                                    struct shmt_error *err);

#endif
