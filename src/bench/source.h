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
    uint64_t mismatches;       /* elements that are wrong */
    uint64_t first;            /* index of the first */
    uint64_t unwritten;        /* of them, those that still hold the poison */
    uint64_t worst;            /* the excess of the worst, right ones too, the
                                  bits of a double, */
    uint64_t worst_at;         /* and the first index that has it */
    uint64_t outside;          /* elements outside of the region that have been
                                  changed, */
    uint64_t outside_first;    /* and the first of them */
    uint64_t guard_bytes;      /* changed outside the buffer */
    int64_t guard_first;       /* the lowest such place, in bytes from the
                                  buffer's begin: negative before it */
    uint64_t hash;
};

/* By what two buffers are compared.  An element a is right when it is b, or
 * when both are finite and |a - b| is at most the allowance, absolute +
 * relative |b| + scale, or they are at most `ulp` numbers of their type apart.
 * The excess of one, at most 1 of a right one, is the smaller of |a - b| over
 * the allowance and the numbers over `ulp`; where nothing is allowed, |a - b|,
 * of reals over |b|.  It is infinite where one is not finite.
 *
 * Elements outside of the region (kernel.h) have to be those of the buffer of
 * what is kept, or, where there is none, to hold the word `outside`. */
#define SHMT_PROBE_RULE_STRUCT                                               \
    struct shmt_probe_rule {                                                 \
        double absolute;                                                     \
        double relative;                                                     \
        double scale;                                                        \
        unsigned long long ulp;                                              \
        unsigned long long columns;                                          \
        unsigned long long rows;                                             \
        unsigned long long planes;                                           \
        unsigned long long pitch;                                            \
        unsigned long long plane_pitch;                                      \
        unsigned long long offset;                                           \
        unsigned poison;   /* what unwritten elements hold */                \
        unsigned outside;                                                    \
        int element;                                                         \
        int real;                                                            \
    };
SHMT_PROBE_RULE_STRUCT

/* The whole is these parts, one behind the other; NULL ends them.  It is for
 * the types of elements whose "#define SHMT_HAS_f32" stands before it. */
extern const char *const shmt_bench_source[];

#endif
