/* SPDX-License-Identifier: MIT */
/* alone: one run that has its target for itself: lets it go on, waits. */
#include <math.h>

#include "tune/step.h"

double shmt_tune_wait_of(const struct shmt_target *target, double wait_s)
{
    return target->recorded ? wait_s : fmin(wait_s, SHMT_TUNE_TICK_S);
}

enum shmtune_status shmt_tune_run(struct shmt_target *target,
                                  const int64_t *problem,
                                  const struct shmt_tune_options *options,
                                  struct shmt_tune_outcome **out,
                                  struct shmt_error *err)
{
    struct shmt_tune *tune;
    struct shmt_target_reply reply;
    enum shmtune_status status =
        shmt_tune_open(target, problem, options, &tune, err);
    bool done = false, got;
    double wait_s;

    if (tune == NULL)
        return status;
    while (status == SHMTUNE_OK && !done) {
        status = shmt_tune_advance(tune, &done, &wait_s, err);
        if (status != SHMTUNE_OK || done)
            break;
        status = target->operations->wait(
            target, shmt_tune_wait_of(target, wait_s), &got, &reply, err);
        if (status == SHMTUNE_OK && got)
            status = shmt_tune_reply(tune, &reply, err);
    }
    return shmt_tune_close(tune, status, out, err);
}
