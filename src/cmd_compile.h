/* SPDX-License-Identifier: MIT */
/*
 * cmd_compile: many configurations of one kernel and one problem through the
 * compile workers, for commands that need no GPU: inspect and check.
 */
#ifndef SHMT_CMD_COMPILE_H
#define SHMT_CMD_COMPILE_H

#include "core/kernel.h"
#include "core/result.h"
#include "tune/filter.h"

struct shmt_compile_batch {
    /* in */
    const struct shmt_kernel *kernel;
    const char *arch;                      /* "sm_90" */
    const struct shmtune_device *device;   /* whose limits; NULL: those of
                                              `arch` in the table */
    const int64_t *problem;
    size_t jobs;
    size_t count;
    const shmt_choice *choices;            /* [count][parameter_count] */
    bool progress;                         /* a line on a terminal */
    /* out */
    struct shmt_result *results;           /* [count], the caller's */
    int nvrtc_version;
    double elapsed_s;
};

/* Each result is that of the filters and the compiler: verdict OK when the
 * configuration compiles and could run on the device.
 * SHMTUNE_NO_DEVICE: no NVRTC on this machine.  SHMTUNE_INTERRUPTED. */
enum shmtune_status shmt_compile_run(struct shmt_compile_batch *batch,
                                     struct shmt_error *err);

/* The configuration a kernel's spec calls its default. */
void shmt_compile_default(const struct shmt_kernel *kernel,
                          shmt_choice *choice);

#endif
