/* SPDX-License-Identifier: MIT */
/*
 * tuning_tree: fills a tuning from a YAML tree.  For tuning_read.c.
 */
#ifndef SHMT_RECORD_TUNING_TREE_H
#define SHMT_RECORD_TUNING_TREE_H

#include "record/tuning.h"
#include "yaml/yaml.h"

/* tuning.c: an empty tuning in the caller's arena; NULL when there is no
 * memory. */
struct shmt_tuning *shmt_tuning_new_in(struct shmt_arena *arena);

/* The tree lives in the tuning's arena, and the tuning points into it. */
enum shmtune_status shmt_tuning_read_tree(struct shmt_tuning *tuning,
                                          const struct shmt_yaml *root,
                                          struct shmt_error *err);

#endif
