/* SPDX-License-Identifier: MIT */
/*
 * binary: which candidates share one.  Those that differ only in parameters
 * of the launch are the same to the compiler.
 */
#ifndef SHMT_TARGET_BINARY_H
#define SHMT_TARGET_BINARY_H

#include "kernel/kernel.h"

/* Equal for candidates with the same definitions and entries.  An entry that
 * cannot be written is left out: the compiler will say so. */
enum shmtune_status shmt_binary_key(const struct shmt_kernel *kernel,
                                    const int64_t *problem,
                                    const shmt_choice *choice,
                                    char key[SHMT_DIGEST_TEXT]);

/* Numbers for keys: 0, 1, 2, ... in the order they are first asked for. */
struct shmt_binaries;
struct shmt_binaries *shmt_binaries_new(void);      /* NULL: no memory */
void shmt_binaries_free(struct shmt_binaries *binaries);
/* SIZE_MAX when there is no memory. */
size_t shmt_binaries_number(struct shmt_binaries *binaries,
                            const char key[SHMT_DIGEST_TEXT]);

#endif
