/* SPDX-License-Identifier: MIT */
/*
 * scratch: creates a temporary folder with a locked file in it, and removes
 * the folders that dead processes have left (scratch.h has the protocol).
 */
#include "target/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LOCK "lock"
#define LOCK_BEGUN "lock.new"

enum { SUFFIX = 6 };         /* of mkdtemp */

/* -- removing ------------------------------------------------------------- */

/* A folder by its name in another, never through a link.  NULL when it is
 * none. */
static DIR *open_in(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
                                            O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);

    if (dir == NULL && fd >= 0)
        close(fd);
    return dir;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What is in a folder of ours: files, and folders of files, so deep. */
enum { DEPTH = 64 };

static void empty(int parent, const char *name, int depth)
{
    DIR *const dir = depth > 0 ? open_in(parent, name) : NULL;
    const struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        if (is_dots(entry->d_name) ||
            unlinkat(dirfd(dir), entry->d_name, 0) == 0)
            continue;
        empty(dirfd(dir), entry->d_name, depth - 1);
        unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

/* Removes everything but the lock, then the lock, so that an interrupted
 * removal can be continued. */
static void clear(DIR *dir)
{
    const struct dirent *entry;
    bool all = true;

    while ((errno = 0, entry = readdir(dir)) != NULL) {
        if (is_dots(entry->d_name) || strcmp(entry->d_name, LOCK) == 0 ||
            unlinkat(dirfd(dir), entry->d_name, 0) == 0)
            continue;
        empty(dirfd(dir), entry->d_name, DEPTH);
        if (unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) != 0 &&
            errno != ENOENT)
            all = false;
    }
    if (all && errno == 0)
        unlinkat(dirfd(dir), LOCK, 0);
}

/* -- those of the dead ---------------------------------------------------- */

/* NAME-XXXXXX */
static bool is_named(const char *entry, const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789";
    const size_t length = strlen(name);

    return strncmp(entry, name, length) == 0 && entry[length] == '-' &&
           strlen(entry + length + 1) == SUFFIX &&
           strspn(entry + length + 1, letters) == SUFFIX;
}

/* Whether the folder belongs to this user and is closed to all others. */
static bool is_private(int fd)
{
    struct stat found;

    return fstat(fd, &found) == 0 && S_ISDIR(found.st_mode) &&
           found.st_uid == geteuid() && (found.st_mode & 0777) == 0700;
}

/* Whether the lock was made on this machine: in a shared folder, a lock of
 * another machine may look free. */
static bool is_of_this_machine(int fd)
{
    struct stat found;
    struct utsname here;
    char text[sizeof here.nodename + 1];
    ssize_t size;

    if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) ||
        found.st_uid != geteuid() || found.st_nlink != 1 || uname(&here) != 0)
        return false;
    size = pread(fd, text, sizeof text - 1, 0);
    if (size <= 0)
        return false;
    text[size] = '\0';
    return strcmp(text, here.nodename) == 0;
}

/* Removes the folder if its lock can be taken, which means that its owner is
 * dead. */
static void remove_stale(int base, const char *name)
{
    DIR *const dir = open_in(base, name);
    int lock;

    if (dir == NULL)
        return;
    lock = is_private(dirfd(dir))
               ? openat(dirfd(dir), LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
                                              O_CLOEXEC)
               : -1;
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
        is_of_this_machine(lock)) {
        clear(dir);
        unlinkat(base, name, AT_REMOVEDIR);
    }
    if (lock >= 0)
        close(lock);
    closedir(dir);
}

static void remove_all_stale(const char *base, const char *name)
{
    DIR *const dir = opendir(base);
    const struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (is_named(entry->d_name, name))
            remove_stale(dirfd(dir), entry->d_name);
    closedir(dir);
}

/* -- one's own ------------------------------------------------------------ */

/* Creates and takes the lock of a new folder.  Returns its descriptor, or -1:
 * the folder then has no lock and is never removed by others. */
static int take_lock(const char *folder)
{
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
                                     O_CLOEXEC);
    struct utsname here;
    int lock = -1;

    if (dir >= 0 && uname(&here) == 0)
        lock = openat(dir, LOCK_BEGUN, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                      0600);
    if (lock >= 0) {
        const size_t length = strlen(here.nodename);

        if (write(lock, here.nodename, length) != (ssize_t)length ||
            flock(lock, LOCK_EX | LOCK_NB) != 0 ||
            renameat(dir, LOCK_BEGUN, dir, LOCK) != 0) {
            close(lock);
            lock = -1;
        }
    }
    if (dir >= 0)
        close(dir);
    return lock;
}

enum shmtune_status shmt_scratch_make(const char *name,
                                      struct shmt_scratch *out,
                                      struct shmt_error *err)
{
    const char *const set = getenv("TMPDIR");

    return shmt_scratch_make_in(set == NULL || set[0] == '\0' ? "/tmp" : set,
                                name, out, err);
}

enum shmtune_status shmt_scratch_make_in(const char *base, const char *name,
                                         struct shmt_scratch *out,
                                         struct shmt_error *err)
{
    struct shmt_scratch scratch;

    remove_all_stale(base, name);
    errno = ENAMETOOLONG;
    if ((size_t)snprintf(scratch.folder, sizeof scratch.folder, "%s/%s-XXXXXX",
                         base, name) >= sizeof scratch.folder ||
        mkdtemp(scratch.folder) == NULL)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "cannot make a temporary folder %s: %s",
                              scratch.folder, strerror(errno));
    scratch.lock = take_lock(scratch.folder);
    *out = scratch;
    return SHMTUNE_OK;
}

void shmt_scratch_remove(struct shmt_scratch *scratch)
{
    DIR *const dir =
        scratch->folder[0] == '\0' ? NULL : opendir(scratch->folder);

    if (dir != NULL) {
        clear(dir);
        closedir(dir);
        rmdir(scratch->folder);
    }
    if (scratch->folder[0] != '\0' && scratch->lock >= 0)
        close(scratch->lock);
    *scratch = (struct shmt_scratch){.lock = -1};
}
