/* SPDX-License-Identifier: MIT */
/*
 * complaint: the first error of an NVRTC log as one line, with a remedy if one
 * is known.  Called by nvrtc.c alone.
 */
#ifndef SHMT_GPU_NVRTC_LOG_H
#define SHMT_GPU_NVRTC_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* What the log is of. */
struct shmt_nvrtc_log {
    const char *log;
    const char *const *options;    /* those of the compile: -DNAME=VALUE */
    size_t option_count;
    const char *libraries;         /* "-IFOLDER" of <cuda/std/...>, or "" */
};

/* The first error, "" when the log has none.  Where a remedy is known it
 * follows. */
void shmt_nvrtc_log_error(const struct shmt_nvrtc_log *diagnostic, char *out,
                          size_t room);

/* Whether the source defines a macro that the options define too.  The
 * source's definition wins, so every value of that parameter would make the
 * same kernel. */
bool shmt_nvrtc_log_redefinition(const struct shmt_nvrtc_log *diagnostic,
                                 char *out, size_t room);

#endif
