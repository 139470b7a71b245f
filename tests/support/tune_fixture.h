/* SPDX-License-Identifier: MIT */
/*
 * tune_fixture: kernels, a temporary folder, targets and runs for the tests of
 * the tuner.  Everything a failing step prints is a TAP comment.
 */
#ifndef SHMT_TESTS_TUNE_FIXTURE_H
#define SHMT_TESTS_TUNE_FIXTURE_H

#include "target/live.h"
#include "target/replay.h"
#include "tune/tune.h"

/* A new folder, removed with all in it at exit. */
const char *fixture_folder(void);
/* A path in it; a few of them are valid at a time. */
const char *fixture_path(const char *name);

/* tests/fake/data/NAME.yaml. */
struct shmt_kernel *fixture_kernel(const char *name);

/* The tests' worker, with deadlines short enough to be waited for. */
struct shmt_target *fixture_live(const struct shmt_kernel *kernel,
                                 size_t jobs);
/* The same with the usual minute for the first measurement. */
struct shmt_target *fixture_patient(const struct shmt_kernel *kernel,
                                    size_t jobs);
struct shmt_target *fixture_replay(const struct shmt_kernel *kernel,
                                   const char *recording, size_t jobs);

/* Everything, no journal, quiet. */
struct shmt_tune_options fixture_options(void);

/* A recording of every candidate of the kernel's first size, made once. */
const char *fixture_recording(const struct shmt_kernel *kernel);

/* The run, which shall end with `status`; NULL when there is no outcome. */
struct shmt_tune_outcome *fixture_run(struct shmt_target *target,
                                      const struct shmt_tune_options *options,
                                      enum shmtune_status status);

/* Everything of an outcome that shall not depend on chance, as text. */
const char *fixture_describe(const struct shmt_kernel *kernel,
                             const struct shmt_tune_outcome *outcome);

/* A run on the recording of `kernel`, described; NULL when it failed.  Freed
 * by the caller. */
char *fixture_replayed(const struct shmt_kernel *kernel,
                       const struct shmt_tune_options *options, size_t jobs);

/* The whole file, "" when there is none; freed by the caller. */
char *fixture_read(const char *path, size_t *size);
void fixture_write(const char *path, const char *data, size_t size);

#endif
