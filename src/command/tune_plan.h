/* SPDX-License-Identifier: MIT */
/*
 * tune_plan: what `shmtune tune` says that it will do.
 */
#ifndef SHMT_COMMAND_TUNE_PLAN_H
#define SHMT_COMMAND_TUNE_PLAN_H

#include "command/tune_work.h"

/* A device is open.  Of the first it is said what will be done, where, and how
 * long it will take: "tuning 118 problems of 12 kernels on GPU 0: at most 9 min
 * in all ..."; before that it may not be there.  Of recorded devices which one
 * each kernel has, where that is another. */
void shmt_command_plan_tell(struct shmt_command_work *work,
                            const struct shmt_target *target);

#endif
