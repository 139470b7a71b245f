/* SPDX-License-Identifier: MIT */
/*
 * cores: how many compile workers can have a processor each.  More workers are
 * not just useless: each compiles more slowly, and good candidates then exceed
 * the deadline.
 */
#define _GNU_SOURCE   /* sched_getaffinity */
#include "config.h"

#include "command/command.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* The processors that this process may use, by its affinity (taskset, batch
 * systems). */
static double allowed(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
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

/* The limit of a container, in processors: cgroups limit the time.  INFINITY:
 * no limit. */
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
