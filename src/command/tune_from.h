/* SPDX-License-Identifier: MIT */
/*
 * tune_from: what a search begins with: the files of --from, or what is
 * shipped for the device that is nearest.
 */
#ifndef SHMT_COMMAND_TUNE_FROM_H
#define SHMT_COMMAND_TUNE_FROM_H

#include "command/command.h"
#include "command/tune_show.h"
#include "record/record.h"
#include "tune/tune.h"

/* Whether a strategy, "NAME:OPTION=VALUE", NULL: the default, takes notice of
 * what others found.  One that there is not is refused elsewhere. */
bool shmt_command_from_learns(const char *strategy);

/* SHMTUNE_INVALID_ARGUMENT where --from is given to a strategy that does not
 * learn from others, or "none" beside a file. */
enum shmtune_status
shmt_command_from_check(const struct shmt_command_repeats *from,
                        const char *strategy, struct shmt_error *err);

struct shmt_command_from {
    const struct shmt_command_repeats *from;
    bool several;                            /* of several kernels */
    const char *strategy;                    /* NULL: the default */
    const struct shmt_recording_places *places;
    struct shmt_arena *arena;
    struct shmt_display *display;            /* is told what it is */
};

/* For the kernel of a target.  *out is NULL where there is nothing to learn
 * from: a recorded device without --from, "--from none", nothing shipped. */
enum shmtune_status
shmt_command_from_open(const struct shmt_command_from *from,
                       const struct shmt_target *target,
                       struct shmt_tune_prior **out, struct shmt_error *err);

#endif
