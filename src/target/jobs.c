/* SPDX-License-Identifier: MIT */
/*
 * jobs: queues of requests (jobs.h), as lists.  Called by live.c.
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
