/* SPDX-License-Identifier: MIT */
/*
 * far: the two processes between the tuner and a measure worker on another
 * machine, as `shmtune worker` runs them: the relay there, and the courier
 * here.  Called by command/worker.c.
 * The options belong to `shmtune tune` as well.
 */
#ifndef SHMT_COMMAND_FAR_H
#define SHMT_COMMAND_FAR_H

#include <stdio.h>

#include "command/command.h"

/* target/relay.h, until the other side is done. */
enum shmtune_status shmt_command_relay(const char *device,
                                       struct shmt_error *err);

/* --on, --far-program and --far-timeout; begins as SHMT_COMMAND_FAR_USUAL. */
struct shmt_command_far {
    const char *on;            /* the launcher; NULL: this machine */
    const char *program;
    int64_t timeout_s;
    int64_t workers;           /* `shmtune tune` alone: how many at most */
};
/* Twice what a TCP connection takes to get over a few lost packets, and a
 * small part of what a frozen machine would cost otherwise. */
enum { SHMT_COMMAND_FAR_S = 15 };
#define SHMT_COMMAND_FAR_USUAL                                               \
    {.program = "shmtune", .timeout_s = SHMT_COMMAND_FAR_S, .workers = 1}
enum { SHMT_COMMAND_FAR_WORKERS = 64 };
#define SHMT_COMMAND_FAR(far)                                                \
    {"on", 0, SHMT_OPTION_TEXT, &(far).on, 0, 0},                            \
    {"far-program", 0, SHMT_OPTION_TEXT, &(far).program, 0, 0},              \
    {"far-timeout", 0, SHMT_OPTION_INT, &(far).timeout_s, 2, 86400}
enum shmtune_status shmt_command_far_check(const struct shmt_command_far *far,
                                           struct shmt_error *err);

struct shmt_command_courier {
    struct shmt_kernel *kernel;
    struct shmt_command_far far;
    const char *device, *images, *data_digest;
    uint64_t data_seed;
    FILE *out;
};
/* target/courier.h, until standard input ends or the relay is lost. */
enum shmtune_status
shmt_command_courier(const struct shmt_command_courier *courier,
                     struct shmt_error *err);

#endif
