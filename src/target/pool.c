/* SPDX-License-Identifier: MIT */
/*
 * pool: see pool.h.  It has the one poll over all workers; supervisor.c has the
 * state of each.
 */
#include "target/pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* An idle compile worker goes to another command after so long without work,
 * and one that is busy all the time after so long when that has none. */
static const double idle_s = 0.3, turn_s = 1;

struct shmt_pool {
    size_t jobs;
    struct shmt_pool_worker *compilers;   /* [jobs] */
    struct shmt_pool_client *clients;     /* the one that is served next is
                                             the first */
    size_t client_count;
    size_t commands;                      /* that clients compile by */
    struct pollfd *fds;
    size_t fd_room;
};

/* -- all workers ---------------------------------------------------------- */

/* All workers, compile workers first, one at each call; NULL behind the last.
 * It begins as {0}. */
struct walk {
    size_t compilers;
    struct shmt_pool_client *client;
};

static struct shmt_pool_worker *next_worker(const struct shmt_pool *pool,
                                            struct walk *walk)
{
    if (walk->compilers < pool->jobs)
        return &pool->compilers[walk->compilers++];
    if (walk->compilers++ == pool->jobs)
        walk->client = pool->clients;
    else if (walk->client != NULL)
        walk->client = walk->client->next;
    return walk->client == NULL ? NULL : &walk->client->measurer;
}

static bool is_idle(const struct shmt_pool_worker *worker)
{
    return worker->client != NULL &&
           worker->supervisor.state == SHMT_SUPERVISOR_IDLE &&
           !shmt_worker_ending(worker->supervisor.worker);
}

/* The worker runs the command of the client from now on. */
static void bind(struct shmt_pool_worker *worker,
                 struct shmt_pool_client *client)
{
    const bool measures = worker->verb == SHMT_TARGET_MEASURE;
    const bool far = measures && client->far;

    shmt_supervisor_close(&worker->supervisor);
    worker->supervisor = (struct shmt_supervisor){
        .argv = client->argv[worker->verb],
        .what = far        ? "far worker"
                : measures ? "measure worker"
                           : "compile worker",
        .start_deadline_s = far ? (double)INFINITY : client->start_s,
        .far = far,
    };
    worker->client = client;
    worker->bound_s = worker->since_s = shmt_clock_s();
}

static void unbind(struct shmt_pool_worker *worker)
{
    shmt_supervisor_close(&worker->supervisor);
    worker->client = NULL;
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

enum shmtune_status shmt_pool_new(size_t jobs, struct shmt_pool **out,
                                  struct shmt_error *err)
{
    struct shmt_pool *const pool = calloc(1, sizeof *pool);

    if (pool == NULL ||
        (pool->compilers = calloc(jobs, sizeof *pool->compilers)) == NULL) {
        free(pool);
        return shmt_error_memory(err);
    }
    pool->jobs = jobs;
    for (size_t k = 0; k < jobs; k++)
        pool->compilers[k].verb = SHMT_TARGET_INSPECT;
    *out = pool;
    return SHMTUNE_OK;
}

void shmt_pool_free(struct shmt_pool *pool)
{
    if (pool == NULL)
        return;
    free(pool->compilers);
    free(pool->fds);
    free(pool);
}

/* -- clients -------------------------------------------------------------- */

enum shmtune_status shmt_pool_add(struct shmt_pool *pool,
                                  struct shmt_pool_client *client,
                                  struct shmt_error *err)
{
    const size_t workers = pool->jobs + pool->client_count + 1;

    allow_descriptors(workers);
    if (!shmt_array_reserve(&pool->fds, &pool->fd_room,
                            workers * SHMT_WORKER_FDS, sizeof *pool->fds))
        return shmt_error_memory(err);
    client->measurer.verb = SHMT_TARGET_MEASURE;
    client->next = pool->clients;
    pool->clients = client;
    pool->client_count++;
    return SHMTUNE_OK;
}

struct shmt_pool_client *shmt_pool_next_client(struct shmt_pool *pool)
{
    struct shmt_pool_client *const first = pool->clients;
    struct shmt_pool_client **last = &pool->clients;

    if (first == NULL || first->next == NULL)
        return first;
    while (*last != NULL)
        last = &(*last)->next;
    pool->clients = first->next;
    *last = first;
    first->next = NULL;
    return first;
}

static bool is_same_command(const struct shmt_pool_client *a,
                            const struct shmt_pool_client *b)
{
    return a == b || (a->command != NULL && a->command == b->command);
}

/* A client beside this one that compiles by the same command. */
static struct shmt_pool_client *
find_other(const struct shmt_pool *pool, const struct shmt_pool_client *client)
{
    struct shmt_pool_client *other = pool->clients;

    while (other != NULL &&
           (other == client || !is_same_command(other, client)))
        other = other->next;
    return other;
}

void shmt_pool_remove(struct shmt_pool *pool, struct shmt_pool_client *client)
{
    struct shmt_pool_client *const heir = find_other(pool, client);
    struct shmt_pool_client **at = &pool->clients;

    shmt_pool_cancel(pool, client, true);
    for (size_t k = 0; k < pool->jobs; k++) {
        struct shmt_pool_worker *const worker = &pool->compilers[k];
        if (worker->client != client)
            continue;
        /* Its command is in the memory of the client. */
        if (heir == NULL) {
            unbind(worker);
        } else {
            worker->client = heir;
            worker->supervisor.argv = heir->argv[SHMT_TARGET_INSPECT];
        }
    }
    unbind(&client->measurer);
    shmt_target_queue_clear(&client->pending[SHMT_TARGET_INSPECT]);
    shmt_target_queue_clear(&client->pending[SHMT_TARGET_MEASURE]);
    while (*at != NULL && *at != client)
        at = &(*at)->next;
    if (*at == client) {
        *at = client->next;
        pool->client_count--;
    }
}

/* -- who gets which compile worker ---------------------------------------- */

/* Counts what each command has.  Machines with several GPUs have hundreds of
 * clients and workers, and one message wakes all of this: nothing here may look
 * at each pair of them. */
static void take_stock(struct shmt_pool *pool)
{
    struct shmt_pool_client *client;

    pool->commands = 0;
    for (client = pool->clients; client != NULL; client = client->next)
        if (client->command != NULL)
            *client->command = (struct shmt_pool_command){0};
    for (client = pool->clients; client != NULL; client = client->next)
        if (client->command == NULL || client->command->clients++ == 0)
            pool->commands++;
    for (size_t k = 0; k < pool->jobs; k++) {
        const struct shmt_pool_worker *const worker = &pool->compilers[k];
        if (worker->client == NULL || worker->client->command == NULL)
            continue;
        worker->client->command->bound++;
        worker->client->command->coming += worker->job == NULL;
    }
}

/* The share of a command. */
static size_t fair(const struct shmt_pool *pool)
{
    const size_t share =
        pool->jobs / (pool->commands > 0 ? pool->commands : 1);

    return share > 0 ? share : 1;
}

/* How many workers run the command of a client. */
static size_t bound_to(const struct shmt_pool_client *client)
{
    return client->command == NULL ? 0 : client->command->bound;
}

size_t shmt_pool_share(const struct shmt_pool *pool,
                       const struct shmt_pool_client *client)
{
    size_t sharers = 0;

    for (const struct shmt_pool_client *other = pool->clients; other != NULL;
         other = other->next)
        sharers += other->compiles || other == client;
    return sharers < 2 ? pool->jobs : (pool->jobs + sharers - 1) / sharers;
}

/* Whether the client has jobs that no worker will take at once. */
static bool is_short(const struct shmt_pool_client *client)
{
    const struct shmt_target_job *job =
        client->pending[SHMT_TARGET_INSPECT].first;
    size_t coming = client->command == NULL ? 0 : client->command->coming;

    for (; job != NULL && coming > 0; coming--)
        job = job->next;
    return job != NULL;
}

/* The client that this idle worker, or one without a command, should go over
 * to; NULL: it stays. */
static struct shmt_pool_client *
find_needy(const struct shmt_pool *pool, const struct shmt_pool_worker *worker,
           bool has_work)
{
    const size_t share = fair(pool);
    const double now_s = shmt_clock_s();
    const size_t own = worker->client == NULL ? 0 : bound_to(worker->client);

    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next) {
        if (client->failure.status != SHMTUNE_OK ||
            (worker->client != NULL &&
             is_same_command(worker->client, client)) ||
            !is_short(client))
            continue;
        if (worker->client == NULL ||
            (bound_to(client) < share && own > share) ||
            (bound_to(client) == 0 && now_s - worker->bound_s >= turn_s) ||
            (!has_work && now_s - worker->since_s >= idle_s))
            return client;
    }
    return NULL;
}

/* Whether a job of the client goes before one of the other, which may be
 * NULL. */
static bool is_before(const struct shmt_pool_client *client,
                      const struct shmt_pool_client *other,
                      enum shmt_target_verb verb, double now_s)
{
    return other == NULL ||
           shmt_target_job_is_before(client->pending[verb].first,
                                     other->pending[verb].first, now_s);
}

/* The client whose job the worker is to have next. */
static struct shmt_pool_client *
find_work(const struct shmt_pool *pool, const struct shmt_pool_worker *worker)
{
    const double now_s = shmt_clock_s();
    struct shmt_pool_client *found = NULL;

    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next)
        if (client->pending[worker->verb].first != NULL &&
            is_same_command(client, worker->client) &&
            is_before(client, found, worker->verb, now_s))
            found = client;
    return found;
}

static enum shmtune_status send(struct shmt_pool_worker *worker,
                                struct shmt_pool_client *client,
                                struct shmt_error *err)
{
    struct shmt_target_job *const job =
        shmt_target_queue_take(&client->pending[worker->verb]);

    worker->job = job;
    worker->served = client;
    job->attempts++;
    job->since_s = shmt_clock_s();
    return shmt_supervisor_send(&worker->supervisor, job->line, job->tag,
                                client->calls->deadline(client, worker->verb),
                                err);
}

static enum shmtune_status assign_compiler(struct shmt_pool *pool,
                                           struct shmt_pool_worker *worker,
                                           struct shmt_error *err)
{
    struct shmt_pool_client *work, *needy;

    if (worker->client != NULL && !is_idle(worker))
        return SHMTUNE_OK;
    work = worker->client == NULL ? NULL : find_work(pool, worker);
    needy = find_needy(pool, worker, work != NULL);
    if (needy != NULL) {
        bind(worker, needy);
        take_stock(pool);
        return SHMTUNE_OK;
    }
    if (work == NULL)
        return SHMTUNE_OK;
    if (work->command != NULL)
        work->command->coming--;
    /* The others come first the next time. */
    if (work == pool->clients)
        (void)shmt_pool_next_client(pool);
    return send(worker, work, err);
}

/* While another tuner waits, a GPU is given back after so long, and asked for
 * again so often. */
static const double hold_s = 0.5, ask_s = 0.005;

/* Whether the client may measure now.  The GPU is kept between measurements
 * that follow on each other. */
static bool has_turn(struct shmt_pool_client *client)
{
    struct shmt_turn *const turn =
        client->gpu == NULL ? NULL : client->gpu->turn;

    if (turn == NULL)
        return true;
    if (shmt_turn_held_s(turn) >= hold_s)
        shmt_turn_give_back(turn);
    if (shmt_turn_take(turn))
        return true;
    client->calls->waits(client);
    return false;
}

static bool has_measurement(const struct shmt_pool_client *client)
{
    return is_idle(&client->measurer) &&
           client->pending[SHMT_TARGET_MEASURE].first != NULL;
}

/* Marks the GPUs on which a client measures, or is to. */
static void look_at_gpus(const struct shmt_pool *pool)
{
    const struct shmt_pool_client *client;

    for (client = pool->clients; client != NULL; client = client->next)
        if (client->gpu != NULL)
            client->gpu->refused = client->gpu->taken =
                client->gpu->wanted = false;
    for (client = pool->clients; client != NULL; client = client->next) {
        const bool measures = client->measurer.job != NULL;
        if (client->gpu == NULL)
            continue;
        client->gpu->taken = client->gpu->taken || measures;
        client->gpu->wanted = client->gpu->wanted || measures ||
                              has_measurement(client);
    }
}

/* Whether a client measures on the GPU of this one. */
static bool is_taken(const struct shmt_pool_client *client)
{
    return client->gpu != NULL && client->gpu->taken;
}

/* The client that is to measure next; NULL: none, or their GPUs are busy. */
static struct shmt_pool_client *
find_measurement(const struct shmt_pool *pool)
{
    const double now_s = shmt_clock_s();
    struct shmt_pool_client *found = NULL;

    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next)
        if (has_measurement(client) && !is_taken(client) &&
            (client->gpu == NULL || !client->gpu->refused) &&
            is_before(client, found, SHMT_TARGET_MEASURE, now_s))
            found = client;
    return found;
}

/* A compile worker may go over to one that is short, though nothing comes of
 * any worker. */
static bool is_any_short(struct shmt_pool *pool)
{
    const struct shmt_pool_client *client = pool->clients;

    take_stock(pool);
    while (client != NULL && !is_short(client))
        client = client->next;
    return client != NULL && pool->client_count > 1;
}

void shmt_pool_release(const struct shmt_pool *pool,
                       const struct shmt_pool_gpu *gpu)
{
    if (gpu == NULL || gpu->turn == NULL)
        return;
    look_at_gpus(pool);
    if (!gpu->wanted)
        shmt_turn_give_back(gpu->turn);
}

/* A GPU on which there is nothing to measure is given back. */
static void give_back_turns(const struct shmt_pool *pool, double *patience_s)
{
    look_at_gpus(pool);
    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next) {
        if (client->gpu != NULL && client->gpu->turn != NULL &&
            !client->gpu->wanted)
            shmt_turn_give_back(client->gpu->turn);
        if (has_measurement(client) && !is_taken(client))
            *patience_s = fmin(*patience_s, ask_s);
    }
}

static enum shmtune_status send_measurement(struct shmt_pool_client *client,
                                            struct shmt_error *err)
{
    if (!has_turn(client)) {
        client->gpu->refused = true;
        return SHMTUNE_OK;
    }
    if (client->gpu != NULL)
        client->gpu->taken = true;
    return send(&client->measurer, client, err);
}

enum shmtune_status shmt_pool_assign(struct shmt_pool *pool,
                                     struct shmt_error *err)
{
    struct shmt_pool_client *client;
    enum shmtune_status status = SHMTUNE_OK;

    look_at_gpus(pool);
    while (status == SHMTUNE_OK &&
           (client = find_measurement(pool)) != NULL)
        status = send_measurement(client, err);
    take_stock(pool);
    for (size_t k = 0; status == SHMTUNE_OK && k < pool->jobs; k++)
        status = assign_compiler(pool, &pool->compilers[k], err);
    return status;
}

/* -- what workers say ----------------------------------------------------- */

static enum shmtune_status on_reply(struct shmt_pool_worker *worker,
                                    struct shmt_error *err)
{
    struct shmt_target_job *const job = worker->job;

    worker->job = NULL;
    worker->since_s = shmt_clock_s();
    return worker->served->calls->reply(worker->served, job,
                                        &worker->supervisor.message, err);
}

static void on_died(struct shmt_pool_worker *worker)
{
    struct shmt_target_job *const job = worker->job;

    worker->job = NULL;
    if (job->cancelled)
        shmt_target_job_free(job);
    else
        worker->served->calls->died(worker->served, job, &worker->supervisor);
}

static void on_lost(struct shmt_pool_worker *worker)
{
    struct shmt_target_job *const job = worker->job;

    worker->job = NULL;
    if (job->cancelled)
        shmt_target_job_free(job);
    else
        worker->served->calls->lost(worker->served, job, &worker->supervisor);
}

static enum shmtune_status step(struct shmt_pool_worker *worker,
                                struct shmt_error *err)
{
    struct shmt_pool_client *const client = worker->client;
    enum shmt_supervisor_event event;

    do {
        enum shmtune_status status =
            shmt_supervisor_step(&worker->supervisor, &event, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_HELLO)
            status = client->calls->hello(client, worker->verb,
                                          &worker->supervisor.message, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_REPLY)
            status = on_reply(worker, err);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_DIED)
            on_died(worker);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_LOST)
            on_lost(worker);
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_NOTICE)
            client->calls->notice(client, worker->supervisor.notice);
        if (status != SHMTUNE_OK)
            return status;
    } while (event != SHMT_SUPERVISOR_NOTHING);
    return SHMTUNE_OK;
}

/* The failure is the client's whose job, or else whose command, it was. */
static void step_or_fail(struct shmt_pool_worker *worker)
{
    struct shmt_pool_client *const client =
        worker->job != NULL ? worker->served : worker->client;
    struct shmt_error why = {0};

    if (step(worker, &why) == SHMTUNE_OK)
        return;
    if (client->failure.status == SHMTUNE_OK)
        client->failure = why;
    if (worker->job != NULL)
        shmt_target_job_free(worker->job);
    worker->job = NULL;
    unbind(worker);
}

enum shmtune_status shmt_pool_start(struct shmt_pool *pool,
                                    struct shmt_pool_client *client,
                                    enum shmt_target_verb verb,
                                    struct shmt_error *err)
{
    size_t share, bound;

    take_stock(pool);
    share = fair(pool);
    bound = bound_to(client);
    if (verb == SHMT_TARGET_MEASURE) {
        bind(&client->measurer, client);
        step_or_fail(&client->measurer);
    }
    for (size_t k = 0; verb == SHMT_TARGET_INSPECT && k < pool->jobs &&
                       bound < share; k++) {
        if (pool->compilers[k].client != NULL)
            continue;
        bind(&pool->compilers[k], client);
        step_or_fail(&pool->compilers[k]);
        bound++;
    }
    return client->failure.status == SHMTUNE_OK
               ? SHMTUNE_OK
               : shmt_error_set(err, client->failure.status, "%s",
                                client->failure.text);
}

/* What poll has to look at; how many entries.  Only of workers that there are,
 * because poll takes no more entries than descriptors may be open. */
static size_t watch_all(const struct shmt_pool *pool, double *patience_s)
{
    struct shmt_pool_worker *worker;
    struct walk walk = {0};
    size_t count = 0;

    while ((worker = next_worker(pool, &walk)) != NULL) {
        struct pollfd *const fds = &pool->fds[count];
        worker->watched = worker->supervisor.worker != NULL;
        if (worker->client != NULL)
            *patience_s = fmin(*patience_s,
                               shmt_supervisor_timeout(&worker->supervisor));
        if (!worker->watched)
            continue;
        for (int f = 0; f < SHMT_WORKER_FDS; f++)
            fds[f] = (struct pollfd){-1, 0, 0};
        shmt_worker_watch(worker->supervisor.worker, fds);
        count += SHMT_WORKER_FDS;
    }
    return count;
}

static void serve_all(const struct shmt_pool *pool)
{
    const struct pollfd *fds = pool->fds;
    struct shmt_pool_worker *worker;
    struct walk walk = {0};

    while ((worker = next_worker(pool, &walk)) != NULL) {
        if (!worker->watched)
            continue;
        shmt_worker_serve(worker->supervisor.worker, fds);
        fds += SHMT_WORKER_FDS;
    }
}

enum shmtune_status shmt_pool_round(struct shmt_pool *pool, double timeout_s,
                                    bool *woken, struct shmt_error *err)
{
    enum shmtune_status status = shmt_pool_assign(pool, err);
    struct shmt_pool_worker *worker;
    struct walk walk = {0};
    double patience_s = timeout_s;
    size_t count;
    int found;

    if (status != SHMTUNE_OK)
        return status;
    count = watch_all(pool, &patience_s);
    give_back_turns(pool, &patience_s);
    if (is_any_short(pool))
        patience_s = fmin(patience_s, idle_s);
    found = poll(pool->fds, count, (int)ceil(fmin(patience_s, 3600) * 1000));
    *woken = found >= 0;
    if (found < 0 && errno != EINTR)
        return shmt_error_system(err, "poll", "workers cannot be waited for");
    if (found > 0)
        serve_all(pool);
    while ((worker = next_worker(pool, &walk)) != NULL)
        if (worker->client != NULL)
            step_or_fail(worker);
    return SHMTUNE_OK;
}

/* -- cancelling ----------------------------------------------------------- */

void shmt_pool_cancel(struct shmt_pool *pool, struct shmt_pool_client *client,
                      bool kill)
{
    struct walk walk = {0}, again = {0};
    struct shmt_pool_worker *worker;

    /* All are killed before the first one is waited for. */
    while ((worker = next_worker(pool, &walk)) != NULL) {
        if (worker->job == NULL || worker->served != client)
            continue;
        if (!worker->job->cancelled)
            client->calls->cancelled(client, worker->job);
        worker->job->cancelled = true;
        if (kill && !worker->supervisor.far)
            shmt_worker_kill(worker->supervisor.worker);
    }
    while (kill && (worker = next_worker(pool, &again)) != NULL) {
        if (worker->job == NULL || worker->served != client)
            continue;
        shmt_supervisor_restart(&worker->supervisor);
        shmt_target_job_free(worker->job);
        worker->job = NULL;
    }
}
