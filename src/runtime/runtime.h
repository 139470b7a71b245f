/* SPDX-License-Identifier: MIT */
/*
 * runtime: what commands need of libshmtune beside shmtune.h.
 */
#ifndef SHMT_RUNTIME_RUNTIME_H
#define SHMT_RUNTIME_RUNTIME_H

#include "shmtune.h"

/* As shmtune_open on a folder that has tunings/, with the kernel of one spec,
 * which may lie anywhere: of what lies beside it, or has its name, nothing is
 * looked at. */
enum shmtune_status shmt_runtime_open_spec(const char *spec,
                                           const char *folder,
                                           struct shmtune **out,
                                           struct shmtune_message *message);

#endif
