/* SPDX-License-Identifier: MIT */
/*
 * compile_times: the compile time of every result in a journal.
 * Configurations that differ only in launch parameters share a binary, and the
 * journal gives its compile time to only one of them, whichever came first in
 * that run.  Here each of them gets the compile time of its binary.  For
 * score/load.c and the exporters.
 */
#ifndef SHMT_RECORD_COMPILE_TIMES_H
#define SHMT_RECORD_COMPILE_TIMES_H

#include "record/journal.h"

/* compile_ms[k], in milliseconds, for each record of the journal; negative
 * when nothing was compiled. */
enum shmtune_status
shmt_journal_compile_times(const struct shmt_kernel *kernel,
                           const struct shmt_journal *journal,
                           double *compile_ms, struct shmt_error *err);

#endif
