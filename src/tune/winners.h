/* SPDX-License-Identifier: MIT */
/*
 * winners: configurations of a kernel that did well elsewhere: at other sizes
 * of the same run, or in a tuning.  What wins at one size is likely to do well
 * at its neighbours, and its binary is there already.
 *
 * Called by commands, which hand them to tune/tune.c.
 */
#ifndef SHMT_TUNE_WINNERS_H
#define SHMT_TUNE_WINNERS_H

#include "core/kernel.h"

struct shmt_tune_outcome;

enum { SHMT_WINNERS_ROOM = 64 };

/* Distinct, the latest last; zeroed to begin with. */
struct shmt_winners {
    size_t count;
    shmt_choice choices[SHMT_WINNERS_ROOM][SHMT_SPACE_PARAMETERS];
};

/* The winner and up to two that are tied with it.  When there is no room, the
 * oldest go. */
void shmt_winners_add(const struct shmt_kernel *kernel,
                      const struct shmt_tune_outcome *outcome,
                      struct shmt_winners *winners);

/* The winner of every problem of a tuning.  Configurations that the kernel no
 * longer has are left out; a tuning of another kernel is
 * SHMTUNE_INVALID_FILE. */
enum shmtune_status shmt_winners_read(const struct shmt_kernel *kernel,
                                      const char *path,
                                      struct shmt_winners *winners,
                                      struct shmt_error *err);

#endif
