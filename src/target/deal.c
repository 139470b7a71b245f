/* SPDX-License-Identifier: MIT */
/*
 * deal: which worker of the pool does which job next (pool.h).  Machines with
 * several GPUs have hundreds of clients and workers, and each message of one
 * comes by here: nothing may look at each pair of them.
 */
#include "target/pool_state.h"

#include <math.h>
#include <stdlib.h>

/* A compile worker that is busy all the time goes to another command after so
 * long when that has none. */
static const double turn_s = 1;

/* -- who gets which compile worker ---------------------------------------- */

void shmt_pool_take_stock(struct shmt_pool *pool)
{
    struct shmt_pool_client *client;

    pool->sharers = 0;
    for (client = pool->clients; client != NULL; client = client->next)
        if (client->command != NULL)
            *client->command = (struct shmt_pool_command){0};
    for (client = pool->clients; client != NULL; client = client->next) {
        pool->sharers += client->compiles;
        if (client->command != NULL)
            client->command->sharers += client->compiles;
    }
    for (size_t k = 0; k < pool->jobs; k++) {
        const struct shmt_pool_worker *const worker = &pool->compilers[k];
        if (worker->client == NULL || worker->client->command == NULL)
            continue;
        worker->client->command->bound++;
        worker->client->command->coming += worker->job == NULL;
    }
}

/* One that has not begun to compile counts, too. */
size_t shmt_pool_fair(const struct shmt_pool *pool,
                      const struct shmt_pool_client *client)
{
    const size_t own = client->command == NULL || client->command->sharers == 0
                           ? 1 : client->command->sharers;
    const size_t all = pool->sharers > own ? pool->sharers : own;
    const size_t share = pool->jobs * own / all;

    return share > 0 ? share : 1;
}

size_t shmt_pool_bound_to(const struct shmt_pool_client *client)
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
    const double now_s = shmt_clock_s();
    const bool can_spare =
        worker->client != NULL &&
        shmt_pool_bound_to(worker->client) >
            shmt_pool_fair(pool, worker->client);

    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next) {
        if (client->failure.status != SHMTUNE_OK ||
            (worker->client != NULL &&
             shmt_pool_is_same_command(worker->client, client)) ||
            !is_short(client))
            continue;
        if (worker->client == NULL ||
            (can_spare &&
             shmt_pool_bound_to(client) < shmt_pool_fair(pool, client)) ||
            (shmt_pool_bound_to(client) == 0 &&
             now_s - worker->bound_s >= turn_s) ||
            (!has_work && now_s - worker->since_s >= SHMT_POOL_IDLE_S))
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
            shmt_pool_is_same_command(client, worker->client) &&
            is_before(client, found, worker->verb, now_s))
            found = client;
    return found;
}

/* A worker that cannot be told ends, and with it what it was to forget. */
static void send_notes(struct shmt_pool_measurer *one)
{
    if (one->notes.length == 0)
        return;
    (void)shmt_worker_send(one->worker.supervisor.worker,
                           shmt_text_string(&one->notes), NULL);
    shmt_text_free(&one->notes);
}

void shmt_pool_note(struct shmt_pool_client *client, const char *line)
{
    struct shmt_pool_measurer *const one = client->measurer;

    if (one == NULL || client->far)
        return;
    if (one->notes.length > 0)
        shmt_text_add(&one->notes, "\n");
    shmt_text_add(&one->notes, line);
    if (shmt_pool_is_idle(&one->worker))
        send_notes(one);
}

static enum shmtune_status send(struct shmt_pool_worker *worker,
                                struct shmt_pool_client *client,
                                struct shmt_error *err)
{
    struct shmt_target_job *const job =
        shmt_target_queue_take(&client->pending[worker->verb]);

    if (worker->verb == SHMT_TARGET_MEASURE)
        send_notes(client->measurer);
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

    if (worker->client != NULL && !shmt_pool_is_idle(worker))
        return SHMTUNE_OK;
    work = worker->client == NULL ? NULL : find_work(pool, worker);
    needy = find_needy(pool, worker, work != NULL);
    if (needy != NULL) {
        shmt_pool_bind(worker, needy);
        shmt_pool_take_stock(pool);
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
    return client->measurer != NULL &&
           shmt_pool_is_idle(&client->measurer->worker) &&
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
        const bool measures = client->measurer != NULL &&
                              client->measurer->worker.job != NULL;
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

static const struct shmt_target_job *
first_measurement(const struct shmt_pool_client *client)
{
    return client->pending[SHMT_TARGET_MEASURE].first;
}

static bool is_first(const struct shmt_pool_client *client)
{
    return isinf(first_measurement(client)->worth);
}

static bool is_late(const struct shmt_pool_client *client, double now_s)
{
    return shmt_target_job_is_late(first_measurement(client), now_s);
}

/* Whether the one's measurement goes before the other's.  Those that a run
 * cannot do without, as in its finals, go before all others; on a GPU that has
 * just done one, they leave a turn to a search. */
static bool measures_before(const struct shmt_pool_client *client,
                            const struct shmt_pool_client *other,
                            double now_s)
{
    if (other != NULL && client->gpu != NULL &&
        client->gpu->did_first && is_first(client) != is_first(other) &&
        !is_late(client, now_s) && !is_late(other, now_s))
        return is_first(other);
    return is_before(client, other, SHMT_TARGET_MEASURE, now_s);
}

/* The client that is to measure next, of those of one GPU: each has turns of
 * its own.  NULL: none, or their GPUs are busy. */
static struct shmt_pool_client *
find_measurement(const struct shmt_pool *pool)
{
    const double now_s = shmt_clock_s();
    struct shmt_pool_client *found = NULL;

    for (struct shmt_pool_client *client = pool->clients; client != NULL;
         client = client->next)
        if (has_measurement(client) && !is_taken(client) &&
            (client->gpu == NULL || !client->gpu->refused) &&
            (found == NULL || found->gpu == client->gpu) &&
            measures_before(client, found, now_s))
            found = client;
    return found;
}

bool shmt_pool_is_any_short(const struct shmt_pool *pool)
{
    const struct shmt_pool_client *client = pool->clients;

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

void shmt_pool_give_back_turns(const struct shmt_pool *pool, double *patience_s)
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
    if (client->gpu != NULL) {
        client->gpu->taken = true;
        client->gpu->did_first = is_first(client);
    }
    return send(&client->measurer->worker, client, err);
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
    shmt_pool_take_stock(pool);
    for (size_t k = 0; status == SHMTUNE_OK && k < pool->jobs; k++)
        status = assign_compiler(pool, &pool->compilers[k], err);
    return status;
}
