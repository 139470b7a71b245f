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

/* A signal that our caller ignores (nohup) stays ignored. */
static void catch_signal(int number)
{
    struct sigaction action = {.sa_handler = stop}, before;

    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void shmt_command_catch_signals(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
}
