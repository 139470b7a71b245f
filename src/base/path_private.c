/* SPDX-License-Identifier: MIT */
/*
 * path_private: opens folders and files that no other user can have changed.
 * Called for the cache of binaries, which run with the rights of the process.
 *
 * Everything is opened first and examined afterwards, through the descriptor:
 * nobody can replace it in between.  A path is walked from the root, folder
 * by folder, and symbolic links are followed here, because the kernel would
 * follow them through folders that were not examined.
 */
#define _GNU_SOURCE   /* O_PATH */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LINKS = 40 };

/* The way through the folders: `folder` is open, `rest` remains. */
struct walk {
    const char *path;       /* of the whole way, for messages */
    struct shmt_error *err;
    bool make;              /* folders that are absent */
    int folder;             /* -1: none is open */
    int links;              /* that were followed */
    char rest[2 * PATH_BYTES];
};

static enum shmtune_status refuse(const struct walk *walk, int code)
{
    const bool absent = code == ENOENT || code == ENOTDIR;

    return shmt_error_set(walk->err,
                          absent ? SHMTUNE_NOT_FOUND : SHMTUNE_STORAGE,
                          "%s: folder cannot be opened: %s", walk->path,
                          strerror(code));
}

static bool is_owner_trusted(const struct stat *about)
{
    return about->st_uid == geteuid() || about->st_uid == 0;
}

static bool is_writable_by_others(const struct stat *about)
{
    return (about->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* `name` is that of a folder, file or link; `what` it is. */
static enum shmtune_status distrust(struct shmt_error *err, const char *path,
                                    const char *what, const char *name,
                                    const struct stat *about)
{
    const bool shared = S_ISDIR(about->st_mode) &&
                        (about->st_mode & S_ISVTX) != 0;

    return shmt_error_set(
        err, SHMTUNE_STORAGE, "%s is not used: the %s %.256s is user %ld's "
        "with mode 0%o, and has to be user %ld's or root's with no right for "
        "others to write; %s", path, what, name,
        (long)about->st_uid, (unsigned)about->st_mode & 07777,
        (long)geteuid(),
        shared ? "name a folder of your own in it, or chmod go-w it"
               : "chown or chmod go-w it");
}

/* In a folder with the sticky bit, such as /tmp, others can add names, but
 * neither rename nor remove ours.  The last folder may not be such a one. */
static enum shmtune_status check_folder(const struct walk *walk,
                                        const char *name,
                                        const struct stat *about)
{
    const bool last = walk->rest[strspn(walk->rest, "/")] == '\0';
    const bool sticky = (about->st_mode & S_ISVTX) != 0;

    return is_owner_trusted(about) &&
                   (!is_writable_by_others(about) || (sticky && !last))
               ? SHMTUNE_OK
               : distrust(walk->err, walk->path, "folder", name, about);
}

/* Becomes the owner of `fd`. */
static void move_to(struct walk *walk, int fd)
{
    if (walk->folder >= 0)
        close(walk->folder);
    walk->folder = fd;
}

static enum shmtune_status go_to_root(struct walk *walk)
{
    const int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat about;

    if (fd < 0 || fstat(fd, &about) != 0)
        return refuse(walk, errno);
    move_to(walk, fd);
    return check_folder(walk, "/", &about);
}

/* Puts what the link says in front of the rest. */
static enum shmtune_status follow(struct walk *walk, int link,
                                  const char *name, const struct stat *about)
{
    char text[PATH_BYTES];
    const size_t left = strlen(walk->rest);
    ssize_t length;

    if (!is_owner_trusted(about))
        return distrust(walk->err, walk->path, "link", name, about);
    length = readlinkat(link, "", text, sizeof text);
    if (length <= 0)
        return refuse(walk, length == 0 ? ENOENT : errno);
    if (++walk->links > LINKS)
        return refuse(walk, ELOOP);
    if ((size_t)length == sizeof text ||
        (size_t)length + left + 2 > sizeof walk->rest)
        return refuse(walk, ENAMETOOLONG);
    memmove(walk->rest + length + 1, walk->rest, left + 1);
    memcpy(walk->rest, text, (size_t)length);
    walk->rest[length] = '/';
    return text[0] == '/' ? go_to_root(walk) : SHMTUNE_OK;
}

static int open_component(const struct walk *walk, const char *name)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(walk->folder, name, flags);

    if (fd < 0 && errno == ENOENT && walk->make &&
        (mkdirat(walk->folder, name, 0700) == 0 || errno == EEXIST))
        fd = openat(walk->folder, name, flags);
    return fd;
}

/* One component of the rest, of `length` bytes at `from`. */
static enum shmtune_status step(struct walk *walk, size_t from, size_t length)
{
    enum shmtune_status status = SHMTUNE_OK;
    char name[PATH_BYTES];
    struct stat about;
    int fd;

    if (length >= sizeof name)
        return refuse(walk, ENAMETOOLONG);
    memcpy(name, walk->rest + from, length);
    name[length] = '\0';
    memmove(walk->rest, walk->rest + from + length,
            strlen(walk->rest + from + length) + 1);
    fd = open_component(walk, name);
    if (fd < 0)
        return refuse(walk, errno);
    if (fstat(fd, &about) != 0)
        status = refuse(walk, errno);
    else if (S_ISLNK(about.st_mode))
        status = follow(walk, fd, name, &about);
    else if (!S_ISDIR(about.st_mode))
        status = refuse(walk, ENOTDIR);
    else
        status = check_folder(walk, name, &about);
    if (status == SHMTUNE_OK && S_ISDIR(about.st_mode))
        move_to(walk, fd);
    else
        close(fd);
    return status;
}

enum shmtune_status shmt_path_open_private(const char *path, bool make,
                                           int *folder,
                                           struct shmt_error *err)
{
    struct walk walk = {.path = path, .err = err, .make = make, .folder = -1};
    enum shmtune_status status;

    if (path[0] != '/')
        return refuse(&walk, EINVAL);
    if (strlen(path) >= PATH_BYTES)
        return refuse(&walk, ENAMETOOLONG);
    memcpy(walk.rest, path, strlen(path) + 1);
    status = go_to_root(&walk);
    while (status == SHMTUNE_OK) {
        const size_t from = strspn(walk.rest, "/");

        if (walk.rest[from] == '\0')
            break;
        status = step(&walk, from, strcspn(walk.rest + from, "/"));
    }
    if (status == SHMTUNE_OK)
        *folder = walk.folder;
    else if (walk.folder >= 0)
        close(walk.folder);
    return status;
}

enum shmtune_status shmt_path_check_private(int fd, const char *path,
                                            struct shmt_error *err)
{
    struct stat about;

    if (fstat(fd, &about) != 0)
        return shmt_error_system(err, path, "cannot be examined");
    return is_owner_trusted(&about) && !is_writable_by_others(&about)
               ? SHMTUNE_OK
               : distrust(err, path, "file", path, &about);
}
