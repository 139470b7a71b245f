/* SPDX-License-Identifier: MIT */
/*
 * tune_device: the device `shmtune tune` was asked for: a GPU of this
 * machine, or a recorded one.
 */
#ifndef SHMT_COMMAND_TUNE_DEVICE_H
#define SHMT_COMMAND_TUNE_DEVICE_H

#include "command/far.h"
#include "command/tune_show.h"
#include "record/record.h"

struct shmt_command_device {
    const char *live;          /* number or UUID, when not replayed */
    const char *replayed;      /* NAME or FILE behind "replay:"; or NULL */
    size_t jobs;
    struct shmt_command_far far;   /* where the GPU is */
    double compile_s;          /* deadline of a compile; 0: the usual one */
    uint64_t data_seed;        /* of a GPU; a recording has its own */
    struct shmt_catalogue *catalogue;    /* for the caller to close */
    struct shmt_recording_places places;    /* its folders */
    struct shmt_arena *arena;
    struct shmt_display *display;
};

/* Sets `live` or `replayed` by the value of --device, and opens the catalogue.
 * SHMTUNE_INVALID_ARGUMENT when it can be neither: no driver is asked. */
enum shmtune_status
shmt_command_device_choose(struct shmt_command_device *device,
                           const char *word,
                           struct shmt_error *err);

/* SHMTUNE_NO_DEVICE says how to do without one. */
enum shmtune_status
shmt_command_device_open(const struct shmt_command_device *device,
                         const struct shmt_kernel *kernel,
                         struct shmt_target **out,
                         struct shmt_error *err);

#endif
