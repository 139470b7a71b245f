/* SPDX-License-Identifier: MIT */
/*
 * explain: what the files explain*.c share: configurations of one
 * kernel side by side.
 */
#ifndef SHMT_COMMAND_EXPLAIN_H
#define SHMT_COMMAND_EXPLAIN_H

#include "command/command.h"
#include "command/tune_device.h"
#include "profile/profile.h"
#include "record/record.h"

/* The default, and the configurations that are set against it. */
enum { SHMT_EXPLAIN_COLUMNS = 1 + SHMT_COMMAND_REPEATS };

struct shmt_explain_column {
    char label[32];            /* "default", "tuned", "config 1" */
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result result;
    struct shmt_counters counters;   /* when `counted` */
};

struct shmt_explain_view {
    const struct shmt_kernel *kernel;
    const struct shmt_target *target;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    const char *tuning;        /* where "tuned" comes from, or NULL */
    size_t count;
    struct shmt_explain_column *columns;   /* [SHMT_EXPLAIN_COLUMNS] */
    bool counted;
    const char *missing;       /* why not */
};

/* A number that follows from counters: its key in the JSON, and how it is
 * shown. */
struct shmt_explain_reading {
    const char *key, *title, *unit;
    int decimals;
};
const struct shmt_explain_reading *shmt_explain_readings(size_t *count);
/* What the words in the sentences about them mean. */
extern const char shmt_explain_legend[];

/* Prints it as a table, or as JSON. */
enum shmtune_status shmt_explain_show(const struct shmt_explain_view *all,
                                      const struct shmt_command_call *call,
                                      struct shmt_error *err);
enum shmtune_status shmt_explain_json(const struct shmt_explain_view *all,
                                      struct shmt_error *err);

#endif
