/* SPDX-License-Identifier: MIT */
/*
 * score_load: a complete recording as a table of costs to score strategies
 * on.  For cmd_score.c and tests.
 */
#ifndef SHMT_TUNE_SCORE_LOAD_H
#define SHMT_TUNE_SCORE_LOAD_H

#include "tune/journal.h"
#include "tune/score.h"

struct shmt_score_recording;

/* A journal of `kernel`, which must outlive the recording.
 * SHMTUNE_NO_CONFIGURATION when a configuration of its space is not in it:
 * a strategy that asked for that one could not be answered.  With `recorded`
 * the space is what is in the journal, be it a sample of the whole. */
enum shmtune_status shmt_score_load(const char *path,
                                    const struct shmt_kernel *kernel,
                                    bool recorded,
                                    struct shmt_score_recording **out,
                                    struct shmt_error *err);
void shmt_score_unload(struct shmt_score_recording *recording);

const struct shmt_score_table *
shmt_score_recording_table(const struct shmt_score_recording *recording);
const struct shmt_journal_header *
shmt_score_recording_header(const struct shmt_score_recording *recording);

#endif
