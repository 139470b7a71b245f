/* SPDX-License-Identifier: MIT */
/*
 * source: the CUDA source of the measuring kernels, for
 * probe.c.
 */
#ifndef SHMT_BENCH_SOURCE_H
#define SHMT_BENCH_SOURCE_H

#include <stdint.h>

/* What the kernels find out about one buffer.  The same structure stands in
 * the source. */
struct shmt_probe_finding {
    uint64_t mismatches;       /* elements that differ */
    uint64_t first;            /* index of the first */
    uint64_t unwritten;        /* of them, those that still hold the poison */
    uint64_t guard_bytes;      /* changed outside the buffer */
    int64_t guard_first;       /* the lowest such place, in bytes from the
                                  buffer's begin: negative before it */
    uint64_t hash;
};

/* The whole is these parts, one behind the other; NULL ends them. */
extern const char *const shmt_bench_source[];

#endif
