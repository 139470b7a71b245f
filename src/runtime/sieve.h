/* SPDX-License-Identifier: MIT */
/*
 * sieve: the constraints of a kernel, for many configurations at one problem.
 * Private to runtime.  Allocates nothing.
 */
#ifndef SHMT_RUNTIME_SIEVE_H
#define SHMT_RUNTIME_SIEVE_H

#include "kernel/kernel.h"

/* Tunings are not trusted, and a selection is to take some microseconds
 * whatever they hold, so it has an allowance for what it computes, in steps of
 * expressions, of about 4 ns each. */
enum {
    SHMT_RUNTIME_ALLOWANCE = 900,
    SHMT_RUNTIME_OVERDRAFT = 1600,      /* while nothing has been found, */
    SHMT_RUNTIME_FEW = 64,              /* among so many sizes at most */
    SHMT_RUNTIME_MORE_ALLOWANCE = 180,  /* for other devices, with what is
                                           left */
    SHMT_RUNTIME_SIZED = 32,            /* constraints that are remembered, */
    SHMT_RUNTIME_SEEN = 16              /* each for so many configurations */
};

/* What a constraint came to serves every configuration that agrees with the
 * one it was computed for in the parameters that the constraint uses. */
struct shmt_runtime_sieve {
    const struct shmt_kernel *spec;
    const int64_t *problem;
    int allowance;        /* may be overdrawn by the last */
    bool cut;             /* it did not last for all that could be better */
    size_t likely;       /* refused last: tried first */
    bool hopeless;       /* one that uses no parameter refused */
    const shmt_config *seen[SHMT_RUNTIME_SIZED][SHMT_RUNTIME_SEEN];
    bool held[SHMT_RUNTIME_SIZED][SHMT_RUNTIME_SEEN];
};

void shmt_runtime_sieve_begin(struct shmt_runtime_sieve *sieve,
                              const struct shmt_kernel *spec,
                              const int64_t *problem);

/* Whether a configuration of which the other constraints hold satisfies those
 * that use a size.  Evaluates it into `out` where it does. */
bool shmt_runtime_sieve_pass(struct shmt_runtime_sieve *sieve,
                             const shmt_config *config,
                             struct shmt_kernel_evaluated *out);

#endif
