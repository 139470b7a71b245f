/* SPDX-License-Identifier: MIT */
/*
 * choices: kernels, (out, in, width, height), with macros that change what they
 * give, or do not.  How large three macros are is known by arrays of bytes in
 * shared memory, `a` of A, `b` of 100 times B and `c` of 10,000 times C, where
 * there is one: out is so many times in.
 */
#include "tests/fake/cuda.h"

struct choices {
    int a, b, c;
};

static struct choices open_choices(const struct fake_launch *launch)
{
    const int bytes = (int)launch->function->shared_static;

    return (struct choices){bytes % 100, bytes / 100 % 100, bytes / 10000};
}

static void multiply(struct fake_launch *launch, float by)
{
    float *out = (void *)(uintptr_t)*(CUdeviceptr *)launch->arguments[0];
    const float *in = (void *)(uintptr_t)*(CUdeviceptr *)launch->arguments[1];
    const int count =
        *(int *)launch->arguments[2] * *(int *)launch->arguments[3];

    launch->cost_us = launch->threads;
    for (int i = 0; i < count; i++)
        out[i] = by * in[i];
}

/* B is part of what it computes. */
void fake_widen(struct fake_launch *launch)
{
    multiply(launch, (float)open_choices(launch).b);
}

/* So it is, and it reads what is not there where that is small. */
void fake_shatter(struct fake_launch *launch)
{
    fake_widen(launch);
    if (open_choices(launch).b < 4)
        launch->stuck = CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* What it gives is a little further off than rounding for most. */
void fake_rounded(struct fake_launch *launch)
{
    multiply(launch, 1 + 1e-4f * (float)open_choices(launch).b);
}

/* A quarter of what B is does, too. */
void fake_quarter(struct fake_launch *launch)
{
    const int b = open_choices(launch).b;

    multiply(launch, b == 2 ? 8 : (float)b);
}

/* A is the square of B. */
void fake_paired(struct fake_launch *launch)
{
    const struct choices all = open_choices(launch);

    multiply(launch, all.a == all.b * all.b
                         ? 1 : (float)(100 * all.a + all.b));
}

/* Both are part of what it computes. */
void fake_alone(struct fake_launch *launch)
{
    const struct choices all = open_choices(launch);

    multiply(launch, (float)(100 * all.a + all.b));
}

/* All three are one. */
void fake_alike(struct fake_launch *launch)
{
    const struct choices all = open_choices(launch);

    multiply(launch, all.a == all.b && all.b == all.c
                         ? 1 : (float)(100 * all.a + 10 * all.b + all.c));
}
