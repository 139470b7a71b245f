/* SPDX-License-Identifier: MIT */
/*
 * request: the interface of a target, the device on which the tuner tries
 * candidates.  It answers two verbs, inspect and measure: by worker processes
 * and a GPU (live.c), or from a recording (replay.c).  The tuner does not know
 * which.
 *
 * Requests are asynchronous: submit puts one in, wait brings the next reply.
 */
#ifndef SHMT_TARGET_REQUEST_H
#define SHMT_TARGET_REQUEST_H

#include "kernel/kernel.h"
#include "record/record.h"

/* The requests to a worker.  `profile` runs a candidate once under a profiler,
 * `rerun` makes a recorded launch again: only profile/ and rerun.c send them,
 * and a target does not accept them.  `renew` and `forget` are of live.c, and
 * have no reply: a problem is to be prepared anew, in other memory, or is
 * measured no more. */
enum shmt_target_verb { SHMT_TARGET_INSPECT, SHMT_TARGET_MEASURE,
                       SHMT_TARGET_PROFILE, SHMT_TARGET_RERUN,
                       SHMT_TARGET_RENEW, SHMT_TARGET_FORGET };

enum { SHMT_TARGET_REQUESTS = 256 };

struct shmt_target_request {
    enum shmt_target_verb verb;
    uint64_t tag;               /* comes back in the reply */
    const shmt_config *config;  /* copied */
    /* measure only */
    const struct shmt_result *compiled;  /* of its inspect (image, resources)*/
    int samples;                /* at most SHMT_RESULT_SAMPLES */
    double give_up_us;          /* give up after the first samples above it;
                                   INFINITY: never */
    double worth;               /* where several targets wait for one GPU, or
                                   for compilers, the largest goes first, but
                                   nobody waits for long; 0: unknown */
    bool verify;                /* false only in the finals, whose candidates
                                   have been verified before */
    const struct shmt_result *known;  /* for recorded devices only, else
                                         NULL: a result from a journal, which
                                         is then the answer and takes as long
                                         as it took */
};

struct shmt_target;

struct shmt_target_reply {
    struct shmt_target *target; /* whose request it was */
    enum shmt_target_verb verb;
    uint64_t tag;
    struct shmt_result result;
};

struct shmt_target_operations {
    /* A new problem of the kernel it was opened for; nothing is in flight.
     * SHMTUNE_WRONG_RESULT when the reference cannot be run. */
    enum shmtune_status (*begin)(struct shmt_target *target,
                                 const int64_t *problem,
                                 struct shmt_error *err);
    /* May be NULL.  Called after begin: the longest time in seconds that a
     * measurement of this problem took in earlier runs, including the first
     * one, which sets the problem up.  A measurement that takes many times as
     * long is treated as a hang. */
    void (*set_longest)(struct shmt_target *target, double longest_s);
    enum shmtune_status (*submit)(struct shmt_target *target,
                                  const struct shmt_target_request *request,
                                  struct shmt_error *err);
    /* Waits for the next reply to this target, or to another that shares its
     * workers: reply->target says which, also of a failure.  *got is false when
     * `timeout_s` passed, a signal came or a target became ready first.
     * SHMTUNE_INTERNAL when no request is outstanding, because the call would
     * otherwise never return. */
    enum shmtune_status (*wait)(struct shmt_target *target, double timeout_s,
                                bool *got, struct shmt_target_reply *reply,
                                struct shmt_error *err);
    /* Forgets every request without a reply.  Workers that are busy with one
     * are killed.  The device is free for others until the next request. */
    void (*cancel)(struct shmt_target *target);
    /* How many requests of a verb the target works on at a time.  More are
     * queued, SHMT_TARGET_REQUESTS in all. */
    size_t (*capacity)(const struct shmt_target *target,
                       enum shmt_target_verb verb);
    /* May be NULL.  Replaces the measure worker, so that the next measurements
     * run in a new process with other buffer addresses.  Does nothing if the
     * kernel's sources have changed.  No request may be outstanding. */
    void (*restart)(struct shmt_target *target);
    /* Seconds on its clock: real, or the recorded run's. */
    double (*now)(const struct shmt_target *target);
    /* May be NULL.  Whether it is known what the device is; before that,
     * nothing but waiting and closing is possible. */
    bool (*is_ready)(const struct shmt_target *target);
    void (*close)(struct shmt_target *target);
    /* May be NULL.  Whether the binary of a configuration of this problem is
     * there, so that an inspect takes no time. */
    bool (*is_compiled)(struct shmt_target *target, const shmt_config *config);
};

struct shmt_target {
    const struct shmt_target_operations *operations;
    const struct shmt_kernel *kernel;
    struct shmtune_device device;
    int nvrtc_version;
    const char *protocol;       /* how it measures: "cold-l2" */
    uint64_t data_seed;         /* of the inputs it measures with, */
    const char *data_digest;    /* and of their files; NULL or "": none */
    const char *digest;         /* digest of the sources that it measures;
                                   NULL: that of the kernel as read */
    bool recorded;
    const char *name;           /* "NVIDIA H100 80GB HBM3", "replay:..." */
};

#endif
