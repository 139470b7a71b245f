/* SPDX-License-Identifier: MIT */
/*
 * show: what show.c shares with show_tuning.c and
 * show_journal.c.
 */
#ifndef SHMT_COMMAND_SHOW_H
#define SHMT_COMMAND_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct shmt_show {
    const char *file;
    const char *spec;       /* NULL: found by the kernel's name */
    int64_t top;
    bool json;
    bool colour;
};

enum { SHMT_SHOW_BAR = 24 };

struct shmt_command_table;
struct shmt_text;
struct shmtune_device;

/* NAME (sm_90); the name alone of a device of another tuner's run. */
void shmt_show_device(const struct shmtune_device *device,
                      struct shmt_text *text);

/* A cell; below 0, which is not known, "-". */
void shmt_show_number(struct shmt_command_table *table, int64_t number);

enum shmtune_status shmt_show_tuning(const struct shmt_show *show,
                                     struct shmt_error *err);
enum shmtune_status shmt_show_journal(const struct shmt_show *show,
                                      struct shmt_error *err);

#endif
