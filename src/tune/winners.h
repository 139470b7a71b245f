/* SPDX-License-Identifier: MIT */
/*
 * winners: the warm start: configurations of a kernel that were among the best
 * for other problems of the same run, or in a tuning.  They are likely to be
 * good here too, and their binaries usually exist, so the device can measure
 * them while the compilers are busy with others.
 *
 * Called by commands, which pass them to a run.
 */
#ifndef SHMT_TUNE_WINNERS_H
#define SHMT_TUNE_WINNERS_H

#include "kernel/kernel.h"

struct shmt_tune_outcome;

enum { SHMT_WINNERS_ROOM = 96 };

struct shmt_winner {
    size_t rank;             /* its best rank for any problem; 0: it won */
    /* Read from a tuning: which of those that were read, from 1 on, and the
     * problem that it won there; else zeros. */
    size_t tuning;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
};

/* Each configuration once, sorted by rank; of equal rank the latest first.
 * Starts as {0}. */
struct shmt_winners {
    size_t count;
    size_t tunings;          /* that were read */
    struct shmt_winner list[SHMT_WINNERS_ROOM];
};

/* The winner, those that are tied with it, and the 24 fastest of the search.
 * When the list is full, its last entry is dropped. */
enum shmtune_status shmt_winners_add(const struct shmt_kernel *kernel,
                                     const struct shmt_tune_outcome *outcome,
                                     struct shmt_winners *winners,
                                     struct shmt_error *err);

/* Adds the winner of every problem of a tuning with rank 0, and its ties with
 * rank 1 and on.  Configurations that the kernel no longer has are left out; a
 * tuning of another kernel, or of such alone, is SHMTUNE_INVALID_FILE. */
enum shmtune_status shmt_winners_read(const struct shmt_kernel *kernel,
                                      const char *path,
                                      struct shmt_winners *winners,
                                      struct shmt_error *err);

#endif
