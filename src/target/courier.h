/* SPDX-License-Identifier: MIT */
/*
 * courier: this side of a launcher: a process that a supervisor starts in the
 * place of a measure worker.  It starts the launcher's command, waits for the
 * relay at its other end (relay.h), sends what a measurement needs, once, and
 * passes requests and replies through.
 *
 * Its standard input has the lines of supervisor.c, its standard output the
 * notes of far.h.  It ends with the relay: a supervisor starts the next one.
 */
#ifndef SHMT_TARGET_COURIER_H
#define SHMT_TARGET_COURIER_H

#include <signal.h>
#include <stdio.h>

#include "target/far.h"

/* What it may take to end, once it has no more input: half of this for the
 * launcher to do so by itself, half after SIGTERM, and a moment to kill it. */
#define SHMT_COURIER_GRACE_S 2

struct shmt_courier;

struct shmt_courier_options {
    const char *command;       /* the launcher, for the shell */
    const char *program;       /* shmtune on the far side; as it is passed
                                  through two shells by ssh, and by one or
                                  none by others, it has no character that
                                  means something to one: see
                                  shmt_courier_word_valid */
    const char *device;
    const char *version;       /* of this shmtune */
    double silence_s;          /* without a beat for so long it is lost */
    FILE *out;                 /* where the notes go */
    const volatile sig_atomic_t *stop;   /* not 0: it is to end */
    /* The relay has greeted: opens the compilers for its device, and sends
     * (shmt_courier_send) what belongs to the spec; fills in the order
     * `open`. */
    enum shmtune_status (*arrive)(void *context, struct shmt_courier *courier,
                                  const struct shmtune_device *device,
                                  struct shmt_far_order *open,
                                  struct shmt_error *err);
    /* Names files as this side does, in a text of the other's. */
    void (*rename)(void *context, char *text, size_t room);
    /* Sends what a request needs, and says its tag.  *answered: the answer is
     * in *reply already. */
    enum shmtune_status (*prepare)(void *context, struct shmt_courier *courier,
                                   const char *request, size_t size,
                                   uint64_t *tag, bool *answered,
                                   struct shmt_wire_reply *reply,
                                   struct shmt_error *err);
    void *context;
};

/* Until standard input ends, or the relay is lost, which has been noted. A
 * status is a failure for which another try would be none. */
enum shmtune_status shmt_courier_run(const struct shmt_courier_options *options,
                                     struct shmt_error *err);

/* Letters, digits and "_-./:=@%+,". */
bool shmt_courier_word_valid(const char *word);

/* For `arrive` and `prepare`: the file at `path` here is to be there as
 * `name`, a name of far.h.  It is sent once; one that is known to be there is
 * not read again. */
enum shmtune_status shmt_courier_send(struct shmt_courier *courier,
                                      const char *path, const char *name,
                                      struct shmt_error *err);

/* What is said to a courier before a request, and in the place of one. */
#define SHMT_COURIER_SECONDS "seconds "
#define SHMT_COURIER_RESTART "restart"

#endif
