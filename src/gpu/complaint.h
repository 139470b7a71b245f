/* SPDX-License-Identifier: MIT */
/*
 * complaint: what an NVRTC log says is wrong with a source, in one line, and
 * what to do about it.  Called by nvrtc.c alone.
 */
#ifndef SHMT_GPU_COMPLAINT_H
#define SHMT_GPU_COMPLAINT_H

#include <stdbool.h>
#include <stddef.h>

/* What the log is of. */
struct shmt_complaint {
    const char *log;
    const char *const *options;    /* those of the compile: -DNAME=VALUE */
    size_t option_count;
    const char *libraries;         /* "-IFOLDER" of <cuda/std/...>, or "" */
};

/* The first error, "" when the log has none.  Where a remedy is known it
 * follows. */
void shmt_complaint_error(const struct shmt_complaint *complaint, char *out,
                          size_t room);

/* Whether the source defines a macro that the options define too: it wins over
 * them, so that every value of that parameter makes the same kernel. */
bool shmt_complaint_redefined(const struct shmt_complaint *complaint,
                              char *out, size_t room);

#endif
