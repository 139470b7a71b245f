/* SPDX-License-Identifier: MIT */
/*
 * schema_fixture: validates YAML by a JSON Schema, as editors do.  It knows the
 * keywords that kernel.schema.json uses; any other ends the program, so that
 * none is passed over.
 */
#ifndef SHMT_TESTS_SCHEMA_FIXTURE_H
#define SHMT_TESTS_SCHEMA_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>

#include "yaml/yaml.h"

/* The schema of the file, or the end of the program. */
json_t *schema_open(const char *path);

/* What a path such as "properties/work" leads to; a number is an index, and
 * references are followed.  NULL: nowhere. */
const json_t *schema_at(const json_t *schema, const char *path);

/* Plain scalars are booleans and numbers as in YAML's core schema. */
json_t *schema_of_yaml(const struct shmt_yaml *node);

/* Whether the document holds by the schema. */
bool schema_holds(const json_t *schema, const json_t *document);

#endif
