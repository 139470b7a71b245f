/* SPDX-License-Identifier: MIT */
/*
 * clock: see clock.h.  A double holds the seconds of years to the
 * microsecond.
 */
#include "base/clock.h"

#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double shmt_clock_s(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double shmt_clock_thread_s(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
