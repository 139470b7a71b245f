/* SPDX-License-Identifier: MIT */
/*
 * rerun: starts a measure worker, asks it one thing, and takes what it says, or
 * how it ended, for the answer.  Called by command/draft_rerun.c.
 */
#include "target/rerun.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "target/wire.h"
#include "target/worker.h"

/* For the driver, and then for compiling, the files and the launches. */
static const double START_S = 60, ANSWER_S = 300;

struct asking {
    const struct shmt_live_rerun *request;
    const struct shmt_argument *poisoned;
    struct shmt_worker *worker;
    bool greeted;
    double answer_s, deadline;
};

static enum shmtune_status ask(struct asking *asking, struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = asking->request->kernel;
    struct shmt_wire_request message = {.verb = SHMT_TARGET_RERUN,
                                        .poison = asking->poisoned};
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_kernel_default_problem(kernel, message.problem);
    shmt_kernel_default(kernel, message.config);
    if (asking->request->config != NULL)
        memcpy(message.config, asking->request->config,
               kernel->parameter_count * sizeof *message.config);
    shmt_wire_write_request(kernel, &message, &text);
    status = text.failed ? shmt_error_memory(err)
                         : shmt_worker_send(asking->worker, text.data, err);
    shmt_text_free(&text);
    asking->greeted = true;
    asking->deadline = shmt_clock_s() + asking->answer_s;
    return status;
}

/* A line of the worker; *answered when nothing more is to come. */
static enum shmtune_status take(struct asking *asking, const char *line,
                                struct shmt_live_reran *out, bool *answered,
                                struct shmt_error *err)
{
    struct shmt_wire_reply reply;
    enum shmtune_status status = shmt_wire_read_reply(line, &reply, err);

    if (status != SHMTUNE_OK)
        return status;
    if (reply.kind == SHMT_WIRE_HELLO)
        return ask(asking, err);
    *answered = true;
    if (reply.kind == SHMT_WIRE_ERROR)
        return shmt_error_set(err, reply.error.status, "%s",
                              reply.error.text);
    out->ran = reply.result.verdict == SHMT_VERDICT_OK;
    out->crashed = reply.result.verdict == SHMT_VERDICT_CRASH;
    if (!out->ran) {
        snprintf(out->why, sizeof out->why, "%s", reply.result.reason);
        return SHMTUNE_OK;
    }
    return shmt_wire_read_rerun(line, &out->found, err);
}

/* It ended without an answer: before it was asked it could not start, behind
 * that it is the launch's doing. */
static enum shmtune_status take_end(const struct asking *asking,
                                    struct shmt_live_reran *out,
                                    struct shmt_error *err)
{
    static const char name[] = "shmtune: error: ";
    const char *text = shmt_worker_stderr(asking->worker);
    const int code = shmt_worker_exit_status(asking->worker);

    if (strncmp(text, name, sizeof name - 1) == 0)
        text += sizeof name - 1;
    if (!asking->greeted)
        return shmt_error_set(err, code > 0 && code < 100
                                       ? (enum shmtune_status)code
                                       : SHMTUNE_NO_DEVICE,
                              "%.*s", (int)strcspn(text, "\n"),
                              text[0] != '\0'
                                  ? text
                                  : shmt_worker_end_text(asking->worker));
    snprintf(out->why, sizeof out->why, "the worker %s",
             shmt_worker_end_text(asking->worker));
    return SHMTUNE_OK;
}

static enum shmtune_status converse(struct asking *asking,
                                    struct shmt_live_reran *out,
                                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct pollfd fds[SHMT_WORKER_FDS];
    bool answered = false;
    const char *line = NULL;

    while (status == SHMTUNE_OK && !answered) {
        switch (shmt_worker_next(asking->worker, &line)) {
        case SHMT_WORKER_WROTE_LINE:
            status = take(asking, line, out, &answered, err);
            continue;
        case SHMT_WORKER_ENDED:
            return take_end(asking, out, err);
        case SHMT_WORKER_GARBLED:
            return shmt_error_set(err, SHMTUNE_INTERNAL, "the worker wrote a "
                                  "line that is too long or holds a zero "
                                  "byte");
        case SHMT_WORKER_NOTHING:
            break;
        }
        if (asking->request->stop != NULL && *asking->request->stop)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted");
        if (shmt_clock_s() > asking->deadline) {
            snprintf(out->why, sizeof out->why, "it did not end in %.0f s",
                     asking->greeted ? asking->answer_s : START_S);
            return asking->greeted
                       ? SHMTUNE_OK
                       : shmt_error_set(err, SHMTUNE_NO_DEVICE,
                                        "the measure worker: %s", out->why);
        }
        shmt_worker_watch(asking->worker, fds);
        if (poll(fds, SHMT_WORKER_FDS,
                 shmt_worker_ending(asking->worker) ? 2 : 250) > 0)
            shmt_worker_serve(asking->worker, fds);
    }
    return status;
}

enum shmtune_status shmt_live_rerun(const struct shmt_live_rerun *request,
                                    const struct shmt_argument *poisoned,
                                    struct shmt_live_reran *out,
                                    struct shmt_error *err)
{
    struct asking asking = {.request = request, .poisoned = poisoned,
                            .answer_s = request->most_s > 0
                                            ? fmin(request->most_s, ANSWER_S)
                                            : ANSWER_S,
                            .deadline = shmt_clock_s() + START_S};
    char self[4096];
    const char *const argv[] = {
        request->program != NULL ? request->program : self, "worker",
        "--spec", request->kernel->path, "--images", request->images,
        "--device", request->device, NULL};
    enum shmtune_status status = SHMTUNE_OK;

    out->ran = out->crashed = false;
    out->why[0] = '\0';
    out->found.count = 0;
    if (request->program == NULL)
        status = shmt_worker_own_path(self, sizeof self, err);
    if (status == SHMTUNE_OK)
        status = shmt_worker_start(argv, &asking.worker, err);
    if (status != SHMTUNE_OK)
        return status;
    status = converse(&asking, out, err);
    if (status == SHMTUNE_INTERRUPTED)
        shmt_worker_drop(asking.worker);
    else
        shmt_worker_free(asking.worker);
    return status;
}
