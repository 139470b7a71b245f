/* SPDX-License-Identifier: MIT */
/*
 * worker: one child process that exchanges lines with us, and everything that
 * can go wrong with it.  The only file that starts programs.
 *
 * A worker has its own process group, so that an interrupt at the terminal
 * reaches the tuner alone.  It dies with its parent.  It is ended only by
 * SIGKILL; the driver frees what it holds on a GPU.  Nothing here blocks but
 * shmt_worker_start (until exec), shmt_worker_free, shmt_worker_drop and
 * shmt_worker_await_end.
 *
 * Called by target/live.c.
 */
#ifndef SHMT_TARGET_WORKER_H
#define SHMT_TARGET_WORKER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* A worker that sends a longer line is treated as broken. */
enum { SHMT_WORKER_LINE = 65536, SHMT_WORKER_FDS = 3 };

struct shmt_worker;

/* argv[0] is a path, argv ends with NULL.  SHMTUNE_STORAGE with the system's
 * reason when the program cannot be run. */
enum shmtune_status shmt_worker_start(const char *const *argv,
                                      struct shmt_worker **out,
                                      struct shmt_error *err);

/* Kills, reaps and frees; NULL is allowed. */
void shmt_worker_free(struct shmt_worker *worker);
/* The same, when a person waits for our own end: one that the driver does not
 * let go is not waited for. */
void shmt_worker_drop(struct shmt_worker *worker);
/* The end of its input; then waits for it to end, till that time on
 * shmt_clock_s; false: it has not. */
bool shmt_worker_await_end(struct shmt_worker *worker, double until_s);
/* Asks it, and what it has started, to end. */
void shmt_worker_terminate(struct shmt_worker *worker);

/* Kills; shmt_worker_next says ENDED once it is gone. */
void shmt_worker_kill(struct shmt_worker *worker);

/* Sends one line, given without its newline.  What the pipe does not accept
 * now is sent later.  The only error is SHMTUNE_NO_MEMORY: that a worker has
 * died is reported by shmt_worker_next. */
enum shmtune_status shmt_worker_send(struct shmt_worker *worker,
                                     const char *line,
                                     struct shmt_error *err);

/* The same for bytes that are no line.  */
enum shmtune_status shmt_worker_send_bytes(struct shmt_worker *worker,
                                           const void *bytes, size_t size,
                                           struct shmt_error *err);
/* Bytes that the pipe has not accepted so far. */
size_t shmt_worker_unsent(const struct shmt_worker *worker);
/* The end of its input, once what is unsent is sent. */
void shmt_worker_finish(struct shmt_worker *worker);

/* shmt_worker_watch fills in what poll has to wait for (unused entries are
 * -1); shmt_worker_serve handles what poll returned. */
void shmt_worker_watch(const struct shmt_worker *worker,
                       struct pollfd fds[SHMT_WORKER_FDS]);
void shmt_worker_serve(struct shmt_worker *worker,
                       const struct pollfd fds[SHMT_WORKER_FDS]);
/* True while the process is ending.  Call shmt_worker_next again within
 * milliseconds: poll will not report it. */
bool shmt_worker_ending(const struct shmt_worker *worker);

enum shmt_worker_event {
    SHMT_WORKER_NOTHING,
    SHMT_WORKER_WROTE_LINE, /* *line is valid until the next call */
    SHMT_WORKER_GARBLED,    /* a line too long, or with a NUL in it */
    SHMT_WORKER_ENDED       /* and reaped; every later call says so again */
};
enum shmt_worker_event shmt_worker_next(struct shmt_worker *worker,
                                        const char **line);

/* "exited with status 3", "was killed by signal 11 (Segmentation fault)";
 * and the last lines of its standard error, "" when there were none. */
const char *shmt_worker_end_text(const struct shmt_worker *worker);
const char *shmt_worker_stderr(const struct shmt_worker *worker);
/* What it has written there so far is not of what it does next. */
void shmt_worker_forget_stderr(struct shmt_worker *worker);
/* The errno of a read that failed, after which it was ended; 0: none did. */
int shmt_worker_deaf(const struct shmt_worker *worker);
/* The exit status, or -1 when it did not exit by itself. */
int shmt_worker_exit_status(const struct shmt_worker *worker);
/* The signal that ended it; 0: none did. */
int shmt_worker_end_signal(const struct shmt_worker *worker);

/* The path of this very program.  `out` has `room` bytes. */
enum shmtune_status shmt_worker_own_path(char *out, size_t room,
                                         struct shmt_error *err);

#endif
