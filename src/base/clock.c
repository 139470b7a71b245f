/* SPDX-License-Identifier: MIT */
/*
 * clock: see clock.h.  A double holds the seconds of years to the
 * microsecond.
 */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

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

enum shmtune_status shmt_clock_date(time_t *out, struct shmt_error *err)
{
    /* The end of the year 9999. */
    static const long long last = 253402300799;
    const char *const fixed = getenv("SOURCE_DATE_EPOCH");
    char *end;
    long long seconds;

    *out = time(NULL);
    if (fixed == NULL)
        return SHMTUNE_OK;
    errno = 0;
    seconds = strtoll(fixed, &end, 10);
    if (end == fixed || *end != '\0' || errno != 0 || seconds < 0 ||
        seconds > last)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "SOURCE_DATE_EPOCH is \"%.64s\"; a whole number "
                              "of seconds since 1970 is expected, or no such "
                              "variable", fixed);
    *out = (time_t)seconds;
    return SHMTUNE_OK;
}

double shmt_clock_thread_s(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
