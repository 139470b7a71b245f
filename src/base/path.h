/* SPDX-License-Identifier: MIT */
/*
 * path: files and folders.  Reading whole, writing so that a reader sees the
 * old or the new and nothing between, and where our folders are.
 */
#ifndef SHMT_BASE_PATH_H
#define SHMT_BASE_PATH_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

/* A regular file, to read; the caller closes *fd.  A folder, a device, a pipe:
 * SHMTUNE_STORAGE, without blocking.  Absent: SHMTUNE_NOT_FOUND. */
enum shmtune_status shmt_path_open(const char *path, int *fd, size_t *size,
                                   struct shmt_error *err);

/* The whole file and a NUL behind it, in `arena`.  As shmt_path_open; a
 * file larger than `limit` bytes is SHMTUNE_STORAGE too. */
enum shmtune_status shmt_path_read(struct shmt_arena *arena, const char *path,
                                   size_t limit, const char **data,
                                   size_t *size, struct shmt_error *err);

/* Temporary file beside it, fsync, rename.  Nothing is left on failure, and
 * the old file stays.  Keeps the permissions of what it replaces; a symbolic
 * link is replaced, not followed.  Any number of writers at a time.  A pipe
 * or a terminal, /dev/stdout say, is written to.
 * SHMTUNE_STORAGE, also where there is no such folder. */
enum shmtune_status shmt_path_write(const char *path, const void *data,
                                    size_t size, struct shmt_error *err);

/* The same for the owner alone (0600), whatever was there, and without waiting
 * for the disk: for what can be made again. */
enum shmtune_status shmt_path_write_own(const char *path, const void *data,
                                        size_t size, struct shmt_error *err);

/* The folder and its parents, created with `mode`. */
enum shmtune_status shmt_path_make(const char *path, unsigned mode,
                                   struct shmt_error *err);

/* folder/name, or name when it is absolute. */
const char *shmt_path_join(struct shmt_arena *arena, const char *folder,
                           const char *name);
/* `path` behind the current folder when it is relative: good whatever folder
 * is current later.  As it is where no folder is. */
const char *shmt_path_absolute(struct shmt_arena *arena, const char *path);
/* The folder part, "." when there is none. */
const char *shmt_path_folder(struct shmt_arena *arena, const char *path);
/* The last component without `suffix`. */
const char *shmt_path_stem(struct shmt_arena *arena, const char *path,
                           const char *suffix);
bool shmt_path_exists(const char *path);
/* What is there, by a link or not; errno stays. */
bool shmt_path_is_folder(const char *path);
bool shmt_path_is_file(const char *path);
/* Whether both are there, and one and the same, by whatever names. */
bool shmt_path_is_same(const char *one, const char *other);

/* Names (not paths) in a folder that end in `suffix`, sorted by bytes; hidden
 * ones are not among them. */
enum shmtune_status shmt_path_list(struct shmt_arena *arena,
                                   const char *folder, const char *suffix,
                                   const char *const **names, size_t *count,
                                   struct shmt_error *err);

/* $XDG_CACHE_HOME/shmtune or ~/.cache/shmtune; $XDG_DATA_HOME/shmtune or
 * ~/.local/share/shmtune; NULL when neither variable is set. */
const char *shmt_path_cache(struct shmt_arena *arena);
const char *shmt_path_user_data(struct shmt_arena *arena);

#endif
