/* SPDX-License-Identifier: MIT */
/*
 * jobs: requests that wait for a worker or for their reply, and queues of them.
 * Called by target/live.c and target/pool.c alone.
 */
#ifndef SHMT_TARGET_JOBS_H
#define SHMT_TARGET_JOBS_H

#include "target/request.h"

/* A request, and its reply when there is one. */
struct shmt_target_job {
    struct shmt_target_job *next;
    void *owner;             /* whose request it is */
    enum shmt_target_verb verb;
    uint64_t tag;
    double worth;            /* of the request */
    double asked_s;          /* when it was made, on shmt_clock_s */
    size_t binary;           /* inspect */
    int attempts;
    double since_s;          /* of the last of them */
    bool cancelled;          /* nobody waits for its reply */
    char *line;
    struct shmt_result result;
};

/* Starts as {0}; owns its jobs. */
struct shmt_target_queue {
    struct shmt_target_job *first, **last;
};

void shmt_target_job_free(struct shmt_target_job *job);

void shmt_target_queue_add(struct shmt_target_queue *queue,
                           struct shmt_target_job *job);
void shmt_target_queue_add_front(struct shmt_target_queue *queue,
                                 struct shmt_target_job *job);
/* NULL when it is empty. */
struct shmt_target_job *
shmt_target_queue_take(struct shmt_target_queue *queue);
void shmt_target_queue_clear(struct shmt_target_queue *queue);
/* Frees those of one owner. */
void shmt_target_queue_withdraw(struct shmt_target_queue *queue,
                                const void *owner);

/* Whether it has waited so long that it is its turn. */
bool shmt_target_job_is_late(const struct shmt_target_job *job, double now_s);

/* Whether of two jobs that wait for one worker or one GPU the first goes
 * first: that which has waited so long that it is its turn, or which is worth
 * more, or of two that are worth the same which was asked for first. */
bool shmt_target_job_is_before(const struct shmt_target_job *job,
                               const struct shmt_target_job *other,
                               double now_s);

#endif
