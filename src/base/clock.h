/* SPDX-License-Identifier: MIT */
/*
 * clock: how much time passes.
 */
#ifndef SHMT_BASE_CLOCK_H
#define SHMT_BASE_CLOCK_H

#include <time.h>

#include "base/status.h"

/* Seconds since some moment in the past; nobody can set this clock. */
double shmt_clock_s(void);

/* The time that outputs are dated with: $SOURCE_DATE_EPOCH, else now, and now
 * also where that is no whole number of seconds from 0 on,
 * SHMTUNE_INVALID_ARGUMENT. */
enum shmtune_status shmt_clock_date(time_t *out, struct shmt_error *err);

/* Seconds for which the calling thread had a processor. */
double shmt_clock_thread_s(void);

#endif
