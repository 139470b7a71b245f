/* SPDX-License-Identifier: MIT */
/*
 * live_queue: a queue of requests as a linked list that owns its jobs.  Called
 * by live.c and live_open.c alone.
 */
#include <stdlib.h>

#include "target/live_state.h"

void shmt_live_queue_add(struct shmt_live_queue *queue,
                         struct shmt_live_job *job)
{
    job->next = NULL;
    if (queue->first == NULL)
        queue->last = &queue->first;
    *queue->last = job;
    queue->last = &job->next;
}

void shmt_live_queue_add_front(struct shmt_live_queue *queue,
                               struct shmt_live_job *job)
{
    job->next = queue->first;
    if (queue->first == NULL)
        queue->last = &job->next;
    queue->first = job;
}

struct shmt_live_job *shmt_live_queue_take(struct shmt_live_queue *queue)
{
    struct shmt_live_job *const job = queue->first;
    if (job != NULL)
        queue->first = job->next;
    return job;
}

void shmt_live_job_free(struct shmt_live_job *job)
{
    if (job == NULL)
        return;
    free(job->line);
    free(job);
}

void shmt_live_queue_clear(struct shmt_live_queue *queue)
{
    struct shmt_live_job *job;
    while ((job = shmt_live_queue_take(queue)) != NULL)
        shmt_live_job_free(job);
}
