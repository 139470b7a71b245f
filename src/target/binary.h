/* SPDX-License-Identifier: MIT */
/*
 * binary: numbers for the binaries that candidates share: those that differ
 * only in parameters of the launch are the same to the compiler.
 */
#ifndef SHMT_TARGET_BINARY_H
#define SHMT_TARGET_BINARY_H

#include "kernel/kernel.h"

/* Numbers for keys: 0, 1, 2, ... in the order they are first asked for. */
struct shmt_binaries;
struct shmt_binaries *shmt_binaries_new(void);      /* NULL: no memory */
void shmt_binaries_free(struct shmt_binaries *binaries);
/* SIZE_MAX when there is no memory. */
size_t shmt_binaries_number(struct shmt_binaries *binaries,
                            const char key[SHMT_DIGEST_TEXT]);

#endif
