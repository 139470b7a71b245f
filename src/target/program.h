/* SPDX-License-Identifier: MIT */
/*
 * program: runs a program to its end, for a worker that needs one to compile.
 *
 * It belongs to the process group of its caller, as all do that it starts:
 * who kills a worker with its group kills the compiler with it.
 */
#ifndef SHMT_TARGET_PROGRAM_H
#define SHMT_TARGET_PROGRAM_H

#include "base/base.h"

/* As gpu/nvcc.h asks it: argv[0] is a path; its standard input is empty; what
 * it writes comes back as one text, cut at 16 MiB; $TMPDIR is `folder`, if not
 * NULL; *code is its exit status, -1 when it was killed.  SHMTUNE_STORAGE with
 * the system's reason when it cannot be run. */
enum shmtune_status shmt_program_run(const char *const *argv,
                                     const char *folder,
                                     struct shmt_arena *arena,
                                     const char **output, int *code,
                                     struct shmt_error *err);

/* The same in `folder`, for at most so many seconds, as bench/bench.h asks it:
 * argv[0] without a "/" is looked for in $PATH.  SHMTUNE_STORAGE, too, when it
 * did not end: then it was killed.  What it has started itself ends with the
 * group of the worker. */
enum shmtune_status shmt_program_run_in(const char *const *argv,
                                        const char *folder, double seconds,
                                        struct shmt_arena *arena,
                                        const char **output, int *code,
                                        struct shmt_error *err);

/* The same where the program is the user's own: its standard files are ours,
 * "NAME=VALUE" of `env` (NULL after the last) are added to its environment,
 * and signals that others send to us go to it, and to our own handlers when it
 * has ended.  *ended is what waitpid says of it. */
enum shmtune_status shmt_program_run_own(const char *const *argv,
                                         const char *const *env, int *ended,
                                         struct shmt_error *err);

#endif
