/* SPDX-License-Identifier: MIT */
/*
 * campaign: the only place of the tuner that waits.  It lets a run go on,
 * waits for the target, and gives the run its replies.  Called by
 * command/tune.c and tests.
 */
#include <math.h>

#include "tune/step.h"

/* The longest time of one wait, hence the delay of the reaction to an
 * interrupt. */
static const double tick_s = 0.2;

/* Waits for the next reply, at most `wait_s`. */
static enum shmtune_status wait_for_reply(struct shmt_tune *tune,
                                          struct shmt_target *target,
                                          double wait_s,
                                          struct shmt_error *err)
{
    struct shmt_target_reply reply;
    bool got = false;
    /* Nothing on a recorded device takes real time. */
    const enum shmtune_status status = target->operations->wait(
        target, target->recorded ? wait_s : fmin(wait_s, tick_s), &got, &reply,
        err);

    return status == SHMTUNE_OK && got ? shmt_tune_reply(tune, &reply, err)
                                       : status;
}

enum shmtune_status shmt_tune_run(struct shmt_target *target,
                                  const int64_t *problem,
                                  const struct shmt_tune_options *options,
                                  struct shmt_tune_outcome **out,
                                  struct shmt_error *err)
{
    struct shmt_tune *tune;
    enum shmtune_status status =
        shmt_tune_open(target, problem, options, &tune, err);
    bool done = false;
    double wait_s;

    if (tune == NULL)
        return status;
    while (status == SHMTUNE_OK && !done) {
        status = shmt_tune_advance(tune, &done, &wait_s, err);
        if (status == SHMTUNE_OK && !done)
            status = wait_for_reply(tune, target, wait_s, err);
    }
    return shmt_tune_close(tune, status, out, err);
}
