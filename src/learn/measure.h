/* SPDX-License-Identifier: MIT */
/*
 * measure: the times of a table's configurations at a size, on a target.
 * Every measurement is in the size's journal (journal/5) before the next one
 * begins, so that a run that is killed loses none, and the next goes on.
 */
#ifndef SHMT_LEARN_MEASURE_H
#define SHMT_LEARN_MEASURE_H

#include <signal.h>

#include "learn/table.h"
#include "record/record.h"
#include "target/target.h"

struct shmt_learn_binary;

/* Starts with the first members; the others as 0. */
struct shmt_learn_run {
    struct shmt_target *target;
    struct shmt_learn_table *table;
    const char *folder;         /* of the journals */
    uint64_t seed;              /* of the order, and for the journals */
    bool thorough;              /* measures also what is likely to be slow */
    const volatile sig_atomic_t *stop;   /* NULL, or != 0: stop */
    /* A text for the user about something that does not end the run. */
    void (*notice)(void *context, const char *text);
    void *context;
    /* private */
    size_t binary_count, binary_room;
    struct shmt_learn_binary *binaries;   /* compiled in this run */
    struct shmt_random random;
    bool drawing;               /* `random` has begun */
    bool has_read;              /* what is left out has been told */
    size_t begun;               /* sizes */
};

/* Reads every journal of the folder that is of this kernel, device, sources,
 * compiler, protocol and inputs into the table; *spent_s is the time that they
 * took.  Others are left alone, and told the first time. */
enum shmtune_status shmt_learn_read(struct shmt_learn_run *run,
                                    double *spent_s, struct shmt_error *err);

/* Whether a size that was drawn is to be measured: always, unless those around
 * it took longer than half of all did; then the more rarely by the root of how
 * long, which tells most for the time (Neyman's allocation). */
bool shmt_learn_is_worth(struct shmt_learn_run *run, const int64_t *problem);

/* Measures what is wanted at a size and not known yet; then it is done.
 * `first`, a configuration of the table or SHMT_LEARN_CONFIGS, is measured in
 * any case.  SHMTUNE_INTERRUPTED: `stop` was set.  A size that cannot be
 * measured at all is done, with nothing known; *took_s is the time. */
enum shmtune_status shmt_learn_measure(struct shmt_learn_run *run,
                                       const int64_t *problem, size_t first,
                                       double *took_s,
                                       struct shmt_error *err);

void shmt_learn_run_end(struct shmt_learn_run *run);

#endif
