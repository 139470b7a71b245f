/* SPDX-License-Identifier: MIT */
/*
 * live_state: what live.c (the requests), live_open.c (beginning and end)
 * and job.c (queues) share.  Nobody else's business.
 */
#ifndef SHMT_TARGET_LIVE_STATE_H
#define SHMT_TARGET_LIVE_STATE_H

#include "target/binary.h"
#include "target/live.h"
#include "target/scratch.h"
#include "target/station.h"

/* A request on its way. */
struct shmt_job {
    struct shmt_job *next;
    enum shmt_verb verb;
    uint64_t tag;
    size_t binary;           /* inspect */
    int attempts;
    double since_s;          /* of the last of them */
    char *line;
};

struct shmt_queue {
    struct shmt_job *first, **last;
};

/* What the compiler said of a binary, and who else wants to know. */
struct shmt_compiled {
    bool known, asked;
    struct shmt_result result;
    struct shmt_queue waiting;
};

struct shmt_answer {
    struct shmt_answer *next;
    struct shmt_reply reply;
};

struct shmt_live {
    struct shmt_target target;
    struct shmt_arena *arena;
    struct shmt_live_options options;
    struct shmt_scratch scratch;
    char protocol[32];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_binaries *binaries;
    struct shmt_compiled **compiled; /* by number of the binary */
    size_t compiled_count, compiled_room;
    struct shmt_queue pending[2];   /* by verb */
    struct shmt_answer *answers, **answers_last;
    size_t asked;                   /* requests without a reply so far */
    bool fresh;                     /* the measure worker has to set the
                                       problem up first */
    double setup_s;                 /* what the first one needed for that and
                                       its measurement; < 0: not known */
    double expected_s;              /* the same, by earlier runs */
    double longest_s;               /* that a measurement took; < 0: none */
    size_t station_count;           /* measure if there is a device, then
                                       compile */
    struct shmt_station *stations;
    struct shmt_job **busy;         /* by station */
    struct pollfd *fds;
};

/* job.c */
void shmt_queue_add(struct shmt_queue *queue, struct shmt_job *job);
void shmt_queue_add_front(struct shmt_queue *queue, struct shmt_job *job);
struct shmt_job *shmt_queue_take(struct shmt_queue *queue);
void shmt_queue_clear(struct shmt_queue *queue);
void shmt_job_free(struct shmt_job *job);

/* live.c: the verbs, and one round of poll over all stations that waits at
 * most `timeout_s`; *woken is false when a signal came. */
extern const struct shmt_target_operations shmt_live_operations;
enum shmtune_status shmt_live_round(struct shmt_live *live, double timeout_s,
                                    bool *woken, struct shmt_error *err);
enum shmtune_status shmt_live_step(struct shmt_live *live, size_t station,
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
