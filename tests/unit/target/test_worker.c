/* SPDX-License-Identifier: MIT */
/* Workers as child processes: shell scripts stand in for them. */
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target/worker.h"
#include "tests/support/check.h"

static struct shmt_worker *start_shell(const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct shmt_worker *worker = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_worker_start(argv, &worker, &err), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    return worker;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The next news, waited for at most `limit` seconds. */
static enum shmt_worker_event hear(struct shmt_worker *worker, double limit,
                                   const char **line)
{
    const double end = now() + limit;
    enum shmt_worker_event news;

    while ((news = shmt_worker_next(worker, line)) == SHMT_WORKER_NOTHING &&
           now() < end) {
        struct pollfd fds[SHMT_WORKER_FDS];
        shmt_worker_watch(worker, fds);
        poll(fds, SHMT_WORKER_FDS, shmt_worker_ending(worker) ? 1 : 50);
        shmt_worker_serve(worker, fds);
    }
    return news;
}

static void says_lines(void)
{
    struct shmt_worker *const worker =
        start_shell("while read -r line; do echo \"got $line\"; done");
    const char *line = "";

    CHECK_INT(shmt_worker_send(worker, "one", NULL), SHMTUNE_OK);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "got one");
    CHECK_INT(shmt_worker_send(worker, "two", NULL), SHMTUNE_OK);
    CHECK_INT(shmt_worker_send(worker, "three", NULL), SHMTUNE_OK);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "got two");
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "got three");
    shmt_worker_free(worker);
}

static void pieces_make_a_line(void)
{
    struct shmt_worker *const worker = start_shell(
        "printf 'a'; sleep 0.05; printf 'b'; sleep 0.05; printf 'c\\nd\\ne'");
    const char *line = "";

    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "abc");
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "d");
    /* Half a line is no line. */
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_TEXT(shmt_worker_end_text(worker), "exited with status 0");
    shmt_worker_free(worker);
}

static void tells_how_it_ended(void)
{
    struct shmt_worker *worker =
        start_shell("echo 'no luck' >&2; exit 6");
    const char *line = "";

    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_TEXT(shmt_worker_end_text(worker), "exited with status 6");
    CHECK_INT(shmt_worker_exit_status(worker), 6);
    CHECK_TEXT(shmt_worker_stderr(worker), "no luck\n");
    CHECK_INT(hear(worker, 0, &line), SHMT_WORKER_ENDED);
    shmt_worker_free(worker);

    worker = start_shell("kill -SEGV $$");
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_HAS(shmt_worker_end_text(worker), "killed by signal 11");
    CHECK_INT(shmt_worker_exit_status(worker), -1);
    shmt_worker_free(worker);
}

/* What is ignored stays so through exec. */
static void heirs_of_who_ignores_children(void)
{
    const char *line = "";
    struct shmt_worker *worker;

    signal(SIGCHLD, SIG_IGN);
    worker = start_shell("exit 6");
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_TEXT(shmt_worker_end_text(worker), "exited with status 6");
    CHECK_INT(shmt_worker_exit_status(worker), 6);
    shmt_worker_free(worker);
    signal(SIGCHLD, SIG_DFL);
}

static void last_words_come_first(void)
{
    struct shmt_worker *const worker = start_shell("echo bye; exit 3");
    const char *line = "";

    usleep(100000);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_TEXT(line, "bye");
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    shmt_worker_free(worker);
}

static void a_program_that_is_not_there(void)
{
    const char *const argv[] = {"/nonexistent/worker", NULL};
    struct shmt_worker *worker = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_worker_start(argv, &worker, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "/nonexistent/worker");
    CHECK_HAS(err.text, "No such file");
    CHECK(worker == NULL);
}

static void a_line_without_an_end(void)
{
    struct shmt_worker *const worker = start_shell(
        "head -c 300000 /dev/zero | tr '\\0' x; echo; sleep 60");
    const char *line = "";

    CHECK_INT(hear(worker, 10, &line), SHMT_WORKER_GARBLED);
    shmt_worker_kill(worker);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    shmt_worker_free(worker);
}

static void a_zero_byte(void)
{
    struct shmt_worker *const worker =
        start_shell("printf 'ab\\0cd\\n'; sleep 60");
    const char *line = "";

    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_GARBLED);
    shmt_worker_free(worker);
}

/* One that hangs, ignores what it can, and has children. */
static void kills_the_whole_group(void)
{
    struct shmt_worker *const worker = start_shell(
        "trap '' TERM INT HUP; sleep 1000 & echo $!; while :; do sleep 1; "
        "done");
    const char *line = "";
    double begin;
    long child = 0;

    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_WROTE_LINE);
    child = strtol(line, NULL, 10);
    CHECK(child > 1);
    begin = now();
    shmt_worker_kill(worker);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_HAS(shmt_worker_end_text(worker), "killed by signal 9");
    CHECK(now() - begin < 3);
    /* Its child is gone, or about to be reaped by init. */
    for (int k = 0; k < 200 && kill((pid_t)child, 0) == 0; k++)
        usleep(10000);
    shmt_worker_free(worker);
}

/* It closes its output and goes on: it is helped. */
static void silent_but_alive(void)
{
    struct shmt_worker *const worker =
        start_shell("exec >&- 2>&-; sleep 1000");
    const char *line = "";

    CHECK_INT(hear(worker, 10, &line), SHMT_WORKER_ENDED);
    CHECK_HAS(shmt_worker_end_text(worker), "killed by signal 9");
    shmt_worker_free(worker);
}

/* A worker that does not read: what is sent is kept, nobody blocks, and no
 * signal comes when it is dead. */
static void deaf(void)
{
    struct shmt_worker *const worker = start_shell("sleep 0.2");
    const char *line = "";
    char big[4096];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    for (int k = 0; k < 200; k++)
        CHECK_INT(shmt_worker_send(worker, big, NULL), SHMTUNE_OK);
    CHECK_INT(hear(worker, 5, &line), SHMT_WORKER_ENDED);
    CHECK_INT(shmt_worker_send(worker, "anyone?", NULL), SHMTUNE_OK);
    shmt_worker_free(worker);
}

/* One that reads late gets all of it, in its order. */
static void slow_to_read(void)
{
    enum { LINES = 60 };
    struct shmt_worker *const worker = start_shell("sleep 0.1; exec cat");
    const char *line = "";
    char big[30000];

    for (int k = 0; k < LINES; k++) {
        memset(big, 'a' + k % 26, sizeof big - 1);
        big[sizeof big - 1 - (size_t)k] = '\0';
        CHECK_INT(shmt_worker_send(worker, big, NULL), SHMTUNE_OK);
    }
    for (int k = 0; k < LINES && !check_failed; k++) {
        CHECK_INT(hear(worker, 10, &line), SHMT_WORKER_WROTE_LINE);
        memset(big, 'a' + k % 26, sizeof big - 1);
        big[sizeof big - 1 - (size_t)k] = '\0';
        CHECK(strcmp(line, big) == 0);
    }
    shmt_worker_free(worker);
}

static void complaint_is_the_end_of_it(void)
{
    struct shmt_worker *const worker = start_shell(
        "i=0; while [ $i -lt 2000 ]; do echo \"complaint $i\" >&2; "
        "i=$((i+1)); done");
    const char *line = "";

    CHECK_INT(hear(worker, 10, &line), SHMT_WORKER_ENDED);
    CHECK_HAS(shmt_worker_stderr(worker), "complaint 1999\n");
    CHECK(strlen(shmt_worker_stderr(worker)) < 4096);
    shmt_worker_free(worker);
}

/* No descriptor of ours, no ignored or blocked signal, goes along. */
static void inherits_nothing(void)
{
    struct shmt_worker *first, *second;
    const char *line = "";
    sigset_t blocked, before;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    first = start_shell("read -r x");
    second = start_shell(
        "ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status");
    CHECK_INT(hear(second, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK(strtol(line, NULL, 10) <= 4);   /* 0, 1, 2 and the folder's */
    CHECK_INT(hear(second, 5, &line), SHMT_WORKER_WROTE_LINE);
    CHECK_HAS(line, "0000000000000000");
    sigprocmask(SIG_SETMASK, &before, NULL);
    shmt_worker_free(first);
    shmt_worker_free(second);
}

static void leaves_nobody_behind(void)
{
    for (int k = 0; k < 20; k++)
        shmt_worker_free(start_shell("sleep 1000"));
    shmt_worker_free(NULL);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);   /* no child at all */
}

static void finds_itself(void)
{
    char self[4096], tiny[4];

    CHECK_INT(shmt_worker_own_path(self, sizeof self, NULL), SHMTUNE_OK);
    CHECK_HAS(self, "test_worker");
    CHECK_INT(shmt_worker_own_path(tiny, sizeof tiny, NULL), SHMTUNE_STORAGE);
}

int main(void)
{
    CHECK_RUN(says_lines);
    CHECK_RUN(pieces_make_a_line);
    CHECK_RUN(tells_how_it_ended);
    CHECK_RUN(heirs_of_who_ignores_children);
    CHECK_RUN(last_words_come_first);
    CHECK_RUN(a_program_that_is_not_there);
    CHECK_RUN(a_line_without_an_end);
    CHECK_RUN(a_zero_byte);
    CHECK_RUN(kills_the_whole_group);
    CHECK_RUN(silent_but_alive);
    CHECK_RUN(deaf);
    CHECK_RUN(slow_to_read);
    CHECK_RUN(complaint_is_the_end_of_it);
    CHECK_RUN(inherits_nothing);
    CHECK_RUN(leaves_nobody_behind);
    CHECK_RUN(finds_itself);
    return CHECK_END();
}
