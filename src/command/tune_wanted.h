/* SPDX-License-Identifier: MIT */
/*
 * tune_wanted: the problems of `shmtune tune --wanted FILE`: those that
 * applications had on the device and that are not tuned.
 */
#ifndef SHMT_COMMAND_TUNE_WANTED_H
#define SHMT_COMMAND_TUNE_WANTED_H

#include "command/command.h"
#include "command/tune_show.h"
#include "record/record.h"
#include "target/target.h"

struct shmt_command_wanted {
    const char *path;
    struct shmt_wanted *file;      /* the most wanted first; NULL: --wanted is
                                      not given */
    struct shmt_arena *arena;
    struct shmt_display *display;  /* is told what is left out, and why */
    size_t left_out;               /* problems that it was told of so */
};

struct shmt_command_wanted_problems {
    int64_t (*list)[SHMT_KERNEL_DIMENSIONS];
    size_t count;
};

/* Opens the file at `path`, NULL: there is none. */
enum shmtune_status shmt_command_wanted_open(struct shmt_command_wanted *wanted,
                                             const char *path,
                                             struct shmt_error *err);

/* The names of its kernels, each once, by their most wanted problem. */
enum shmtune_status
shmt_command_wanted_kernels(const struct shmt_command_wanted *wanted,
                            const char *const **names, size_t *count,
                            struct shmt_error *err);

/* The problems of a kernel on any device, each once. */
enum shmtune_status
shmt_command_wanted_any(const struct shmt_command_wanted *wanted,
                        const struct shmt_kernel *kernel,
                        struct shmt_command_wanted_problems *out,
                        struct shmt_error *err);

/* Those of the target's kernel on its device, without those that the tuning at
 * `path` has.  Says what is left out. */
enum shmtune_status
shmt_command_wanted_here(struct shmt_command_wanted *wanted,
                         const struct shmt_target *target, const char *path,
                         struct shmt_command_wanted_problems *out,
                         struct shmt_error *err);

/* A notice, and so many problems that are left out. */
void shmt_command_wanted_leave(struct shmt_command_wanted *wanted,
                               size_t count, const char *text);

#endif
