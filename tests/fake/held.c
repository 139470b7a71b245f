/* SPDX-License-Identifier: MIT */
/*
 * held: in the place of a measure worker one that says nothing, and that is not
 * gone when it is killed, as where a driver does not let go of a process: a
 * tracer keeps what is left of it for some seconds.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

enum { HELD_S = 8 };

static void hold(pid_t parent, int ready)
{
    char byte;

    setsid();
    if (read(ready, &byte, 1) == 1)
        ptrace(PTRACE_SEIZE, parent, 0, 0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    sleep(HELD_S);
}

int main(void)
{
    const pid_t parent = getpid();
    int pipes[2];
    pid_t child;

    if (pipe(pipes) != 0)
        return 1;
    child = fork();
    if (child == 0) {
        hold(parent, pipes[0]);
        return 0;
    }
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    if (write(pipes[1], "x", 1) == 1)
        for (;;)
            pause();
    return 1;
}
