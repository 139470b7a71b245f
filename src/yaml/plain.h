/* SPDX-License-Identifier: MIT */
/*
 * plain: the plain part of YAML, read fast.  For yaml.c, and for the test
 * that holds it to libyaml's answer.
 *
 * Plain is what our writers write and people mostly do: printable ASCII,
 * blocks by indentation, flow collections, scalars on one line without
 * escapes.  An application opens a dozen such files when it starts; libyaml
 * takes seven times as long over them.
 */
#ifndef SHMT_YAML_PLAIN_H
#define SHMT_YAML_PLAIN_H

#include "yaml/yaml.h"

enum { SHMT_YAML_DEPTH = 32 };

/* OK: the tree that libyaml's events would make.  INVALID_FILE, and nothing
 * said: not plain, or a mistake.  NO_MEMORY. */
enum shmtune_status shmt_yaml_plain_parse(struct shmt_arena *arena,
                                          const struct shmt_yaml_source *source,
                                          const struct shmt_yaml **out);

#endif
