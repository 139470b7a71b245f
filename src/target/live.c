/* SPDX-License-Identifier: MIT */
/*
 * live: the target with workers and a GPU.  It asks the pool (pool.h) for a
 * measure worker when there is a device and for compile workers; queues the
 * requests by verb, shares one compile among the configurations of a binary,
 * has deadlines for them (patience.h), and turns the death of a worker into a
 * verdict.  Called by commands and tests.
 */
#include "target/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "target/command.h"
#include "target/patience.h"
#include "target/pool.h"
#include "target/shared.h"

/* How often a job is tried when its worker dies. */
enum { ATTEMPTS = 2 };

struct live {
    struct shmt_target target;
    struct shmt_arena *arena;
    struct shmt_live_options options;
    struct shmt_live_pool *shared;  /* whose workers it uses; */
    struct shmt_live_pool *own;     /* or NULL: not its own */
    struct shmt_pool_client client;
    bool ready;                     /* the first hello is there */
    bool begun;                     /* `problem` is one */
    const char *own_path;           /* of this program, if it is needed */
    char protocol[32];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_target_compiled *compiled;   /* of the shared; NULL: it has no
                                       compile workers yet */
    struct shmt_target_queue answers;
    size_t outstanding;             /* requests without a reply so far */
    struct shmt_target_patience patience;
};

static struct live *live_of(const struct shmt_target *target)
{
    return (struct live *)target;   /* its first member */
}

static size_t measurers(const struct live *live)
{
    return live->options.device == NULL ? 0 : 1;
}

static struct shmt_pool *pool_of(const struct live *live)
{
    return live->shared->pool;
}

/* -- binaries ------------------------------------------------------------ */

static void answer(struct shmt_target_job *job,
                   const struct shmt_result *result)
{
    struct live *const live = job->owner;

    if (job->cancelled) {
        shmt_target_job_free(job);
        return;
    }
    job->result = *result;
    shmt_target_queue_add(&live->answers, job);
}

/* Answers for a candidate whose binary another one has compiled: its compile
 * time is 0. */
static void answer_shared(struct shmt_target_job *job,
                          const struct shmt_target_compiled_one *compiled)
{
    struct shmt_result result = compiled->result;

    result.compile_ms = fmin(result.compile_ms, 0);
    answer(job, &result);
}

/* A worker has done its job, or failed at it for good. */
static void finish(const struct live *live, struct shmt_target_job *job,
                   const struct shmt_result *result)
{
    struct shmt_target_compiled_one *const compiled =
        job->verb == SHMT_TARGET_INSPECT ? &live->compiled->list[job->binary]
                                         : NULL;
    struct shmt_target_job *other;

    answer(job, result);
    if (compiled == NULL)
        return;
    compiled->known = true;
    compiled->result = *result;
    while ((other = shmt_target_queue_take(&compiled->waiting)) != NULL)
        answer_shared(other, compiled);
}

/* -- workers ------------------------------------------------------------- */

static double deadline_of(const struct shmt_pool_client *client,
                          enum shmt_target_verb verb)
{
    const struct live *const live = client->owner;

    return verb == SHMT_TARGET_INSPECT
               ? live->options.compile_s
               : shmt_target_patience_s(&live->patience, client->measurer);
}

static enum shmtune_status on_reply(struct shmt_pool_client *client,
                                    struct shmt_target_job *job,
                                    const struct shmt_wire_reply *reply,
                                    struct shmt_error *err)
{
    struct live *const live = client->owner;
    double took_s;

    if (reply->kind == SHMT_WIRE_ERROR) {
        shmt_target_job_free(job);
        return shmt_error_set(err, reply->error.status, "%s",
                              reply->error.text);
    }
    if (job->verb == SHMT_TARGET_MEASURE) {
        /* Less the way there, on which files may have been sent. */
        took_s = live->options.on != NULL
                     ? fmax(reply->result.measure_ms, 0) / 1e3
                     : shmt_clock_s() - job->since_s -
                       reply->result.answer_ms / 1e3;
        shmt_target_patience_ended(&live->patience, &reply->result, took_s);
    }
    finish(live, job, &reply->result);
    return SHMTUNE_OK;
}

/* The worker died while it was busy with a job: retry the job, or give its
 * candidate a verdict. */
static void on_died(struct shmt_pool_client *client,
                    struct shmt_target_job *job,
                    const struct shmt_supervisor *supervisor)
{
    struct live *const live = client->owner;
    const bool inspect = job->verb == SHMT_TARGET_INSPECT;
    struct shmt_result result;

    if (!supervisor->timed_out && job->attempts < ATTEMPTS) {
        shmt_target_queue_add_front(&client->pending[job->verb], job);
        return;
    }
    shmt_result_clear(&result);
    if (supervisor->timed_out && inspect)
        shmt_result_set_verdict(&result, SHMT_VERDICT_COMPILE_TIMEOUT,
                                "killed after %.3g s (--compile-timeout)",
                                live->options.compile_s);
    else if (supervisor->timed_out)
        shmt_target_patience_killed(&live->patience, client->measurer,
                                    &result);
    else if (inspect)
        shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH,
                                "while it compiled, in %d tries: %s",
                                ATTEMPTS, supervisor->why);
    else
        shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH, "%s",
                                supervisor->why);
    finish(live, job, &result);
}

static void on_notice(struct shmt_pool_client *client, const char *text)
{
    const struct live *const live = client->owner;

    if (live->options.notice != NULL)
        live->options.notice(live->options.notice_to, text);
}

/* The worker was lost, which says nothing about its job: it is the next one's
 * again. */
static void on_lost(struct shmt_pool_client *client,
                    struct shmt_target_job *job,
                    const struct shmt_supervisor *supervisor)
{
    char text[SHMT_RESULT_REASON + 40];

    snprintf(text, sizeof text, "%s; its candidate is tried again",
             supervisor->notice);
    on_notice(client, text);
    job->attempts--;
    shmt_target_queue_add_front(&client->pending[job->verb], job);
}

/* The binary can be asked for again, and is if another target waits for it. */
static void forget_binary(struct shmt_pool_client *client,
                          const struct shmt_target_job *job)
{
    const struct live *const live = client->owner;
    struct shmt_target_job *const heir =
        job->verb == SHMT_TARGET_INSPECT
            ? shmt_target_compiled_forget(live->compiled, job) : NULL;

    if (heir != NULL) {
        struct live *const other = heir->owner;
        shmt_target_queue_add(&other->client.pending[SHMT_TARGET_INSPECT],
                              heir);
    }
}

/* -- the target ---------------------------------------------------------- */

/* Tells the measure worker what becomes of the problem. */
static void note_problem(struct live *live, enum shmt_target_verb verb)
{
    struct shmt_wire_request message = {.verb = verb};
    struct shmt_text line = {0};

    if (!live->begun)
        return;
    memcpy(message.problem, live->problem, sizeof message.problem);
    shmt_wire_write_request(live->target.kernel, &message, &line);
    if (!line.failed)
        shmt_pool_note(&live->client, line.data);
    shmt_text_free(&line);
}

static enum shmtune_status live_begin(struct shmt_target *target,
                                      const int64_t *problem,
                                      struct shmt_error *err)
{
    struct live *const live = live_of(target);
    (void)err;
    note_problem(live, SHMT_TARGET_FORGET);
    live->begun = true;
    for (size_t k = 0; k < target->kernel->dimension_count; k++)
        live->problem[k] = problem[k];
    live->client.compiles = false;
    shmt_target_patience_begin(&live->patience);
    return SHMTUNE_OK;
}

static void live_set_longest(struct shmt_target *target, double longest_s)
{
    live_of(target)->patience.expected_s = longest_s;
}

/* If the sources have changed, the old worker is kept: it still has the sources
 * that the candidates were compiled from.  In one that others need the problem
 * lies elsewhere from then on: to start processes for the finals of all that
 * ends together takes a driver longer than the finals. */
static void live_restart(struct shmt_target *target)
{
    struct live *const live = live_of(target);

    if (!shmt_kernel_is_unchanged(target->kernel) ||
        shmt_pool_restart(&live->client))
        return;
    note_problem(live, SHMT_TARGET_RENEW);
    live->patience.needs_setup = true;
}

static enum shmtune_status make_job(struct live *live,
                                    const struct shmt_target_request *request,
                                    struct shmt_target_job **out,
                                    struct shmt_error *err)
{
    struct shmt_text line = {0};
    struct shmt_target_job *const job = calloc(1, sizeof *job);
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
    job->owner = live;
    job->verb = request->verb;
    job->tag = request->tag;
    job->worth = request->worth;
    job->asked_s = shmt_clock_s();
    job->line = line.data;
    *out = job;
    return SHMTUNE_OK;
}

static enum shmtune_status submit_inspect(struct live *live,
                                          const shmt_config *config,
                                          struct shmt_target_job *job,
                                          struct shmt_error *err)
{
    struct shmt_target_compiled_one *compiled;

    job->binary = shmt_target_compiled_number(
        live->compiled, live->target.kernel, live->problem, config);
    if (job->binary == SIZE_MAX) {
        shmt_target_job_free(job);
        return shmt_error_memory(err);
    }
    compiled = &live->compiled->list[job->binary];
    live->client.compiles = true;
    if (compiled->known) {
        answer_shared(job, compiled);
        return SHMTUNE_OK;
    }
    shmt_target_queue_add(compiled->outstanding ? &compiled->waiting
                              : &live->client.pending[SHMT_TARGET_INSPECT],
                          job);
    compiled->outstanding = true;
    return SHMTUNE_OK;
}

static enum shmtune_status
live_submit(struct shmt_target *target,
            const struct shmt_target_request *request, struct shmt_error *err)
{
    struct live *const live = live_of(target);
    struct shmt_target_job *job = NULL;
    enum shmtune_status status;

    if (request->verb == SHMT_TARGET_MEASURE && measurers(live) == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "there is no device to measure on");
    status = make_job(live, request, &job, err);
    if (status != SHMTUNE_OK)
        return status;
    if (request->verb == SHMT_TARGET_INSPECT) {
        status = submit_inspect(live, request->config, job, err);
    } else {
        shmt_target_queue_add(&live->client.pending[SHMT_TARGET_MEASURE],
                              job);
    }
    if (status != SHMTUNE_OK)
        return status;
    live->outstanding++;
    return shmt_pool_assign(pool_of(live), err);
}

/* Who has nothing to do holds no GPU: this process may want to profile. */
static void settle(struct live *live, size_t outstanding)
{
    live->outstanding = outstanding;
    if (outstanding == 0)
        shmt_pool_release(pool_of(live), live->client.gpu);
}

/* The reply of a target that has one, or its failure: false when nobody has
 * any.  *busy when one of them may have later. */
static bool find_reply(struct shmt_pool *pool, bool *busy, bool *got,
                       struct shmt_target_reply *reply,
                       enum shmtune_status *status, struct shmt_error *err)
{
    struct shmt_pool_client *const first = shmt_pool_next_client(pool);
    struct shmt_pool_client *client = first;

    *busy = false;
    do {
        struct live *const live = client->owner;
        struct shmt_target_job *const job =
            shmt_target_queue_take(&live->answers);
        *reply = (struct shmt_target_reply){.target = &live->target};
        *busy = *busy || live->outstanding > 0 || !live->ready;
        if (job != NULL) {
            reply->verb = job->verb;
            reply->tag = job->tag;
            reply->result = job->result;
            settle(live, live->outstanding - 1);
            shmt_target_job_free(job);
            *got = true;
            return true;
        }
        if (client->failure.status != SHMTUNE_OK) {
            *status = shmt_error_set(err, client->failure.status, "%s",
                                     client->failure.text);
            return true;
        }
        client = shmt_pool_next_client(pool);
    } while (client != first);
    return false;
}

/* Waits for a reply to any target of the pool. */
static enum shmtune_status live_wait(struct shmt_target *target,
                                     double timeout_s, bool *got,
                                     struct shmt_target_reply *reply,
                                     struct shmt_error *err)
{
    struct shmt_live_pool *const shared = live_of(target)->shared;
    const double end = shmt_clock_s() + timeout_s;
    enum shmtune_status status = SHMTUNE_OK;
    bool woken = true, busy, late = false;

    *got = false;
    for (;;) {
        const double left = end - shmt_clock_s();
        if (find_reply(shared->pool, &busy, got, reply, &status, err))
            return status;
        if (!busy && !shared->has_news)
            return shmt_error_set(err, SHMTUNE_INTERNAL, "a reply is awaited, "
                                  "and no request is outstanding");
        if (late || !woken || shared->has_news)
            break;
        late = left <= 0;
        status = shmt_pool_round(shared->pool, fmax(left, 0), &woken, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    shared->has_news = false;
    return SHMTUNE_OK;
}

static void cancel_queue(struct live *live, enum shmt_target_verb verb)
{
    struct shmt_target_queue *const queue = &live->client.pending[verb];
    struct shmt_target_job *job;

    while ((job = shmt_target_queue_take(queue)) != NULL) {
        forget_binary(&live->client, job);
        shmt_target_job_free(job);
    }
}

/* If the sources have changed, busy workers are kept: new ones would read the
 * changed sources. */
static void live_cancel(struct shmt_target *target)
{
    struct live *const live = live_of(target);

    shmt_pool_cancel(pool_of(live), &live->client,
                     shmt_kernel_is_unchanged(target->kernel));
    cancel_queue(live, SHMT_TARGET_INSPECT);
    cancel_queue(live, SHMT_TARGET_MEASURE);
    if (live->compiled != NULL)
        shmt_target_compiled_withdraw(live->compiled, live);
    shmt_target_queue_clear(&live->answers);
    live->client.compiles = false;
    settle(live, 0);
}

static size_t live_capacity(const struct shmt_target *target,
                            enum shmt_target_verb verb)
{
    const struct live *const live = live_of(target);

    return verb == SHMT_TARGET_MEASURE ? measurers(live)
                                       : shmt_pool_share(pool_of(live),
                                                       &live->client);
}

static bool live_is_ready(const struct shmt_target *target)
{
    return live_of(target)->ready;
}

static double live_now(const struct shmt_target *target)
{
    (void)target;
    return shmt_clock_s();
}

static bool live_is_compiled(struct shmt_target *target,
                             const shmt_config *config)
{
    const struct live *const live = live_of(target);

    return shmt_target_compiled_has(live->compiled, target->kernel,
                                    live->problem, config);
}

static void live_close(struct shmt_target *target)
{
    struct live *const live = live_of(target);

    if (live->shared != NULL) {
        live_cancel(target);
        note_problem(live, SHMT_TARGET_FORGET);
        shmt_pool_remove(pool_of(live), &live->client);
        shmt_live_pool_leave(live->shared, live->client.gpu);
    }
    shmt_live_pool_close(live->own);
    shmt_arena_free(live->arena);
    free(live);
}

static const struct shmt_target_operations operations = {
    live_begin, live_set_longest, live_submit, live_wait, live_cancel,
    live_capacity, live_restart, live_now, live_is_ready, live_close,
    live_is_compiled
};

/* -- hellos --------------------------------------------------------------- */

/* Starts workers that compile for `arch` or, if that is NULL, measure, without
 * waiting for their hellos; requests are queued meanwhile. */
static enum shmtune_status start_workers(struct live *live, const char *arch,
                                         struct shmt_error *err)
{
    const enum shmt_target_verb verb =
        arch == NULL ? SHMT_TARGET_MEASURE : SHMT_TARGET_INSPECT;
    const struct shmt_target_words words = {
        .spec = live->target.kernel->path, .images = live->shared->images,
        .own_path = live->own_path, .arch = arch};
    const char *const *const argv =
        shmt_target_command(live->arena, &live->options, &words);

    if (argv != NULL && arch != NULL)
        live->compiled = shmt_live_pool_compiled(live->shared, argv);
    if (argv == NULL || (arch != NULL && live->compiled == NULL))
        return shmt_error_memory(err);
    live->client.argv[verb] = argv;
    if (arch != NULL)
        live->client.serve = shmt_target_serve(live->arena, &words);
    if (live->compiled != NULL)
        live->client.command = &live->compiled->workers;
    return shmt_pool_start(pool_of(live), &live->client, verb, err);
}

/* -- turns ---------------------------------------------------------------- */

static void tell_once(const struct live *live, const char *text)
{
    if (live->options.notice != NULL &&
        shmt_live_pool_is_first(live->shared, live->target.device.uuid))
        live->options.notice(live->options.notice_to, text);
}

static void on_waits(struct shmt_pool_client *client)
{
    struct live *const live = client->owner;
    const long holder = shmt_turn_holder(client->gpu->turn);
    char text[256], who[64] = "another tuner";

    if (holder > 0)
        snprintf(who, sizeof who, "process %ld", holder);
    snprintf(text, sizeof text, "%.64s is measured on by %s too: taking turns",
             live->target.device.uuid, who);
    tell_once(live, text);
}

/* The GPUs and the locks of another machine are not those of this one. */
static enum shmtune_status open_gpu(struct live *live, struct shmt_error *err)
{
    const char *const uuid = live->target.device.uuid;
    struct shmt_error why = {0};
    char text[512];

    if (live->options.on != NULL)
        return SHMTUNE_OK;
    live->client.gpu = shmt_live_pool_gpu(
        live->shared, uuid[0] != '\0' ? uuid : live->options.device);
    if (live->client.gpu == NULL)
        return shmt_error_memory(err);
    if (uuid[0] == '\0' || live->client.gpu->turn != NULL ||
        shmt_turn_open(uuid, &live->client.gpu->turn, &why) == SHMTUNE_OK)
        return SHMTUNE_OK;
    snprintf(text, sizeof text, "no lock for the GPU, so another tuner on it "
             "would disturb the times: %.400s", why.text);
    tell_once(live, text);
    return SHMTUNE_OK;
}

/* The first hello of the measure worker names the device, for which the others
 * compile. */
static enum shmtune_status begin_device(struct live *live,
                                        const struct shmt_wire_reply *hello,
                                        struct shmt_error *err)
{
    char *const arch = shmt_arena_alloc(live->arena, 1, 16);
    enum shmtune_status status;

    if (arch == NULL)
        return shmt_error_memory(err);
    if (!hello->has_device)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "the hello of the measure worker names no "
                              "device");
    live->target.device = hello->device;
    snprintf(live->protocol, sizeof live->protocol, "%s",
             hello->protocol[0] == '\0' ? "cold-l2" : hello->protocol);
    live->target.protocol = live->protocol;
    live->target.data_seed = live->options.data_seed;
    live->target.data_digest = live->options.data_digest;
    live->target.name = live->target.device.name;
    status = open_gpu(live, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_device_arch_text(&live->target.device, arch);
    return start_workers(live, arch, err);
}

/* A worker that is started later may find other sources, or another device. */
static enum shmtune_status on_hello(struct shmt_pool_client *client,
                                    enum shmt_target_verb verb,
                                    const struct shmt_wire_reply *hello,
                                    struct shmt_error *err)
{
    struct live *const live = client->owner;
    const struct shmt_kernel *const kernel = live->target.kernel;
    const bool measures = verb == SHMT_TARGET_MEASURE;
    const bool first = !live->ready && measures == (measurers(live) > 0);
    const bool far = measures && live->options.on != NULL;

    live->patience.needs_setup = live->patience.needs_setup || measures;
    if (hello->digest[0] != '\0' && strcmp(hello->digest, kernel->digest) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: it or its sources were changed since this "
                              "run began; start the run again", kernel->path);
    if (far && shmt_wire_check_kind(hello, &live->shared->kind,
                                    live->options.on, err) != SHMTUNE_OK)
        return SHMTUNE_NO_DEVICE;
    if (first) {
        live->target.nvrtc_version = hello->nvrtc_version;
        live->ready = live->shared->has_news = true;
    }
    if (first && measures)
        return begin_device(live, hello, err);
    return far || !measures ? SHMTUNE_OK
           : shmt_wire_check_device(hello, &live->target.device, err);
}

static const struct shmt_pool_calls calls = {
    deadline_of, on_hello, on_reply, on_died, on_lost, on_notice,
    forget_binary, on_waits
};

/* -- opening ------------------------------------------------------------- */

static enum shmtune_status await_ready(struct live *live,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool woken;

    while (status == SHMTUNE_OK && !live->ready &&
           live->client.failure.status == SHMTUNE_OK) {
        status = shmt_pool_round(pool_of(live), 0.25, &woken, err);
        if (status == SHMTUNE_OK && !woken && live->options.stop != NULL &&
            *live->options.stop != 0)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted while the worker started");
    }
    live->shared->has_news = false;
    if (status == SHMTUNE_OK && live->client.failure.status != SHMTUNE_OK)
        status = shmt_error_set(err, live->client.failure.status, "%s",
                                live->client.failure.text);
    return status;
}

static void set_usual(double *deadline, double usual)
{
    if (!(*deadline > 0))
        *deadline = usual;
}

static void set_all_usual(struct shmt_live_options *options)
{
    set_usual(&options->start_s, 60);
    set_usual(&options->compile_s, 30);
    set_usual(&options->measure_s, 10);
    set_usual(&options->first_s, SHMT_LIVE_FIRST_S);
    if (options->data_digest == NULL)
        options->data_digest = "";
}

static enum shmtune_status find_program(struct live *live,
                                        struct shmt_error *err)
{
    char self[4096];
    enum shmtune_status status;

    if (live->options.worker != NULL && live->options.on == NULL)
        return SHMTUNE_OK;
    status = shmt_worker_own_path(self, sizeof self, err);
    if (status != SHMTUNE_OK)
        return status;
    live->own_path = shmt_arena_copy(live->arena, self, strlen(self));
    if (live->options.worker == NULL)
        live->options.worker = live->own_path;
    return live->own_path == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* Without a device it is that of the table of architectures. */
static enum shmtune_status start(struct live *live, struct shmt_error *err)
{
    const struct shmt_live_options *const options = &live->options;
    enum shmtune_status status;

    live->client.owner = live;
    live->client.calls = &calls;
    live->client.start_s = options->start_s;
    live->client.far = options->on != NULL;
    status = shmt_pool_add(options->pool != NULL ? options->pool->pool
                                                 : live->own->pool,
                           &live->client, err);
    if (status != SHMTUNE_OK)
        return status;
    live->shared = options->pool != NULL ? options->pool : live->own;
    if (options->device != NULL)
        return start_workers(live, NULL, err);
    status = shmt_device_for_arch(options->arch, &live->target.device, err);
    live->target.protocol = "none";
    live->target.name = live->target.device.name;
    return status == SHMTUNE_OK
               ? start_workers(live, options->arch, err)
               : status;
}

enum shmtune_status shmt_live_start(const struct shmt_kernel *kernel,
                                    const struct shmt_live_options *options,
                                    struct shmt_target **out,
                                    struct shmt_error *err)
{
    struct live *const live = calloc(1, sizeof *live);
    enum shmtune_status status;

    if (live == NULL || (live->arena = shmt_arena_new()) == NULL) {
        free(live);
        return shmt_error_memory(err);
    }
    live->target.operations = &operations;
    live->target.kernel = kernel;
    live->options = *options;
    set_all_usual(&live->options);
    live->patience = (struct shmt_target_patience){
        .measure_s = live->options.measure_s,
        .first_s = live->options.first_s,
        .answer_s = kernel->answer.timeout_s};
    status = find_program(live, err);
    if (status == SHMTUNE_OK && options->pool == NULL)
        status = shmt_live_pool_open(options->jobs, options->images,
                                     &live->own, err);
    if (status == SHMTUNE_OK)
        status = start(live, err);
    if (status != SHMTUNE_OK) {
        live_close(&live->target);
        return status;
    }
    *out = &live->target;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
                                   const struct shmt_live_options *options,
                                   struct shmt_target **out,
                                   struct shmt_error *err)
{
    struct shmt_target *target;
    enum shmtune_status status =
        shmt_live_start(kernel, options, &target, err);

    if (status != SHMTUNE_OK)
        return status;
    status = await_ready(live_of(target), err);
    if (status == SHMTUNE_OK)
        *out = target;
    else
        live_close(target);
    return status;
}
