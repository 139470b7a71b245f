/* SPDX-License-Identifier: MIT */
/*
 * signal: Ctrl-C, and the end of the session, for commands whose work
 * takes long.
 */
#include "command/command.h"

volatile sig_atomic_t shmt_command_stopped;

static void stop(int number)
{
    (void)number;
    shmt_command_stopped = 1;
}

void shmt_command_catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = stop}, before;

    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        /* A signal that our caller ignores (nohup) stays ignored. */
        if (sigaction(signals[k], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(signals[k], &action, NULL);
}
