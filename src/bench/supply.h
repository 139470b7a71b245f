/* SPDX-License-Identifier: MIT */
/*
 * supply: the binaries that a measurement loads, made where the compiler is,
 * for a measure worker on a machine that has none: the measuring kernels,
 * those of the setup, the comparison and the reference, and the candidate's.
 * Needs no GPU.  For command/courier.c; bench/bench.h reads what lies in the
 * folder then.
 */
#ifndef SHMT_BENCH_SUPPLY_H
#define SHMT_BENCH_SUPPLY_H

#include "gpu/gpu.h"
#include "kernel/kernel.h"

/* Runs argv to its end in `folder`, for at most so many seconds.  What it
 * writes to its standard output and standard error comes back as one text in
 * `arena`; *code is its exit status, -1 when it was killed.  SHMTUNE_STORAGE
 * when it cannot be run, or does not end. */
typedef enum shmtune_status shmt_bench_run_program(
    const char *const *argv, const char *folder, double seconds,
    struct shmt_arena *arena, const char **output, int *code,
    struct shmt_error *err);

/* Which compilers made them: that is part of their keys. */
struct shmt_supply_origin {
    int nvrtc_version;         /* 13000 */
    int nvcc_version;          /* 0: nvcc compiles nothing of the kernel */
    int toolkit_version;       /* kernel->toolkit_version */
    char host[40];             /* of nvcc's host compiler; "": not asked */
};
enum { SHMT_SUPPLY_TEXT = 96 };
/* "13000:0:0:", and back; SHMTUNE_INVALID_ARGUMENT for anything else. */
void shmt_supply_write_origin(const struct shmt_supply_origin *origin,
                              char text[SHMT_SUPPLY_TEXT]);
enum shmtune_status shmt_supply_read_origin(const char *text,
                                            struct shmt_supply_origin *out,
                                            struct shmt_error *err);

struct shmt_supply {
    const struct shmt_kernel *kernel;
    const struct shmtune_device *device;   /* that measures */
    const struct shmt_nvrtc *nvrtc;
    const struct shmt_nvcc *nvcc;          /* for a kernel that it compiles */
    struct shmt_nvrtc_once *once;          /* NULL: none */
    const char *images;                    /* folder that they are put in */
    const char *cache;                     /* as in bench/bench.h */
    shmt_bench_run_program *run;           /* as there */
    uint64_t seed;                         /* of the inputs */
    /* Is given each file, and the name that it has in the folder of binaries
     * there. */
    enum shmtune_status (*take)(void *context, const char *path,
                                const char *name, struct shmt_error *err);
    void *context;
};

/* The folder of answers in that of binaries. */
#define SHMT_SUPPLY_ANSWERS "answers"

/* The measuring kernels'. */
enum shmtune_status shmt_supply_probe(const struct shmt_supply *supply,
                                      struct shmt_error *err);
/* Setup, comparison and reference; the message of a failure is the one that
 * the measure worker would give, SHMTUNE_WRONG_RESULT. */
enum shmtune_status shmt_supply_problem(const struct shmt_supply *supply,
                                        const int64_t *problem,
                                        struct shmt_error *err);
/* What the program of the spec's answer says is right, if there is one, also
 * SHMTUNE_WRONG_RESULT.  It cannot be asked where a setup fills inputs. */
enum shmtune_status shmt_supply_answer(const struct shmt_supply *supply,
                                       const int64_t *problem,
                                       struct shmt_error *err);
/* The candidate's.  SHMTUNE_COMPILE, or SHMTUNE_INVALID_FILE for a spec that
 * does not fit its source, when there can be none. */
enum shmtune_status shmt_supply_candidate(const struct shmt_supply *supply,
                                          const int64_t *problem,
                                          const shmt_config *config,
                                          struct shmt_error *err);

#endif
