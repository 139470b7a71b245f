/* SPDX-License-Identifier: MIT */
/*
 * scratch: a temporary folder, for what passes between us and our workers.
 * For live_open.c and profile/counters.c.
 *
 * A process that is killed leaves its folder behind; the next one removes it.
 * In each folder is a file "lock", which its process has locked for as long
 * as it lives and which says on which machine: one that can be locked is
 * nobody's.  The file has its name only once it is locked, and without it a
 * folder is left alone.
 */
#ifndef SHMT_TARGET_SCRATCH_H
#define SHMT_TARGET_SCRATCH_H

#include "base/base.h"

/* All zero: none. */
struct shmt_scratch {
    char folder[512];
    int lock;                /* a descriptor; -1: could not be locked */
};

/* $TMPDIR/NAME-XXXXXX, or in /tmp; SHMTUNE_STORAGE.  Those of that name that
 * dead processes of this user left on this machine are removed first. */
enum shmtune_status shmt_scratch_make(const char *name,
                                      struct shmt_scratch *out,
                                      struct shmt_error *err);
/* With the files in it and in its folders.  None: nothing. */
void shmt_scratch_remove(struct shmt_scratch *scratch);

#endif
