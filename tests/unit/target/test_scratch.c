/* SPDX-License-Identifier: MIT */
/*
 * scratch: folders of the dead are removed, and nothing else: not those of the
 * living, of other machines and names, nor what somebody else made.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/scratch.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static char root[FOLDER_ROOM];
static struct shmt_error err;

static const char *in_root(const char *name)
{
    static char paths[4][2 * FOLDER_ROOM];
    static size_t next;
    char *const path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[1024];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* The folder of a process that is there until it is killed, with files in it
 * and in a folder of it. */
static pid_t make_other(char folder[512])
{
    int ends[2];
    pid_t pid;

    CHECK_INT(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        struct shmt_scratch scratch = {.lock = -1};
        char inner[600];

        if (shmt_scratch_make("ours", &scratch, &err) != SHMTUNE_OK)
            _exit(1);
        put(scratch.folder, "file", "text");
        snprintf(inner, sizeof inner, "%s/inner", scratch.folder);
        if (mkdir(inner, 0700) != 0)
            _exit(1);
        put(inner, "file", "text");
        if (write(ends[1], scratch.folder, sizeof scratch.folder) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    CHECK_INT(read(ends[0], folder, 512), 512);
    close(ends[0]);
    return pid;
}

static void end(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* Makes a folder, which looks for those of the dead, and removes it. */
static void look(void)
{
    struct shmt_scratch scratch = {.lock = -1};

    CHECK_INT(shmt_scratch_make("ours", &scratch, &err), SHMTUNE_OK);
    shmt_scratch_remove(&scratch);
}

static void folders_are_private_and_go(void)
{
    struct shmt_scratch scratch = {.lock = -1};
    struct stat found;
    char folder[512];

    CHECK_INT(shmt_scratch_make("ours", &scratch, &err), SHMTUNE_OK);
    strcpy(folder, scratch.folder);
    CHECK(strncmp(folder, in_root("ours-"), strlen(root) + 6) == 0);
    CHECK(stat(folder, &found) == 0 && (found.st_mode & 07777) == 0700);
    put(folder, "file", "text");
    shmt_scratch_remove(&scratch);
    CHECK(access(folder, F_OK) != 0);
    shmt_scratch_remove(&scratch);
    CHECK_INT(setenv("TMPDIR", in_root("nowhere"), 1), 0);
    CHECK_INT(shmt_scratch_make("ours", &scratch, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "nowhere/ours-");
    CHECK_INT(setenv("TMPDIR", root, 1), 0);
}

static void those_of_the_dead_are_removed(void)
{
    char first[512], second[512];
    const pid_t living = make_other(first), dying = make_other(second);

    look();
    CHECK(access(first, F_OK) == 0 && access(second, F_OK) == 0);
    end(dying);
    look();
    CHECK(access(first, F_OK) == 0);
    CHECK(access(second, F_OK) != 0);
    end(living);
    look();
    CHECK(access(first, F_OK) != 0);
}

/* Each but for one thing as a dead process leaves it. */
static void all_others_stay(void)
{
    static const char *const names[] = {
        "ours", "ours-", "ours-abcde", "ours-abcdefg", "ours-abc.ef",
        "ours.abcdef", "theirs-abcdef", "xours-abcdef",
    };
    struct utsname here;

    CHECK_INT(uname(&here), 0);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        CHECK_INT(mkdir(in_root(names[k]), 0700), 0);
        put(in_root(names[k]), "lock", here.nodename);
        look();
        CHECK(access(in_root(names[k]), F_OK) == 0);
    }
    CHECK_INT(mkdir(in_root("ours-open00"), 0755), 0);
    put(in_root("ours-open00"), "lock", here.nodename);
    CHECK_INT(mkdir(in_root("ours-nolock"), 0700), 0);
    CHECK_INT(mkdir(in_root("ours-abroad"), 0700), 0);
    put(in_root("ours-abroad"), "lock", "another.machine");
    CHECK_INT(mkdir(in_root("ours-empty0"), 0700), 0);
    put(in_root("ours-empty0"), "lock", "");
    CHECK_INT(mkdir(in_root("ours-linked"), 0700), 0);
    CHECK_INT(symlink(in_root("ours-open00/lock"),
                      in_root("ours-linked/lock")), 0);
    CHECK_INT(mkdir(in_root("ours-double"), 0700), 0);
    CHECK_INT(link(in_root("ours-open00/lock"), in_root("ours-double/lock")),
              0);
    CHECK_INT(mkdir(in_root("real"), 0700), 0);
    put(in_root("real"), "lock", here.nodename);
    CHECK_INT(symlink("real", in_root("ours-symbol")), 0);
    look();
    CHECK(access(in_root("ours-open00/lock"), F_OK) == 0);
    CHECK(access(in_root("ours-nolock"), F_OK) == 0);
    CHECK(access(in_root("ours-abroad/lock"), F_OK) == 0);
    CHECK(access(in_root("ours-empty0/lock"), F_OK) == 0);
    CHECK(access(in_root("ours-linked/lock"), F_OK) == 0);
    CHECK(access(in_root("ours-double/lock"), F_OK) == 0);
    CHECK(access(in_root("real/lock"), F_OK) == 0);
    /* As one would be removed. */
    CHECK_INT(mkdir(in_root("ours-Dead01"), 0700), 0);
    put(in_root("ours-Dead01"), "lock", here.nodename);
    look();
    CHECK(access(in_root("ours-Dead01"), F_OK) != 0);
}

int main(void)
{
    folder_make(root);
    if (setenv("TMPDIR", root, 1) != 0)
        return EXIT_FAILURE;
    CHECK_RUN(folders_are_private_and_go);
    CHECK_RUN(those_of_the_dead_are_removed);
    CHECK_RUN(all_others_stay);
    folder_remove(root);
    return CHECK_END();
}
