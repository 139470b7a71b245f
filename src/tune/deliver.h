/* SPDX-License-Identifier: MIT */
/*
 * deliver: where the results of a run go: OUTPUT/KERNEL/DEVICE.yaml holds the
 * tuning with all its sizes, OUTPUT/KERNEL/DEVICE.SIZE.journal the journal.
 *
 * Called by commands around tune/run.c.
 */
#ifndef SHMT_TUNE_DELIVER_H
#define SHMT_TUNE_DELIVER_H

#include "tune/run.h"

struct shmt_deliver_place {
    const char *folder;
    const char *tuning;
    const char *journal;
    const char *recording;     /* the journal's name with .gz */
};

/* Before anything is measured for it: makes the folder of the target's kernel
 * in `output`, and sees that files can be made there.  SHMTUNE_STORAGE with
 * `option`, a word of the command line, as the remedy. */
enum shmtune_status shmt_deliver_folder(const struct shmt_target *target,
                                        const char *output,
                                        const char *option,
                                        struct shmt_error *err);
/* Likewise: would shmt_deliver_tuning refuse the file that is there? */
enum shmtune_status shmt_deliver_check(const struct shmt_target *target,
                                       const char *output,
                                       struct shmt_error *err);

/* Paths, in `arena`. */
enum shmtune_status
shmt_deliver_place(struct shmt_arena *arena, const struct shmt_target *target,
                   const char *output, const int64_t *problem,
                   struct shmt_deliver_place *out, struct shmt_error *err);

/* Puts the winner into the tuning, in place of what was there for that size.
 * Other sizes stay when they are of the same sources, device and protocol;
 * *left_out counts those that were not, and went.  A file that is there and
 * is no tuning is not overwritten: SHMTUNE_INVALID_FILE. */
enum shmtune_status
shmt_deliver_tuning(const struct shmt_kernel *kernel,
                    const struct shmt_tune_outcome *outcome,
                    const char *path, size_t *left_out,
                    struct shmt_error *err);

#endif
