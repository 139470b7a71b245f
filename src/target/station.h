/* SPDX-License-Identifier: MIT */
/*
 * station: a place where workers work, one after the other: the next one is
 * started when one dies, hangs past its deadline, or talks nonsense.
 *
 * Called by target/live.c alone.
 */
#ifndef SHMT_TARGET_STATION_H
#define SHMT_TARGET_STATION_H

#include "target/protocol.h"
#include "target/worker.h"

enum shmt_station_state {
    SHMT_STATION_DOWN, SHMT_STATION_STARTING, SHMT_STATION_IDLE,
    SHMT_STATION_BUSY
};

struct shmt_station {
    /* set by the owner */
    const char *const *argv;
    const char *what;            /* "compile worker" */
    double start_deadline_s;
    /* its own */
    enum shmt_station_state state;
    struct shmt_worker *worker;  /* NULL when down */
    uint64_t tag;                /* when busy */
    double deadline;             /* on shmt_clock_s; INFINITY: none */
    bool timed_out;              /* it was we who killed it */
    int deaths;                  /* in a row, without a reply between them */
    char why[SHMT_RESULT_REASON];
    struct shmt_protocol_reply message;
};

/* Only when idle. */
enum shmtune_status shmt_station_assign(struct shmt_station *station,
                                        const char *line, uint64_t tag,
                                        double deadline_s,
                                        struct shmt_error *err);

enum shmt_station_event {
    SHMT_STATION_QUIET,
    SHMT_STATION_HELLO,    /* message; idle now */
    SHMT_STATION_REPLY,    /* message, to the tag; idle now */
    SHMT_STATION_LOST      /* what it was busy with; timed_out, why */
};

/* Starts a worker where there is none, and says what happened; call until
 * QUIET.  An error when workers do not even come to work: the status one of
 * them exited with, and what it complained of. */
enum shmtune_status shmt_station_step(struct shmt_station *station,
                                      enum shmt_station_event *event,
                                      struct shmt_error *err);

/* When step has to be called at the latest even though poll found nothing,
 * in seconds from now. */
double shmt_station_patience(const struct shmt_station *station);

void shmt_station_close(struct shmt_station *station);

#endif
