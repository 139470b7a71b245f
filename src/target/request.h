/* SPDX-License-Identifier: MIT */
/*
 * request: what candidates are tried on.  Two verbs, inspect and measure,
 * answered by worker processes with a GPU (worker.c, live.c) or by a recording
 * (replay.c).  The tuner does not know which.
 *
 * Requests are asynchronous: submit puts one in, wait brings the next reply.
 */
#ifndef SHMT_TARGET_REQUEST_H
#define SHMT_TARGET_REQUEST_H

#include "kernel/kernel.h"
#include "record/record.h"

/* What a worker is asked; `profile`, to run a candidate once under a profiler,
 * by profile/ alone and never of a target. */
enum shmt_verb { SHMT_INSPECT, SHMT_MEASURE, SHMT_PROFILE };

enum { SHMT_TARGET_REQUESTS = 256 };

struct shmt_request {
    enum shmt_verb verb;
    uint64_t tag;               /* comes back in the reply */
    const shmt_choice *choice;  /* copied */
    /* measure only */
    const struct shmt_result *compiled;  /* of its inspect (image, resources)*/
    int samples;                /* at most SHMT_RESULT_SAMPLES */
    double hopeless_us;         /* give up after the first samples above it;
                                   INFINITY: never */
    bool verify;                /* false only inside the finals, where it has
                                   been verified already */
    const struct shmt_result *known;  /* recorded devices only, else NULL: a
                                   result from a journal; it is the answer,
                                   in the time it took */
};

struct shmt_reply {
    enum shmt_verb verb;
    uint64_t tag;
    struct shmt_result result;
};

struct shmt_target;

struct shmt_target_operations {
    /* A new problem of the kernel it was opened for; nothing is in flight.
     * SHMTUNE_WRONG_RESULT when the reference cannot be run. */
    enum shmtune_status (*begin)(struct shmt_target *target,
                                 const int64_t *problem,
                                 struct shmt_error *err);
    /* NULL where it makes no difference.  After begin: with how many seconds
     * the first measure of this problem, which sets it up, and any other came
     * to its end in earlier runs.  Who takes many times as long hangs. */
    void (*expect)(struct shmt_target *target, double longest_s);
    enum shmtune_status (*submit)(struct shmt_target *target,
                                  const struct shmt_request *request,
                                  struct shmt_error *err);
    /* *got is false when `timeout_s` passed or a signal came first.  With
     * nothing to wait for it is SHMTUNE_INTERNAL: else it were for ever. */
    enum shmtune_status (*wait)(struct shmt_target *target, double timeout_s,
                                bool *got, struct shmt_reply *reply,
                                struct shmt_error *err);
    /* How many requests of a verb it works on at a time; more wait in line,
     * SHMT_TARGET_REQUESTS in all. */
    size_t (*capacity)(const struct shmt_target *target, enum shmt_verb verb);
    /* NULL where it makes no difference.  From now on a measure runs in
     * another process, hence in other memory, unless the sources are others
     * by now; nothing is in flight. */
    void (*renew)(struct shmt_target *target);
    /* Seconds on its clock: real, or the recorded run's. */
    double (*now)(const struct shmt_target *target);
    void (*close)(struct shmt_target *target);
};

struct shmt_target {
    const struct shmt_target_operations *operations;
    const struct shmt_kernel *kernel;
    struct shmtune_device device;
    int nvrtc_version;
    const char *protocol;       /* how it measures: "cold-l2" */
    uint64_t data_seed;         /* of the inputs it measures with */
    const char *digest;         /* of the sources that it measures; NULL: the
                                   kernel's, as they are today */
    bool recorded;
    const char *name;           /* "NVIDIA H100 80GB HBM3", "replay:..." */
};

#endif
