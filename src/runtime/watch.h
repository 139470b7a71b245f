/* SPDX-License-Identifier: MIT */
/*
 * watch: what a handle says of what it does ($SHMTUNE_LOG), and which problems
 * it was asked for that nobody tuned ($SHMTUNE_WANTED).  A handle that was
 * opened without either has none, and then nothing here is called.  Private to
 * runtime.
 */
#ifndef SHMT_RUNTIME_WATCH_H
#define SHMT_RUNTIME_WATCH_H

#include "runtime/nearest.h"

struct shmt_runtime_watch;

enum {
    /* Different selections of a handle that are remembered. */
    SHMT_RUNTIME_WATCHED = 2048,
    /* Places that are looked at for one. */
    SHMT_RUNTIME_PROBES = 32,
    /* Bytes that a handle writes into the log. */
    SHMT_RUNTIME_LOG = 1 << 20
};

/* Gives the handle a watch where the environment asks for one, and says what
 * was opened.  SHMTUNE_NO_MEMORY is the only failure. */
enum shmtune_status shmt_runtime_watch_begin(struct shmtune *library);

/* Writes what was wanted, and frees it; NULL is allowed. */
void shmt_runtime_watch_end(struct shmt_runtime_watch *watch);

/* A selection: counts it; the first of its kind is a line of the log.  Takes no
 * lock.  `choice` where the status is SHMTUNE_OK. */
void shmt_runtime_watch_selected(const struct shmt_runtime_request *request,
                                 enum shmtune_status status,
                                 const struct shmtune_choice *choice);

/* A line of the log about a choice: "prepare transpose, rows=1 cols=2, ...". */
void shmt_runtime_watch_say(const struct shmtune_kernel *kernel,
                            const struct shmtune_choice *choice,
                            const char *what, const char *text);

#endif
