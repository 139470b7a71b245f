/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "target/live_state.h"

void shmt_queue_add(struct shmt_queue *queue, struct shmt_job *job)
{
    job->next = NULL;
    if (queue->first == NULL)
        queue->last = &queue->first;
    *queue->last = job;
    queue->last = &job->next;
}

void shmt_queue_add_front(struct shmt_queue *queue, struct shmt_job *job)
{
    job->next = queue->first;
    if (queue->first == NULL)
        queue->last = &job->next;
    queue->first = job;
}

struct shmt_job *shmt_queue_take(struct shmt_queue *queue)
{
    struct shmt_job *const job = queue->first;
    if (job != NULL)
        queue->first = job->next;
    return job;
}

void shmt_job_free(struct shmt_job *job)
{
    if (job == NULL)
        return;
    free(job->line);
    free(job);
}

void shmt_queue_clear(struct shmt_queue *queue)
{
    struct shmt_job *job;
    while ((job = shmt_queue_take(queue)) != NULL)
        shmt_job_free(job);
}
