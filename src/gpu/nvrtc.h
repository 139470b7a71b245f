/* SPDX-License-Identifier: MIT */
/*
 * nvrtc: NVIDIA's run-time compiler, opened at run time, and one compile with
 * it.  image.c decides what is compiled and stores it.
 */
#ifndef SHMT_GPU_NVRTC_H
#define SHMT_GPU_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include <nvrtc.h>

#include "base/base.h"
#include "gpu/nvrtc_once.h"

#define SHMT_NVRTC_LIST(X)                                                   \
    X(Version)                                                               \
    X(GetErrorString)                                                        \
    X(CreateProgram)                                                         \
    X(DestroyProgram)                                                        \
    X(CompileProgram)                                                        \
    X(AddNameExpression)                                                     \
    X(GetLoweredName)                                                        \
    X(GetCUBINSize)                                                          \
    X(GetCUBIN)                                                              \
    X(GetPTXSize)                                                            \
    X(GetPTX)                                                                \
    X(GetProgramLogSize)                                                     \
    X(GetProgramLog)

struct shmt_nvrtc {
#define SHMT_NVRTC_MEMBER(name) __typeof__(nvrtc##name) *name;
    SHMT_NVRTC_LIST(SHMT_NVRTC_MEMBER)
#undef SHMT_NVRTC_MEMBER
    int version;          /* 13000 */
    const char *path;     /* of the library that was opened */
    const char *include;  /* the toolkit's include folder, NULL: not found */
    struct shmt_nvrtc_once_calls once;
};

/* The compiler of this process, opened by the first call; later calls give
 * the same answer.  Any number of threads.  SHMTUNE_NOT_FOUND with the places
 * looked at and the remedy. */
enum shmtune_status shmt_nvrtc_open(const struct shmt_nvrtc **out,
                                    struct shmt_error *err);

/* Folders that may hold a toolkit, best first; NULL: no such folder.  The first
 * ones are named: by $SHMTUNE_CUDA, configure --with-cuda, $CUDA_HOME and
 * $CUDA_PATH. */
enum { SHMT_NVRTC_NAMED_ROOTS = 4, SHMT_NVRTC_ROOTS = 6 };
const char *shmt_nvrtc_root(size_t k);

struct shmt_nvrtc_job {
    const char *name;                  /* of the source, for messages */
    const char *source;
    size_t option_count;
    const char *const *options;
    size_t entry_count;
    const char *const *entries;        /* C++ name expressions */
    bool keep_ptx;                     /* the product is to have it */
    struct shmt_nvrtc_once *once;      /* headers are read once; NULL: for each
                                          compile */
    bool host;                         /* the entries are functions of the
                                          host, for nvcc alone: the product is
                                          a shared object, without resources */
};

struct shmt_nvrtc_product {
    const char *const *lowered;        /* [entry_count] */
    const void *cubin;
    size_t cubin_size;
    const char *ptx;                   /* NULL: not asked for, or not there */
    const char *log;                   /* warnings, resource report */
    double elapsed_ms;
};

/* Everything of the product lives in `arena`.  Source that does not compile:
 * SHMTUNE_COMPILE with the compiler's first error. */
enum shmtune_status shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                                       const struct shmt_nvrtc_job *job,
                                       struct shmt_arena *arena,
                                       struct shmt_nvrtc_product *out,
                                       struct shmt_error *err);

#endif
