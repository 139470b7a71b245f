/* SPDX-License-Identifier: MIT */
/*
 * binaries: numbers the binaries of a run.  Candidates that differ only in
 * launch parameters share a binary.
 */
#ifndef SHMT_TARGET_BINARIES_H
#define SHMT_TARGET_BINARIES_H

#include "kernel/kernel.h"

/* Numbers for keys: 0, 1, 2, ... in the order they are first asked for.  Starts
 * as {0}. */
struct shmt_target_binaries {
    char (*keys)[SHMT_DIGEST_TEXT];   /* by number */
    size_t count, room;
    struct shmt_map numbers;          /* hash of a key -> number */
};
void shmt_target_binaries_free(struct shmt_target_binaries *binaries);
/* SIZE_MAX when there is no memory. */
size_t shmt_target_binaries_number(struct shmt_target_binaries *binaries,
                                   const char key[SHMT_DIGEST_TEXT]);

#endif
