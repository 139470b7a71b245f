/* SPDX-License-Identifier: MIT */
/*
 * turn: tuners of one machine that measure on the same GPU take turns: one
 * holds the GPU's lock, another waits.  The lock is a file named by the UUID,
 * in a folder that all users share: $SHMTUNE_LOCKS or /tmp/shmtune-locks.
 * Nothing is read from the files or written to them.
 */
#ifndef SHMT_TARGET_TURN_H
#define SHMT_TARGET_TURN_H

#include <signal.h>
#include <stdbool.h>

#include "base/base.h"

struct shmt_turn;

/* SHMTUNE_STORAGE when there can be no lock, with the reason. */
enum shmtune_status shmt_turn_open(const char *uuid, struct shmt_turn **out,
                                   struct shmt_error *err);
/* Gives it back; NULL is allowed. */
void shmt_turn_close(struct shmt_turn *turn);

/* Does not wait.  Who asks again and again gets it after those that asked
 * before; true at once when it is held. */
bool shmt_turn_take(struct shmt_turn *turn);
void shmt_turn_give_back(struct shmt_turn *turn);
/* Waits; false when *stop is set (unless NULL). */
bool shmt_turn_wait(struct shmt_turn *turn,
                    const volatile sig_atomic_t *stop);

/* Seconds since it was taken; < 0: it is not held. */
double shmt_turn_held_s(const struct shmt_turn *turn);
/* The process that holds it, 0 when that is not known. */
long shmt_turn_holder(const struct shmt_turn *turn);

#endif
