/* SPDX-License-Identifier: MIT */
/*
 * unsteady: the kernels of tests/fake/data/unsteady.cu, (z, x, a, n), which
 * leave something else at each launch, or nothing at all.
 */
#include <unistd.h>

#include "tests/fake/cuda.h"

static void *memory(const struct fake_launch *launch, size_t k)
{
    return (void *)(uintptr_t)*(CUdeviceptr *)launch->arguments[k];
}

static int count_of(const struct fake_launch *launch)
{
    return *(int *)launch->arguments[3];
}

/* As a clock: another number at each launch of each process. */
static int now(void)
{
    static int times;

    return (int)getpid() % 10000 * 1000 + ++times;
}

void fake_ticks(struct fake_launch *launch)
{
    int *z = memory(launch, 0);
    const int since = now();

    launch->cost_us = launch->threads;
    for (int i = 0; i < count_of(launch); i++)
        z[i] = since + i;
}

void fake_timed(struct fake_launch *launch)
{
    float *z = memory(launch, 0);
    int *x = memory(launch, 1);
    const int since = now();

    launch->cost_us = launch->threads;
    for (int i = 0; i < count_of(launch); i++) {
        z[i] = *(float *)launch->arguments[2] * (float)i;
        x[i] = since + i;
    }
}

/* The first half, and one further element of which the next two launches have
 * the next ones. */
void fake_wander(struct fake_launch *launch)
{
    static int times;
    float *z = memory(launch, 0);
    const float *x = memory(launch, 1);
    const int half = count_of(launch) / 2;

    launch->cost_us = launch->threads;
    for (int i = 0; i < half; i++)
        z[i] = *(float *)launch->arguments[2] * x[i];
    z[half + times] += 1e-6f;
    times += times < 2;
}

void fake_nothing(struct fake_launch *launch)
{
    launch->cost_us = launch->threads;
}
