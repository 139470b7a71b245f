/* SPDX-License-Identifier: MIT */
/*
 * step: a run step by step, for campaign.c, which alone waits.  A run submits
 * what it can, says how long it can wait, and is given its replies.
 */
#ifndef SHMT_TUNE_STEP_H
#define SHMT_TUNE_STEP_H

#include "tune/state.h"

/* The longest time of one wait, in seconds, hence the delay of the reaction to
 * an interrupt. */
#define SHMT_TUNE_TICK_S 0.2
/* How long to wait for a target; nothing on a recorded one takes real time. */
double shmt_tune_wait_of(const struct shmt_target *target, double wait_s);

/* As shmt_tune_run, up to the first request.  The options and the problem have
 * to stay until the run is closed.  *out is NULL when there is no memory for
 * it; else it has to be closed, whatever the status is. */
enum shmtune_status shmt_tune_open(struct shmt_target *target,
                                   const int64_t *problem,
                                   const struct shmt_tune_options *options,
                                   struct shmt_tune **out,
                                   struct shmt_error *err);

/* Goes on as far as it can.  Then *done, or *wait_s says how many seconds of
 * the target's clock the run can wait for a reply; INFINITY: any. */
enum shmtune_status shmt_tune_advance(struct shmt_tune *tune, bool *done,
                                      double *wait_s, struct shmt_error *err);

enum shmtune_status shmt_tune_reply(struct shmt_tune *tune,
                                    struct shmt_target_reply *reply,
                                    struct shmt_error *err);

/* Ends the run that came to `status`, and frees it.  On SHMTUNE_OK and
 * SHMTUNE_INTERRUPTED *out is the outcome.  Returns `status`, or what closing
 * the journal of a good run comes to.  Requests of a run that failed may be
 * outstanding still. */
enum shmtune_status shmt_tune_close(struct shmt_tune *tune,
                                    enum shmtune_status status,
                                    struct shmt_tune_outcome **out,
                                    struct shmt_error *err);

/* Whether another size has told something that it has not read. */
bool shmt_tune_has_news(const struct shmt_tune *tune);
/* Of its budget; INFINITY: as much as it likes. */
double shmt_tune_left_s(const struct shmt_tune *tune);
/* What shmt_tune_leave_out has left out of its time so far. */
double shmt_tune_left_out_s(const struct shmt_tune *tune);
/* A program says what is right, of this run or of one that has the device: so
 * many seconds are not of the budget, as far as it has any to spare. */
void shmt_tune_leave_out(struct shmt_tune *tune, double seconds);
/* Whether its search is over. */
bool shmt_tune_is_in_finals(const struct shmt_tune *tune);

/* lend.c: whether another device of the same model could be of use now, or
 * later, and whether those that were lent still can be. */
bool shmt_tune_wants_help(const struct shmt_tune *tune);
bool shmt_tune_may_want_help(const struct shmt_tune *tune);
bool shmt_tune_is_searching(const struct shmt_tune *tune);
/* The target is ready, and has the kernel of the run.  Its replies go to
 * shmt_tune_reply until it is taken back. */
enum shmtune_status shmt_tune_lend(struct shmt_tune *tune,
                                   struct shmt_target *target,
                                   struct shmt_error *err);
/* What it measures is measured by another. */
void shmt_tune_take_back(struct shmt_tune *tune, struct shmt_target *target);
/* Whether the default fails there. */
bool shmt_tune_is_useless(struct shmt_tune *tune,
                          const struct shmt_target *target);

#endif
