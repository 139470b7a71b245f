/* SPDX-License-Identifier: MIT */
/*
 * wanted: problems that applications had and that nobody tuned for, with how
 * often (wanted/1).  libshmtune merges what a process wanted into the file that
 * $SHMTUNE_WANTED names; `shmtune tune --wanted` reads it.
 */
#ifndef SHMT_RECORD_WANTED_H
#define SHMT_RECORD_WANTED_H

#include "record/tuning.h"

/* Of what is written and read: the most wanted stay. */
enum { SHMT_WANTED_PROBLEMS = 4096, SHMT_WANTED_BYTES = 4 << 20 };

struct shmt_wanted_problem {
    const char *kernel;
    const char *device;                 /* its name */
    const struct shmt_setting *size;    /* integers, dimensions in the order of
                                           the spec */
    size_t size_count;
    uint64_t count;                     /* selections */
};

/* To read.  Each kernel, device and size is there once. */
struct shmt_wanted {
    struct shmt_arena *arena;
    struct shmt_wanted_problem *problems;
    size_t count, room;
    struct shmt_map places;             /* hash of a problem -> its place */
};

enum shmtune_status shmt_wanted_new(struct shmt_wanted **out,
                                    struct shmt_error *err);
void shmt_wanted_free(struct shmt_wanted *wanted);

/* A deep copy of `one`, or its count more for the one that is there. */
enum shmtune_status shmt_wanted_add(struct shmt_wanted *wanted,
                                    const struct shmt_wanted_problem *one,
                                    struct shmt_error *err);

/* The most wanted first; what is as wanted in one order whatever it was
 * added in. */
void shmt_wanted_sort(struct shmt_wanted *wanted);

/* Refusals are SHMTUNE_INVALID_FILE and begin with file:line:column; a file
 * that is absent or cannot be read is NOT_FOUND or STORAGE. */
enum shmtune_status shmt_wanted_parse(const char *name, const char *data,
                                      size_t size, struct shmt_wanted **out,
                                      struct shmt_error *err);
enum shmtune_status shmt_wanted_read(const char *path,
                                     struct shmt_wanted **out,
                                     struct shmt_error *err);

/* Sorted, the first SHMT_WANTED_PROBLEMS of them. */
void shmt_wanted_format(struct shmt_wanted *wanted, struct shmt_text *text);

/* Adds all of them to the file at an absolute path, under a lock: any number of
 * processes may do so at a time, and each waits up to 30 seconds for its turn.
 * The file is its owner's alone (0600), in a folder that is closed to the
 * writing of others; what is there and is no such file stays. */
enum shmtune_status shmt_wanted_merge(const struct shmt_wanted *wanted,
                                      const char *path,
                                      struct shmt_error *err);

#endif
