/* SPDX-License-Identifier: MIT */
/*
 * cores: how many compile workers have a processor each.  More of
 * them do not just wait: each compiles at a part of the speed, and candidates
 * that are all right reach the deadline.
 */
#define _GNU_SOURCE   /* sched_getaffinity */
#include "config.h"

#include "command/command.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* Those that the system has, or the part of them it gives to this process:
 * a batch system's, taskset's. */
static double allowed(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return online < 1 ? 1 : (double)online;
}

/* Numbers at the beginning of a file; how many there were. */
static int read_numbers(const char *path, double *first, double *second)
{
    FILE *const file = fopen(path, "re");
    const int count =
        file == NULL ? 0 : fscanf(file, "%lf %lf", first, second);

    if (file != NULL)
        fclose(file);
    return count;
}

/* A container may have all of them for a part of the time.  INFINITY: it is
 * not limited. */
static double quota(void)
{
    double time_us = 0, period_us = 0, unused;

    if (read_numbers("/sys/fs/cgroup/cpu.max", &time_us, &period_us) < 2 &&
        (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &time_us,
                      &unused) < 1 ||
         read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period_us,
                      &unused) < 1))
        return (double)INFINITY;
    return time_us > 0 && period_us > 0 ? time_us / period_us
                                        : (double)INFINITY;
}

int64_t shmt_command_cores(void)
{
    return (int64_t)fmax(1, ceil(fmin(allowed(), quota())));
}
