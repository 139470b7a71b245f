/* SPDX-License-Identifier: MIT */
/*
 * worker: one child process that is spoken to in lines, and everything that
 * can go wrong with one.  The only place that starts a program.
 *
 * A worker has a process group of its own (an interrupt at the terminal is
 * for the tuner, not for it), dies with its parent, and is only ever ended
 * by SIGKILL: what it holds on a GPU is freed by the driver.  Nothing here
 * blocks but shmt_worker_start (until exec) and shmt_worker_free.
 *
 * Called by target/live.c.
 */
#ifndef SHMT_TARGET_WORKER_H
#define SHMT_TARGET_WORKER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* A longer line from a worker is garbage. */
enum { SHMT_WORKER_LINE = 65536, SHMT_WORKER_FDS = 3 };

struct shmt_worker;

/* argv[0] is a path, argv ends with NULL.  SHMTUNE_STORAGE with the system's
 * reason when the program cannot be run. */
enum shmtune_status shmt_worker_start(const char *const *argv,
                                      struct shmt_worker **out,
                                      struct shmt_error *err);

/* Kills, reaps and frees; NULL is allowed. */
void shmt_worker_free(struct shmt_worker *worker);

/* Kills; shmt_worker_next says ENDED once it is gone. */
void shmt_worker_kill(struct shmt_worker *worker);

/* One line, without its newline; what the pipe does not take now is kept.
 * Only SHMTUNE_NO_MEMORY: a worker that died is heard of by next. */
enum shmtune_status shmt_worker_send(struct shmt_worker *worker,
                                     const char *line,
                                     struct shmt_error *err);

/* What poll shall wait for (unused entries are -1), and what to do with what
 * it found. */
void shmt_worker_watch(const struct shmt_worker *worker,
                       struct pollfd fds[SHMT_WORKER_FDS]);
void shmt_worker_serve(struct shmt_worker *worker,
                       const struct pollfd fds[SHMT_WORKER_FDS]);
/* True while it is on its way out: call next again within milliseconds,
 * nothing will wake poll. */
bool shmt_worker_ending(const struct shmt_worker *worker);

enum shmt_worker_news {
    SHMT_WORKER_NOTHING,
    SHMT_WORKER_SAID,       /* *line is valid until the next call */
    SHMT_WORKER_GARBLED,    /* a line too long, or with a NUL in it */
    SHMT_WORKER_ENDED       /* and reaped; said once and for ever */
};
enum shmt_worker_news shmt_worker_next(struct shmt_worker *worker,
                                       const char **line);

/* "exited with status 3", "was killed by signal 11 (Segmentation fault)";
 * and the last lines of its standard error, "" when there were none. */
const char *shmt_worker_end_text(const struct shmt_worker *worker);
const char *shmt_worker_complaint(const struct shmt_worker *worker);
/* The exit status, or -1 when it did not exit by itself. */
int shmt_worker_exit_status(const struct shmt_worker *worker);

/* The path of this very program.  `out` has `room` bytes. */
enum shmtune_status shmt_worker_self(char *out, size_t room,
                                     struct shmt_error *err);

#endif
