/* SPDX-License-Identifier: MIT */
/*
 * score_within: how many evaluations strategies need until they are within
 * some percent of the optimum, by themselves and with --from.  For
 * command/score.c.
 */
#ifndef SHMT_COMMAND_SCORE_WITHIN_H
#define SHMT_COMMAND_SCORE_WITHIN_H

#include <jansson.h>

#include "command/command.h"
#include "score/score.h"

/* What it needs of one recording. */
struct shmt_command_within {
    const char *path, *name;
    const struct shmt_score_recording *recording;
    const char *const *rows;         /* strategies */
    size_t row_count;
    const struct shmt_command_repeats *from;
    double percent;
    size_t repeats, jobs;
    uint64_t seed;
    bool start;
    const struct shmt_command_call *call;
};

/* Appends a table to `text`, or what it says to `array`, whichever is not
 * NULL. */
enum shmtune_status
shmt_command_within(const struct shmt_command_within *within,
                    struct shmt_text *text, json_t *array,
                    struct shmt_error *err);

#endif
