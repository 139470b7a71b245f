/* SPDX-License-Identifier: MIT */
/*
 * json: our data as JSON, for --json.  For the files of command/.
 *
 * Building is unchecked on the way, as jansson takes NULL for any value: when
 * there is no memory a field is missing, or the whole is.  Every allocation of
 * jansson is watched instead, and shmt_json_print refuses what is incomplete.
 */
#ifndef SHMT_COMMAND_JSON_H
#define SHMT_COMMAND_JSON_H

#include <jansson.h>

#include "kernel/kernel.h"
#include "record/record.h"

/* A string, NULL of NULL; what is not UTF-8 in it (a path, a line of a source)
 * becomes ?: jansson takes no such text, and a member would be missing. */
json_t *shmt_json_text(const char *text);
/* An object of the keys and values that follow, up to a NULL for a key.  A
 * value that is NULL is left out. */
json_t *shmt_json_object(const char *key, ...) __attribute__((sentinel));
json_t *shmt_json_value(struct shmt_value value);
/* null for a number that is not finite. */
json_t *shmt_json_real(double number);
/* Beyond 2^63 a real. */
json_t *shmt_json_count(uint64_t count);
json_t *shmt_json_problem(const struct shmt_kernel *kernel,
                          const int64_t *problem);
json_t *shmt_json_config(const struct shmt_kernel *kernel,
                         const shmt_config *config);
/* How many candidates have each verdict, by its word; those that none has are
 * left out. */
json_t *shmt_json_verdicts(const uint64_t counts[SHMT_VERDICT_COUNT]);
/* null for what is below 0, which is not known. */
json_t *shmt_json_known(double number);
/* NULL, which an object leaves out, for what is below 0. */
json_t *shmt_json_measured(double number);
/* NULL as well for what is NULL or "". */
json_t *shmt_json_given(const char *text);
/* The fields that are known, under the names of the journal, and the stage. */
json_t *shmt_json_result(const struct shmt_result *result);
json_t *shmt_json_device(const struct shmtune_device *device);

/* {"kernel", "size", "status", "error", "place"}: what failed of a run; the
 * first two are null of what concerns no kernel, or no problem. */
json_t *shmt_json_failure(const struct shmt_kernel *kernel,
                          const int64_t *problem,
                          const struct shmt_error *why);

/* Whether memory was missing for anything that was built since. */
bool shmt_json_incomplete(void);

/* Adds "place": {"file", "line", "column"} to an object, where the message
 * speaks of one, as FILE:LINE:COLUMN. */
void shmt_json_add_place(json_t *object, const char *message);

/* From now on what is printed is one line, the last of standard output, on
 * which a program may have left a line without its end. */
void shmt_json_one_line(void);

/* Prints the members of `root` to standard output, behind "format":
 * "NAME.json/1" (docs/output.schema.json), and gives it back.
 * SHMTUNE_NO_MEMORY when it is NULL or incomplete; nothing is printed then. */
enum shmtune_status shmt_json_print(const char *name, json_t *root,
                                    struct shmt_error *err);

/* Prints the object as a line of standard error, and gives it back. */
void shmt_json_line(json_t *object);

#endif
