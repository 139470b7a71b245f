/* SPDX-License-Identifier: MIT */
/*
 * tuning_take: a tuning in an arena, and what a tree says into it.  For
 * tuning_read.c.
 */
#ifndef SHMT_RECORD_TUNING_TAKE_H
#define SHMT_RECORD_TUNING_TAKE_H

#include "record/tuning.h"
#include "yaml/yaml.h"

/* Nothing known, in an arena that may be another's; NULL when there is no
 * memory.  In tuning.c. */
struct shmt_tuning *shmt_tuning_blank(struct shmt_arena *arena);

/* The tree lives in the tuning's arena, and the tuning points into it. */
enum shmtune_status shmt_tuning_take(struct shmt_tuning *tuning,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err);

#endif
