/* SPDX-License-Identifier: MIT */
/*
 * worker: starts a child process by vfork and exec and exchanges lines with it
 * through pipes without blocking.  Between vfork and exec only
 * async-signal-safe calls are made.  Called by supervisor.c and
 * profile/counters.c.
 */
#define _GNU_SOURCE   /* pipe2, vfork */
#include "target/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

enum { STDERR_BYTES = 2048 };

/* How long a worker that closed its output may take to exit before it is
 * killed, and how long a killed one may take before it is no longer waited
 * for. */
static const double exit_grace_s = 2.0;
static const double kill_grace_s = 30.0;
/* The same of one that is freed, and where a person waits. */
static const double free_s = 5.0, drop_s = 0.3;

struct shmt_worker {
    pid_t pid;              /* 0 once reaped */
    int input, output, errors;
    struct shmt_text unsent;
    char *received;         /* SHMT_WORKER_LINE + 1 */
    size_t heard_length;
    size_t received_used;   /* bytes of lines that were handed out */
    bool garbled;
    bool finished;          /* no more will be sent */
    bool ending, killed, ended;
    double since;           /* of ending or of the kill */
    int wait_status;
    char end_text[96];
    int deaf;               /* why its output could not be read, or 0 */
    char stderr_text[STDERR_BYTES];
    size_t complaint_length;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* -- starting ------------------------------------------------------------ */

/* In the child, which has the memory of its parent: no allocation, no lock,
 * nothing but system calls, and no signal until ours are out of the way. */
static _Noreturn void exec_child(const char *const *argv, int in, int out,
                                 const int pipes[2])
{
    const int err = pipes[0], report = pipes[1];
    const struct rlimit no_core = {0, 0};
    sigset_t none;
    int reason;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
#ifdef CLOSE_RANGE_CLOEXEC
    /* Descriptors that our own caller left open are closed for the worker
     * too. */
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0)
        execv(argv[0], (char *const *)argv);
    reason = errno;
    if (write(report, &reason, sizeof reason) < 0)
        _exit(126);
    _exit(127);
}

/* If our caller closed its standard files, a pipe may have descriptor 0, 1 or
 * 2, which the child's dup2 would overwrite: move it above them. */
static bool move_above_stdio(int *fd)
{
    if (*fd > 2)
        return true;
    const int higher = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (higher < 0)
        return false;
    close(*fd);
    *fd = higher;
    return true;
}

struct channels {
    int in[2], out[2], err[2], report[2];   /* [0] is read from */
};

static bool channels_open(struct channels *c)
{
    *c = (struct channels){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    /* A socket instead of a pipe, so that writing to a dead worker raises no
     * SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->in) != 0 ||
        pipe2(c->out, O_CLOEXEC) != 0 || pipe2(c->err, O_CLOEXEC) != 0 ||
        pipe2(c->report, O_CLOEXEC) != 0)
        return false;
    for (int k = 0; k < 2; k++)
        if (!move_above_stdio(&c->in[k]) || !move_above_stdio(&c->out[k]) ||
            !move_above_stdio(&c->err[k]) ||
            !move_above_stdio(&c->report[k]))
            return false;
    return fcntl(c->in[1], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(c->out[0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(c->err[0], F_SETFL, O_NONBLOCK) == 0;
}

static void channels_close(struct channels *c)
{
    for (int k = 0; k < 2; k++) {
        close_fd(&c->in[k]);
        close_fd(&c->out[k]);
        close_fd(&c->err[k]);
        close_fd(&c->report[k]);
    }
}

/* Starts the program; 0: it could not be.  A fork would first copy the tables
 * of all pages, for exec to drop them, and everybody waits for this. */
static pid_t start_child(const char *const *argv, const struct channels *c)
{
    const int pipes[2] = {c->err[1], c->report[1]};
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = vfork();
    if (pid == 0)
        exec_child(argv, c->in[0], c->out[1], pipes);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid > 0 ? pid : 0;
}

/* 0 once the program runs, else errno of its exec.  The pipe closes itself
 * at exec. */
static int exec_outcome(int report)
{
    int reason = 0;
    ssize_t n;
    do
        n = read(report, &reason, sizeof reason);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof reason ? reason : 0;
}

/* If our caller ignores SIGCHLD, the kernel discards the exit status of
 * children: restore the default. */
static void restore_sigchld(void)
{
    struct sigaction now;

    if (sigaction(SIGCHLD, NULL, &now) == 0 &&
        (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT) != 0))
        signal(SIGCHLD, SIG_DFL);
}

enum shmtune_status shmt_worker_start(const char *const *argv,
                                      struct shmt_worker **out,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct channels c;
    int reason;
    struct shmt_worker *worker = calloc(1, sizeof *worker);

    if (worker == NULL)
        return shmt_error_memory(err);
    worker->input = worker->output = worker->errors = -1;
    worker->received = malloc(SHMT_WORKER_LINE + 1);
    if (!channels_open(&c)) {
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "cannot make pipes for a worker: %s; try "
                                "with fewer (-j)", strerror(errno));
        goto out;
    }
    if (worker->received == NULL) {
        status = shmt_error_memory(err);
        goto out;
    }
    restore_sigchld();
    worker->pid = start_child(argv, &c);
    if (worker->pid == 0) {
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "cannot start a worker process: %s; try "
                                "with fewer (-j)", strerror(errno));
        goto out;
    }
    setpgid(worker->pid, worker->pid);   /* both parent and child call it;
                                            whichever is first */
    close_fd(&c.report[1]);
    reason = exec_outcome(c.report[0]);
    if (reason != 0) {
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "cannot run the worker %s: %s", argv[0],
                                strerror(reason));
        goto out;
    }
    worker->input = c.in[1];
    worker->output = c.out[0];
    worker->errors = c.err[0];
    c.in[1] = c.out[0] = c.err[0] = -1;
out:
    channels_close(&c);
    if (status != SHMTUNE_OK) {
        shmt_worker_free(worker);
        return status;
    }
    *out = worker;
    return SHMTUNE_OK;
}

/* -- ending -------------------------------------------------------------- */

static void describe_end(struct shmt_worker *worker)
{
    const int status = worker->wait_status;
    if (WIFEXITED(status))
        snprintf(worker->end_text, sizeof worker->end_text,
                 "exited with status %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        snprintf(worker->end_text, sizeof worker->end_text,
                 "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
}

void shmt_worker_kill(struct shmt_worker *worker)
{
    if (worker->pid > 0 && !worker->killed) {
        kill(-worker->pid, SIGKILL);
        kill(worker->pid, SIGKILL);
        worker->killed = true;
        worker->since = shmt_clock_s();
    }
    worker->ending = true;
}

/* A process that hangs in the driver is not waited for any longer; init will
 * reap it. */
static void free_within(struct shmt_worker *worker, double seconds)
{
    if (worker == NULL)
        return;
    if (worker->pid > 0) {
        const double end = shmt_clock_s() + seconds;

        shmt_worker_kill(worker);
        while (waitpid(worker->pid, NULL, WNOHANG) == 0 &&
               shmt_clock_s() < end)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    close_fd(&worker->input);
    close_fd(&worker->output);
    close_fd(&worker->errors);
    shmt_text_free(&worker->unsent);
    free(worker->received);
    free(worker);
}

void shmt_worker_free(struct shmt_worker *worker)
{
    free_within(worker, free_s);
}

void shmt_worker_drop(struct shmt_worker *worker)
{
    free_within(worker, drop_s);
}

/* Reaps one that is ending; true once it is gone. */
static bool reap(struct shmt_worker *worker)
{
    const double waited = shmt_clock_s() - worker->since;
    siginfo_t info = {0};
    pid_t gone;
    int found;

    if (worker->ended)
        return true;
    do
        found = waitid(P_PID, (id_t)worker->pid, &info,
                       WEXITED | WNOHANG | WNOWAIT);
    while (found != 0 && errno == EINTR);
    if (found == 0 && info.si_pid == 0) {
        if (!worker->killed && waited > exit_grace_s)
            shmt_worker_kill(worker);
        if (!worker->killed || waited < kill_grace_s)
            return false;
    }
    /* Kills what the worker may have started, while its process group id
     * cannot be reused yet. */
    kill(-worker->pid, SIGKILL);
    do
        gone = waitpid(worker->pid, &worker->wait_status, WNOHANG);
    while (gone < 0 && errno == EINTR);
    if (gone == worker->pid) {
        describe_end(worker);
    } else {
        worker->wait_status = -1;
        snprintf(worker->end_text, sizeof worker->end_text, "%s",
                 found == 0 ? "hangs and cannot be killed" : "is gone");
    }
    worker->pid = 0;
    worker->ended = true;
    return true;
}

/* -- talking ------------------------------------------------------------- */

static void begin_ending(struct shmt_worker *worker)
{
    close_fd(&worker->output);
    if (!worker->ending) {
        worker->ending = true;
        worker->since = shmt_clock_s();
    }
}

static void flush_unsent(struct shmt_worker *worker)
{
    size_t sent = 0;
    while (worker->input >= 0 && sent < worker->unsent.length) {
        const ssize_t n = send(worker->input, worker->unsent.data + sent,
                               worker->unsent.length - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            close_fd(&worker->input);   /* the worker has died; reading its
                                           output will show it */
    }
    if (worker->input < 0 || sent == worker->unsent.length) {
        shmt_text_clear(&worker->unsent);
        if (worker->finished)
            close_fd(&worker->input);
    } else if (sent > 0) {
        worker->unsent.length -= sent;
        memmove(worker->unsent.data, worker->unsent.data + sent,
                worker->unsent.length + 1);
    }
}

enum shmtune_status shmt_worker_send(struct shmt_worker *worker,
                                     const char *line,
                                     struct shmt_error *err)
{
    shmt_text_add(&worker->unsent, line);
    shmt_text_add(&worker->unsent, "\n");
    if (worker->unsent.failed)
        return shmt_error_memory(err);
    flush_unsent(worker);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_worker_send_bytes(struct shmt_worker *worker,
                                           const void *bytes, size_t size,
                                           struct shmt_error *err)
{
    shmt_text_add_bytes(&worker->unsent, bytes, size);
    if (worker->unsent.failed)
        return shmt_error_memory(err);
    flush_unsent(worker);
    return SHMTUNE_OK;
}

size_t shmt_worker_unsent(const struct shmt_worker *worker)
{
    return worker->unsent.length;
}

void shmt_worker_finish(struct shmt_worker *worker)
{
    worker->finished = true;
    flush_unsent(worker);
}

bool shmt_worker_await_end(struct shmt_worker *worker, double until_s)
{
    struct pollfd fds[SHMT_WORKER_FDS];
    const char *line;

    shmt_worker_finish(worker);
    do {
        shmt_worker_watch(worker, fds);
        if (poll(fds, SHMT_WORKER_FDS, shmt_clock_s() < until_s ? 10 : 0) > 0)
            shmt_worker_serve(worker, fds);
        while (!worker->ended &&
               shmt_worker_next(worker, &line) == SHMT_WORKER_WROTE_LINE)
            ;
    } while (!worker->ended && shmt_clock_s() < until_s);
    return worker->ended;
}

void shmt_worker_terminate(struct shmt_worker *worker)
{
    if (worker->pid > 0)
        kill(-worker->pid, SIGTERM);
}

void shmt_worker_watch(const struct shmt_worker *worker,
                       struct pollfd fds[SHMT_WORKER_FDS])
{
    const bool unsent = worker->unsent.length > 0;
    fds[0] = (struct pollfd){unsent ? worker->input : -1, POLLOUT, 0};
    fds[1] = (struct pollfd){worker->output, POLLIN, 0};
    fds[2] = (struct pollfd){worker->errors, POLLIN, 0};
}

/* Keeps the end of what it says on its standard error. */
static void read_stderr(struct shmt_worker *worker)
{
    char part[512];
    ssize_t n;

    while (worker->errors >= 0 &&
           (n = read(worker->errors, part, sizeof part)) != 0) {
        const size_t keep = sizeof worker->stderr_text - 1;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        if (worker->complaint_length + (size_t)n > keep) {
            const size_t drop = worker->complaint_length + (size_t)n - keep;
            memmove(worker->stderr_text, worker->stderr_text + drop,
                    worker->complaint_length - drop);
            worker->complaint_length -= drop;
        }
        for (ssize_t k = 0; k < n; k++)
            worker->stderr_text[worker->complaint_length++] =
                part[k] == '\0' ? ' ' : part[k];
        worker->stderr_text[worker->complaint_length] = '\0';
    }
    close_fd(&worker->errors);
}

static void read_output(struct shmt_worker *worker)
{
    while (worker->output >= 0 && !worker->garbled) {
        ssize_t n;
        if (worker->received_used > 0) {
            worker->heard_length -= worker->received_used;
            memmove(worker->received, worker->received + worker->received_used,
                    worker->heard_length);
            worker->received_used = 0;
        }
        if (worker->heard_length == SHMT_WORKER_LINE)
            return;   /* full: hand lines out first */
        n = read(worker->output, worker->received + worker->heard_length,
                 SHMT_WORKER_LINE - worker->heard_length);
        if (n > 0)
            worker->heard_length += (size_t)n;
        else if (n == 0)
            begin_ending(worker);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR) {
            worker->deaf = errno;
            begin_ending(worker);
        }
    }
}

void shmt_worker_serve(struct shmt_worker *worker,
                       const struct pollfd fds[SHMT_WORKER_FDS])
{
    if (fds[0].fd >= 0 && fds[0].revents != 0)
        flush_unsent(worker);
    if (fds[2].fd >= 0 && fds[2].revents != 0)
        read_stderr(worker);
    if (fds[1].fd >= 0 && fds[1].revents != 0)
        read_output(worker);
}

bool shmt_worker_ending(const struct shmt_worker *worker)
{
    return worker->ending && !worker->ended;
}

/* A whole line among what was heard, or NULL. */
static char *take_line(struct shmt_worker *worker)
{
    char *const start = worker->received + worker->received_used;
    const size_t length = worker->heard_length - worker->received_used;
    char *const newline = memchr(start, '\n', length);

    if (newline == NULL) {
        worker->garbled |= length == SHMT_WORKER_LINE;
        return NULL;
    }
    *newline = '\0';
    worker->received_used += (size_t)(newline - start) + 1;
    worker->garbled |= strlen(start) != (size_t)(newline - start);
    return worker->garbled ? NULL : start;
}

enum shmt_worker_event shmt_worker_next(struct shmt_worker *worker,
                                        const char **line)
{
    char *taken;

    if (worker->ended)
        return SHMT_WORKER_ENDED;
    if (!worker->killed && !worker->garbled) {
        taken = take_line(worker);
        if (taken != NULL) {
            *line = taken;
            return SHMT_WORKER_WROTE_LINE;
        }
        if (worker->garbled)
            return SHMT_WORKER_GARBLED;
    }
    if (worker->ending && reap(worker)) {
        read_stderr(worker);
        return SHMT_WORKER_ENDED;
    }
    return SHMT_WORKER_NOTHING;
}

const char *shmt_worker_end_text(const struct shmt_worker *worker)
{
    return worker->end_text;
}

const char *shmt_worker_stderr(const struct shmt_worker *worker)
{
    return worker->stderr_text;
}

void shmt_worker_forget_stderr(struct shmt_worker *worker)
{
    worker->complaint_length = 0;
    worker->stderr_text[0] = '\0';
}

int shmt_worker_deaf(const struct shmt_worker *worker)
{
    return worker->deaf;
}

int shmt_worker_exit_status(const struct shmt_worker *worker)
{
    return worker->ended && worker->wait_status != -1 &&
                   WIFEXITED(worker->wait_status)
               ? WEXITSTATUS(worker->wait_status)
               : -1;
}

int shmt_worker_end_signal(const struct shmt_worker *worker)
{
    return worker->ended && worker->wait_status != -1 &&
                   WIFSIGNALED(worker->wait_status)
               ? WTERMSIG(worker->wait_status)
               : 0;
}

enum shmtune_status shmt_worker_own_path(char *out, size_t room,
                                         struct shmt_error *err)
{
    const ssize_t n = readlink("/proc/self/exe", out, room - 1);
    if (n < 0 || (size_t)n >= room - 1)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "cannot find this program's own file: %s",
                              n < 0 ? strerror(errno) : "path too long");
    out[n] = '\0';
    return SHMTUNE_OK;
}
