/* SPDX-License-Identifier: MIT */
/*
 * live: the requests of the live target: queues them by verb, gives them to
 * idle workers, shares one compile among the configurations of a binary, sets
 * deadlines, and turns the death of a worker into a verdict.  live_open.c
 * opens and closes it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/live_state.h"

enum { ATTEMPTS = 2 };

static enum shmtune_status answer(struct shmt_live *live,
                                  enum shmt_target_verb verb,
                                  uint64_t tag,
                                  const struct shmt_result *result,
                                  struct shmt_error *err)
{
    struct shmt_live_answer *const one = calloc(1, sizeof *one);
    if (one == NULL)
        return shmt_error_memory(err);
    one->reply = (struct shmt_target_reply){verb, tag, *result};
    if (live->answers == NULL)
        live->answers_last = &live->answers;
    *live->answers_last = one;
    live->answers_last = &one->next;
    return SHMTUNE_OK;
}

/* -- binaries ------------------------------------------------------------ */

static struct shmt_live_compiled *compiled_at(struct shmt_live *live,
                                              size_t number)
{
    if (number == SIZE_MAX)
        return NULL;
    if (!shmt_array_reserve(&live->compiled, &live->compiled_room, number + 1,
                            sizeof(struct shmt_live_compiled *)))
        return NULL;
    while (live->compiled_count <= number)
        live->compiled[live->compiled_count++] = NULL;
    if (live->compiled[number] == NULL)
        live->compiled[number] = calloc(1, sizeof(struct shmt_live_compiled));
    return live->compiled[number];
}

/* The result for a candidate whose binary another one has compiled: its
 * compile time is 0. */
static struct shmt_result
shared_result(const struct shmt_live_compiled *compiled)
{
    struct shmt_result result = compiled->result;
    if (result.compile_ms > 0)
        result.compile_ms = 0;
    return result;
}

static enum shmtune_status finish_inspect(struct shmt_live *live,
                                          struct shmt_live_job *job,
                                          const struct shmt_result *result,
                                          struct shmt_error *err)
{
    struct shmt_live_compiled *const compiled = compiled_at(live, job->binary);
    enum shmtune_status status;
    struct shmt_live_job *other;

    compiled->known = true;
    compiled->result = *result;
    status = answer(live, SHMT_TARGET_INSPECT, job->tag, result, err);
    shmt_live_job_free(job);
    while ((other = shmt_live_queue_take(&compiled->waiting)) != NULL) {
        const struct shmt_result same = shared_result(compiled);
        if (status == SHMTUNE_OK)
            status = answer(live, SHMT_TARGET_INSPECT, other->tag, &same, err);
        shmt_live_job_free(other);
    }
    return status;
}

/* -- stations ------------------------------------------------------------ */

/* A measurement that takes this many times as long as the longest finished one
 * is treated as a hang. */
static const double patience_factor = 50, patience_least_s = 3;

/* Time allowed for setting a problem up.  A new worker has to do what the one
 * before it did, so its time is known; several hanging candidates then do not
 * cost the whole allowance each.  Times of earlier runs get more tolerance,
 * because the machine may be busier now. */
static double setup_allowance(const struct shmt_live *live)
{
    if (live->setup_s >= 0)
        return fmin(live->options.first_s, 1 + 3 * live->setup_s);
    if (live->expected_s >= 0)
        return fmin(live->options.first_s, 1 + 10 * live->expected_s);
    return live->options.first_s;
}

static double deadline_of(const struct shmt_live *live,
                          enum shmt_target_verb verb)
{
    const double longest = fmax(patience_factor * live->longest_s,
                                patience_least_s);
    double setup_s = 0;

    if (verb == SHMT_TARGET_INSPECT)
        return live->options.compile_s;
    if (live->needs_setup)
        setup_s = setup_allowance(live);
    return setup_s + (live->longest_s > 0
                          ? fmin(live->options.measure_s, longest)
                          : live->options.measure_s);
}

static enum shmtune_status assign(struct shmt_live *live,
                                  struct shmt_error *err)
{
    for (size_t k = 0; k < live->supervisor_count; k++) {
        const enum shmt_target_verb verb =
            k < shmt_live_measurers(live) ? SHMT_TARGET_MEASURE :
                SHMT_TARGET_INSPECT;
        struct shmt_supervisor *const supervisor = &live->supervisors[k];
        enum shmtune_status status;
        if (supervisor->state != SHMT_SUPERVISOR_IDLE ||
            shmt_worker_ending(supervisor->worker) ||
            live->pending[verb].first == NULL)
            continue;
        live->busy[k] = shmt_live_queue_take(&live->pending[verb]);
        live->busy[k]->attempts++;
        live->busy[k]->since_s = shmt_clock_s();
        status = shmt_supervisor_send(supervisor, live->busy[k]->line,
                                      live->busy[k]->tag,
                                      deadline_of(live, verb), err);
        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status on_reply(struct shmt_live *live, size_t k,
                                    struct shmt_error *err)
{
    struct shmt_wire_reply *const message = &live->supervisors[k].message;
    struct shmt_live_job *const job = live->busy[k];
    double took_s;
    enum shmtune_status status;

    live->busy[k] = NULL;
    if (message->kind == SHMT_WIRE_ERROR) {
        shmt_live_job_free(job);
        return shmt_error_set(err, message->error.status, "%s",
                              message->error.text);
    }
    if (job->verb == SHMT_TARGET_INSPECT)
        return finish_inspect(live, job, &message->result, err);
    took_s = shmt_clock_s() - job->since_s;
    if (live->needs_setup)
        live->setup_s = fmax(live->setup_s, took_s);
    else if (shmt_verdict_stage(message->result.verdict) == SHMT_STAGE_TIME)
        live->longest_s = fmax(live->longest_s, took_s);
    live->needs_setup = false;
    status = answer(live, SHMT_TARGET_MEASURE, job->tag, &message->result, err);
    shmt_live_job_free(job);
    return status;
}

/* The worker died while it was busy with a job: retry the job, or give its
 * candidate a verdict. */
static enum shmtune_status on_worker_died(struct shmt_live *live, size_t k,
                                          struct shmt_error *err)
{
    const struct shmt_supervisor *const supervisor = &live->supervisors[k];
    struct shmt_live_job *const job = live->busy[k];
    const bool inspect = job->verb == SHMT_TARGET_INSPECT;
    struct shmt_result result;
    enum shmtune_status status;

    live->busy[k] = NULL;
    if (!supervisor->timed_out && job->attempts < ATTEMPTS) {
        shmt_live_queue_add_front(&live->pending[job->verb], job);
        return SHMTUNE_OK;
    }
    shmt_result_clear(&result);
    if (supervisor->timed_out)
        shmt_result_set_verdict(&result,
                                inspect ? SHMT_VERDICT_COMPILE_TIMEOUT
                                 : SHMT_VERDICT_TIMEOUT,
                                "killed after %.3g s",
                                deadline_of(live, job->verb));
    else
        shmt_result_set_verdict(&result,
                                inspect ? SHMT_VERDICT_COMPILE_ERROR
                                 : SHMT_VERDICT_CRASH,
                                "%s", supervisor->why);
    if (inspect)
        return finish_inspect(live, job, &result, err);
    status = answer(live, SHMT_TARGET_MEASURE, job->tag, &result, err);
    shmt_live_job_free(job);
    return status;
}

/* A worker reads the sources when it starts, so a worker started later may
 * read changed ones: its digest is compared with that of the run. */
static enum shmtune_status on_hello(struct shmt_live *live, size_t k,
                                    struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = live->target.kernel;
    const char *const digest = live->supervisors[k].message.digest;

    live->needs_setup = live->needs_setup || k < shmt_live_measurers(live);
    if (digest[0] == '\0' || strcmp(digest, kernel->digest) == 0)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: it or its sources were changed since this run "
                          "began; start the run again", kernel->path);
}

enum shmtune_status shmt_live_step(struct shmt_live *live, size_t k,
                                struct shmt_error *err)
{
    enum shmt_supervisor_event event;

    do {
        enum shmtune_status status =
            shmt_supervisor_step(&live->supervisors[k], &event, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_HELLO)
            status = on_hello(live, k, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_REPLY)
            status = on_reply(live, k, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_DIED)
            status = on_worker_died(live, k, err);
        if (status != SHMTUNE_OK)
            return status;
    } while (event != SHMT_SUPERVISOR_NOTHING);
    return SHMTUNE_OK;
}

/* One round of poll over all workers; waits at most `timeout_s`.  *woken is
 * false when a signal came. */
enum shmtune_status shmt_live_round(struct shmt_live *live, double timeout_s,
                                    bool *woken, struct shmt_error *err)
{
    enum shmtune_status status = assign(live, err);
    double patience = timeout_s;
    int found;

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < live->supervisor_count; k++) {
        const struct shmt_supervisor *const supervisor = &live->supervisors[k];
        struct pollfd *const fds = &live->fds[k * SHMT_WORKER_FDS];
        for (int f = 0; f < SHMT_WORKER_FDS; f++)
            fds[f] = (struct pollfd){-1, 0, 0};
        if (supervisor->worker != NULL)
            shmt_worker_watch(supervisor->worker, fds);
        patience = fmin(patience, shmt_supervisor_timeout(supervisor));
    }
    found = poll(live->fds, live->supervisor_count * SHMT_WORKER_FDS,
                 (int)ceil(fmin(patience, 3600) * 1000));
    *woken = found >= 0;
    for (size_t k = 0; found > 0 && k < live->supervisor_count; k++)
        if (live->supervisors[k].worker != NULL)
            shmt_worker_serve(live->supervisors[k].worker,
                              &live->fds[k * SHMT_WORKER_FDS]);
    for (size_t k = 0; status == SHMTUNE_OK && k < live->supervisor_count; k++)
        status = shmt_live_step(live, k, err);
    return status;
}

/* -- the target ---------------------------------------------------------- */

static enum shmtune_status live_begin(struct shmt_target *target,
                                      const int64_t *problem,
                                      struct shmt_error *err)
{
    struct shmt_live *const live = shmt_live_of(target);
    (void)err;
    for (size_t k = 0; k < target->kernel->dimension_count; k++)
        live->problem[k] = problem[k];
    live->needs_setup = true;
    live->setup_s = -1;
    live->expected_s = -1;
    live->longest_s = -1;
    return SHMTUNE_OK;
}

static void live_set_longest(struct shmt_target *target, double longest_s)
{
    shmt_live_of(target)->expected_s = longest_s;
}

static void live_restart(struct shmt_target *target)
{
    struct shmt_live *const live = shmt_live_of(target);

    /* If the sources have changed, the old worker is kept: it still has the
     * sources that the candidates were compiled from. */
    if (!shmt_kernel_is_unchanged(target->kernel))
        return;
    for (size_t k = 0; k < shmt_live_measurers(live); k++)
        if (live->supervisors[k].state == SHMT_SUPERVISOR_IDLE)
            shmt_supervisor_close(&live->supervisors[k]);
}

static enum shmtune_status make_job(struct shmt_live *live,
                                    const struct shmt_target_request *request,
                                    struct shmt_live_job **out,
                                    struct shmt_error *err)
{
    struct shmt_text line = {0};
    struct shmt_live_job *const job = calloc(1, sizeof *job);
    const struct shmt_kernel *const kernel = live->target.kernel;
    struct shmt_wire_request message = {
        .verb = request->verb, .tag = request->tag,
        .samples = request->samples, .give_up_us = request->give_up_us,
        .verify = request->verify};

    memcpy(message.problem, live->problem,
           kernel->dimension_count * sizeof *message.problem);
    memcpy(message.config, request->config,
           kernel->parameter_count * sizeof *message.config);
    if (request->compiled != NULL)
        memcpy(message.image, request->compiled->image, sizeof message.image);
    shmt_wire_write_request(kernel, &message, &line);
    if (job == NULL || line.failed) {
        shmt_text_free(&line);
        free(job);
        return shmt_error_memory(err);
    }
    job->verb = request->verb;
    job->tag = request->tag;
    job->line = line.data;
    *out = job;
    return SHMTUNE_OK;
}

static enum shmtune_status submit_inspect(struct shmt_live *live,
                                          const shmt_config *config,
                                          struct shmt_live_job *job,
                                          struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];
    struct shmt_live_compiled *compiled = NULL;

    shmt_kernel_evaluate(live->target.kernel, live->problem, config,
                         &evaluated);
    if (shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK) {
        job->binary = shmt_target_binaries_number(live->binaries, key);
        compiled = compiled_at(live, job->binary);
    }
    if (compiled == NULL) {
        shmt_live_job_free(job);
        return shmt_error_memory(err);
    }
    if (compiled->known) {
        const struct shmt_result same = shared_result(compiled);
        enum shmtune_status status =
            answer(live, SHMT_TARGET_INSPECT, job->tag, &same, err);
        shmt_live_job_free(job);
        return status;
    }
    shmt_live_queue_add(compiled->outstanding ? &compiled->waiting
                              : &live->pending[SHMT_TARGET_INSPECT], job);
    compiled->outstanding = true;
    return SHMTUNE_OK;
}

static enum shmtune_status
live_submit(struct shmt_target *target,
            const struct shmt_target_request *request, struct shmt_error *err)
{
    struct shmt_live *const live = shmt_live_of(target);
    struct shmt_live_job *job = NULL;
    enum shmtune_status status;

    if (request->verb == SHMT_TARGET_MEASURE && shmt_live_measurers(live) == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "there is no device to measure on");
    status = make_job(live, request, &job, err);
    if (status != SHMTUNE_OK)
        return status;
    if (request->verb == SHMT_TARGET_INSPECT) {
        status = submit_inspect(live, request->config, job, err);
    } else {
        shmt_live_queue_add(&live->pending[SHMT_TARGET_MEASURE], job);
    }
    if (status != SHMTUNE_OK)
        return status;
    live->outstanding++;
    return assign(live, err);
}

static enum shmtune_status live_wait(struct shmt_target *target,
                                     double timeout_s, bool *got,
                                     struct shmt_target_reply *reply,
                                     struct shmt_error *err)
{
    struct shmt_live *const live = shmt_live_of(target);
    const double end = shmt_clock_s() + timeout_s;
    bool woken = true;

    if (live->outstanding == 0)
        return shmt_error_set(err, SHMTUNE_INTERNAL, "a reply is awaited, and "
                              "no request is outstanding");
    while (live->answers == NULL && woken) {
        const double left = end - shmt_clock_s();
        enum shmtune_status status =
            shmt_live_round(live, left > 0 ? left : 0, &woken, err);
        if (status != SHMTUNE_OK)
            return status;
        if (left <= 0)
            break;
    }
    *got = live->answers != NULL;
    if (*got) {
        struct shmt_live_answer *const one = live->answers;
        *reply = one->reply;
        live->answers = one->next;
        live->outstanding--;
        free(one);
    }
    return SHMTUNE_OK;
}

static size_t live_capacity(const struct shmt_target *target,
                            enum shmt_target_verb verb)
{
    const struct shmt_live *const live = shmt_live_of(target);

    return verb == SHMT_TARGET_MEASURE
               ? shmt_live_measurers(live)
               : live->supervisor_count - shmt_live_measurers(live);
}

static double live_now(const struct shmt_target *target)
{
    (void)target;
    return shmt_clock_s();
}

const struct shmt_target_operations shmt_live_operations = {
    live_begin, live_set_longest, live_submit, live_wait, live_capacity,
    live_restart,
    live_now, shmt_live_close
};
