/* SPDX-License-Identifier: MIT */
/*
 * winners: configurations of a kernel that did well elsewhere: at other sizes
 * of the same run, or in a tuning.  What is good at one size is likely to do
 * well at its neighbours, and its binary is there already: the device can
 * measure it while the compilers are at work on others.
 *
 * Called by commands, which hand them to tune/run.c.
 */
#ifndef SHMT_TUNE_WINNERS_H
#define SHMT_TUNE_WINNERS_H

#include "kernel/kernel.h"

struct shmt_tune_outcome;

enum { SHMT_WINNERS_ROOM = 96 };

struct shmt_winner {
    size_t rank;             /* the best one it had anywhere; 0 won */
    /* Read from a tuning: which of those that were read, from 1 on, and the
     * problem that it won there; else zeros. */
    size_t tuning;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
};

/* Distinct in both, by rank, of one rank the latest first; zeroed to begin
 * with. */
struct shmt_winners {
    size_t count;
    size_t tunings;          /* that were read */
    struct shmt_winner list[SHMT_WINNERS_ROOM];
};

/* The winner, those that are tied with it, and the 24 fastest of the search.
 * When there is no room, the last of the list goes. */
enum shmtune_status shmt_winners_add(const struct shmt_kernel *kernel,
                                     const struct shmt_tune_outcome *outcome,
                                     struct shmt_winners *winners,
                                     struct shmt_error *err);

/* The winner of every problem of a tuning and, of rank 1 and on, those that
 * were as good there.  Configurations that the kernel no longer has are left
 * out; a tuning of another kernel is SHMTUNE_INVALID_FILE. */
enum shmtune_status shmt_winners_read(const struct shmt_kernel *kernel,
                                      const char *path,
                                      struct shmt_winners *winners,
                                      struct shmt_error *err);

#endif
