/* SPDX-License-Identifier: MIT */
/*
 * current: the device of the context that is current in this thread.  Private
 * to runtime.
 */
#ifndef SHMT_RUNTIME_CONTEXT_H
#define SHMT_RUNTIME_CONTEXT_H

#include "gpu/gpu.h"

/* SHMTUNE_NO_DEVICE when no context is current. */
enum shmtune_status
shmt_runtime_current_context(const struct shmt_driver *driver,
                             CUcontext *out,
                             struct shmt_error *err);
enum shmtune_status
shmt_runtime_current_device(const struct shmt_driver *driver,
                            struct shmtune_device *out,
                            struct shmt_error *err);

#endif
