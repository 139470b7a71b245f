/* SPDX-License-Identifier: MIT */
/*
 * nvcc: NVIDIA's compiler for whole programs, for sources with host code, or
 * with headers that NVRTC cannot read.  It is a program of its own: who opens
 * it says how programs are run, because this module starts none, and
 * applications have nobody who does.
 */
#ifndef SHMT_GPU_NVCC_H
#define SHMT_GPU_NVCC_H

#include "gpu/nvrtc.h"

/* Runs argv to its end, a path and its arguments, without a shell; $TMPDIR of
 * the program is `folder`, if not NULL.  What it writes to its standard output
 * and standard error comes back as one text in `arena`; *code is its exit
 * status, -1 when it was killed. */
typedef enum shmtune_status shmt_nvcc_run(const char *const *argv,
                                          const char *folder,
                                          struct shmt_arena *arena,
                                          const char **output, int *code,
                                          struct shmt_error *err);

struct shmt_nvcc {
    shmt_nvcc_run *run;     /* NULL: it is not here; of what it has compiled
                               elsewhere `version` and `host` are known */
    int version;            /* 13000 */
    const char *path;
    const char *host;       /* version of the host compiler, "12.2.0"; NULL: not
                               asked for */
    const char *scratch;    /* folder for the files of one compile, which go
                               when it ends; those of a compile that is killed
                               stay in a folder in it */
};

/* Looks for it and asks for its version.  $SHMTUNE_NVCC names the program;
 * else it is looked for in the toolkits where NVRTC is looked for, and in
 * $PATH.  `scratch` may be NULL where nothing will be compiled.
 * SHMTUNE_NOT_FOUND with the places and the remedy. */
enum shmtune_status shmt_nvcc_open(shmt_nvcc_run *run, const char *scratch,
                                   struct shmt_arena *arena,
                                   struct shmt_nvcc *out,
                                   struct shmt_error *err);

/* Asks it for the version of its host compiler, which decides what is in a
 * shared object: for kernels with functions of the host.  There is a scratch
 * folder. */
enum shmtune_status shmt_nvcc_ask_host(struct shmt_nvcc *nvcc,
                                       struct shmt_arena *arena,
                                       struct shmt_error *err);

/* As shmt_nvrtc_compile.  Options for NVRTC alone are left out. */
enum shmtune_status shmt_nvcc_compile(const struct shmt_nvcc *nvcc,
                                      const struct shmt_nvrtc_job *job,
                                      struct shmt_arena *arena,
                                      struct shmt_nvrtc_product *out,
                                      struct shmt_error *err);

#endif
