/* SPDX-License-Identifier: MIT */
/*
 * report: the assembler's resource report (--ptxas-options=-v) inside an
 * NVRTC log.  Its lines have changed little since CUDA 5: words are looked
 * for, not columns.
 */
#ifndef SHMT_GPU_PTXAS_H
#define SHMT_GPU_PTXAS_H

#include <stdbool.h>

#include "record/record.h"

/* False when the log has no report of the symbol `lowered`, or none of its
 * registers.  Static shared memory and constants that the report does not
 * mention are 0 and -1; max_threads is not in it and becomes -1.  Spills and
 * stack of functions that were not inlined into the entry are counted. */
bool shmt_ptxas_resources(const char *log, const char *lowered,
                          struct shmt_resources *out);

/* The most static shared memory of any entry; -1 without a report. */
int64_t shmt_ptxas_most_shared(const char *log);

#endif
