/* SPDX-License-Identifier: MIT */
/*
 * replay: the target for a recording.  It answers the same two verbs with the
 * results of a real run, on a simulated clock: each of `jobs` compilers and
 * the one device is busy for as long as it was then.  Nothing takes real time,
 * and the same requests always get the same answers in the same order.
 */
#ifndef SHMT_TARGET_REPLAY_H
#define SHMT_TARGET_REPLAY_H

#include "record/record.h"
#include "target/request.h"

struct shmt_replay_options {
    const char *const *paths;   /* recordings, one problem each; copied */
    size_t path_count;
    size_t jobs;                /* compilers, 1 or more */
};

/* All recordings must be of one device; SHMTUNE_INVALID_FILE names two that
 * are not.  The kernel must outlive the target. */
enum shmtune_status shmt_replay_open(const struct shmt_kernel *kernel,
                                     const struct shmt_replay_options *options,
                                     struct shmt_target **out,
                                     struct shmt_error *err);

/* What is recorded: k-th of `shmt_replay_count`.  Its digest may be that of
 * other sources than the kernel has now. */
size_t shmt_replay_count(const struct shmt_target *replay);
const struct shmt_journal_header *
shmt_replay_header(const struct shmt_target *replay, size_t k);

#endif
