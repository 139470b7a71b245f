/* SPDX-License-Identifier: MIT */
/*
 * pool: see pool.h.  It has the one poll over all workers; supervisor.c has the
 * state of each.
 */
#include "target/pool_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "target/courier.h"

/* -- all workers ---------------------------------------------------------- */

/* All workers, compile workers first, one at each call; NULL behind the last.
 * It begins as {0}. */
struct walk {
    size_t compilers;
    struct shmt_pool_measurer *measurer;
};

static struct shmt_pool_worker *next_worker(const struct shmt_pool *pool,
                                            struct walk *walk)
{
    if (walk->compilers < pool->jobs)
        return &pool->compilers[walk->compilers++];
    if (walk->compilers++ == pool->jobs)
        walk->measurer = pool->measurers;
    else if (walk->measurer != NULL)
        walk->measurer = walk->measurer->next;
    return walk->measurer == NULL ? NULL : &walk->measurer->worker;
}

/* A compiler is loaded in a tenth of a second, of which a worker that is there
 * needs none. */
static bool turn(struct shmt_pool_worker *worker,
                 const struct shmt_pool_client *client)
{
    return worker->verb == SHMT_TARGET_INSPECT && client->serve != NULL &&
           shmt_supervisor_turn(&worker->supervisor,
                                client->argv[worker->verb], client->serve);
}

static void start(struct shmt_pool_worker *worker,
                  const struct shmt_pool_client *client)
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
}

/* The worker runs the command of the client from now on. */
void shmt_pool_bind(struct shmt_pool_worker *worker,
                    struct shmt_pool_client *client)
{
    if (!turn(worker, client))
        start(worker, client);
    worker->client = client;
    worker->bound_s = worker->since_s = shmt_clock_s();
}

/* Those that have ended by then, on shmt_clock_s, are gone. */
static void await_dismissed(struct shmt_pool *pool, double until_s)
{
    size_t kept = 0;

    for (size_t k = 0; k < pool->dismissed_count; k++)
        if (shmt_worker_await_end(pool->dismissed[k], until_s))
            shmt_worker_free(pool->dismissed[k]);
        else
            pool->dismissed[kept++] = pool->dismissed[k];
    pool->dismissed_count = kept;
}

/* A courier has its launcher to end, for which nobody waits before the pool
 * ends. */
static void unbind(struct shmt_pool *pool, struct shmt_pool_worker *worker)
{
    struct shmt_supervisor *const supervisor = &worker->supervisor;

    await_dismissed(pool, 0);
    if (supervisor->far && supervisor->worker != NULL &&
        shmt_array_reserve(&pool->dismissed, &pool->dismissed_room,
                           pool->dismissed_count + 1,
                           sizeof *pool->dismissed))
        pool->dismissed[pool->dismissed_count++] =
            shmt_supervisor_dismiss(supervisor);
    shmt_supervisor_close(supervisor);
    worker->client = NULL;
}

/* The command is gone: an idle worker waits for another. */
static void leave(struct shmt_pool *pool, struct shmt_pool_worker *worker)
{
    if (!shmt_pool_is_idle(worker))
        unbind(pool, worker);
    worker->supervisor.argv = NULL;
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

/* They end at the same time, and have a moment more than they take at most. */
static void free_dismissed(struct shmt_pool *pool)
{
    await_dismissed(pool, shmt_clock_s() + SHMT_COURIER_GRACE_S + 0.5);
    for (size_t k = 0; k < pool->dismissed_count; k++)
        shmt_worker_free(pool->dismissed[k]);
    free(pool->dismissed);
}

void shmt_pool_free(struct shmt_pool *pool)
{
    if (pool == NULL)
        return;
    free_dismissed(pool);
    /* All are killed before the first one is waited for. */
    for (size_t k = 0; k < pool->jobs; k++)
        if (pool->compilers[k].supervisor.worker != NULL)
            shmt_worker_kill(pool->compilers[k].supervisor.worker);
    for (size_t k = 0; k < pool->jobs; k++)
        shmt_supervisor_close(&pool->compilers[k].supervisor);
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
    client->next = pool->clients;
    pool->clients = client;
    if (client->next == NULL)
        pool->last = client;
    pool->client_count++;
    return SHMTUNE_OK;
}

struct shmt_pool_client *shmt_pool_next_client(struct shmt_pool *pool)
{
    struct shmt_pool_client *const first = pool->clients;

    if (first == NULL || first->next == NULL)
        return first;
    pool->clients = first->next;
    pool->last->next = first;
    pool->last = first;
    first->next = NULL;
    return first;
}

/* -- measure workers ------------------------------------------------------ */

static bool are_same_words(const char *const *x, const char *const *y)
{
    while (*x != NULL && *y != NULL && strcmp(*x, *y) == 0) {
        x++;
        y++;
    }
    return *x == NULL && *y == NULL;
}

/* One that measures by the command of the client, and for others, too. */
static struct shmt_pool_measurer *
find_measurer(const struct shmt_pool *pool,
              const struct shmt_pool_client *client)
{
    struct shmt_pool_measurer *one = client->far ? NULL : pool->measurers;

    while (one != NULL &&
           (one->worker.client == NULL ||
            !are_same_words(one->worker.client->argv[SHMT_TARGET_MEASURE],
                            client->argv[SHMT_TARGET_MEASURE])))
        one = one->next;
    return one;
}

static enum shmtune_status take_measurer(struct shmt_pool *pool,
                                         struct shmt_pool_client *client,
                                         struct shmt_error *err)
{
    struct shmt_pool_measurer *one = find_measurer(pool, client);

    if (one == NULL) {
        one = calloc(1, sizeof *one);
        if (one == NULL)
            return shmt_error_memory(err);
        one->worker.verb = SHMT_TARGET_MEASURE;
        one->next = pool->measurers;
        pool->measurers = one;
        shmt_pool_bind(&one->worker, client);
    }
    one->users++;
    client->measurer = one;
    return SHMTUNE_OK;
}

static void free_measurer(struct shmt_pool *pool,
                          struct shmt_pool_measurer *one)
{
    struct shmt_pool_measurer **at = &pool->measurers;

    unbind(pool, &one->worker);
    shmt_target_job_free(one->worker.job);
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    shmt_text_free(&one->notes);
    free(one);
}

/* It ends with the last of its clients; until then another stands for the one
 * whose command, in that one's memory, it runs. */
static void leave_measurer(struct shmt_pool *pool,
                           struct shmt_pool_client *client)
{
    struct shmt_pool_measurer *const one = client->measurer;
    struct shmt_pool_client *heir = pool->clients;

    if (one == NULL)
        return;
    client->measurer = NULL;
    if (--one->users == 0) {
        free_measurer(pool, one);
        return;
    }
    if (one->worker.served == client)
        one->worker.served = NULL;
    if (one->worker.client != client)
        return;
    while (heir->measurer != one)
        heir = heir->next;
    one->worker.client = heir;
    one->worker.supervisor.argv = heir->argv[SHMT_TARGET_MEASURE];
}

/* Whether others would miss the worker. */
static bool is_shared(const struct shmt_pool_worker *worker)
{
    return worker->verb == SHMT_TARGET_MEASURE && worker->client != NULL &&
           worker->client->measurer->users > 1;
}

/* A measurement that nobody waits for may take so long, which is what a new
 * worker costs, or so many times as long as the longest before it. */
static const double ending_s = 0.5, ending_factor = 2;

/* Others wait for the end of a job that nobody wants.  It most often comes
 * sooner than a new worker would be there, in which their problems have to be
 * set up again; what takes longer may hang. */
static void hurry(struct shmt_pool_worker *worker)
{
    const double longest_s = worker->client->measurer->longest_s;
    const double spent_s = shmt_clock_s() - worker->job->since_s;

    if (longest_s > 0)
        shmt_supervisor_hurry(
            &worker->supervisor,
            fmax(ending_s, ending_factor * longest_s) - spent_s);
}

/* A new one comes in the place of a worker, for whose job nobody waits. */
static void replace(struct shmt_pool_worker *worker)
{
    shmt_supervisor_restart(&worker->supervisor);
    shmt_target_job_free(worker->job);
    worker->job = NULL;
}

/* -- clients that leave --------------------------------------------------- */

/* A client beside this one that compiles by the same command. */
static struct shmt_pool_client *
find_other(const struct shmt_pool *pool, const struct shmt_pool_client *client)
{
    struct shmt_pool_client *other = pool->clients;

    while (other != NULL &&
           (other == client || !shmt_pool_is_same_command(other, client)))
        other = other->next;
    return other;
}

void shmt_pool_remove(struct shmt_pool *pool, struct shmt_pool_client *client)
{
    struct shmt_pool_client *const heir = find_other(pool, client);
    struct shmt_pool_client **at = &pool->clients, *before = NULL;

    shmt_pool_cancel(pool, client, true);
    for (size_t k = 0; k < pool->jobs; k++) {
        struct shmt_pool_worker *const worker = &pool->compilers[k];
        if (worker->client != client)
            continue;
        /* Its command is in the memory of the client. */
        if (heir == NULL) {
            leave(pool, worker);
        } else {
            worker->client = heir;
            worker->supervisor.argv = heir->argv[SHMT_TARGET_INSPECT];
        }
    }
    leave_measurer(pool, client);
    shmt_target_queue_clear(&client->pending[SHMT_TARGET_INSPECT]);
    shmt_target_queue_clear(&client->pending[SHMT_TARGET_MEASURE]);
    while (*at != NULL && *at != client) {
        before = *at;
        at = &before->next;
    }
    if (*at == client) {
        *at = client->next;
        if (pool->last == client)
            pool->last = before;
        pool->client_count--;
    }
}

/* -- what workers say ----------------------------------------------------- */

static void note_time(const struct shmt_pool_worker *worker,
                      const struct shmt_target_job *job)
{
    const struct shmt_wire_reply *const reply = &worker->supervisor.message;
    struct shmt_pool_measurer *const one = worker->client->measurer;

    if (reply->kind == SHMT_WIRE_RESULT)
        one->longest_s = fmax(one->longest_s,
                              worker->since_s - job->since_s -
                                  fmax(reply->result.answer_ms, 0) / 1e3);
}

/* A measurement that was cancelled says nothing of the problem that its client
 * may have by now. */
static enum shmtune_status on_reply(struct shmt_pool_worker *worker,
                                    struct shmt_error *err)
{
    struct shmt_target_job *const job = worker->job;

    worker->job = NULL;
    worker->since_s = shmt_clock_s();
    if (job->verb == SHMT_TARGET_MEASURE)
        note_time(worker, job);
    if (worker->served == NULL ||
        (job->cancelled && job->verb == SHMT_TARGET_MEASURE)) {
        shmt_target_job_free(job);
        return SHMTUNE_OK;
    }
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

static void fail(struct shmt_pool_client *client,
                 const struct shmt_error *why)
{
    if (client->failure.status == SHMTUNE_OK)
        client->failure = *why;
}

/* The hello of a measure worker is for all of its clients. */
static void greet_all(const struct shmt_pool *pool,
                      struct shmt_pool_measurer *one)
{
    one->hello = one->worker.supervisor.message;
    one->met = true;
    shmt_text_free(&one->notes);   /* nothing is to be forgotten so far */
    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next) {
        struct shmt_error why = {0};
        if (client->measurer == one &&
            client->calls->hello(client, SHMT_TARGET_MEASURE, &one->hello,
                                 &why) != SHMTUNE_OK)
            fail(client, &why);
    }
}

static enum shmtune_status on_hello(const struct shmt_pool *pool,
                                    struct shmt_pool_worker *worker,
                                    struct shmt_error *err)
{
    struct shmt_pool_client *const client = worker->client;

    if (worker->verb != SHMT_TARGET_MEASURE)
        return client->calls->hello(client, worker->verb,
                                    &worker->supervisor.message, err);
    greet_all(pool, client->measurer);
    return SHMTUNE_OK;
}

/* *replied: what failed is the request of one client, and not the worker. */
static enum shmtune_status step(const struct shmt_pool *pool,
                                struct shmt_pool_worker *worker,
                                bool *replied, struct shmt_error *err)
{
    struct shmt_pool_client *const client = worker->client;
    enum shmt_supervisor_event event;

    do {
        enum shmtune_status status =
            shmt_supervisor_step(&worker->supervisor, &event, err);
        *replied = status == SHMTUNE_OK && event == SHMT_SUPERVISOR_REPLY;
        if (status == SHMTUNE_OK && event == SHMT_SUPERVISOR_HELLO)
            status = on_hello(pool, worker, err);
        if (*replied)
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

/* A failure is that of the client whose job it was, else of all that the worker
 * is for; of a compile worker, of the one whose command it runs. */
static void step_or_fail(struct shmt_pool *pool,
                         struct shmt_pool_worker *worker)
{
    struct shmt_pool_client *const client =
        worker->job != NULL ? worker->served : worker->client;
    const struct shmt_pool_measurer *const one =
        worker->verb == SHMT_TARGET_MEASURE ? worker->client->measurer : NULL;
    struct shmt_error why = {0};
    bool replied;

    if (step(pool, worker, &replied, &why) == SHMTUNE_OK)
        return;
    if (client != NULL)
        fail(client, &why);
    if (replied && is_shared(worker))
        return;
    for (struct shmt_pool_client *other = pool->clients;
         one != NULL && other != NULL; other = other->next)
        if (other->measurer == one)
            fail(other, &why);
    if (worker->job != NULL)
        shmt_target_job_free(worker->job);
    worker->job = NULL;
    unbind(pool, worker);
}

/* The client has a measure worker now, which may be new. */
static void begin_measuring(struct shmt_pool *pool,
                            struct shmt_pool_client *client)
{
    const struct shmt_pool_measurer *const one = client->measurer;
    struct shmt_error why = {0};

    if (one->users == 1)
        step_or_fail(pool, &client->measurer->worker);
    else if (one->met && client->calls->hello(client, SHMT_TARGET_MEASURE,
                                              &one->hello,
                                              &why) != SHMTUNE_OK)
        fail(client, &why);
}

static enum shmtune_status failure_of(const struct shmt_pool_client *client,
                                      struct shmt_error *err)
{
    return client->failure.status == SHMTUNE_OK
               ? SHMTUNE_OK
               : shmt_error_set(err, client->failure.status, "%s",
                                client->failure.text);
}

bool shmt_pool_restart(struct shmt_pool_client *client)
{
    struct shmt_pool_measurer *const one = client->measurer;

    if (one == NULL || is_shared(&one->worker))
        return one == NULL;
    if (one->worker.supervisor.state == SHMT_SUPERVISOR_IDLE ||
        (one->worker.job != NULL && one->worker.job->cancelled))
        replace(&one->worker);
    return true;
}

enum shmtune_status shmt_pool_start(struct shmt_pool *pool,
                                    struct shmt_pool_client *client,
                                    enum shmt_target_verb verb,
                                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    size_t share, bound;

    if (verb == SHMT_TARGET_MEASURE) {
        status = take_measurer(pool, client, err);
        if (status != SHMTUNE_OK)
            return status;
        begin_measuring(pool, client);
    }
    shmt_pool_take_stock(pool);
    share = shmt_pool_fair(pool, client);
    bound = shmt_pool_bound_to(client);
    for (size_t k = 0; verb == SHMT_TARGET_INSPECT && k < pool->jobs &&
                       bound < share; k++) {
        if (pool->compilers[k].client != NULL)
            continue;
        shmt_pool_bind(&pool->compilers[k], client);
        step_or_fail(pool, &pool->compilers[k]);
        bound++;
    }
    return failure_of(client, err);
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
        worker->watched =
            worker->client != NULL && worker->supervisor.worker != NULL;
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
    shmt_pool_give_back_turns(pool, &patience_s);
    if (shmt_pool_is_any_short(pool))
        patience_s = fmin(patience_s, SHMT_POOL_IDLE_S);
    found = poll(pool->fds, count, (int)ceil(fmin(patience_s, 3600) * 1000));
    *woken = found >= 0;
    if (found < 0 && errno != EINTR)
        return shmt_error_system(err, "poll", "workers cannot be waited for");
    if (found > 0)
        serve_all(pool);
    while ((worker = next_worker(pool, &walk)) != NULL)
        if (worker->client != NULL)
            step_or_fail(pool, worker);
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
        if (kill && is_shared(worker))
            hurry(worker);
        else if (kill && !worker->supervisor.far)
            shmt_worker_kill(worker->supervisor.worker);
    }
    while (kill && (worker = next_worker(pool, &again)) != NULL) {
        if (worker->job == NULL || worker->served != client ||
            is_shared(worker))
            continue;
        replace(worker);
    }
}
