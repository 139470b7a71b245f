/* SPDX-License-Identifier: MIT */
/*
 * live: the target with workers and a GPU.  It opens the folder of binaries,
 * one measure worker when there is a device, and the compile workers; queues
 * the requests by verb, gives them to idle workers, shares one compile among
 * the configurations of a binary, sets deadlines, and turns the death of a
 * worker into a verdict.  Called by commands and tests.
 */
#include "target/live.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/device.h"
#include "target/binaries.h"
#include "target/jobs.h"
#include "target/scratch.h"
#include "target/supervisor.h"

/* How often a job is tried when its worker dies. */
enum { ATTEMPTS = 2 };

/* The result of compiling a binary, and the requests that wait for it. */
struct compiled {
    bool known, outstanding;
    struct shmt_result result;
    struct shmt_target_queue waiting;
};

struct live {
    struct shmt_target target;
    struct shmt_arena *arena;
    struct shmt_live_options options;
    struct shmt_scratch scratch;
    char protocol[32];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_target_binaries binaries;
    struct compiled *compiled;      /* by number of the binary */
    size_t compiled_count, compiled_room;
    struct shmt_target_queue pending[2];        /* by verb */
    struct shmt_target_queue answers;
    size_t outstanding;             /* requests without a reply so far */
    bool needs_setup;               /* the next measurement has to set the
                                       problem up first */
    double setup_s;                 /* seconds that the first measurement
                                       took, including setting up; < 0: not
                                       known */
    double expected_s;              /* the same, by earlier runs */
    double longest_s;               /* that a measurement took; < 0: none */
    size_t supervisor_count;        /* measure if there is a device, then
                                       compile */
    struct shmt_supervisor *supervisors;
    struct shmt_target_job **busy;              /* by supervisor */
    struct pollfd *fds;
};

static struct live *live_of(const struct shmt_target *target)
{
    return (struct live *)target;   /* its first member */
}

static size_t measurers(const struct live *live)
{
    return live->options.device == NULL ? 0 : 1;
}

/* -- binaries ------------------------------------------------------------ */

/* NULL when there is no memory. */
static struct compiled *compiled_at(struct live *live, size_t number)
{
    if (number == SIZE_MAX ||
        !shmt_array_reserve(&live->compiled, &live->compiled_room, number + 1,
                            sizeof *live->compiled))
        return NULL;
    while (live->compiled_count <= number)
        live->compiled[live->compiled_count++] = (struct compiled){0};
    return &live->compiled[number];
}

static void answer(struct live *live, struct shmt_target_job *job,
                   const struct shmt_result *result)
{
    if (job->cancelled) {
        shmt_target_job_free(job);
        return;
    }
    job->result = *result;
    shmt_target_queue_add(&live->answers, job);
}

/* Answers for a candidate whose binary another one has compiled: its compile
 * time is 0. */
static void answer_shared(struct live *live, struct shmt_target_job *job,
                          const struct compiled *compiled)
{
    struct shmt_result result = compiled->result;

    result.compile_ms = fmin(result.compile_ms, 0);
    answer(live, job, &result);
}

static void finish_inspect(struct live *live, struct shmt_target_job *job,
                           const struct shmt_result *result)
{
    struct compiled *const compiled = &live->compiled[job->binary];
    struct shmt_target_job *other;

    compiled->known = true;
    compiled->result = *result;
    answer(live, job, result);
    while ((other = shmt_target_queue_take(&compiled->waiting)) != NULL)
        answer_shared(live, other, compiled);
}

/* A worker has done its job, or failed at it for good. */
static void finish(struct live *live, struct shmt_target_job *job,
                   const struct shmt_result *result)
{
    if (job->verb == SHMT_TARGET_INSPECT)
        finish_inspect(live, job, result);
    else
        answer(live, job, result);
}

/* -- workers ------------------------------------------------------------- */

/* A measurement that takes this many times as long as the longest finished one
 * is treated as a hang. */
static const double patience_factor = 50, patience_least_s = 3;

/* Time allowed for setting a problem up.  A new worker has to do what the one
 * before it did, so its time is known; several hanging candidates then do not
 * cost the whole allowance each.  Times of earlier runs get more tolerance,
 * because the machine may be busier now. */
static double setup_allowance(const struct live *live)
{
    if (live->setup_s >= 0)
        return fmin(live->options.first_s, 1 + 3 * live->setup_s);
    if (live->expected_s >= 0)
        return fmin(live->options.first_s, 1 + 10 * live->expected_s);
    return live->options.first_s;
}

static double deadline_of(const struct live *live, enum shmt_target_verb verb)
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

static enum shmtune_status assign(struct live *live, struct shmt_error *err)
{
    for (size_t k = 0; k < live->supervisor_count; k++) {
        const enum shmt_target_verb verb =
            k < measurers(live) ? SHMT_TARGET_MEASURE :
                SHMT_TARGET_INSPECT;
        struct shmt_supervisor *const supervisor = &live->supervisors[k];
        enum shmtune_status status;
        if (supervisor->state != SHMT_SUPERVISOR_IDLE ||
            shmt_worker_ending(supervisor->worker) ||
            live->pending[verb].first == NULL)
            continue;
        live->busy[k] = shmt_target_queue_take(&live->pending[verb]);
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

static enum shmtune_status on_reply(struct live *live, size_t k,
                                    struct shmt_error *err)
{
    struct shmt_wire_reply *const message = &live->supervisors[k].message;
    struct shmt_target_job *const job = live->busy[k];
    double took_s;

    live->busy[k] = NULL;
    if (message->kind == SHMT_WIRE_ERROR) {
        shmt_target_job_free(job);
        return shmt_error_set(err, message->error.status, "%s",
                              message->error.text);
    }
    if (job->verb == SHMT_TARGET_MEASURE) {
        took_s = shmt_clock_s() - job->since_s;
        if (live->needs_setup)
            live->setup_s = fmax(live->setup_s, took_s);
        else if (shmt_verdict_stage(message->result.verdict) ==
                 SHMT_STAGE_TIME)
            live->longest_s = fmax(live->longest_s, took_s);
        live->needs_setup = false;
    }
    finish(live, job, &message->result);
    return SHMTUNE_OK;
}

/* The worker died while it was busy with a job: retry the job, or give its
 * candidate a verdict. */
static void on_worker_died(struct live *live, size_t k)
{
    const struct shmt_supervisor *const supervisor = &live->supervisors[k];
    struct shmt_target_job *const job = live->busy[k];
    const bool inspect = job->verb == SHMT_TARGET_INSPECT;
    struct shmt_result result;

    live->busy[k] = NULL;
    if (job->cancelled) {
        shmt_target_job_free(job);
        return;
    }
    if (!supervisor->timed_out && job->attempts < ATTEMPTS) {
        shmt_target_queue_add_front(&live->pending[job->verb], job);
        return;
    }
    shmt_result_clear(&result);
    if (supervisor->timed_out)
        shmt_result_set_verdict(&result,
                                inspect ? SHMT_VERDICT_COMPILE_TIMEOUT
                                        : SHMT_VERDICT_TIMEOUT,
                                "killed after %.3g s",
                                deadline_of(live, job->verb));
    else if (inspect)
        shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH,
                                "while it compiled, in %d tries: %s",
                                ATTEMPTS, supervisor->why);
    else
        shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH, "%s",
                                supervisor->why);
    finish(live, job, &result);
}

/* A worker that is started later may find other sources, or another device. */
static enum shmtune_status on_hello(struct live *live, size_t k,
                                    struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = live->target.kernel;
    const struct shmt_wire_reply *const hello = &live->supervisors[k].message;

    live->needs_setup = live->needs_setup || k < measurers(live);
    if (hello->digest[0] != '\0' && strcmp(hello->digest, kernel->digest) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: it or its sources were changed since this "
                              "run began; start the run again", kernel->path);
    if (k >= measurers(live))
        return SHMTUNE_OK;
    return shmt_wire_check_device(hello, &live->target.device, err);
}

static enum shmtune_status step(struct live *live, size_t k,
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
            on_worker_died(live, k);
        if (status != SHMTUNE_OK)
            return status;
    } while (event != SHMT_SUPERVISOR_NOTHING);
    return SHMTUNE_OK;
}

/* One round of poll over all workers; waits at most `timeout_s`.  *woken is
 * false when a signal came. */
static enum shmtune_status one_round(struct live *live, double timeout_s,
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
    if (found < 0 && errno != EINTR)
        return shmt_error_system(err, "poll", "workers cannot be waited for");
    for (size_t k = 0; found > 0 && k < live->supervisor_count; k++)
        if (live->supervisors[k].worker != NULL)
            shmt_worker_serve(live->supervisors[k].worker,
                              &live->fds[k * SHMT_WORKER_FDS]);
    for (size_t k = 0; status == SHMTUNE_OK && k < live->supervisor_count; k++)
        status = step(live, k, err);
    return status;
}

/* -- the target ---------------------------------------------------------- */

static enum shmtune_status live_begin(struct shmt_target *target,
                                      const int64_t *problem,
                                      struct shmt_error *err)
{
    struct live *const live = live_of(target);
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
    live_of(target)->expected_s = longest_s;
}

static void live_restart(struct shmt_target *target)
{
    struct live *const live = live_of(target);

    /* If the sources have changed, the old worker is kept: it still has the
     * sources that the candidates were compiled from. */
    if (!shmt_kernel_is_unchanged(target->kernel))
        return;
    for (size_t k = 0; k < measurers(live); k++)
        if (live->supervisors[k].state == SHMT_SUPERVISOR_IDLE)
            shmt_supervisor_close(&live->supervisors[k]);
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
    job->verb = request->verb;
    job->tag = request->tag;
    job->line = line.data;
    *out = job;
    return SHMTUNE_OK;
}

static enum shmtune_status submit_inspect(struct live *live,
                                          const shmt_config *config,
                                          struct shmt_target_job *job,
                                          struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];
    struct compiled *compiled = NULL;

    shmt_kernel_evaluate(live->target.kernel, live->problem, config,
                         &evaluated);
    if (shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK) {
        job->binary = shmt_target_binaries_number(&live->binaries, key);
        compiled = compiled_at(live, job->binary);
    }
    if (compiled == NULL) {
        shmt_target_job_free(job);
        return shmt_error_memory(err);
    }
    if (compiled->known) {
        answer_shared(live, job, compiled);
        return SHMTUNE_OK;
    }
    shmt_target_queue_add(compiled->outstanding ? &compiled->waiting
                              : &live->pending[SHMT_TARGET_INSPECT], job);
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
        shmt_target_queue_add(&live->pending[SHMT_TARGET_MEASURE], job);
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
    struct live *const live = live_of(target);
    const double end = shmt_clock_s() + timeout_s;
    struct shmt_target_job *job;
    bool woken = true;

    if (live->outstanding == 0)
        return shmt_error_set(err, SHMTUNE_INTERNAL, "a reply is awaited, and "
                              "no request is outstanding");
    while (live->answers.first == NULL && woken) {
        const double left = end - shmt_clock_s();
        enum shmtune_status status =
            one_round(live, left > 0 ? left : 0, &woken, err);
        if (status != SHMTUNE_OK)
            return status;
        if (left <= 0)
            break;
    }
    job = shmt_target_queue_take(&live->answers);
    *got = job != NULL;
    if (*got) {
        *reply = (struct shmt_target_reply){job->verb, job->tag, job->result};
        live->outstanding--;
        shmt_target_job_free(job);
    }
    return SHMTUNE_OK;
}

/* The binary can be asked for again. */
static void forget_binary(struct live *live, const struct shmt_target_job *job)
{
    struct compiled *const compiled = &live->compiled[job->binary];

    if (job->verb != SHMT_TARGET_INSPECT || compiled->known)
        return;
    compiled->outstanding = false;
    shmt_target_queue_clear(&compiled->waiting);
}

static void cancel_queue(struct live *live, struct shmt_target_queue *queue)
{
    struct shmt_target_job *job;

    while ((job = shmt_target_queue_take(queue)) != NULL) {
        forget_binary(live, job);
        shmt_target_job_free(job);
    }
}

/* If the sources have changed, busy workers are kept: new ones would read the
 * changed sources. */
static void live_cancel(struct shmt_target *target)
{
    struct live *const live = live_of(target);
    const bool kill = shmt_kernel_is_unchanged(target->kernel);

    for (size_t k = 0; k < live->supervisor_count; k++) {
        if (live->busy[k] == NULL)
            continue;
        live->busy[k]->cancelled = true;
        forget_binary(live, live->busy[k]);
        if (kill)
            shmt_worker_kill(live->supervisors[k].worker);
    }
    for (size_t k = 0; kill && k < live->supervisor_count; k++) {
        if (live->busy[k] == NULL)
            continue;
        shmt_supervisor_close(&live->supervisors[k]);
        shmt_target_job_free(live->busy[k]);
        live->busy[k] = NULL;
    }
    cancel_queue(live, &live->pending[SHMT_TARGET_INSPECT]);
    cancel_queue(live, &live->pending[SHMT_TARGET_MEASURE]);
    shmt_target_queue_clear(&live->answers);
    live->outstanding = 0;
}

static size_t live_capacity(const struct shmt_target *target,
                            enum shmt_target_verb verb)
{
    const struct live *const live = live_of(target);

    return verb == SHMT_TARGET_MEASURE
               ? measurers(live)
               : live->supervisor_count - measurers(live);
}

static double live_now(const struct shmt_target *target)
{
    (void)target;
    return shmt_clock_s();
}

static void live_close(struct shmt_target *target)
{
    struct live *const live = live_of(target);

    /* All workers are killed before the first one is waited for. */
    for (size_t k = 0; k < live->supervisor_count; k++)
        if (live->supervisors[k].worker != NULL)
            shmt_worker_kill(live->supervisors[k].worker);
    for (size_t k = 0; k < live->supervisor_count; k++) {
        shmt_supervisor_close(&live->supervisors[k]);
        shmt_target_job_free(live->busy[k]);
    }
    shmt_target_queue_clear(&live->pending[SHMT_TARGET_INSPECT]);
    shmt_target_queue_clear(&live->pending[SHMT_TARGET_MEASURE]);
    shmt_target_queue_clear(&live->answers);
    for (size_t k = 0; k < live->compiled_count; k++)
        shmt_target_queue_clear(&live->compiled[k].waiting);
    shmt_scratch_remove(&live->scratch);
    free(live->compiled);
    shmt_target_binaries_free(&live->binaries);
    free(live->supervisors);
    free(live->busy);
    free(live->fds);
    shmt_arena_free(live->arena);
    free(live);
}

static const struct shmt_target_operations operations = {
    live_begin, live_set_longest, live_submit, live_wait, live_cancel,
    live_capacity, live_restart, live_now, live_close
};

/* -- opening ------------------------------------------------------------- */

static enum shmtune_status make_folder(struct live *live,
                                       struct shmt_error *err)
{
    enum shmtune_status status;

    if (live->options.images != NULL)
        return shmt_path_make_folder(live->options.images, 0700, err);
    status = shmt_scratch_make("shmtune", &live->scratch, err);
    if (status == SHMTUNE_OK)
        live->options.images = live->scratch.folder;
    return status;
}

/* "PROGRAM worker --spec ... where what". */
static const char *const *make_command(struct live *live, const char *where,
                                       const char *what)
{
    char *const seed = shmt_arena_alloc(live->arena, 1, 24);
    const char *const words[] = {
        live->options.worker, "worker", "--spec", live->target.kernel->path,
        "--images", live->options.images, "--data-seed", seed,
        "--data-digest", live->options.data_digest, where, what, NULL};
    const char **const argv =
        shmt_arena_alloc(live->arena, 1, sizeof words);

    if (argv == NULL || seed == NULL)
        return NULL;
    snprintf(seed, 24, "%llu", (unsigned long long)live->options.data_seed);
    memcpy(argv, words, sizeof words);
    return argv;
}

/* Raises the limit of open descriptors, because a machine with many processors
 * has many workers.  If it cannot be raised, starting a worker will fail with
 * a message. */
static void allow_descriptors(size_t workers)
{
    const rlim_t wanted = (workers + 1) * (rlim_t)SHMT_WORKER_FDS + 64;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static enum shmtune_status allocate(struct live *live, struct shmt_error *err)
{
    const size_t count = live->options.jobs + 1;

    allow_descriptors(count);
    live->supervisors = calloc(count, sizeof *live->supervisors);
    live->busy = calloc(count, sizeof(struct shmt_target_job *));
    live->fds = calloc(count * SHMT_WORKER_FDS, sizeof *live->fds);
    return live->supervisors == NULL || live->busy == NULL || live->fds == NULL
               ? shmt_error_memory(err) : SHMTUNE_OK;
}

static void add_worker(struct live *live, const char *const *argv,
                       const char *what)
{
    struct shmt_supervisor *const supervisor =
        &live->supervisors[live->supervisor_count++];

    supervisor->argv = argv;
    supervisor->what = what;
    supervisor->start_deadline_s = live->options.start_s;
}

/* Waits for the hello of the first worker. */
static enum shmtune_status await_hello(struct live *live,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool woken;

    while (status == SHMTUNE_OK &&
           live->supervisors[0].state != SHMT_SUPERVISOR_IDLE) {
        status = one_round(live, 0.25, &woken, err);
        if (status == SHMTUNE_OK && !woken && live->options.stop != NULL &&
            *live->options.stop != 0)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted while the worker started");
    }
    return status;
}

/* Starts the measure worker and waits until its hello names the device. */
static enum shmtune_status await_measure_worker(struct live *live,
                                                struct shmt_error *err)
{
    const struct shmt_wire_reply *const hello = &live->supervisors[0].message;
    const char *const *const argv =
        make_command(live, "--device", live->options.device);
    enum shmtune_status status;

    if (argv == NULL)
        return shmt_error_memory(err);
    add_worker(live, argv, "measure worker");
    status = await_hello(live, err);
    if (status != SHMTUNE_OK)
        return status;
    if (!hello->has_device)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "the hello of the measure worker names no "
                              "device");
    live->target.device = hello->device;
    live->target.nvrtc_version = hello->nvrtc_version;
    snprintf(live->protocol, sizeof live->protocol, "%s",
             hello->protocol[0] == '\0' ? "cold-l2" : hello->protocol);
    live->target.protocol = live->protocol;
    live->target.data_seed = live->options.data_seed;
    live->target.data_digest = live->options.data_digest;
    live->target.name = live->target.device.name;
    return SHMTUNE_OK;
}

/* Starts the compile workers without waiting for their hellos; requests are
 * queued meanwhile. */
static enum shmtune_status start_compile_workers(struct live *live,
                                                 struct shmt_error *err)
{
    char *const arch = shmt_arena_alloc(live->arena, 1, 16);
    enum shmtune_status status = SHMTUNE_OK;
    const char *const *argv;

    if (arch == NULL)
        return shmt_error_memory(err);
    if (live->options.device == NULL)
        snprintf(arch, 16, "%s", live->options.arch);
    else
        shmt_device_arch_text(&live->target.device, arch);
    argv = make_command(live, "--arch", arch);
    if (argv == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < live->options.jobs; k++) {
        add_worker(live, argv, "compile worker");
        status = step(live, live->supervisor_count - 1, err);
    }
    return status;
}

/* Without a device, the hello of the first compile worker gives the NVRTC
 * version. */
static enum shmtune_status await_compile_worker(struct live *live,
                                                struct shmt_error *err)
{
    enum shmtune_status status = shmt_device_for_arch(
        live->options.arch, &live->target.device, err);

    live->target.protocol = "none";
    live->target.name = live->target.device.name;
    if (status == SHMTUNE_OK)
        status = start_compile_workers(live, err);
    if (status == SHMTUNE_OK)
        status = await_hello(live, err);
    if (status == SHMTUNE_OK)
        live->target.nvrtc_version =
            live->supervisors[0].message.nvrtc_version;
    return status;
}

static void set_usual(double *deadline, double usual)
{
    if (!(*deadline > 0))
        *deadline = usual;
}

static enum shmtune_status find_program(struct live *live,
                                        struct shmt_error *err)
{
    char self[4096];
    enum shmtune_status status;

    if (live->options.worker != NULL)
        return SHMTUNE_OK;
    status = shmt_worker_own_path(self, sizeof self, err);
    if (status != SHMTUNE_OK)
        return status;
    live->options.worker = shmt_arena_copy(live->arena, self, strlen(self));
    return live->options.worker == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
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
    set_usual(&live->options.start_s, 60);
    set_usual(&live->options.compile_s, 30);
    set_usual(&live->options.measure_s, 10);
    set_usual(&live->options.first_s, SHMT_LIVE_FIRST_S);
    if (live->options.data_digest == NULL)
        live->options.data_digest = "";
    if (live->options.jobs == 0)
        live->options.jobs = 1;
    status = find_program(live, err);
    if (status == SHMTUNE_OK)
        status = make_folder(live, err);
    if (status == SHMTUNE_OK)
        status = allocate(live, err);
    if (status == SHMTUNE_OK && options->device == NULL)
        status = await_compile_worker(live, err);
    else if (status == SHMTUNE_OK) {
        status = await_measure_worker(live, err);
        if (status == SHMTUNE_OK)
            status = start_compile_workers(live, err);
    }
    if (status != SHMTUNE_OK) {
        live_close(&live->target);
        return status;
    }
    *out = &live->target;
    return SHMTUNE_OK;
}
