/* SPDX-License-Identifier: MIT */
/*
 * path, private: what another user could have changed is not opened.  As root
 * the files of others are made with chown; another user skips those checks.
 */
#include "tests/support/check.h"
#include "tests/support/folder.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

enum { OTHER = 65534 };   /* a user who is neither root nor we */

static struct shmt_arena *arena;
static struct shmt_error err;
static char root[FOLDER_ROOM];

static const char *in_root(const char *name)
{
    return shmt_path_join(arena, root, name);
}

/* SHMTUNE_OK when the folder may be used. */
static enum shmtune_status open_it(const char *name, bool make)
{
    int folder = -1;
    enum shmtune_status status;

    err.text[0] = '\0';
    status = shmt_path_open_private(in_root(name), make, &folder, &err);
    CHECK((status == SHMTUNE_OK) == (folder >= 0));
    if (folder >= 0)
        close(folder);
    return status;
}

/* Refused, in words that name the folder, its mode and the remedy. */
static void is_refused(const char *name, const char *why)
{
    CHECK_INT(open_it(name, false), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, in_root(name));
    CHECK_HAS(err.text, why);
    CHECK_HAS(err.text, "with no right for others to write");
    CHECK_HAS(err.text, "chmod go-w");
}

static void own_folders_are_opened(void)
{
    struct stat about;

    CHECK_INT(open_it("a/b/c", false), SHMTUNE_NOT_FOUND);
    CHECK(!shmt_path_exists(in_root("a")));
    CHECK_INT(open_it("a/b/c", true), SHMTUNE_OK);
    CHECK_INT(stat(in_root("a/b"), &about), 0);
    CHECK_INT(about.st_mode & 07777, 0700);
    CHECK_INT(open_it("a/b/c", false), SHMTUNE_OK);
    CHECK_INT(open_it("a//b/../b/./c//", false), SHMTUNE_OK);
    CHECK_INT(open_it("file/c", false), SHMTUNE_NOT_FOUND);
    CHECK_INT(open_it("file", true), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_path_open_private("a/b", false, &(int){0}, &err),
              SHMTUNE_STORAGE);
}

/* Neither the folder itself nor one on the way may be open to others. */
static void open_folders_are_refused(void)
{
    static const unsigned modes[] = {0777, 0770, 0707, 0720, 0702, 01777};
    char why[32];

    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        snprintf(why, sizeof why, "with mode 0%o", modes[k]);
        CHECK_INT(chmod(in_root("a/b/c"), modes[k]), 0);
        is_refused("a/b/c", why);
        CHECK_HAS(err.text, "the folder c ");
        CHECK_INT(chmod(in_root("a/b/c"), 0700), 0);
        if ((modes[k] & S_ISVTX) != 0)
            continue;
        CHECK_INT(chmod(in_root("a"), modes[k]), 0);
        is_refused("a/b/c", why);
        CHECK_HAS(err.text, "the folder a ");
        CHECK_INT(chmod(in_root("a"), 0700), 0);
    }
    CHECK_INT(chmod(in_root("a"), 0755), 0);
    CHECK_INT(open_it("a/b/c", false), SHMTUNE_OK);
    /* As in /tmp, nobody else can replace b there. */
    CHECK_INT(chmod(in_root("a"), 01777), 0);
    CHECK_INT(open_it("a/b/c", false), SHMTUNE_OK);
    CHECK_INT(chmod(in_root("a"), 0700), 0);
    /* Nothing is made in such a one. */
    CHECK_INT(chmod(in_root("a"), 0777), 0);
    CHECK_INT(open_it("a/new", true), SHMTUNE_STORAGE);
    CHECK(!shmt_path_exists(in_root("a/new")));
    CHECK_INT(chmod(in_root("a"), 0700), 0);
}

static void own_links_are_followed(void)
{
    CHECK_INT(symlink("a/b", in_root("near")), 0);
    CHECK_INT(symlink(in_root("near"), in_root("far")), 0);
    CHECK_INT(symlink("round", in_root("round")), 0);
    CHECK_INT(open_it("near", false), SHMTUNE_OK);
    CHECK_INT(open_it("far/c", false), SHMTUNE_OK);
    CHECK_INT(open_it("round/c", false), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "Too many levels of symbolic links");
    /* Also behind a link every folder counts. */
    CHECK_INT(chmod(in_root("a"), 0777), 0);
    is_refused("far/c", "the folder a ");
    CHECK_INT(chmod(in_root("a"), 0700), 0);
}

static void folders_of_others_are_refused(void)
{
    if (geteuid() != 0) {
        printf("# SKIP: only root can give a folder away\n");
        return;
    }
    CHECK_INT(chown(in_root("a/b/c"), OTHER, 0), 0);
    is_refused("a/b/c", "the folder c is user 65534's with mode 0700, and has "
                        "to be user 0's or root's");
    CHECK_INT(chown(in_root("a/b/c"), 0, 0), 0);
    CHECK_INT(chown(in_root("a"), OTHER, 0), 0);
    is_refused("a/b/c", "the folder a is user 65534's");
    CHECK_INT(chown(in_root("a"), 0, 0), 0);
    CHECK_INT(lchown(in_root("near"), OTHER, 0), 0);
    is_refused("near/c", "the link near is user 65534's");
    CHECK_INT(lchown(in_root("near"), 0, 0), 0);
    CHECK_INT(open_it("near/c", false), SHMTUNE_OK);
    /* What is root's is as good as one's own. */
    CHECK_INT(chmod(root, 0755), 0);
    CHECK_INT(chmod(in_root("a"), 0755), 0);
    CHECK_INT(chmod(in_root("a/b"), 0755), 0);
    CHECK_INT(seteuid(OTHER), 0);
    CHECK_INT(open_it("a/b/c", false), SHMTUNE_OK);
    CHECK_INT(seteuid(0), 0);
}

static enum shmtune_status read_it(int folder, const char *name)
{
    const char *data = NULL;
    size_t size;
    enum shmtune_status status;

    err.text[0] = '\0';
    status = shmt_path_read_private(arena, folder, in_root(name), 100, &data,
                                    &size, &err);
    CHECK((status == SHMTUNE_OK) == (data != NULL));
    return status;
}

static void files_are_checked(void)
{
    static const unsigned modes[] = {0666, 0620, 0602};
    struct stat about;
    int folder = -1;

    CHECK_INT(shmt_path_open_private(in_root("a/b/c"), false, &folder, &err),
              SHMTUNE_OK);
    CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_path_write_private(folder, in_root("a/b/c/f"), "x", 1,
                                      &err), SHMTUNE_OK);
    CHECK_INT(stat(in_root("a/b/c/f"), &about), 0);
    CHECK_INT(about.st_mode & 0777, 0600);
    CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_OK);
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        CHECK_INT(chmod(in_root("a/b/c/f"), modes[k]), 0);
        CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_STORAGE);
        CHECK_HAS(err.text, "a/b/c/f is not used: the file ");
    }
    CHECK_INT(chmod(in_root("a/b/c/f"), 0644), 0);
    CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_OK);
    if (geteuid() == 0) {
        CHECK_INT(chown(in_root("a/b/c/f"), OTHER, 0), 0);
        CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_STORAGE);
        CHECK_HAS(err.text, "user 65534's");
    }
    /* Written anew, it is one's own again. */
    CHECK_INT(chmod(in_root("a/b/c/f"), 0666), 0);
    CHECK_INT(shmt_path_write_private(folder, in_root("a/b/c/f"), "y", 1,
                                      &err), SHMTUNE_OK);
    CHECK_INT(stat(in_root("a/b/c/f"), &about), 0);
    CHECK_INT(about.st_mode & 0777, 0600);
    CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_OK);
    /* Not through a link, and nothing but a file. */
    CHECK_INT(symlink("f", in_root("a/b/c/link")), 0);
    CHECK_INT(read_it(folder, "a/b/c/link"), SHMTUNE_STORAGE);
    CHECK_INT(mkfifo(in_root("a/b/c/pipe"), 0600), 0);
    alarm(10);   /* a reader that blocks dies here */
    CHECK_INT(read_it(folder, "a/b/c/pipe"), SHMTUNE_STORAGE);
    alarm(0);
    close(folder);
}

/* The folder that was checked is the one that is read, whatever its path leads
 * to now. */
static void what_was_opened_counts(void)
{
    int folder = -1;

    CHECK_INT(shmt_path_open_private(in_root("a/b/c"), false, &folder, &err),
              SHMTUNE_OK);
    CHECK_INT(rename(in_root("a/b/c"), in_root("a/b/d")), 0);
    CHECK_INT(mkdir(in_root("a/b/c"), 0777), 0);
    CHECK_INT(read_it(folder, "a/b/c/f"), SHMTUNE_OK);
    CHECK_INT(shmt_path_write_private(folder, in_root("a/b/c/g"), "z", 1,
                                      &err), SHMTUNE_OK);
    CHECK(shmt_path_exists(in_root("a/b/d/g")));
    CHECK(!shmt_path_exists(in_root("a/b/c/g")));
    close(folder);
}

int main(void)
{
    umask(022);
    arena = shmt_arena_new();
    folder_make(root);
    if (arena == NULL ||
        shmt_path_write(in_root("file"), "", 0, NULL) != SHMTUNE_OK)
        return 1;
    CHECK_RUN(own_folders_are_opened);
    CHECK_RUN(open_folders_are_refused);
    CHECK_RUN(own_links_are_followed);
    CHECK_RUN(folders_of_others_are_refused);
    CHECK_RUN(files_are_checked);
    CHECK_RUN(what_was_opened_counts);
    folder_remove(root);
    shmt_arena_free(arena);
    return CHECK_END();
}
