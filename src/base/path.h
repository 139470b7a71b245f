/* SPDX-License-Identifier: MIT */
/*
 * path: files and folders.  Files are read whole and written so that a reader
 * sees either the old or the new file, never a part of one.  Also says where
 * shmtune's own folders are.
 *
 * A path below the root of an open pack (pack.h) is read, listed and examined
 * in memory; it is absolute, and cannot be opened or written.
 */
#ifndef SHMT_BASE_PATH_H
#define SHMT_BASE_PATH_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

/* A regular file, to read; the caller closes *fd.  A folder, a device, a pipe:
 * SHMTUNE_STORAGE, without blocking.  Absent: SHMTUNE_NOT_FOUND. */
enum shmtune_status shmt_path_open(const char *path, int *fd, size_t *size,
                                   struct shmt_error *err);

/* read(2), again where a signal came between. */
ssize_t shmt_path_read_part(int fd, void *data, size_t size);

/* The whole file and a NUL behind it, in `arena`.  As shmt_path_open; a
 * file larger than `limit` bytes is SHMTUNE_STORAGE too. */
enum shmtune_status shmt_path_read(struct shmt_arena *arena, const char *path,
                                   size_t limit, const char **data,
                                   size_t *size, struct shmt_error *err);

/* Opens a file for a line at its end, to be written at once, so that lines of
 * threads and processes do not mix.  Where it is absent it is made, for its
 * owner alone; a pipe that nobody reads does not block.  -1: see errno. */
int shmt_path_open_end(const char *path);

/* Writes all of it, whichever signals interrupt.  What ends a program that
 * writes, where nobody reads or beyond RLIMIT_FSIZE (SIGPIPE, SIGXFSZ), is a
 * failure of the call alone.  False: see errno. */
bool shmt_path_put(int fd, const void *data, size_t size);

/* Temporary file beside it, fsync, rename.  Nothing is left on failure, and
 * the old file stays.  The temporary files of killed processes are removed.
 * Keeps the permissions of what it replaces; a symbolic link is replaced, not
 * followed.  Any number of processes may write the same path at a time.  A
 * pipe or a terminal (/dev/stdout) is written to directly.  SHMTUNE_STORAGE on
 * failure, also when the folder does not exist. */
enum shmtune_status shmt_path_write(const char *path, const void *data,
                                    size_t size, struct shmt_error *err);

/* Renames the file to path.old, or to the first of path.old.2, path.old.3 and
 * so on that is not there: `old` is that name then, else it is empty.  There is
 * no file: SHMTUNE_NOT_FOUND.  Whoever may do the same at the time is kept out
 * by the caller's lock. */
enum shmtune_status shmt_path_put_away(const char *path,
                                       struct shmt_text *old,
                                       struct shmt_error *err);

/* Waits until what was written is on the disk, whatever signals come.  False
 * with errno; true also for what no disk keeps, such as a pipe. */
bool shmt_path_sync(int fd);

/* The folder at an absolute path, if no other user but root can have put or
 * changed a file in it: each folder and link on the way, and the folder
 * itself, is this user's or root's, and closed to the writing of others, but
 * for folders on the way with the sticky bit, such as /tmp.  With `make` what
 * is absent is created, mode 0700.  *folder is for the calls below, and is
 * closed by the caller.  SHMTUNE_STORAGE with the reason and the remedy,
 * SHMTUNE_NOT_FOUND when there is no such folder. */
enum shmtune_status shmt_path_open_private(const char *path, bool make,
                                           int *folder,
                                           struct shmt_error *err);

/* Whether an open file is this user's or root's, and closed to the writing of
 * others; SHMTUNE_STORAGE with the reason. */
enum shmtune_status shmt_path_check_private(int fd, const char *path,
                                            struct shmt_error *err);

/* As shmt_path_read, of the file in the open folder that has the last
 * component of `path` for a name.  The file is opened, not through a link, and
 * then checked as above. */
enum shmtune_status shmt_path_read_private(struct shmt_arena *arena,
                                           int folder, const char *path,
                                           size_t limit, const char **data,
                                           size_t *size,
                                           struct shmt_error *err);

/* As shmt_path_write, in the open folder, but readable by the owner alone
 * (0600) whatever the old file's permissions were, and without waiting for the
 * disk: for caches, whose files can be made again. */
enum shmtune_status shmt_path_write_private(int folder, const char *path,
                                            const void *data, size_t size,
                                            struct shmt_error *err);

/* The folder and its parents, created with `mode`. */
enum shmtune_status shmt_path_make_folder(const char *path, unsigned mode,
                                          struct shmt_error *err);

/* folder/name, or name when it is absolute; of a folder in an open pack
 * folder/name in any case, so that it stays in it. */
const char *shmt_path_join(struct shmt_arena *arena, const char *folder,
                           const char *name);
/* The absolute form of `path`, which stays right when the process changes its
 * current folder, without "./" and "../" that it begins with.  `path` itself
 * when the current folder is not known. */
const char *shmt_path_absolute(struct shmt_arena *arena, const char *path);
/* The folder part, "." when there is none. */
const char *shmt_path_folder(struct shmt_arena *arena, const char *path);
/* The last component without `suffix`. */
const char *shmt_path_stem(struct shmt_arena *arena, const char *path,
                           const char *suffix);
/* What is there, after following links.  UNKNOWN: it may not be looked at, and
 * errno says why. */
enum shmt_path_kind {
    SHMT_PATH_ABSENT, SHMT_PATH_FILE, SHMT_PATH_FOLDER, SHMT_PATH_OTHER,
    SHMT_PATH_UNKNOWN
};
enum shmt_path_kind shmt_path_kind(const char *path);
bool shmt_path_exists(const char *path);
/* Whether it is known that there is nothing: neither this nor shmt_path_exists
 * is true of what may not be looked at. */
bool shmt_path_is_absent(const char *path);
/* Whether it is a folder or a regular file.  errno is kept. */
bool shmt_path_is_folder(const char *path);
bool shmt_path_is_file(const char *path);
/* Whether it is a file that this user may run. */
bool shmt_path_is_program(const char *path);
/* Writes where the program is in a list of folders with ":" between them, as
 * $PATH is; NULL is an empty one.  Only absolute folders are looked into, so
 * that a program in the current folder is never run by accident. */
bool shmt_path_find_program(const char *folders, const char *name, char *out,
                            size_t room);
/* A hash of the path's folder, whichever path that has, and of its last name,
 * so that "a/../b/x.h" and "b/x.h" have one; 0: there is no such folder, or it
 * is in a pack. */
uint64_t shmt_path_place(const char *path);
/* Whether they are of one folder, which exists, and one name. */
bool shmt_path_is_same_place(const char *one, const char *other);
/* Whether both paths exist and lead to the same file. */
bool shmt_path_is_same(const char *one, const char *other);

/* The names (not paths) in a folder that end in `suffix`, sorted by bytes.
 * Hidden files are left out. */
enum shmtune_status shmt_path_list(struct shmt_arena *arena,
                                   const char *folder, const char *suffix,
                                   const char *const **names, size_t *count,
                                   struct shmt_error *err);

/* $XDG_CACHE_HOME/shmtune or ~/.cache/shmtune; $XDG_DATA_HOME/shmtune or
 * ~/.local/share/shmtune; NULL when neither variable is set. */
const char *shmt_path_cache(struct shmt_arena *arena);
/* The folder of binaries in the cache. */
const char *shmt_path_cache_binaries(struct shmt_arena *arena);
const char *shmt_path_user_data(struct shmt_arena *arena);

#endif
