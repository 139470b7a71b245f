/* SPDX-License-Identifier: MIT */
/* yaml_fixture: a text, read or refused. */
#ifndef SHMT_TESTS_YAML_FIXTURE_H
#define SHMT_TESTS_YAML_FIXTURE_H

#include "yaml/yaml.h"

/* Of the last text. */
extern struct shmt_error err;

/* NULL when it is refused. */
const struct shmt_yaml *parse(struct shmt_arena *arena, const char *text);

/* The message for a text that is refused; "" when it is not. */
const char *refusal(const char *data, size_t size);

#endif
