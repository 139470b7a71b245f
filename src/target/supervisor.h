/* SPDX-License-Identifier: MIT */
/*
 * supervisor: keeps one worker process running.  It starts a new one when the
 * worker dies, hangs past its deadline, or sends a line that is no message.
 *
 * Called by target/pool.c alone.
 */
#ifndef SHMT_TARGET_SUPERVISOR_H
#define SHMT_TARGET_SUPERVISOR_H

#include "target/wire.h"
#include "target/worker.h"

enum shmt_supervisor_state {
    SHMT_SUPERVISOR_DOWN, SHMT_SUPERVISOR_STARTING, SHMT_SUPERVISOR_IDLE,
    SHMT_SUPERVISOR_BUSY
};

struct shmt_supervisor {
    /* set by the owner */
    const char *const *argv;
    const char *what;            /* "compile worker" */
    double start_deadline_s;
    /* its own */
    enum shmt_supervisor_state state;
    struct shmt_worker *worker;  /* NULL when down */
    uint64_t tag;                /* when busy */
    double deadline;             /* on shmt_clock_s; INFINITY: none */
    bool timed_out;              /* we killed it because of its deadline */
    int failures;                /* consecutive, without a reply between them */
    char why[SHMT_RESULT_REASON];
    struct shmt_wire_reply message;
};

/* Only when idle. */
enum shmtune_status shmt_supervisor_send(struct shmt_supervisor *supervisor,
                                         const char *line, uint64_t tag,
                                         double deadline_s,
                                         struct shmt_error *err);

enum shmt_supervisor_event {
    SHMT_SUPERVISOR_NOTHING,
    SHMT_SUPERVISOR_HELLO, /* message; idle now */
    SHMT_SUPERVISOR_REPLY, /* message, to the tag; idle now */
    SHMT_SUPERVISOR_DIED   /* the worker died while busy; see timed_out, why */
};

/* Starts a worker if there is none, and reports one event; call it until the
 * event is NOTHING.  It fails when workers repeatedly die before they are
 * ready, with the exit status and the standard error of the last one. */
enum shmtune_status shmt_supervisor_step(struct shmt_supervisor *supervisor,
                                         enum shmt_supervisor_event *event,
                                         struct shmt_error *err);

/* Seconds until step has to be called even if poll reports nothing. */
double shmt_supervisor_timeout(const struct shmt_supervisor *supervisor);

void shmt_supervisor_close(struct shmt_supervisor *supervisor);

#endif
