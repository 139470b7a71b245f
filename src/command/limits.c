/* SPDX-License-Identifier: MIT */
/*
 * limits: how long the commands may build a space, what they show meanwhile,
 * and what they say when it is too large.
 */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "command/command.h"

static void tell(void *context, const struct shmt_space_progress *now)
{
    struct shmt_command_limits *const limits = context;

    fprintf(stderr, "\rspace  %.0f s  ", now->seconds);
    if (now->drawn > 0)
        fprintf(stderr, "%llu configurations drawn",
                (unsigned long long)now->drawn);
    else
        fprintf(stderr, "%llu states  %zu MiB",
                (unsigned long long)now->states, now->bytes >> 20);
    fputs("\033[K", stderr);
    fflush(stderr);
    shmt_command_pulse_said();
    *limits->line = true;
}

const struct shmt_space_limits *
shmt_command_limits_begin(struct shmt_command_limits *limits,
                          const struct shmt_command_call *call)
{
    if (limits->line == NULL)
        limits->line = &limits->shown;
    limits->space = (struct shmt_space_limits){
        .seconds = (double)limits->seconds,
        .bytes = (size_t)limits->mebibytes << 20,
        .exact = limits->exact,
        .context = limits,
    };
    shmt_command_pulse_work("building a space");
    if (!call->quiet && isatty(STDERR_FILENO))
        limits->space.tell = tell;
    return &limits->space;
}

void shmt_command_limits_end(struct shmt_command_limits *limits)
{
    if (limits->shown)
        fputs("\r\033[K", stderr);
    limits->shown = false;
}

enum shmtune_status shmt_command_build_space(struct shmt_command_limits *limits,
                                       const struct shmt_command_call *call,
                                       const struct shmt_command_problem *at,
                                       struct shmt_space **out,
                                       struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_kernel_space(at->kernel, at->problem,
                          shmt_command_limits_begin(limits, call), out, err);

    shmt_command_limits_end(limits);
    return status;
}

void shmt_command_tell_drawn(const struct shmt_command_call *call,
                             const struct shmt_kernel *kernel,
                             const struct shmt_space *space)
{
    if (shmt_space_is_drawn(space) && !call->quiet)
        fprintf(stderr, "shmtune: " SHMT_SPACE_DRAWN "\n", kernel->name,
                (unsigned long long)shmt_space_count(space));
}
