/* SPDX-License-Identifier: MIT */
/*
 * result_launch: what each of several launches takes, as a flow sequence of
 * registers, static shared bytes and most threads: [[166, 29184, 128], ...],
 * -1 where not known.  Called by record/result.c alone.
 */
#ifndef SHMT_RECORD_RESULT_LAUNCH_H
#define SHMT_RECORD_RESULT_LAUNCH_H

#include "record/result.h"

/* "launches: [...]" */
void shmt_result_write_launches(const struct shmt_result *result,
                                struct shmt_text *text);

/* On failure `result` holds the launches before the one that was refused. */
enum shmtune_status
shmt_result_read_launches(const struct shmt_yaml *node,
                          struct shmt_result *result, struct shmt_error *err);

#endif
