/* SPDX-License-Identifier: MIT */
/*
 * lines: which sources a binary says that it was compiled from.  Needs no GPU
 * and trusts no byte.
 *
 * A cubin of `-lineinfo` has the section .debug_line: units of DWARF 2 to 4
 * (sections 6.2.4 of the standards), whose headers list folders and files.  PTX
 * has lines `.file N "NAME"`.  A fatbin (fatbin.h) has both, and a name of its
 * own.
 */
#ifndef SHMT_GPU_LINES_H
#define SHMT_GPU_LINES_H

#include <stddef.h>

#include "base/base.h"

enum { SHMT_LINES_FILES = 64 };

struct shmt_lines {
    size_t count;
    const char *files[SHMT_LINES_FILES];   /* in the order of the binary, each
                                              once; a fatbin alone may have no
                                              more than "x.cu" */
};

/* None where nothing is known, or there is no memory; names are in `arena`. */
void shmt_lines_read(struct shmt_arena *arena, const void *binary, size_t size,
                     struct shmt_lines *out);

#endif
