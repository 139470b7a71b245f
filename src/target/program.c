/* SPDX-License-Identifier: MIT */
/*
 * program: see program.h.  Given by commands to what compiles with nvcc.
 */
#define _GNU_SOURCE   /* pipe2, environ */
#include "target/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 16 << 20 };

/* In the child: nothing but system calls. */
static _Noreturn void exec_child(const char *const *argv, char *const *env,
                                 int output)
{
    const int empty = open("/dev/null", O_RDONLY);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (empty >= 0 && dup2(empty, 0) >= 0 && dup2(output, 1) >= 0 &&
        dup2(output, 2) >= 0)
        execve(argv[0], (char *const *)argv, env);
    _exit(127);
}

/* The environment with another $TMPDIR; NULL: no memory. */
static char **make_environment(const char *folder, struct shmt_arena *arena)
{
    struct shmt_text text = {0};
    size_t count = 0, n = 0;
    char **env;

    while (environ[count] != NULL)
        count++;
    env = shmt_arena_alloc(arena, count + 2, sizeof *env);
    for (size_t k = 0; env != NULL && k < count; k++)
        if (folder == NULL || strncmp(environ[k], "TMPDIR=", 7) != 0)
            env[n++] = environ[k];
    if (env == NULL || folder == NULL)
        return env;
    shmt_text_addf(&text, "TMPDIR=%s", folder);
    env[n] = text.failed ? NULL : shmt_arena_copy(arena,
                                                  shmt_text_string(&text),
                                                  text.length);
    shmt_text_free(&text);
    return env[n] == NULL ? NULL : env;
}

/* What comes until all writers have closed the pipe. */
static void read_all(int from, struct shmt_text *text)
{
    char part[4096];
    ssize_t n;

    while ((n = read(from, part, sizeof part)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        for (ssize_t k = 0; k < n; k++)
            if (part[k] == '\0')
                part[k] = ' ';
        if (text->length + (size_t)n <= OUTPUT_BYTES)
            shmt_text_add_bytes(text, part, (size_t)n);
    }
}

static int await(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum shmtune_status shmt_program_run(const char *const *argv,
                                     const char *folder,
                                     struct shmt_arena *arena,
                                     const char **output, int *code,
                                     struct shmt_error *err)
{
    char **env = make_environment(folder, arena);
    struct shmt_text text = {0};
    int pipes[2], found;
    pid_t pid;

    if (env == NULL)
        return shmt_error_memory(err);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return shmt_error_system(err, argv[0], "cannot be given a pipe");
    pid = fork();
    if (pid == 0)
        exec_child(argv, env, pipes[1]);
    found = errno;
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        errno = found;
        return shmt_error_system(err, argv[0], "cannot be started");
    }
    read_all(pipes[0], &text);
    close(pipes[0]);
    found = await(pid);
    *output = text.failed ? NULL
                          : shmt_arena_copy(arena, shmt_text_string(&text),
                                            text.length);
    shmt_text_free(&text);
    if (*output == NULL)
        return shmt_error_memory(err);
    *code = found;
    return SHMTUNE_OK;
}
