/* SPDX-License-Identifier: MIT */
/*
 * live_state: shared by live.c (requests), live_open.c (opening and closing)
 * and live_queue.c (queues) alone.
 */
#ifndef SHMT_TARGET_LIVE_STATE_H
#define SHMT_TARGET_LIVE_STATE_H

#include "target/binaries.h"
#include "target/live.h"
#include "target/scratch.h"
#include "target/supervisor.h"

/* A request that has no reply yet. */
struct shmt_live_job {
    struct shmt_live_job *next;
    enum shmt_target_verb verb;
    uint64_t tag;
    size_t binary;           /* inspect */
    int attempts;
    double since_s;          /* of the last of them */
    char *line;
};

struct shmt_live_queue {
    struct shmt_live_job *first, **last;
};

/* The result of compiling a binary, and the requests that wait for it. */
struct shmt_live_compiled {
    bool known, outstanding;
    struct shmt_result result;
    struct shmt_live_queue waiting;
};

struct shmt_live_answer {
    struct shmt_live_answer *next;
    struct shmt_target_reply reply;
};

struct shmt_live {
    struct shmt_target target;
    struct shmt_arena *arena;
    struct shmt_live_options options;
    struct shmt_scratch scratch;
    char protocol[32];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_target_binaries *binaries;
    struct shmt_live_compiled **compiled; /* by number of the binary */
    size_t compiled_count, compiled_room;
    struct shmt_live_queue pending[2]; /* by verb */
    struct shmt_live_answer *answers, **answers_last;
    size_t outstanding;             /* requests without a reply so far */
    bool needs_setup;               /* the next measurement has to set the
                                       problem up first */
    double setup_s;                 /* seconds that the first measurement
                                       took, including setting up; < 0: not
                                       known */
    double expected_s;              /* the same, by earlier runs */
    double longest_s;               /* that a measurement took; < 0: none */
    size_t supervisor_count;        /* measure if there is a device, then
                                       compile */
    struct shmt_supervisor *supervisors;
    struct shmt_live_job **busy;    /* by station */
    struct pollfd *fds;
};

/* live_queue.c */
void shmt_live_queue_add(struct shmt_live_queue *queue,
                         struct shmt_live_job *job);
void shmt_live_queue_add_front(struct shmt_live_queue *queue,
                               struct shmt_live_job *job);
struct shmt_live_job *shmt_live_queue_take(struct shmt_live_queue *queue);
void shmt_live_queue_clear(struct shmt_live_queue *queue);
void shmt_live_job_free(struct shmt_live_job *job);

/* live.c: the verbs, and one round of poll over all stations that waits at
 * most `timeout_s`; *woken is false when a signal came. */
extern const struct shmt_target_operations shmt_live_operations;
enum shmtune_status shmt_live_round(struct shmt_live *live, double timeout_s,
                                    bool *woken, struct shmt_error *err);
enum shmtune_status shmt_live_step(struct shmt_live *live, size_t supervisor,
                                   struct shmt_error *err);

/* live_open.c */
void shmt_live_close(struct shmt_target *target);

static inline struct shmt_live *shmt_live_of(const struct shmt_target *target)
{
    return (struct shmt_live *)target;   /* its first member */
}

static inline size_t shmt_live_measurers(const struct shmt_live *live)
{
    return live->options.device == NULL ? 0 : 1;
}

#endif
