/* SPDX-License-Identifier: MIT */
/*
 * supervisor: the state machine of one worker process: down, starting, idle,
 * busy.  Called by pool.c.  Invariant: a request is sent only
 * when the worker is idle, so each reply belongs to the last request.
 */
#include "target/supervisor.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "target/courier.h"

/* Consecutive failures after which no new worker is started. */
enum { FAILURES = 5 };
/* One that was granted once is waited for through some minutes, in which a
 * machine starts again or a queue moves on: before each try to reach it a
 * pause, doubled by each failure. */
enum { FAR_FAILURES = 10 };
static const double pause_s = 0.25, longest_pause_s = 60;

/* It is to say hello in time. */
static void await_hello(struct shmt_supervisor *supervisor)
{
    supervisor->state = SHMT_SUPERVISOR_STARTING;
    supervisor->deadline = shmt_clock_s() + supervisor->start_deadline_s;
    supervisor->timed_out = false;
    supervisor->why[0] = '\0';
}

static enum shmtune_status start(struct shmt_supervisor *supervisor,
                                 struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_worker_start(supervisor->argv, &supervisor->worker, err);

    if (status == SHMTUNE_OK)
        await_hello(supervisor);
    return status;
}

bool shmt_supervisor_turn(struct shmt_supervisor *supervisor,
                          const char *const *argv, const char *line)
{
    if (supervisor->state != SHMT_SUPERVISOR_IDLE || supervisor->far ||
        shmt_worker_ending(supervisor->worker) ||
        shmt_worker_send(supervisor->worker, line, NULL) != SHMTUNE_OK)
        return false;
    shmt_worker_forget_stderr(supervisor->worker);
    supervisor->argv = argv;
    supervisor->failures = 0;
    await_hello(supervisor);
    return true;
}

enum shmtune_status shmt_supervisor_send(struct shmt_supervisor *supervisor,
                                         const char *line, uint64_t tag,
                                         double deadline_s,
                                         struct shmt_error *err)
{
    char seconds[64];
    enum shmtune_status status = SHMTUNE_OK;

    if (supervisor->far) {
        snprintf(seconds, sizeof seconds, SHMT_COURIER_SECONDS "%.0f.%03d",
                 floor(deadline_s),
                 (int)((deadline_s - floor(deadline_s)) * 1000));
        status = shmt_worker_send(supervisor->worker, seconds, err);
    }
    if (status == SHMTUNE_OK)
        status = shmt_worker_send(supervisor->worker, line, err);
    if (status != SHMTUNE_OK)
        return status;
    supervisor->state = SHMT_SUPERVISOR_BUSY;
    supervisor->tag = tag;
    supervisor->deadline = supervisor->far ? (double)INFINITY
                                           : shmt_clock_s() + deadline_s;
    return SHMTUNE_OK;
}

void shmt_supervisor_hurry(struct shmt_supervisor *supervisor,
                           double seconds)
{
    supervisor->deadline =
        fmin(supervisor->deadline, shmt_clock_s() + seconds);
}

void shmt_supervisor_restart(struct shmt_supervisor *supervisor)
{
    if (!supervisor->far) {
        shmt_supervisor_close(supervisor);
        return;
    }
    if (supervisor->state != SHMT_SUPERVISOR_IDLE &&
        supervisor->state != SHMT_SUPERVISOR_BUSY)
        return;
    /* One that cannot be told is ended, and started again. */
    if (shmt_worker_send(supervisor->worker, SHMT_COURIER_RESTART, NULL) ==
        SHMTUNE_OK)
        supervisor->state = SHMT_SUPERVISOR_STARTING;
    else
        shmt_supervisor_close(supervisor);
}

static void kill_worker(struct shmt_supervisor *supervisor, const char *why)
{
    if (supervisor->why[0] == '\0')
        snprintf(supervisor->why, sizeof supervisor->why, "%s", why);
    supervisor->deadline = INFINITY;
    shmt_worker_kill(supervisor->worker);
}

static void copy_text(const struct shmt_far_note *note,
                      char out[SHMT_RESULT_REASON])
{
    snprintf(out, SHMT_RESULT_REASON, "%.*s", SHMT_RESULT_REASON - 1,
             note->error.text);
}

/* A line of a courier.  Replies to a request that was given up may still come,
 * and a hello at any time. */
static enum shmtune_status read_note(struct shmt_supervisor *supervisor,
                                     const struct shmt_far_note *note,
                                     enum shmt_supervisor_event *event)
{
    const bool busy = supervisor->state == SHMT_SUPERVISOR_BUSY;

    if (note->kind == SHMT_FAR_NOTE_WAITING) {
        copy_text(note, supervisor->notice);
        *event = SHMT_SUPERVISOR_NOTICE;
    } else if (note->kind == SHMT_FAR_NOTE_LOST) {
        /* It ends its launcher, and then itself. */
        copy_text(note, supervisor->why);
    } else if (note->kind == SHMT_FAR_NOTE_DIED) {
        if (!busy || note->tag != supervisor->tag)
            return SHMTUNE_OK;
        supervisor->state = SHMT_SUPERVISOR_STARTING;
        supervisor->timed_out = note->timed_out;
        copy_text(note, supervisor->why);
        *event = SHMT_SUPERVISOR_DIED;
    } else if (note->kind != SHMT_FAR_NOTE_REPLY) {
        kill_worker(supervisor, "the courier sent what is not for us");
    } else if (note->reply.kind == SHMT_WIRE_HELLO) {
        supervisor->message = note->reply;
        supervisor->met = true;
        if (!busy)
            supervisor->state = SHMT_SUPERVISOR_IDLE;
        *event = SHMT_SUPERVISOR_HELLO;
    } else if (busy && note->reply.tag == supervisor->tag) {
        supervisor->message = note->reply;
        supervisor->failures = 0;
        /* The relay starts the next one, which will say hello. */
        supervisor->state = note->reply.kind == SHMT_WIRE_RESULT &&
                                    note->reply.result.verdict ==
                                        SHMT_VERDICT_CRASH
                                ? SHMT_SUPERVISOR_STARTING
                                : SHMT_SUPERVISOR_IDLE;
        *event = SHMT_SUPERVISOR_REPLY;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_far(struct shmt_supervisor *supervisor,
                                    const char *line,
                                    enum shmt_supervisor_event *event,
                                    struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_note note;
    struct shmt_error what = {0};
    enum shmtune_status status =
        arena == NULL ? SHMTUNE_NO_MEMORY
                      : shmt_far_read_note(arena, line, "", &note, &what);

    if (status == SHMTUNE_OK)
        status = read_note(supervisor, &note, event);
    else if (status == SHMTUNE_NO_MEMORY)
        status = shmt_error_memory(err);
    else {
        kill_worker(supervisor, "the courier sent a line that is no message");
        status = SHMTUNE_OK;
    }
    shmt_arena_free(arena);
    return status;
}

/* Reads a line of the worker and checks that it fits the state. */
static enum shmtune_status read_message(struct shmt_supervisor *supervisor,
                                        const char *line,
                                        enum shmt_supervisor_event *event,
                                        struct shmt_error *err)
{
    struct shmt_wire_reply *const message = &supervisor->message;
    const bool starting = supervisor->state == SHMT_SUPERVISOR_STARTING;
    char why[SHMT_RESULT_REASON];
    struct shmt_error what = {0};
    const enum shmtune_status status =
        shmt_wire_read_reply(line, message, &what);

    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    if (status != SHMTUNE_OK) {
        snprintf(why, sizeof why,
                 "the worker sent a line that is no message: \"%.60s\": "
                 "%.120s", line, what.text);
        kill_worker(supervisor, why);
        return SHMTUNE_OK;
    }
    if (starting && message->kind == SHMT_WIRE_HELLO) {
        supervisor->state = SHMT_SUPERVISOR_IDLE;
        supervisor->deadline = INFINITY;
        *event = SHMT_SUPERVISOR_HELLO;
        return SHMTUNE_OK;
    }
    if (supervisor->state == SHMT_SUPERVISOR_BUSY &&
        message->kind != SHMT_WIRE_HELLO && message->tag == supervisor->tag) {
        supervisor->state = SHMT_SUPERVISOR_IDLE;
        supervisor->deadline = INFINITY;
        supervisor->failures = 0;
        /* An error means that the worker has lost its device.  It will exit,
         * and must get no more requests. */
        if (message->kind == SHMT_WIRE_RESULT &&
            message->result.verdict == SHMT_VERDICT_CRASH)
            shmt_worker_kill(supervisor->worker);
        *event = SHMT_SUPERVISOR_REPLY;
        return SHMTUNE_OK;
    }
    snprintf(why, sizeof why, "the worker answered a request that was not "
             "made: \"%.120s\"", line);
    kill_worker(supervisor, why);
    return SHMTUNE_OK;
}

/* The last line of what a worker wrote to its standard error. */
static void last_line(const char *text, char *out, size_t room)
{
    size_t end = strlen(text), start;

    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
        end--;
    start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    snprintf(out, room, "%.*s", (int)(end - start), text + start);
}

/* Strips the "shmtune: error: " that main puts before every error. */
static const char *without_name(const char *stderr_text)
{
    static const char name[] = "shmtune: error: ";
    const bool named = strncmp(stderr_text, name, sizeof name - 1) == 0;

    return stderr_text + (named ? sizeof name - 1 : 0);
}

/* What a worker that cannot be started ended with.  It knows of no problem and
 * no candidate yet, so where CUDA failed the device did. */
static enum shmtune_status status_of(const struct shmt_supervisor *supervisor)
{
    const int code = shmt_worker_exit_status(supervisor->worker);

    if (code == SHMTUNE_CUDA)
        return SHMTUNE_NO_DEVICE;
    return code > 0 && code < 100 ? (enum shmtune_status)code
                                  : SHMTUNE_INTERNAL;
}

static enum shmtune_status
refuse_to_restart(const struct shmt_supervisor *supervisor,
                  struct shmt_error *err)
{
    const int code = shmt_worker_exit_status(supervisor->worker);
    const char *const stderr_text =
        without_name(shmt_worker_stderr(supervisor->worker));
    size_t length = strlen(stderr_text);

    if (supervisor->far && supervisor->why[0] != '\0')
        return shmt_error_set(err, SHMTUNE_NO_DEVICE, "the %s was lost %d "
                              "times in a row, the last time because %s",
                              supervisor->what, supervisor->failures,
                              supervisor->why);
    while (length > 0 && stderr_text[length - 1] == '\n')
        length--;
    /* The worker has exited with one of our own errors: its message is
     * complete. */
    if (length > 0 && code > 0 && code < 100)
        return shmt_error_set(err, status_of(supervisor), "%.*s",
                              (int)length, stderr_text);
    return shmt_error_set(
        err, status_of(supervisor),
        "the %s cannot be started: it %s%s%s%s%.*s", supervisor->what,
        shmt_worker_end_text(supervisor->worker),
        supervisor->why[0] == '\0' ? "" : "; ", supervisor->why,
        length > 0 ? ": " : "", (int)length, stderr_text);
}

static void note_loss(struct shmt_supervisor *supervisor)
{
    supervisor->later =
        shmt_clock_s() +
        fmin(ldexp(pause_s, supervisor->failures - 1), longest_pause_s);
    snprintf(supervisor->notice, sizeof supervisor->notice,
             "the %s was lost: %.*s", supervisor->what,
             (int)sizeof supervisor->notice - 40, supervisor->why);
}

/* A batch system signals each process of a job, and a person one: that is not
 * what a candidate does. */
static bool was_stopped(const struct shmt_worker *worker)
{
    static const int numbers[] = {SHMT_SIGNALS_FROM_OUTSIDE};
    const int number = shmt_worker_end_signal(worker);

    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (number == numbers[k])
            return true;
    return false;
}

/* The worker has ended: report it, and free it. */
static enum shmtune_status worker_ended(struct shmt_supervisor *supervisor,
                                        enum shmt_supervisor_event *event,
                                        struct shmt_error *err)
{
    const bool busy = supervisor->state == SHMT_SUPERVISOR_BUSY;
    const int code = shmt_worker_exit_status(supervisor->worker);
    const bool lost = supervisor->far || was_stopped(supervisor->worker);
    char line[160];

    if ((!busy || lost) &&
        ++supervisor->failures >= (supervisor->met ? FAR_FAILURES : FAILURES))
        return refuse_to_restart(supervisor, err);
    /* A worker that exits with a message while starting would fail in the same
     * way again; another machine may be all right. */
    if (supervisor->state == SHMT_SUPERVISOR_STARTING && code > 0 &&
        code < 100 && !(supervisor->far && supervisor->met))
        return refuse_to_restart(supervisor, err);
    if (supervisor->why[0] == '\0') {
        last_line(shmt_worker_stderr(supervisor->worker), line, sizeof line);
        snprintf(supervisor->why, sizeof supervisor->why, "the worker %s%s%s",
                 shmt_worker_end_text(supervisor->worker),
                 line[0] == '\0' ? "" : ": ", line);
    }
    shmt_worker_free(supervisor->worker);
    supervisor->worker = NULL;
    supervisor->state = SHMT_SUPERVISOR_DOWN;
    if (lost)
        note_loss(supervisor);
    *event = busy ? lost ? SHMT_SUPERVISOR_LOST : SHMT_SUPERVISOR_DIED
             : supervisor->far ? SHMT_SUPERVISOR_NOTICE
                               : SHMT_SUPERVISOR_NOTHING;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_supervisor_step(struct shmt_supervisor *supervisor,
                                         enum shmt_supervisor_event *event,
                                         struct shmt_error *err)
{
    const char *line = NULL;
    enum shmtune_status status;

    *event = SHMT_SUPERVISOR_NOTHING;
    if (supervisor->worker == NULL)
        return shmt_clock_s() < supervisor->later ? SHMTUNE_OK
                                                  : start(supervisor, err);
    switch (shmt_worker_next(supervisor->worker, &line)) {
    case SHMT_WORKER_WROTE_LINE:
        return supervisor->far ? read_far(supervisor, line, event, err)
                               : read_message(supervisor, line, event, err);
    case SHMT_WORKER_GARBLED:
        kill_worker(supervisor,
                    "the worker sent a line that is too long or has a zero "
                         "byte");
        return SHMTUNE_OK;
    case SHMT_WORKER_ENDED:
        status = worker_ended(supervisor, event, err);
        if (status == SHMTUNE_OK && *event == SHMT_SUPERVISOR_NOTHING &&
            !supervisor->far)
            status = start(supervisor, err);
        return status;
    case SHMT_WORKER_NOTHING:
        break;
    }
    if (shmt_clock_s() >= supervisor->deadline) {
        supervisor->timed_out = true;
        kill_worker(supervisor, "deadline");
    }
    return SHMTUNE_OK;
}

double shmt_supervisor_timeout(const struct shmt_supervisor *supervisor)
{
    double left;

    if (supervisor->worker == NULL)
        return fmax(supervisor->later - shmt_clock_s(), 0);
    left = supervisor->deadline - shmt_clock_s();
    if (shmt_worker_ending(supervisor->worker) && left > 0.002)
        return 0.002;
    return left > 0 ? left : 0;
}

struct shmt_worker *
shmt_supervisor_dismiss(struct shmt_supervisor *supervisor)
{
    struct shmt_worker *const worker = supervisor->worker;

    shmt_worker_finish(worker);
    supervisor->worker = NULL;
    supervisor->state = SHMT_SUPERVISOR_DOWN;
    return worker;
}

void shmt_supervisor_close(struct shmt_supervisor *supervisor)
{
    shmt_worker_free(supervisor->worker);
    supervisor->worker = NULL;
    supervisor->state = SHMT_SUPERVISOR_DOWN;
}
