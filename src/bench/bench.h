/* SPDX-License-Identifier: MIT */
/*
 * bench: loads, verifies and times candidates of one kernel on one device.
 * Only the measure worker's process uses it: after a candidate has broken the
 * CUDA context (shmt_bench_context_lost), only a new process can measure
 * again.
 *
 * Every candidate runs on the same random inputs as the reference.  Before
 * each verified run its outputs are filled with a NaN; buffers lie between
 * guard bands of the same pattern; afterwards outputs are compared element by
 * element, guards and inputs checked.  Times are measured by device events
 * around the launches and the zeroing of buffers.  Before each sample the L2
 * cache is filled with other data ("cold-l2"), or not ("warm-l2").  The
 * outputs of the last timed run are compared again.
 */
#ifndef SHMT_BENCH_H
#define SHMT_BENCH_H

#include "bench/inspect.h"
#include "bench/supply.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "record/record.h"

struct shmt_bench;

struct shmt_bench_options {
    const struct shmt_driver *driver;
    const struct shmt_nvrtc *nvrtc;   /* NULL: nothing is compiled here, all
                               binaries lie in `images` (supply.h) */
    int nvrtc_version;         /* then: of the one that made them */
    const struct shmt_nvcc *nvcc;   /* for a kernel that it compiles */
    int ordinal;               /* of the device */
    shmt_bench_run_program *run;   /* for a spec with an answer; or NULL */
    const char *images;        /* folder of binaries; NULL: none */
    const char *cache;         /* the user's, of the measuring kernels; or
                                  NULL */
    uint64_t seed;             /* of the inputs */
    const char *data_digest;   /* of the files of inputs; NULL: not known */
    bool warm;                 /* "warm-l2" */
};

/* `kernel` must outlive the bench. */
enum shmtune_status shmt_bench_open(const struct shmt_kernel *kernel,
                                    const struct shmt_bench_options *options,
                                    struct shmt_bench **out,
                                    struct shmt_error *err);
void shmt_bench_close(struct shmt_bench *bench);

const struct shmtune_device *shmt_bench_device(const struct shmt_bench *bench);
const char *shmt_bench_protocol(const struct shmt_bench *bench);

struct shmt_bench_request {
    const int64_t *problem;
    const shmt_config *config;
    const char *image;         /* the key it was inspected under; NULL or ""
                                  when not known */
    int samples;               /* 1 to SHMT_RESULT_SAMPLES */
    double give_up_us;         /* INFINITY: never give up */
    bool verify;               /* false: verify only after the timing */
    bool profile;              /* for a profiler that watches this process:
                                  verified, then the launches alone, once,
                                  between cuProfilerStart and cuProfilerStop;
                                  nothing is timed */
};

struct shmt_bench_note {
    int computed_blocks;       /* resident blocks by device/fit.h */
    char text[256];            /* where driver and compiler disagree, "" */
};

/* Writes a verdict to *result.  A status is returned only for what is not the
 * candidate's fault: a reference that fails is SHMTUNE_WRONG_RESULT, buffers
 * that do not fit the device SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_bench_measure(struct shmt_bench *bench,
                                       const struct shmt_bench_request *request,
                                       struct shmt_result *result,
                                       struct shmt_bench_note *note,
                                       struct shmt_error *err);

/* Makes the launch of request->problem and ->config again, and compares what it
 * leaves with what files of the spec expect; then with other old contents in
 * the in-out argument `poisoned`, unless it is SHMT_KERNEL_ARGUMENTS.  Nothing
 * is timed.  *out is whole where the verdict in *result is OK. */
enum shmtune_status shmt_bench_rerun(struct shmt_bench *bench,
                                     const struct shmt_bench_request *request,
                                     size_t poisoned,
                                     struct shmt_result *result,
                                     struct shmt_rerun *out,
                                     struct shmt_error *err);

/* Whether the CUDA context is broken: the process then has to end. */
bool shmt_bench_context_lost(const struct shmt_bench *bench);

/* -- group.c: a bench for each of the problems that are measured in turn -- */

struct shmt_bench_group;

enum shmtune_status
shmt_bench_group_open(const struct shmt_kernel *kernel,
                      const struct shmt_bench_options *options,
                      struct shmt_bench_group **out, struct shmt_error *err);
void shmt_bench_group_close(struct shmt_bench_group *group);

/* One of them, which says what all of them do of device and protocol. */
const struct shmt_bench *
shmt_bench_group_first(const struct shmt_bench_group *group);

/* As of the bench that has the problem, or will have it from now on. */
enum shmtune_status
shmt_bench_group_measure(struct shmt_bench_group *group,
                         const struct shmt_bench_request *request,
                         struct shmt_result *result,
                         struct shmt_bench_note *note, struct shmt_error *err);
enum shmtune_status
shmt_bench_group_rerun(struct shmt_bench_group *group,
                       const struct shmt_bench_request *request,
                       size_t poisoned, struct shmt_result *result,
                       struct shmt_rerun *out, struct shmt_error *err);
/* Has a problem prepared anew before it is measured again, in other memory than
 * it has now.  One with addresses of its own stays. */
void shmt_bench_group_renew(struct shmt_bench_group *group,
                            const int64_t *problem);
/* Frees what a problem takes. */
void shmt_bench_group_forget(struct shmt_bench_group *group,
                             const int64_t *problem);
bool shmt_bench_group_lost(const struct shmt_bench_group *group);

#endif
