/* SPDX-License-Identifier: MIT */
/*
 * scratch: a temporary folder for files that the tuner and its workers
 * exchange, and for what the capturing library writes.  For live.c,
 * profile/counters.c and command/capture.c.
 *
 * A process that is killed leaves its folder behind; the next one removes it.
 * Each folder has a file "lock", which its process keeps locked while it lives
 * and which holds the name of the machine.  If the file can be locked, the
 * owner is dead.  The file gets this name only after it is locked; a folder
 * without it is never removed.
 */
#ifndef SHMT_TARGET_SCRATCH_H
#define SHMT_TARGET_SCRATCH_H

#include "base/base.h"

/* All zero: there is no folder. */
struct shmt_scratch {
    char folder[512];
    int lock;                /* a descriptor; -1: could not be locked */
};

/* $TMPDIR/NAME-XXXXXX, or in /tmp; SHMTUNE_STORAGE.  First it removes folders
 * of that name which dead processes of this user have left on this machine. */
enum shmtune_status shmt_scratch_make(const char *name,
                                      struct shmt_scratch *out,
                                      struct shmt_error *err);
/* The same in a folder that is not $TMPDIR. */
enum shmtune_status shmt_scratch_make_in(const char *base, const char *name,
                                         struct shmt_scratch *out,
                                         struct shmt_error *err);
/* Removes the folder with all that is in it.  Does nothing when there is no
 * folder. */
void shmt_scratch_remove(struct shmt_scratch *scratch);

#endif
