/* SPDX-License-Identifier: MIT */
/*
 * program: see program.h.  Given by commands to what compiles with nvcc.
 */
#define _GNU_SOURCE   /* pipe2, environ */
#include "target/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 16 << 20 };

/* In the child: nothing but system calls. */
static _Noreturn void exec_child(const char *const *argv, char *const *env,
                                 const char *folder, int output)
{
    const int empty = open("/dev/null", O_RDONLY);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (empty >= 0 && dup2(empty, 0) >= 0 && dup2(output, 1) >= 0 &&
        dup2(output, 2) >= 0 && (folder == NULL || chdir(folder) == 0))
        execvpe(argv[0], (char *const *)argv, env);
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
    env[n] = shmt_text_keep(&text, arena);
    return env[n] == NULL ? NULL : env;
}

/* Whether there is more to read by then, INFINITY: whenever it comes. */
static bool is_in_time(int from, double until_s)
{
    struct pollfd fd = {.fd = from, .events = POLLIN};
    int found;

    do {
        const double left_s = fmax(until_s - shmt_clock_s(), 0);

        found = poll(&fd, 1, isinf(until_s)
                                 ? -1 : (int)ceil(fmin(left_s, 3600) * 1000));
    } while ((found < 0 && errno == EINTR) ||
             (found == 0 && shmt_clock_s() < until_s));
    return found != 0;
}

/* What comes until all writers have closed the pipe.  ETIME: they have not by
 * then; another number of an error: it cannot be read. */
static int read_all(int from, double until_s, struct shmt_text *text)
{
    char part[4096];
    ssize_t n;

    while (is_in_time(from, until_s)) {
        n = shmt_path_read_part(from, part, sizeof part);
        if (n <= 0)
            return n < 0 ? errno : 0;
        for (ssize_t k = 0; k < n; k++)
            if (part[k] == '\0')
                part[k] = ' ';
        if (text->length + (size_t)n <= OUTPUT_BYTES)
            shmt_text_add_bytes(text, part, (size_t)n);
    }
    return ETIME;
}

static int await(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The same, if it ends by then: it may have closed its output long before. */
static bool await_until(pid_t pid, double until_s, int *code)
{
    const struct timespec pause = {0, 5000000};
    int status = 0;
    pid_t found;

    while (((found = waitpid(pid, &status, WNOHANG)) == 0 ||
            (found < 0 && errno == EINTR)) && shmt_clock_s() < until_s)
        nanosleep(&pause, NULL);
    if (found == pid)
        *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return found == pid;
}

/* A program, and where and how long it runs. */
struct start {
    const char *const *argv;
    char *const *env;
    const char *folder;        /* NULL: the current one */
    double seconds;            /* INFINITY: until it ends */
};

static enum shmtune_status run(const struct start *start,
                               struct shmt_arena *arena, const char **output,
                               int *code, struct shmt_error *err)
{
    const double until_s = shmt_clock_s() + start->seconds;
    const char *name = start->argv[0];
    struct shmt_text text = {0};
    int pipes[2], found, failed;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return shmt_error_system(err, name, "cannot be given a pipe");
    pid = fork();
    if (pid == 0)
        exec_child(start->argv, start->env, start->folder, pipes[1]);
    found = errno;
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        errno = found;
        return shmt_error_system(err, name, "cannot be started");
    }
    failed = read_all(pipes[0], until_s, &text);
    close(pipes[0]);
    if (failed == 0 && isfinite(start->seconds))
        failed = await_until(pid, until_s, &found) ? 0 : ETIME;
    else if (failed == 0)
        found = await(pid);
    if (failed != 0) {
        kill(pid, SIGKILL);
        found = await(pid);
    }
    *output = shmt_text_keep(&text, arena);
    if (*output == NULL)
        return shmt_error_memory(err);
    *code = found;
    errno = failed;
    if (failed != 0 && failed != ETIME)
        return shmt_error_system(err, name, "what it writes cannot be read");
    return failed == 0
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_STORAGE,
                                  "%s did not end within %g s; it was killed",
                                  name, start->seconds);
}

enum shmtune_status shmt_program_run(const char *const *argv,
                                     const char *folder,
                                     struct shmt_arena *arena,
                                     const char **output, int *code,
                                     struct shmt_error *err)
{
    const struct start start = {argv, make_environment(folder, arena), NULL,
                                (double)INFINITY};

    return start.env == NULL ? shmt_error_memory(err)
                             : run(&start, arena, output, code, err);
}

enum shmtune_status shmt_program_run_in(const char *const *argv,
                                        const char *folder, double seconds,
                                        struct shmt_arena *arena,
                                        const char **output, int *code,
                                        struct shmt_error *err)
{
    const struct start start = {argv, make_environment(NULL, arena), folder,
                                seconds};

    return start.env == NULL ? shmt_error_memory(err)
                             : run(&start, arena, output, code, err);
}

/* -- the user's own ------------------------------------------------------- */

/* What is passed on; the terminal itself sends the others to both of us. */
static const int passed[] = {SHMT_SIGNALS_FROM_OUTSIDE, SIGQUIT};
enum { PASSED = sizeof passed / sizeof passed[0] };

static volatile sig_atomic_t own_program;
static volatile sig_atomic_t came;     /* the last of them; 0: none */

static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    came = number;
    if (info->si_code <= 0 && own_program > 0)
        kill((pid_t)own_program, number);
}

static void catch_all(struct sigaction before[PASSED])
{
    struct sigaction action = {.sa_sigaction = pass_on,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    came = 0;
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < PASSED; k++)
        if (sigaction(passed[k], NULL, &before[k]) == 0 &&
            before[k].sa_handler != SIG_IGN)
            sigaction(passed[k], &action, NULL);
}

static void restore_all(const struct sigaction before[PASSED])
{
    for (size_t k = 0; k < PASSED; k++)
        sigaction(passed[k], &before[k], NULL);
}

/* What came while the program ran is for its caller, too, where that has a
 * handler for it. */
static void tell_caller(const struct sigaction before[PASSED])
{
    for (size_t k = 0; k < PASSED; k++)
        if (passed[k] == came && before[k].sa_handler != SIG_DFL &&
            before[k].sa_handler != SIG_IGN)
            raise(passed[k]);
}

/* In the child: nothing but system calls.  The reason why there is no program
 * goes back through the pipe. */
static _Noreturn void exec_own(const char *const *argv, char *const *env,
                               const struct sigaction before[PASSED],
                               int answer)
{
    restore_all(before);
    signal(SIGXFSZ, SIG_DFL);
    execvpe(argv[0], (char *const *)argv, env);
    if (write(answer, &errno, sizeof errno) == sizeof errno)
        _exit(127);
    _exit(126);
}

/* Our environment with these before it: of two of one name the first counts,
 * so ours of that name is left out. */
static char **join_environment(const char *const *env,
                               struct shmt_arena *arena)
{
    size_t count = 0, added = 0, n = 0;
    char **joined;

    while (environ[count] != NULL)
        count++;
    while (env[added] != NULL)
        added++;
    joined = shmt_arena_alloc(arena, count + added + 1, sizeof *joined);
    for (size_t k = 0; joined != NULL && k < added; k++)
        joined[n++] = (char *)(uintptr_t)env[k];
    for (size_t k = 0; joined != NULL && k < count; k++) {
        bool replaced = false;

        for (size_t i = 0; i < added; i++)
            replaced |= strncmp(environ[k], env[i],
                                strcspn(env[i], "=") + 1) == 0;
        if (!replaced)
            joined[n++] = environ[k];
    }
    return joined;
}

enum shmtune_status shmt_program_run_own(const char *const *argv,
                                         const char *const *env, int *ended,
                                         struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    char **joined = arena == NULL ? NULL : join_environment(env, arena);
    struct sigaction before[PASSED];
    int pipes[2], why = 0;
    pid_t pid;

    if (joined == NULL || pipe2(pipes, O_CLOEXEC) != 0) {
        shmt_arena_free(arena);
        return joined == NULL
                   ? shmt_error_memory(err)
                   : shmt_error_system(err, argv[0], "cannot be given a pipe");
    }
    catch_all(before);
    pid = fork();
    if (pid == 0)
        exec_own(argv, joined, before, pipes[1]);
    if (pid < 0)
        why = errno;
    own_program = (sig_atomic_t)pid;
    close(pipes[1]);
    if (pid > 0) {
        if (read(pipes[0], &why, sizeof why) != sizeof why)
            why = 0;
        while (waitpid(pid, ended, 0) < 0 && errno == EINTR)
            continue;
    }
    own_program = 0;
    restore_all(before);
    tell_caller(before);
    close(pipes[0]);
    shmt_arena_free(arena);
    errno = why;
    return why == 0 ? SHMTUNE_OK
                    : shmt_error_system(err, argv[0], "cannot be started");
}
