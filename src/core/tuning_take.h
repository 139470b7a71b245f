/* SPDX-License-Identifier: MIT */
/*
 * tuning_take: what a tree says, into a tuning.  For tuning_read.c.
 */
#ifndef SHMT_CORE_TUNING_TAKE_H
#define SHMT_CORE_TUNING_TAKE_H

#include "core/tuning.h"
#include "core/yaml.h"

/* The tree lives in the tuning's arena, and the tuning points into it. */
enum shmtune_status shmt_tuning_take(struct shmt_tuning *tuning,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err);

#endif
