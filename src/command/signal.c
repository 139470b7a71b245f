/* SPDX-License-Identifier: MIT */
/*
 * signal: Ctrl-C, the end of the session, and the end of who reads what is
 * printed, for commands whose work takes long.
 */
#include "command/command.h"

#include <errno.h>
#include <time.h>

/* A batch system may send several signals at once, and a finger press twice:
 * what comes so soon is the same request. */
enum { TOGETHER_S = 2 };

volatile sig_atomic_t shmt_command_stopped;
static volatile sig_atomic_t unheard, since_s;

static void stop(int number)
{
    const int code = errno;
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (number == SIGPIPE) {
        unheard = 1;
    } else if (shmt_command_stopped != 0 &&
               (sig_atomic_t)now.tv_sec - since_s >= TOGETHER_S) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (shmt_command_stopped == 0)
        since_s = (sig_atomic_t)now.tv_sec;
    shmt_command_stopped = 1;
    errno = code;
}

/* A signal that our caller ignores (nohup) stays ignored. */
static void catch_signal(int number)
{
    struct sigaction action = {.sa_handler = stop}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void shmt_command_catch_signals(void)
{
    static const int numbers[] = {SHMT_SIGNALS_FROM_OUTSIDE, SIGPIPE};

    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        catch_signal(numbers[k]);
}

void shmt_command_end_signals(void)
{
    if (unheard == 0)
        return;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}
