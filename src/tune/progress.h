/* SPDX-License-Identifier: MIT */
/*
 * progress: formats the state of a run as one line of text.  The command
 * decides when and where it is shown.
 */
#ifndef SHMT_TUNE_PROGRESS_H
#define SHMT_TUNE_PROGRESS_H

#include "tune/run.h"

/* "transpose rows=1024 cols=1024 312/2000 best 52.1 us (1.31x default) 4
 * wrong, 12 too_large 0:23 left".  No newline.  At most `width` characters (0:
 * any number), the least important parts are left out first. */
void shmt_progress_line(const struct shmt_tune_progress *now, size_t width,
                        struct shmt_text *text);

/* Appends "12 too_large, 4 wrong" with `before` in front of it; nothing when
 * no candidate failed: what no recording has is no failure.  `verdicts` has
 * SHMT_VERDICT_COUNT entries. */
void shmt_progress_failures(const uint64_t *verdicts, const char *before,
                            struct shmt_text *text);

/* Seconds until the end, by the rate so far; < 0: cannot be said. */
double shmt_progress_left(const struct shmt_tune_progress *now);

#endif
