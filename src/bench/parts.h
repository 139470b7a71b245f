/* SPDX-License-Identifier: MIT */
/*
 * parts: what the files bench*.c share.  Nobody else includes it.
 *
 * Functions that return a CUresult are called while or after a candidate
 * runs: an error may be the candidate's, and shmt_bench_blame says so.
 */
#ifndef SHMT_BENCH_PARTS_H
#define SHMT_BENCH_PARTS_H

#include "bench/bench.h"
#include "bench/probe.h"

enum { SHMT_BENCH_MODULES = 32 };

/* One argument of the kernel. */
struct shmt_bench_slot {
    struct shmt_buffer live;       /* what the kernel is given */
    struct shmt_buffer expected;   /* outputs and in-outs: the reference's */
    struct shmt_buffer initial;    /* in-outs: as they begin */
    uint64_t live_hash;            /* inputs */
    uint64_t expected_hash;
    uint64_t initial_hash;
    union shmt_scalar scalar;
    void *array;                   /* passed by value: as many bytes as the
                                      arguments of a launch may take, so that
                                      the driver reads zeros, at the worst,
                                      for a kernel that wants more */
};

/* A candidate on the device. */
struct shmt_loaded {
    char key[SHMT_DIGEST_TEXT];
    struct shmt_image *image;
    struct shmt_module module;
    uint64_t used;                 /* when, for throwing out the oldest */
    bool warm;                     /* it has run */
};

/* What is launched: a candidate, or the reference. */
struct shmt_run {
    struct shmt_loaded *loaded;
    struct shmt_kernel_evaluated *evaluated;   /* its launches, too */
    bool expected;                 /* outputs go to slot.expected */
};

struct shmt_bench {
    const struct shmt_kernel *kernel;
    struct shmt_bench_options options;
    struct shmtune_device device;
    char arch[16];
    CUdevice handle;
    bool retained;
    CUstream stream;
    CUevent begin, end;
    struct shmt_probe probe;
    bool lost;
    bool prepared;                 /* for `problem` */
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_bench_slot slots[SHMT_KERNEL_ARGUMENTS];
    struct shmt_loaded modules[SHMT_BENCH_MODULES];
    uint64_t uses;
};

/* Marks the bench lost when `result` cannot be recovered from, and turns it
 * into a verdict: crash, timeout, out of memory, launch error.  `when` is
 * part of the reason. */
void shmt_bench_blame(struct shmt_bench *bench, CUresult result,
                      const char *when, struct shmt_result *out);

/* -- module.c ------------------------------------------------------- */

/* The binary of a configuration, loaded; it stays so for a while. */
enum shmtune_status shmt_module_get(struct shmt_bench *bench,
                                    struct shmt_kernel_evaluated *evaluated,
                                    struct shmt_loaded **out,
                                    struct shmt_error *err);
void shmt_module_drop_all(struct shmt_bench *bench);

/* -- problem.c ------------------------------------------------------ */

/* Buffers, inputs and the reference's results for a problem; kept until the
 * problem changes. */
enum shmtune_status shmt_problem_prepare(struct shmt_bench *bench,
                                         const int64_t *problem,
                                         struct shmt_error *err);
void shmt_problem_drop(struct shmt_bench *bench);

/* Scalars and workspaces of one configuration.  A workspace that does not
 * fit the device fails the candidate; a status is an error of the spec. */
enum shmtune_status shmt_problem_adapt(struct shmt_bench *bench,
                                       struct shmt_kernel_evaluated *evaluated,
                                       struct shmt_result *out,
                                       struct shmt_error *err);

/* After a candidate that wrote where it should not have: inputs, results and
 * guards as they were, or the whole problem is forgotten. */
CUresult shmt_problem_mend(struct shmt_bench *bench);

/* -- run.c ---------------------------------------------------------- */

/* Everything a launch may write, as before the first one. */
CUresult shmt_run_restore(struct shmt_bench *bench, const struct shmt_run *run,
                          uint32_t poison);
/* In-outs alone. */
CUresult shmt_run_rewind(struct shmt_bench *bench, const struct shmt_run *run);
/* What is zeroed, and the launches: apart, and both. */
CUresult shmt_run_zero(struct shmt_bench *bench, const struct shmt_run *run);
CUresult shmt_run_launch(struct shmt_bench *bench, const struct shmt_run *run);
CUresult shmt_run_start(struct shmt_bench *bench, const struct shmt_run *run);

/* -- verify.c ------------------------------------------------------- */

/* Waits, compares outputs, checks guards and inputs.  A verdict in *out only
 * when something is wrong. */
CUresult shmt_verify_check(struct shmt_bench *bench, uint32_t poison,
                           struct shmt_result *out);

/* -- time.c --------------------------------------------------------- */

/* Samples into *out; SLOW when it is hopeless. */
CUresult shmt_time_run(struct shmt_bench *bench, const struct shmt_run *run,
                       const struct shmt_bench_request *request,
                       struct shmt_result *out);

#endif
