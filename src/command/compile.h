/* SPDX-License-Identifier: MIT */
/*
 * compile: configurations of one kernel through the compile workers, for
 * commands that need no GPU: inspect, check and capture.
 */
#ifndef SHMT_COMMAND_COMPILE_H
#define SHMT_COMMAND_COMPILE_H

#include "kernel/kernel.h"
#include "record/record.h"

/* Workers for one kernel and one architecture.  An interrupt is caught from
 * open to close, and ends a run. */
struct shmt_target;

struct shmt_compiler_options {
    int64_t jobs;
    int64_t deadline_s;        /* of a compile */
    const char *images;        /* a folder of the caller's for its binaries,
                                  under keys with the compiler's version; NULL:
                                  they are not kept */
};
#define SHMT_COMPILER_USUAL                                                   \
    {.jobs = shmt_command_cores(), .deadline_s = 30}
#define SHMT_COMPILER_DEADLINE_HELP                                           \
    "  --compile-timeout N\n"                                                 \
    "                    give up what compiles for N seconds [30]\n"
#define SHMT_COMPILER_DEADLINE(seconds)                                       \
    {"compile-timeout", 0, SHMT_OPTION_INT, &(seconds), 1, 86400}

/* The device that --arch names: one architecture.  SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_compiler_arch(const char *arch,
                                       struct shmtune_device *out,
                                       struct shmt_error *err);

/* SHMTUNE_NO_DEVICE: this machine does not have the kernel's compiler. */
enum shmtune_status
shmt_compiler_open(const struct shmt_kernel *kernel, const char *arch,
                   const struct shmt_compiler_options *options,
                   struct shmt_target **out, struct shmt_error *err);
/* NULL is allowed. */
void shmt_compiler_close(struct shmt_target *compiler);

struct shmt_compiler_batch {
    const struct shmtune_device *device;   /* whose limits */
    const int64_t *problem;
    size_t count;
    const shmt_config *configs;            /* [count][parameter_count] */
    struct shmt_result *results;           /* [count], the caller's: filled */
    bool progress;                         /* a line on a terminal */
    double most_s;                         /* what is not compiled then is left
                                              without a reply; 0: no limit */
    double elapsed_s;                      /* filled */
};

/* The compiler of one kernel, in this process; SHMTUNE_NOT_FOUND. */
struct shmt_compiler_here;
enum shmtune_status
shmt_compiler_here_open(const struct shmt_kernel *kernel,
                        struct shmt_compiler_here **out,
                        struct shmt_error *err);
/* NULL is allowed. */
void shmt_compiler_here_close(struct shmt_compiler_here *here);
/* Compiled for `arch`, the kernel's own target of it; with PTX where the
 * compiler gives it. */
struct shmt_image;
enum shmtune_status
shmt_compiler_here_get(struct shmt_compiler_here *here,
                       struct shmt_kernel_evaluated *evaluated,
                       const char *arch, struct shmt_image **out,
                       struct shmt_error *err);
/* The same without PTX, from the user's cache of binaries where it is there,
 * and kept there, where that can be. */
enum shmtune_status
shmt_compiler_here_cached(struct shmt_compiler_here *here,
                          struct shmt_kernel_evaluated *evaluated,
                          const char *arch, struct shmt_image **out,
                          struct shmt_error *err);
/* `arch` is the target.  With a folder the binary lies there afterwards, as
 * libshmtune looks for it in cubins/. */
enum shmtune_status
shmt_compiler_here_make(struct shmt_compiler_here *here,
                        struct shmt_kernel_evaluated *evaluated,
                        const char *arch, const char *folder,
                        struct shmt_error *err);

/* Puts it into a folder under its key, for everybody to read. */
enum shmtune_status shmt_compiler_ship(const struct shmt_image *image,
                                       const char *folder,
                                       struct shmt_error *err);

/* Each result is that of the filters and the compiler: verdict OK when the
 * configuration compiles and could run on the device.
 * SHMTUNE_INTERRUPTED. */
enum shmtune_status shmt_compiler_run(struct shmt_target *compiler,
                                      struct shmt_compiler_batch *batch,
                                      struct shmt_error *err);

/* A value of a parameter that the source does not compile with. */
struct shmt_compiler_refusal {
    size_t parameter, value;
    const char *why;                       /* the compiler's first error */
};
struct shmt_compiler_refused {
    size_t count;
    const struct shmt_compiler_refusal *refusals;
};
/* Those of all values that do not compile beside the defaults of the other
 * parameters, as far as the constraints allow them, and `most_s` and 64
 * configurations go; none of a source that does not compile with the defaults.
 * In the arena. */
enum shmtune_status
shmt_compiler_refused(const struct shmt_kernel *kernel, const char *arch,
                      const struct shmt_compiler_options *options,
                      double most_s, struct shmt_arena *arena,
                      struct shmt_compiler_refused *out,
                      struct shmt_error *err);

/* SHMTUNE_COMPILE, with the reason of the first, when none of the
 * configurations that reached the compiler compiles; SHMTUNE_OK when the
 * filters let none reach it. */
enum shmtune_status
shmt_compiler_check_batch(const struct shmt_kernel *kernel,
                          const struct shmt_compiler_batch *batch,
                          struct shmt_error *err);

#endif
