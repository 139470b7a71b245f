/* SPDX-License-Identifier: MIT */
/*
 * pool_state: shared by pool.c, which has the workers and hears what they say,
 * and deal.c, which says who gets which.
 */
#ifndef SHMT_TARGET_POOL_STATE_H
#define SHMT_TARGET_POOL_STATE_H

#include "target/pool.h"

/* An idle compile worker goes to another command after so long without
 * work. */
#define SHMT_POOL_IDLE_S 0.05

struct shmt_pool {
    size_t jobs;
    struct shmt_pool_worker *compilers;   /* [jobs] */
    struct shmt_pool_client *clients;     /* the one that is served next is
                                             the first, */
    struct shmt_pool_client *last;        /* and then it is the last */
    size_t client_count;
    struct shmt_pool_measurer *measurers;
    size_t sharers;                       /* clients that compile */
    struct pollfd *fds;
    size_t fd_room;
    struct shmt_worker **dismissed;       /* couriers that are to end */
    size_t dismissed_count, dismissed_room;
};

static inline bool
shmt_pool_is_idle(const struct shmt_pool_worker *worker)
{
    return worker->client != NULL &&
           worker->supervisor.state == SHMT_SUPERVISOR_IDLE &&
           !shmt_worker_ending(worker->supervisor.worker);
}

static inline bool
shmt_pool_is_same_command(const struct shmt_pool_client *a,
                          const struct shmt_pool_client *b)
{
    return a == b || (a->command != NULL && a->command == b->command);
}

/* -- pool.c --------------------------------------------------------------- */

/* The worker runs the command of the client from now on. */
void shmt_pool_bind(struct shmt_pool_worker *worker,
                    struct shmt_pool_client *client);

/* -- deal.c --------------------------------------------------------------- */

/* Counts what each command has, as shmt_pool_assign does; the three after it
 * are true until a worker goes to another command. */
void shmt_pool_take_stock(struct shmt_pool *pool);
/* How many compile workers are the share of a client's command, by the clients
 * that compile by it, and how many run it. */
size_t shmt_pool_fair(const struct shmt_pool *pool,
                      const struct shmt_pool_client *client);
size_t shmt_pool_bound_to(const struct shmt_pool_client *client);
/* A compile worker may go over to one that is short, though nothing comes of
 * any worker. */
bool shmt_pool_is_any_short(const struct shmt_pool *pool);
/* A GPU on which there is nothing to measure is given back. */
void shmt_pool_give_back_turns(const struct shmt_pool *pool,
                               double *patience_s);

#endif
