/* SPDX-License-Identifier: MIT */
/*
 * gzip: reads the text of a file, compressed by gzip or not, for the readers
 * of journals and of other tuners' files, and writes one.
 */
#ifndef SHMT_RECORD_GZIP_H
#define SHMT_RECORD_GZIP_H

#include "base/base.h"

/* Appends the text of the file to `text`; if `enough` is not NULL, it stops
 * after that string.  SHMTUNE_NOT_FOUND: absent.  SHMTUNE_STORAGE: no regular
 * file, without blocking; cannot be read.  SHMTUNE_INVALID_FILE: damaged or
 * cut, or more than `limit` bytes. */
enum shmtune_status shmt_gzip_read(const char *path, const char *enough,
                                   size_t limit, struct shmt_text *text,
                                   struct shmt_error *err);

/* The same part by part, of a file whose name says whether it is compressed: a
 * part is appended, and *more is false behind the last one.  NULL may be
 * closed. */
struct shmt_gzip_reader;
enum shmtune_status shmt_gzip_open(const char *path, bool compressed,
                                   struct shmt_gzip_reader **out,
                                   struct shmt_error *err);
enum shmtune_status shmt_gzip_next(struct shmt_gzip_reader *reader,
                                   struct shmt_text *text, bool *more,
                                   struct shmt_error *err);
void shmt_gzip_close(struct shmt_gzip_reader *reader);

/* A file that is made of parts, compressed as they come.  A failure of
 * `add` stays until `store`, which tells it. */
struct shmt_gzip_writer;
struct shmt_gzip_writer *shmt_gzip_new(void);
void shmt_gzip_add(struct shmt_gzip_writer *writer,
                   const struct shmt_text *text);
enum shmtune_status shmt_gzip_store(struct shmt_gzip_writer *writer,
                                    const char *path, struct shmt_error *err);
void shmt_gzip_free(struct shmt_gzip_writer *writer);

#endif
