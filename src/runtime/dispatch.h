/* SPDX-License-Identifier: MIT */
/*
 * dispatch: the learnt choice of a tuning, made ready for selection.  Private
 * to runtime.
 */
#ifndef SHMT_RUNTIME_DISPATCH_H
#define SHMT_RUNTIME_DISPATCH_H

#include "runtime/nearest.h"

/* Bytes that the dispatch of a tuning may take while a handle is open. */
enum { SHMT_RUNTIME_DISPATCH_BYTES = 160 << 10 };

/* Makes the dispatch of `parsed` ready, in the memory of the handle; *out is
 * NULL where it cannot be used, and `err` says why, or where no request that is
 * valid could. */
enum shmtune_status
shmt_runtime_dispatch_make(struct shmt_arena *arena,
                           const struct shmt_kernel *spec,
                           const struct shmt_tuning *parsed,
                           const struct shmt_runtime_dispatch **out,
                           struct shmt_error *err);

/* The configuration that a tuning of this very device has learnt for the
 * problem; NULL where none says anything of it, or nothing that it says may
 * run, or the kernel is not right for it.  Allocates nothing but the trace. */
const shmt_config *
shmt_runtime_dispatch_find(const struct shmt_runtime_request *request,
                           const struct shmt_runtime_tuning **tuning);

#endif
