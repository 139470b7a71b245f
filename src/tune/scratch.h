/* SPDX-License-Identifier: MIT */
/*
 * scratch: a temporary folder, for what passes between us and our workers.
 * For live_open.c and counters.c.
 */
#ifndef SHMT_TUNE_SCRATCH_H
#define SHMT_TUNE_SCRATCH_H

#include <stddef.h>

#include "core/status.h"

/* $TMPDIR/NAME-XXXXXX, or in /tmp; "" when it fails, SHMTUNE_STORAGE. */
enum shmtune_status shmt_scratch_make(const char *name, char *folder,
                                      size_t room, struct shmt_error *err);
/* With the files in it; "" or one that is not there: nothing. */
void shmt_scratch_remove(const char *folder);

#endif
