/* SPDX-License-Identifier: MIT */
/* Turns at a GPU: one has it, who waits comes next, and odd files are not
 * locked. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/turn.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static char root[FOLDER_ROOM];
static struct shmt_error err;

static const char *in_root(const char *name)
{
    static char path[2 * FOLDER_ROOM];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static struct shmt_turn *open_turn(const char *uuid)
{
    struct shmt_turn *turn = NULL;

    CHECK_INT(shmt_turn_open(uuid, &turn, &err), SHMTUNE_OK);
    return turn;
}

static void one_has_it(void)
{
    struct shmt_turn *const a = open_turn("GPU-1"), *const b =
        open_turn("GPU-1"), *const other = open_turn("GPU-2");
    struct stat about;

    CHECK(shmt_turn_held_s(a) < 0);
    CHECK(shmt_turn_take(a));
    CHECK(shmt_turn_take(a));
    CHECK(shmt_turn_held_s(a) >= 0);
    CHECK(!shmt_turn_take(b));
    CHECK(shmt_turn_take(other));
    CHECK_INT(shmt_turn_holder(b), getpid());
    shmt_turn_give_back(a);
    CHECK(shmt_turn_take(b));
    CHECK_INT(stat(in_root("GPU-1.lock"), &about), 0);
    CHECK_INT(about.st_mode & 0777, 0644);
    CHECK_INT(stat(root, &about), 0);
    shmt_turn_close(a);
    shmt_turn_close(b);
    shmt_turn_close(other);
}

/* Who gives it back does not come before one who waits. */
static void who_waits_comes_next(void)
{
    struct shmt_turn *const a = open_turn("GPU-1"), *const b =
        open_turn("GPU-1");

    CHECK(shmt_turn_take(a));
    CHECK(!shmt_turn_take(b));
    shmt_turn_give_back(a);
    CHECK(!shmt_turn_take(a));
    CHECK(shmt_turn_take(b));
    CHECK(!shmt_turn_take(a));
    shmt_turn_give_back(b);
    CHECK(!shmt_turn_take(b));
    CHECK(shmt_turn_take(a));
    shmt_turn_give_back(a);
    shmt_turn_give_back(b);
    CHECK(shmt_turn_wait(b, NULL));
    shmt_turn_close(b);
    CHECK(shmt_turn_take(a));
    shmt_turn_close(a);
}

/* The process that has it is killed. */
static void the_dead_give_back(void)
{
    struct shmt_turn *const turn = open_turn("GPU-3");
    int ends[2];
    char byte;
    pid_t pid;

    CHECK_INT(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        struct shmt_turn *own;
        if (shmt_turn_open("GPU-3", &own, &err) != SHMTUNE_OK ||
            !shmt_turn_take(own) || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    CHECK_INT(read(ends[0], &byte, 1), 1);
    CHECK(!shmt_turn_take(turn));
    CHECK_INT(shmt_turn_holder(turn), pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK(shmt_turn_take(turn));
    shmt_turn_close(turn);
    close(ends[0]);
    close(ends[1]);
}

/* A file that somebody removed is no longer the one to lock. */
static void removed_files_are_made_again(void)
{
    struct shmt_turn *const a = open_turn("GPU-4"), *b;

    CHECK_INT(unlink(in_root("GPU-4.lock")), 0);
    CHECK(!shmt_turn_take(a));
    CHECK(shmt_turn_take(a));
    b = open_turn("GPU-4");
    CHECK(!shmt_turn_take(b));
    shmt_turn_close(a);
    shmt_turn_close(b);
}

static void check_refused(const char *uuid)
{
    struct shmt_turn *turn = NULL;

    CHECK_INT(shmt_turn_open(uuid, &turn, &err), SHMTUNE_STORAGE);
    CHECK(turn == NULL);
    shmt_turn_close(turn);
}

static void odd_files_are_not_locked(void)
{
    const int fd = open(in_root("victim"), O_WRONLY | O_CREAT, 0600);
    char victim[2 * FOLDER_ROOM];

    close(fd);
    snprintf(victim, sizeof victim, "%s", in_root("victim"));
    CHECK_INT(symlink(victim, in_root("GPU-link.lock")), 0);
    check_refused("GPU-link");
    CHECK_INT(link(victim, in_root("GPU-hard.lock")), 0);
    check_refused("GPU-hard");
    CHECK_INT(mkfifo(in_root("GPU-pipe.lock"), 0600), 0);
    check_refused("GPU-pipe");
    CHECK_INT(mkdir(in_root("GPU-folder.lock"), 0700), 0);
    check_refused("GPU-folder");
    setenv("SHMTUNE_LOCKS", "/proc/nothing/here", 1);
    check_refused("GPU-1");
    CHECK_HAS(err.text, "/proc/nothing/here: ");
    setenv("SHMTUNE_LOCKS", root, 1);
    /* A UUID names a file of the folder and none elsewhere. */
    shmt_turn_close(open_turn("../GPU"));
    CHECK_INT(access(in_root("___GPU.lock"), F_OK), 0);
}

int main(void)
{
    folder_make(root);
    setenv("SHMTUNE_LOCKS", root, 1);
    CHECK_RUN(one_has_it);
    CHECK_RUN(who_waits_comes_next);
    CHECK_RUN(the_dead_give_back);
    CHECK_RUN(removed_files_are_made_again);
    CHECK_RUN(odd_files_are_not_locked);
    folder_remove(root);
    return CHECK_END();
}
