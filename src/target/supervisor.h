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

/* The process may be a courier, which stands for a worker on another machine
 * (courier.h).  Then the death of the worker there is told by a message, and
 * deadlines are kept there; when the courier ends, the worker is lost: that
 * says nothing about what it was busy with. */

enum shmt_supervisor_state {
    SHMT_SUPERVISOR_DOWN, SHMT_SUPERVISOR_STARTING, SHMT_SUPERVISOR_IDLE,
    SHMT_SUPERVISOR_BUSY
};

struct shmt_supervisor {
    /* set by the owner */
    const char *const *argv;
    const char *what;            /* "compile worker" */
    double start_deadline_s;     /* INFINITY: it may wait in a queue */
    bool far;                    /* a courier */
    /* its own */
    enum shmt_supervisor_state state;
    struct shmt_worker *worker;  /* NULL when down */
    uint64_t tag;                /* when busy */
    double deadline;             /* on shmt_clock_s; INFINITY: none */
    bool timed_out;              /* we killed it because of its deadline */
    int failures;                /* consecutive, without a reply between them */
    double later;                /* then no new one is started before */
    bool met;                    /* a hello has come, of any of its workers */
    char why[SHMT_RESULT_REASON];
    char notice[SHMT_RESULT_REASON];   /* what people should know */
    struct shmt_wire_reply message;
};

/* Only when idle. */
enum shmtune_status shmt_supervisor_send(struct shmt_supervisor *supervisor,
                                         const char *line, uint64_t tag,
                                         double deadline_s,
                                         struct shmt_error *err);

/* The worker, if it is idle, is one of another command from now on: the line
 * tells it so, and it will say hello.  False: it cannot be told. */
bool shmt_supervisor_turn(struct shmt_supervisor *supervisor,
                          const char *const *argv, const char *line);

enum shmt_supervisor_event {
    SHMT_SUPERVISOR_NOTHING,
    SHMT_SUPERVISOR_HELLO, /* message; idle now */
    SHMT_SUPERVISOR_REPLY, /* message, to the tag; idle now */
    SHMT_SUPERVISOR_DIED,  /* the worker died while busy; see timed_out, why */
    SHMT_SUPERVISOR_LOST,  /* it was lost while busy; see why */
    SHMT_SUPERVISOR_NOTICE /* see notice */
};

/* When busy: the request has so many seconds left at most. */
void shmt_supervisor_hurry(struct shmt_supervisor *supervisor,
                           double seconds);

/* A new worker takes the place of this one, which may be busy; a launcher is
 * not started again for that. */
void shmt_supervisor_restart(struct shmt_supervisor *supervisor);

/* Starts a worker if there is none, and reports one event; call it until the
 * event is NOTHING.  It fails when workers repeatedly die before they are
 * ready, with the exit status and the standard error of the last one. */
enum shmtune_status shmt_supervisor_step(struct shmt_supervisor *supervisor,
                                         enum shmt_supervisor_event *event,
                                         struct shmt_error *err);

/* Seconds until step has to be called even if poll reports nothing. */
double shmt_supervisor_timeout(const struct shmt_supervisor *supervisor);

void shmt_supervisor_close(struct shmt_supervisor *supervisor);
/* The same of one that is there, whose worker ends when it has read the end of
 * its input; it is the caller's. */
struct shmt_worker *
shmt_supervisor_dismiss(struct shmt_supervisor *supervisor);

#endif
