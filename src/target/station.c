/* SPDX-License-Identifier: MIT */
#include "target/station.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Deaths in a row after which a station is given up. */
enum { DEATHS = 5 };

static enum shmtune_status start(struct shmt_station *station,
                                 struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_worker_start(station->argv, &station->worker, err);

    if (status != SHMTUNE_OK)
        return status;
    station->state = SHMT_STATION_STARTING;
    station->deadline = shmt_clock_s() + station->start_deadline_s;
    station->timed_out = false;
    station->why[0] = '\0';
    return SHMTUNE_OK;
}

enum shmtune_status shmt_station_assign(struct shmt_station *station,
                                        const char *line, uint64_t tag,
                                        double deadline_s,
                                        struct shmt_error *err)
{
    enum shmtune_status status = shmt_worker_send(station->worker, line, err);

    if (status != SHMTUNE_OK)
        return status;
    station->state = SHMT_STATION_BUSY;
    station->tag = tag;
    station->deadline = shmt_clock_s() + deadline_s;
    return SHMTUNE_OK;
}

static void condemn(struct shmt_station *station, const char *why)
{
    if (station->why[0] == '\0')
        snprintf(station->why, sizeof station->why, "%s", why);
    station->deadline = INFINITY;
    shmt_worker_kill(station->worker);
}

/* A line: is it what one expects in this state? */
static enum shmt_station_event hear(struct shmt_station *station,
                                    const char *line)
{
    struct shmt_protocol_reply *const message = &station->message;
    const bool starting = station->state == SHMT_STATION_STARTING;
    char why[SHMT_RESULT_REASON];
    struct shmt_error err = {0};

    if (shmt_protocol_read_reply(line, message, &err) != SHMTUNE_OK) {
        snprintf(why, sizeof why,
                 "the worker talks nonsense: \"%.60s\": %.150s", line,
                 err.text);
        condemn(station, why);
        return SHMT_STATION_QUIET;
    }
    if (starting && message->kind == SHMT_PROTOCOL_HELLO) {
        station->state = SHMT_STATION_IDLE;
        station->deadline = INFINITY;
        return SHMT_STATION_HELLO;
    }
    if (station->state == SHMT_STATION_BUSY &&
        message->kind != SHMT_PROTOCOL_HELLO && message->tag == station->tag) {
        station->state = SHMT_STATION_IDLE;
        station->deadline = INFINITY;
        station->deaths = 0;
        /* Its device is lost to it; it will go, and must get nothing more. */
        if (message->kind == SHMT_PROTOCOL_RESULT &&
            message->result.verdict == SHMT_VERDICT_CRASH)
            shmt_worker_kill(station->worker);
        return SHMT_STATION_REPLY;
    }
    snprintf(why, sizeof why, "the worker answered what nobody asked: "
             "\"%.120s\"", line);
    condemn(station, why);
    return SHMT_STATION_QUIET;
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

/* Without the name in front that main gives every error of the program. */
static const char *without_name(const char *complaint)
{
    static const char name[] = "shmtune: error: ";
    const bool named = strncmp(complaint, name, sizeof name - 1) == 0;

    return complaint + (named ? sizeof name - 1 : 0);
}

static enum shmtune_status given_up(const struct shmt_station *station,
                                    struct shmt_error *err)
{
    const int code = shmt_worker_exit_status(station->worker);
    const char *const complaint =
        without_name(shmt_worker_complaint(station->worker));
    size_t length = strlen(complaint);

    while (length > 0 && complaint[length - 1] == '\n')
        length--;
    /* an error of ours says all there is to say */
    if (length > 0 && code > 0 && code < 100)
        return shmt_error_set(err, (enum shmtune_status)code, "%.*s",
                              (int)length, complaint);
    return shmt_error_set(
        err, code > 0 && code < 100 ? (enum shmtune_status)code
                                    : SHMTUNE_INTERNAL,
        "the %s does not come to work: it %s%s%s%s%.*s", station->what,
        shmt_worker_end_text(station->worker),
        station->why[0] == '\0' ? "" : "; ", station->why,
        length > 0 ? ":\n" : "", (int)length, complaint);
}

/* The worker is gone. */
static enum shmtune_status mourn(struct shmt_station *station,
                                 enum shmt_station_event *event,
                                 struct shmt_error *err)
{
    const bool busy = station->state == SHMT_STATION_BUSY;
    const int code = shmt_worker_exit_status(station->worker);
    char line[160];

    if (!busy && ++station->deaths >= DEATHS)
        return given_up(station, err);
    /* One that says why it cannot start will say the same again. */
    if (station->state == SHMT_STATION_STARTING && code > 0 && code < 100)
        return given_up(station, err);
    if (station->why[0] == '\0') {
        last_line(shmt_worker_complaint(station->worker), line, sizeof line);
        snprintf(station->why, sizeof station->why, "the worker %s%s%s",
                 shmt_worker_end_text(station->worker),
                 line[0] == '\0' ? "" : ": ", line);
    }
    shmt_worker_free(station->worker);
    station->worker = NULL;
    station->state = SHMT_STATION_DOWN;
    *event = busy ? SHMT_STATION_LOST : SHMT_STATION_QUIET;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_station_step(struct shmt_station *station,
                                      enum shmt_station_event *event,
                                      struct shmt_error *err)
{
    const char *line = NULL;
    enum shmtune_status status;

    *event = SHMT_STATION_QUIET;
    if (station->worker == NULL)
        return start(station, err);
    switch (shmt_worker_next(station->worker, &line)) {
    case SHMT_WORKER_SAID:
        *event = hear(station, line);
        return SHMTUNE_OK;
    case SHMT_WORKER_GARBLED:
        condemn(station, "the worker talks nonsense: a line that is too long "
                         "or holds a zero byte");
        return SHMTUNE_OK;
    case SHMT_WORKER_ENDED:
        status = mourn(station, event, err);
        if (status == SHMTUNE_OK && *event == SHMT_STATION_QUIET)
            status = start(station, err);
        return status;
    case SHMT_WORKER_NOTHING:
        break;
    }
    if (shmt_clock_s() >= station->deadline) {
        station->timed_out = true;
        condemn(station, "deadline");
    }
    return SHMTUNE_OK;
}

double shmt_station_patience(const struct shmt_station *station)
{
    double left;

    if (station->worker == NULL)
        return 0;
    left = station->deadline - shmt_clock_s();
    if (shmt_worker_ending(station->worker) && left > 0.002)
        return 0.002;
    return left > 0 ? left : 0;
}

void shmt_station_close(struct shmt_station *station)
{
    shmt_worker_free(station->worker);
    station->worker = NULL;
    station->state = SHMT_STATION_DOWN;
}
