/* SPDX-License-Identifier: MIT */
/*
 * packed: the text of a file, gzipped or not.  For the readers of journals
 * and of other tuners' files.
 */
#ifndef SHMT_RECORD_PACKED_H
#define SHMT_RECORD_PACKED_H

#include "base/base.h"

/* Adds the text to `text`; with `enough`, only until that occurs.
 * SHMTUNE_NOT_FOUND: absent.  SHMTUNE_STORAGE: no regular file, without
 * blocking; cannot be read.  SHMTUNE_INVALID_FILE: damaged or cut, or more
 * than `limit` bytes. */
enum shmtune_status shmt_packed_read(const char *path, const char *enough,
                                     size_t limit, struct shmt_text *text,
                                     struct shmt_error *err);

#endif
