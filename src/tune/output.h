/* SPDX-License-Identifier: MIT */
/*
 * output: writes the results of a run.  OUTPUT/KERNEL/DEVICE.yaml is the
 * tuning with all its problems, OUTPUT/KERNEL/DEVICE.SIZE.journal the journal
 * of one.
 *
 * Called by commands around tune/run.c.
 */
#ifndef SHMT_TUNE_OUTPUT_H
#define SHMT_TUNE_OUTPUT_H

#include "tune/run.h"

struct shmt_output_paths {
    const char *folder;
    const char *tuning;
    const char *journal;
    const char *recording;     /* the journal's name with .gz */
};

/* Called before anything is measured: creates the folder of the target's
 * kernel in `output` and checks that files can be created in it.  The message
 * of SHMTUNE_STORAGE suggests the command line's `option`. */
enum shmtune_status shmt_output_make_folder(const struct shmt_target *target,
                                            const char *output,
                                            const char *option,
                                            struct shmt_error *err);
/* Called before anything is measured: checks that shmt_output_write_tuning
 * would accept the existing file. */
enum shmtune_status shmt_output_check_tuning(const struct shmt_target *target,
                                             const char *output,
                                             struct shmt_error *err);

/* Paths, in `arena`. */
enum shmtune_status
shmt_output_paths_of(struct shmt_arena *arena, const struct shmt_target *target,
                     const char *output, const int64_t *problem,
                     struct shmt_output_paths *out, struct shmt_error *err);

/* Adds the winner to the tuning, or replaces the entry of its problem.  A
 * tuning of other sources, another device or another protocol is renamed to
 * .old and a new one begins, which is appended to `notice`.  An existing file
 * that is no tuning is not overwritten: SHMTUNE_INVALID_FILE. */
enum shmtune_status
shmt_output_write_tuning(const struct shmt_kernel *kernel,
                         const struct shmt_tune_outcome *outcome,
                         const char *path, struct shmt_text *notice,
                         struct shmt_error *err);

/* Puts a dispatch into the tuning, or removes the one that is there (NULL).
 * SHMTUNE_INVALID_FILE when the file has become that of other sources or of
 * another device than `learnt_on`. */
enum shmtune_status
shmt_output_write_dispatch(const char *path,
                           const struct shmt_dispatch *dispatch,
                           const struct shmt_tuning *learnt_on,
                           struct shmt_error *err);

#endif
