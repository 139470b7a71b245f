/* SPDX-License-Identifier: MIT */
/*
 * jobs: queues of requests (jobs.h), as lists, and who goes first.  Called by
 * live.c, compiled.c and pool.c.
 */
#include "target/jobs.h"

#include <stdlib.h>

void shmt_target_job_free(struct shmt_target_job *job)
{
    if (job == NULL)
        return;
    free(job->line);
    free(job);
}

void shmt_target_queue_add(struct shmt_target_queue *queue,
                           struct shmt_target_job *job)
{
    job->next = NULL;
    if (queue->first == NULL)
        queue->last = &queue->first;
    *queue->last = job;
    queue->last = &job->next;
}

void shmt_target_queue_add_front(struct shmt_target_queue *queue,
                                 struct shmt_target_job *job)
{
    job->next = queue->first;
    if (queue->first == NULL)
        queue->last = &job->next;
    queue->first = job;
}

struct shmt_target_job *shmt_target_queue_take(struct shmt_target_queue *queue)
{
    struct shmt_target_job *const job = queue->first;

    if (job != NULL)
        queue->first = job->next;
    return job;
}

void shmt_target_queue_clear(struct shmt_target_queue *queue)
{
    struct shmt_target_job *job;

    while ((job = shmt_target_queue_take(queue)) != NULL)
        shmt_target_job_free(job);
}

void shmt_target_queue_withdraw(struct shmt_target_queue *queue,
                                const void *owner)
{
    struct shmt_target_queue kept = {0};
    struct shmt_target_job *job;

    while ((job = shmt_target_queue_take(queue)) != NULL)
        if (job->owner == owner)
            shmt_target_job_free(job);
        else
            shmt_target_queue_add(&kept, job);
    while ((job = shmt_target_queue_take(&kept)) != NULL)
        shmt_target_queue_add(queue, job);
}

/* A job is passed over for so long at most: what a run expects of its own
 * candidates is not sure enough for it to be left out for longer. */
static const double patience_s = 2;

bool shmt_target_job_is_late(const struct shmt_target_job *job, double now_s)
{
    return now_s - job->asked_s > patience_s;
}

bool shmt_target_job_is_before(const struct shmt_target_job *job,
                               const struct shmt_target_job *other,
                               double now_s)
{
    const bool late = shmt_target_job_is_late(job, now_s);
    const bool other_late = shmt_target_job_is_late(other, now_s);

    if (late != other_late)
        return late;
    if (!late && (job->worth > other->worth || job->worth < other->worth))
        return job->worth > other->worth;
    return job->asked_s < other->asked_s;
}
