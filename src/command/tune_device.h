/* SPDX-License-Identifier: MIT */
/*
 * tune_device: the devices `shmtune tune` was asked for: GPUs of this machine,
 * or a recorded one.
 */
#ifndef SHMT_COMMAND_TUNE_DEVICE_H
#define SHMT_COMMAND_TUNE_DEVICE_H

#include "command/far.h"
#include "command/tune_show.h"
#include "record/record.h"
#include "target/target.h"

/* A GPU of --device. */
struct shmt_command_gpu {
    const char *word;          /* for the worker: a number or a UUID */
    const char *uuid;          /* "" when there is one GPU, and nobody was
                                  asked; "far worker 2" */
    struct shmtune_device device;    /* then not known either */
    size_t model;              /* GPUs of one model are equal */
    bool lost;                 /* it is not used any more */
};

struct shmt_command_device {
    struct shmt_command_gpu *gpus;   /* when not replayed; in the arena */
    size_t gpu_count;
    const char *replayed;      /* NAME or FILE behind "replay:"; or NULL */
    size_t jobs;               /* compile workers; 0: by the processors and
                                  GPUs */
    struct shmt_command_far far;   /* where the GPU is */
    double compile_s;          /* deadline of a compile; 0: the usual one */
    bool warm;                 /* measure with the L2 cache left warm */
    uint64_t data_seed;        /* of a GPU; a recording has its own */
    struct shmt_catalogue *catalogue;    /* for the caller to close */
    struct shmt_recording_places places;    /* its folders */
    struct shmt_live_pool *pool;     /* NULL until a GPU was opened; for the
                                        caller to close */
    struct shmt_arena *arena;
    struct shmt_display *display;
};

/* Sets `gpus` or `replayed` by the value of --device, and opens the catalogue.
 * SHMTUNE_INVALID_ARGUMENT when it can be neither.  The driver is asked where
 * several GPUs are named, or all. */
enum shmtune_status
shmt_command_device_choose(struct shmt_command_device *device,
                           const char *word,
                           struct shmt_error *err);

/* The k-th GPU, or the recordings.  The target may be ready later. */
enum shmtune_status
shmt_command_device_start(struct shmt_command_device *device,
                          const struct shmt_kernel *kernel, size_t k,
                          struct shmt_target **out, struct shmt_error *err);

/* The only one, when it is ready.  SHMTUNE_NO_DEVICE says how to do without
 * it. */
enum shmtune_status
shmt_command_device_open(struct shmt_command_device *device,
                         const struct shmt_kernel *kernel,
                         struct shmt_target **out,
                         struct shmt_error *err);

/* Adds to the message of SHMTUNE_NO_DEVICE how to do without one: on a
 * recording where the kernel has any.  The kernel may be NULL, not known. */
void shmt_command_device_advise(const struct shmt_command_device *device,
                                const struct shmt_kernel *kernel,
                                struct shmt_error *err);

#endif
