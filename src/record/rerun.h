/* SPDX-License-Identifier: MIT */
/*
 * rerun: what a recorded launch does when it is made again: whether it gives
 * what was recorded, how far it varies, and whether it reads what a buffer held
 * before.  bench/rerun.c finds it, target/wire.c passes it on,
 * command/draft_rerun.c makes roles and tolerances of it.
 */
#ifndef SHMT_RECORD_RERUN_H
#define SHMT_RECORD_RERUN_H

#include "kernel/kernel.h"
#include "yaml/yaml.h"

/* How often a launch is made as it was; and with other old contents. */
enum { SHMT_RERUN_TIMES = 3, SHMT_RERUN_POISONS = 4 };

/* Of one buffer that is compared.  Bytes are those of the whole buffer. */
struct shmt_rerun_buffer {
    int64_t argument;          /* of the spec */
    int64_t bytes;
    int64_t other;             /* bytes that the first has otherwise than what
                                  is expected */
    int64_t varying;           /* bytes that a later one has otherwise than the
                                  first */
    double spread;             /* the furthest that two numbers of an element
                                  are apart, what is expected among them;
                                  INFINITY where that is no number */
    double most;               /* the largest number expected, without sign */
    int64_t places[2];         /* from the first to behind the last byte of
                                  `other` and `varying`; both 0: none */
    /* With other old contents in the buffer that was asked for: */
    int64_t changed;           /* bytes that then come out otherwise, of those
                                  that are written */
    /* of that buffer alone: from the first to behind the last byte that is
     * written, and how many between them are not */
    int64_t written[2];
    int64_t unwritten;
};

struct shmt_rerun {
    size_t count;
    struct shmt_rerun_buffer buffers[SHMT_KERNEL_ARGUMENTS];
};

/* "[[1, 4000, 0, ...], ...]", and back. */
void shmt_rerun_write(const struct shmt_rerun *rerun, struct shmt_text *text);
enum shmtune_status shmt_rerun_read(const struct shmt_yaml *node,
                                    struct shmt_rerun *out,
                                    struct shmt_error *err);

#endif
