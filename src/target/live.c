/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/live_state.h"

enum { ATTEMPTS = 2 };

static enum shmtune_status answer(struct shmt_live *live, enum shmt_verb verb,
                                  uint64_t tag,
                                  const struct shmt_result *result,
                                  struct shmt_error *err)
{
    struct shmt_answer *const one = calloc(1, sizeof *one);
    if (one == NULL)
        return shmt_error_memory(err);
    one->reply = (struct shmt_reply){verb, tag, *result};
    if (live->answers == NULL)
        live->answers_last = &live->answers;
    *live->answers_last = one;
    live->answers_last = &one->next;
    return SHMTUNE_OK;
}

/* -- binaries ------------------------------------------------------------ */

static struct shmt_compiled *compiled_at(struct shmt_live *live, size_t number)
{
    if (number == SIZE_MAX)
        return NULL;
    if (!shmt_array_reserve(&live->compiled, &live->compiled_room, number + 1,
                            sizeof(struct shmt_compiled *)))
        return NULL;
    while (live->compiled_count <= number)
        live->compiled[live->compiled_count++] = NULL;
    if (live->compiled[number] == NULL)
        live->compiled[number] = calloc(1, sizeof(struct shmt_compiled));
    return live->compiled[number];
}

/* Only the binary is shared: who asked first has paid for it. */
static struct shmt_result shared(const struct shmt_compiled *compiled)
{
    struct shmt_result result = compiled->result;
    if (result.compile_ms > 0)
        result.compile_ms = 0;
    return result;
}

static enum shmtune_status finish_inspect(struct shmt_live *live,
                                          struct shmt_job *job,
                                          const struct shmt_result *result,
                                          struct shmt_error *err)
{
    struct shmt_compiled *const compiled = compiled_at(live, job->binary);
    enum shmtune_status status;
    struct shmt_job *other;

    compiled->known = true;
    compiled->result = *result;
    status = answer(live, SHMT_INSPECT, job->tag, result, err);
    shmt_job_free(job);
    while ((other = shmt_queue_take(&compiled->waiting)) != NULL) {
        const struct shmt_result same = shared(compiled);
        if (status == SHMTUNE_OK)
            status = answer(live, SHMT_INSPECT, other->tag, &same, err);
        shmt_job_free(other);
    }
    return status;
}

/* -- stations ------------------------------------------------------------ */

/* One that takes so much longer than any that came to its end will not end. */
static const double patience_factor = 50, patience_least_s = 3;

/* A successor does what its predecessor did; one candidate after another that
 * hangs shall not cost the whole allowance each time.  In an earlier run the
 * machine may have been less busy. */
static double setup_allowance(const struct shmt_live *live)
{
    if (live->setup_s >= 0)
        return fmin(live->options.first_s, 1 + 3 * live->setup_s);
    if (live->expected_s >= 0)
        return fmin(live->options.first_s, 1 + 10 * live->expected_s);
    return live->options.first_s;
}

static double deadline_of(const struct shmt_live *live, enum shmt_verb verb)
{
    const double longest = fmax(patience_factor * live->longest_s,
                                patience_least_s);
    double setup_s = 0;

    if (verb == SHMT_INSPECT)
        return live->options.compile_s;
    if (live->fresh)
        setup_s = setup_allowance(live);
    return setup_s + (live->longest_s > 0
                          ? fmin(live->options.measure_s, longest)
                          : live->options.measure_s);
}

static enum shmtune_status assign(struct shmt_live *live,
                                  struct shmt_error *err)
{
    for (size_t k = 0; k < live->station_count; k++) {
        const enum shmt_verb verb =
            k < shmt_live_measurers(live) ? SHMT_MEASURE : SHMT_INSPECT;
        struct shmt_station *const station = &live->stations[k];
        enum shmtune_status status;
        if (station->state != SHMT_STATION_IDLE ||
            shmt_worker_ending(station->worker) ||
            live->pending[verb].first == NULL)
            continue;
        live->busy[k] = shmt_queue_take(&live->pending[verb]);
        live->busy[k]->attempts++;
        live->busy[k]->since_s = shmt_clock_s();
        status = shmt_station_assign(station, live->busy[k]->line,
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
    struct shmt_protocol_reply *const message = &live->stations[k].message;
    struct shmt_job *const job = live->busy[k];
    double took_s;
    enum shmtune_status status;

    live->busy[k] = NULL;
    if (message->kind == SHMT_PROTOCOL_ERROR) {
        shmt_job_free(job);
        return shmt_error_set(err, message->error.status, "%s",
                              message->error.text);
    }
    if (job->verb == SHMT_INSPECT)
        return finish_inspect(live, job, &message->result, err);
    took_s = shmt_clock_s() - job->since_s;
    if (live->fresh)
        live->setup_s = fmax(live->setup_s, took_s);
    else if (shmt_verdict_stage(message->result.verdict) == SHMT_STAGE_TIME)
        live->longest_s = fmax(live->longest_s, took_s);
    live->fresh = false;
    status = answer(live, SHMT_MEASURE, job->tag, &message->result, err);
    shmt_job_free(job);
    return status;
}

/* A worker took what it was busy with into the grave. */
static enum shmtune_status on_lost(struct shmt_live *live, size_t k,
                                   struct shmt_error *err)
{
    const struct shmt_station *const station = &live->stations[k];
    struct shmt_job *const job = live->busy[k];
    const bool inspect = job->verb == SHMT_INSPECT;
    struct shmt_result result;
    enum shmtune_status status;

    live->busy[k] = NULL;
    if (!station->timed_out && job->attempts < ATTEMPTS) {
        shmt_queue_add_front(&live->pending[job->verb], job);
        return SHMTUNE_OK;
    }
    shmt_result_clear(&result);
    if (station->timed_out)
        shmt_result_fail(&result,
                         inspect ? SHMT_VERDICT_COMPILE_TIMEOUT
                                 : SHMT_VERDICT_TIMEOUT,
                         "killed after %.3g s", deadline_of(live, job->verb));
    else
        shmt_result_fail(&result,
                         inspect ? SHMT_VERDICT_COMPILE_ERROR
                                 : SHMT_VERDICT_CRASH,
                         "%s", station->why);
    if (inspect)
        return finish_inspect(live, job, &result, err);
    status = answer(live, SHMT_MEASURE, job->tag, &result, err);
    shmt_job_free(job);
    return status;
}

/* A worker reads the sources when it starts: a later one may find others. */
static enum shmtune_status on_hello(struct shmt_live *live, size_t k,
                                    struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = live->target.kernel;
    const char *const digest = live->stations[k].message.digest;

    live->fresh = live->fresh || k < shmt_live_measurers(live);
    if (digest[0] == '\0' || strcmp(digest, kernel->digest) == 0)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s: it or its sources were changed since this run "
                          "began: begin again", kernel->path);
}

enum shmtune_status shmt_live_step(struct shmt_live *live, size_t k,
                                struct shmt_error *err)
{
    enum shmt_station_event event;

    do {
        enum shmtune_status status =
            shmt_station_step(&live->stations[k], &event, err);
        if (status == SHMTUNE_OK && event == SHMT_STATION_HELLO)
            status = on_hello(live, k, err);
        if (status == SHMTUNE_OK && event == SHMT_STATION_REPLY)
            status = on_reply(live, k, err);
        if (status == SHMTUNE_OK && event == SHMT_STATION_LOST)
            status = on_lost(live, k, err);
        if (status != SHMTUNE_OK)
            return status;
    } while (event != SHMT_STATION_QUIET);
    return SHMTUNE_OK;
}

/* One round of everything; waits at most `timeout_s`.  *woken is false when
 * a signal came. */
enum shmtune_status shmt_live_round(struct shmt_live *live, double timeout_s,
                                    bool *woken, struct shmt_error *err)
{
    enum shmtune_status status = assign(live, err);
    double patience = timeout_s;
    int found;

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < live->station_count; k++) {
        const struct shmt_station *const station = &live->stations[k];
        struct pollfd *const fds = &live->fds[k * SHMT_WORKER_FDS];
        for (int f = 0; f < SHMT_WORKER_FDS; f++)
            fds[f] = (struct pollfd){-1, 0, 0};
        if (station->worker != NULL)
            shmt_worker_watch(station->worker, fds);
        patience = fmin(patience, shmt_station_patience(station));
    }
    found = poll(live->fds, live->station_count * SHMT_WORKER_FDS,
                 (int)ceil(fmin(patience, 3600) * 1000));
    *woken = found >= 0;
    for (size_t k = 0; found > 0 && k < live->station_count; k++)
        if (live->stations[k].worker != NULL)
            shmt_worker_serve(live->stations[k].worker,
                              &live->fds[k * SHMT_WORKER_FDS]);
    for (size_t k = 0; status == SHMTUNE_OK && k < live->station_count; k++)
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
    live->fresh = true;
    live->setup_s = -1;
    live->expected_s = -1;
    live->longest_s = -1;
    return SHMTUNE_OK;
}

static void live_expect(struct shmt_target *target, double longest_s)
{
    shmt_live_of(target)->expected_s = longest_s;
}

static void live_renew(struct shmt_target *target)
{
    struct shmt_live *const live = shmt_live_of(target);

    /* Other memory is not worth the run: the one that is there still has the
     * sources that the candidates are of. */
    if (!shmt_kernel_is_current(target->kernel))
        return;
    for (size_t k = 0; k < shmt_live_measurers(live); k++)
        if (live->stations[k].state == SHMT_STATION_IDLE)
            shmt_station_close(&live->stations[k]);
}

static enum shmtune_status make_job(struct shmt_live *live,
                                    const struct shmt_request *request,
                                    struct shmt_job **out,
                                    struct shmt_error *err)
{
    struct shmt_text line = {0};
    struct shmt_job *const job = calloc(1, sizeof *job);
    const struct shmt_kernel *const kernel = live->target.kernel;
    struct shmt_protocol_request message = {
        .verb = request->verb, .tag = request->tag,
        .samples = request->samples, .hopeless_us = request->hopeless_us,
        .verify = request->verify};

    memcpy(message.problem, live->problem,
           kernel->dimension_count * sizeof *message.problem);
    memcpy(message.choice, request->choice,
           kernel->parameter_count * sizeof *message.choice);
    if (request->compiled != NULL)
        memcpy(message.image, request->compiled->image, sizeof message.image);
    shmt_protocol_write_request(kernel, &message, &line);
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
                                          const shmt_choice *choice,
                                          struct shmt_job *job,
                                          struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];
    struct shmt_compiled *compiled = NULL;

    shmt_kernel_evaluate(live->target.kernel, live->problem, choice,
                         &evaluated);
    if (shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK) {
        job->binary = shmt_binaries_number(live->binaries, key);
        compiled = compiled_at(live, job->binary);
    }
    if (compiled == NULL) {
        shmt_job_free(job);
        return shmt_error_memory(err);
    }
    if (compiled->known) {
        const struct shmt_result same = shared(compiled);
        enum shmtune_status status =
            answer(live, SHMT_INSPECT, job->tag, &same, err);
        shmt_job_free(job);
        return status;
    }
    shmt_queue_add(compiled->asked ? &compiled->waiting
                              : &live->pending[SHMT_INSPECT], job);
    compiled->asked = true;
    return SHMTUNE_OK;
}

static enum shmtune_status live_submit(struct shmt_target *target,
                                       const struct shmt_request *request,
                                       struct shmt_error *err)
{
    struct shmt_live *const live = shmt_live_of(target);
    struct shmt_job *job = NULL;
    enum shmtune_status status;

    if (request->verb == SHMT_MEASURE && shmt_live_measurers(live) == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "there is no device to measure on");
    status = make_job(live, request, &job, err);
    if (status != SHMTUNE_OK)
        return status;
    if (request->verb == SHMT_INSPECT) {
        status = submit_inspect(live, request->choice, job, err);
    } else {
        shmt_queue_add(&live->pending[SHMT_MEASURE], job);
    }
    if (status != SHMTUNE_OK)
        return status;
    live->asked++;
    return assign(live, err);
}

static enum shmtune_status live_wait(struct shmt_target *target,
                                     double timeout_s, bool *got,
                                     struct shmt_reply *reply,
                                     struct shmt_error *err)
{
    struct shmt_live *const live = shmt_live_of(target);
    const double end = shmt_clock_s() + timeout_s;
    bool woken = true;

    if (live->asked == 0)
        return shmt_error_set(err, SHMTUNE_INTERNAL, "waiting, and nothing "
                              "is asked for");
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
        struct shmt_answer *const one = live->answers;
        *reply = one->reply;
        live->answers = one->next;
        live->asked--;
        free(one);
    }
    return SHMTUNE_OK;
}

static size_t live_capacity(const struct shmt_target *target,
                            enum shmt_verb verb)
{
    const struct shmt_live *const live = shmt_live_of(target);

    return verb == SHMT_MEASURE
               ? shmt_live_measurers(live)
               : live->station_count - shmt_live_measurers(live);
}

static double live_now(const struct shmt_target *target)
{
    (void)target;
    return shmt_clock_s();
}

const struct shmt_target_operations shmt_live_operations = {
    live_begin, live_expect, live_submit, live_wait, live_capacity, live_renew,
    live_now, shmt_live_close
};
