/* SPDX-License-Identifier: MIT */
/*
 * pool: the worker processes of all targets that are open: compile workers,
 * which every target shares, and measure workers, one for all targets of a
 * kernel on a GPU.  A compile worker is started for one command (a spec and an
 * architecture); when another has work and no worker, an idle one is started
 * again for that.
 *
 * Called by target/live.c, which has a client for each target.
 */
#ifndef SHMT_TARGET_POOL_H
#define SHMT_TARGET_POOL_H

#include "target/jobs.h"
#include "target/supervisor.h"
#include "target/turn.h"

struct shmt_pool;
struct shmt_pool_client;

/* What a client does about its workers. */
struct shmt_pool_calls {
    /* Seconds for a request of that verb, from now on. */
    double (*deadline)(const struct shmt_pool_client *client,
                       enum shmt_target_verb verb);
    /* A worker for that verb is ready. */
    enum shmtune_status (*hello)(struct shmt_pool_client *client,
                                 enum shmt_target_verb verb,
                                 const struct shmt_wire_reply *hello,
                                 struct shmt_error *err);
    /* The reply to a job, or the end of the worker that was busy with it; the
     * job is theirs. */
    enum shmtune_status (*reply)(struct shmt_pool_client *client,
                                 struct shmt_target_job *job,
                                 const struct shmt_wire_reply *reply,
                                 struct shmt_error *err);
    void (*died)(struct shmt_pool_client *client, struct shmt_target_job *job,
                 const struct shmt_supervisor *supervisor);
    /* The worker was lost while it was busy with the job, which is theirs. */
    void (*lost)(struct shmt_pool_client *client, struct shmt_target_job *job,
                 const struct shmt_supervisor *supervisor);
    /* What people should know of a worker. */
    void (*notice)(struct shmt_pool_client *client, const char *text);
    /* The job is cancelled while a worker is busy with it. */
    void (*cancelled)(struct shmt_pool_client *client,
                      const struct shmt_target_job *job);
    /* Another tuner has the GPU; called for each measurement that waits. */
    void (*waits)(struct shmt_pool_client *client);
};

/* A worker, and what it is busy with. */
struct shmt_pool_worker {
    struct shmt_supervisor supervisor;
    enum shmt_target_verb verb;
    struct shmt_pool_client *client;   /* whose command it runs; NULL: none */
    struct shmt_pool_client *served;   /* whose job it has, */
    struct shmt_target_job *job;       /* NULL: none */
    bool watched;                      /* in the poll at hand */
    double bound_s;                    /* when it was given its command, */
    double since_s;                    /* and when it had its last reply */
};

/* A GPU: of the clients that have it, one measures at a time. */
struct shmt_pool_gpu {
    struct shmt_pool_gpu *next;
    char name[96];
    size_t users;
    struct shmt_turn *turn;            /* among tuners; NULL: always its own */
    bool refused;                      /* another tuner has it */
    bool taken;                        /* one of its clients measures, */
    bool wanted;                       /* or has something to measure */
    bool did_first;                    /* the last one went before others */
};

/* A measure worker, and the clients that it measures for: those of one command,
 * so that a GPU has one process for all problems of a kernel. */
struct shmt_pool_measurer {
    struct shmt_pool_measurer *next;
    struct shmt_pool_worker worker;
    size_t users;
    double longest_s;                  /* of its measurements so far; 0: it has
                                          made none */
    bool hung;                         /* over the first one of a problem */
    bool met;                          /* it has said hello, the last time: */
    struct shmt_wire_reply hello;
    struct shmt_text notes;            /* what it is to be told before the next
                                          request */
};

/* A command that compile workers run, and what there is of it; counted anew
 * before workers are dealt out (pool.c). */
struct shmt_pool_command {
    size_t sharers, bound;             /* clients that compile, workers that
                                          run it */
    size_t coming;                     /* of those, idle or soon to be */
};

struct shmt_pool_client {
    /* set by the owner */
    void *owner;
    const struct shmt_pool_calls *calls;
    const char *const *argv[2];        /* by verb; NULL: not yet, or none */
    const char *serve;                 /* tells a compile worker of another
                                          command to be one of this; NULL: such
                                          a one is ended, another started */
    struct shmt_pool_command *command; /* one for all clients that compile by
                                          the same; NULL: none */
    double start_s;                    /* deadline of a start */
    bool far;                          /* its measure worker is a courier */
    bool compiles;                     /* it has asked for that */
    struct shmt_pool_gpu *gpu;         /* NULL: one that no other has */
    /* the pool's */
    struct shmt_target_queue pending[2];   /* by verb */
    struct shmt_pool_measurer *measurer;   /* NULL: none */
    struct shmt_error failure;         /* what ends it; SHMTUNE_OK: nothing */
    struct shmt_pool_client *next;
};

/* `jobs` compile workers, which are started when a client has a command for
 * them. */
enum shmtune_status shmt_pool_new(size_t jobs, struct shmt_pool **out,
                                  struct shmt_error *err);
/* It has no client. */
void shmt_pool_free(struct shmt_pool *pool);

enum shmtune_status shmt_pool_add(struct shmt_pool *pool,
                                  struct shmt_pool_client *client,
                                  struct shmt_error *err);
/* Ends its workers, but for compile workers that another can use. */
void shmt_pool_remove(struct shmt_pool *pool, struct shmt_pool_client *client);
/* The clients, from one that is another at each call. */
struct shmt_pool_client *shmt_pool_next_client(struct shmt_pool *pool);

/* The client has a command for the workers of a verb: starts them. */
enum shmtune_status shmt_pool_start(struct shmt_pool *pool,
                                    struct shmt_pool_client *client,
                                    enum shmt_target_verb verb,
                                    struct shmt_error *err);
/* How many compile workers are a client's share. */
size_t shmt_pool_share(const struct shmt_pool *pool,
                       const struct shmt_pool_client *client);

/* Gives pending jobs to idle workers. */
enum shmtune_status shmt_pool_assign(struct shmt_pool *pool,
                                     struct shmt_error *err);
/* The same, then one round of poll over all workers, of at most `timeout_s`.
 * *woken is false when a signal came.  What goes wrong with a worker is its
 * client's `failure`. */
enum shmtune_status shmt_pool_round(struct shmt_pool *pool, double timeout_s,
                                    bool *woken, struct shmt_error *err);

/* Gives a GPU back to other tuners, if nobody measures on it or is to.  NULL is
 * allowed. */
void shmt_pool_release(const struct shmt_pool *pool,
                       const struct shmt_pool_gpu *gpu);

/* Tells the measure worker of the client a line that has no reply, before its
 * next request. */
void shmt_pool_note(struct shmt_pool_client *client, const char *line);
/* The next measurement of the client is made by a new process; false: it is
 * not, since others measure in this one. */
bool shmt_pool_restart(struct shmt_pool_client *client);

/* Cancels what workers are busy with for a client; kills them, or lets them end
 * it.  One that others need has a little time for that. */
void shmt_pool_cancel(struct shmt_pool *pool, struct shmt_pool_client *client,
                      bool kill);

#endif
