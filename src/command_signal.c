/* SPDX-License-Identifier: MIT */
/*
 * command_signal: Ctrl-C, for commands whose work takes long.
 */
#include "command.h"

volatile sig_atomic_t shmt_command_stopped;

static void stop(int number)
{
    (void)number;
    shmt_command_stopped = 1;
}

void shmt_command_catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};

    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
