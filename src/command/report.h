/* SPDX-License-Identifier: MIT */
/*
 * report: what the files report*.c share: the files that a report is made of,
 * found and read.
 */
#ifndef SHMT_COMMAND_REPORT_H
#define SHMT_COMMAND_REPORT_H

#include <sys/types.h>

#include "command/command.h"
#include "kernel/kernel.h"
#include "record/record.h"
#include "report/report.h"

/* Now, or what $SOURCE_DATE_EPOCH says: "2026-11-21 22:14 UTC". */
void shmt_command_report_time(char out[32]);

enum shmt_command_file_kind {
    SHMT_COMMAND_TUNING, SHMT_COMMAND_JOURNAL, SHMT_COMMAND_COUNTERS
};

/* A tuning, a journal, or what `explain` counted. */
struct shmt_command_file {
    const char *path;
    bool found;                /* in a folder: what is wrong with it does not
                                  end the command */
    enum shmt_command_file_kind kind;
    dev_t device;              /* which file it is, */
    ino_t inode;
    off_t bytes;               /* and how large */
    const struct shmt_kernel *kernel;  /* NULL: of a tuning, not known */
    char digest[SHMT_DIGEST_TEXT];     /* a journal says that it has */
    struct shmt_tuning *tuning;        /* one of the three when it was read */
    struct shmt_journal *journal;
    const struct shmt_report_counters *counters;
    struct shmt_error why;     /* why not */
};

struct shmt_command_files {
    struct shmt_arena *arena;
    struct shmt_catalogue *catalogue;
    const struct shmt_command_repeats *specs;  /* of --spec */
    size_t kernel_count, kernel_room;
    struct shmt_kernel **kernels;  /* those that no catalogue has */
    size_t count, room;
    struct shmt_command_file *items;
    int64_t jobs;              /* read at a time */
};

/* Starts as {.specs, .jobs}; reads the files and what is in the folders that
 * are named, or without names in ./tunings or, where there is none, those that
 * are shipped.  A file that is named and cannot be read is a failure. */
enum shmtune_status shmt_command_files_read(struct shmt_command_files *files,
                                            char *const *words, size_t count,
                                            struct shmt_error *err);
void shmt_command_files_free(struct shmt_command_files *files);

/* -- report_counters.c ----------------------------------------------------- */

/* Whether it is to be read as what `explain --json` printed: its name ends with
 * .json, or it begins with that format. */
bool shmt_command_is_counters(const char *path);
/* In the arena.  SHMTUNE_INVALID_FILE with the place. */
enum shmtune_status
shmt_command_counters_read(struct shmt_arena *arena, const char *path,
                           const struct shmt_report_counters **out,
                           struct shmt_error *err);

#endif
