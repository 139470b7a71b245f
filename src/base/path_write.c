/* SPDX-License-Identifier: MIT */
/*
 * path_write: writes whole files, so that a reader sees either the old or the
 * new one, and removes what killed processes have left on the way; or opens
 * them for a line at their end.  Every system call that a signal interrupted is
 * repeated.
 */
#define _GNU_SOURCE   /* O_PATH */
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEMPORARIES = 1000 };

/* The end of the name of a temporary file. */
#define TEMPORARY ".shmtune.tmp"

int shmt_path_open_end(const char *path)
{
    int fd;

    do
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
                            O_NONBLOCK, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, data, size);

        if (put >= 0) {
            data += put;
            size -= (size_t)put;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* A signal that waited before is not ours to take. */
bool shmt_path_put(int fd, const void *data, size_t size)
{
    static const int deadly[] = {SIGPIPE, SIGXFSZ};
    const struct timespec at_once = {0};
    sigset_t ours, before, waiting;
    bool done;
    int code;

    sigemptyset(&ours);
    sigemptyset(&waiting);
    sigpending(&waiting);
    for (size_t k = 0; k < sizeof deadly / sizeof deadly[0]; k++)
        if (!sigismember(&waiting, deadly[k]))
            sigaddset(&ours, deadly[k]);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    done = write_all(fd, data, size);
    code = errno;
    while (!done && (sigtimedwait(&ours, NULL, &at_once) > 0 ||
                     errno == EINTR))
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return done;
}

bool shmt_path_sync(int fd)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL;
}

/* -- temporary files ------------------------------------------------------ */

/* A file on its way to be put in the place of another.  Its process holds a
 * lock on it until it has its name, so one that can be locked is of a process
 * that was killed. */
struct temporary {
    const char *path;       /* of what it will replace, */
    const char *target;     /* and the last component of it */
    const char *name;       /* in the folder */
    int folder, fd, lock;   /* `lock` is a second descriptor of the file */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Takes the lock of a new file.  False when another process, which looks for
 * files of the dead, was faster.  Without locks in the file system no process
 * finds one free. */
static bool lock_temporary(int fd)
{
    struct stat about;

    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
           (fstat(fd, &about) != 0 || about.st_nlink > 0);
}

/* Removes a temporary file if nobody holds its lock. */
static void remove_if_stale(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
                                            O_NOCTTY | O_CLOEXEC);
    struct stat about, named;

    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        same_file(&about, &named))
        unlinkat(folder, name, 0);
    close(fd);
}

static bool is_temporary(const char *name)
{
    return name[0] == '.' && shmt_text_ends(name, TEMPORARY);
}

/* Once for a folder, or each file that is written would cost as much as there
 * are files: only the last folder is remembered. */
static bool is_first_in(int folder)
{
    static _Atomic uint64_t last;
    struct stat about;
    uint64_t now;

    if (fstat(folder, &about) != 0)
        return false;
    now = (uint64_t)about.st_dev * UINT64_C(0x9e3779b97f4a7c15) ^
          (uint64_t)about.st_ino;
    return atomic_exchange(&last, now) != now;
}

/* The temporary files that killed processes have left in the folder. */
static void remove_stale(int folder)
{
    int fd;
    DIR *stream;
    const struct dirent *entry;

    if (!is_first_in(folder))
        return;
    fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(stream)) != NULL)
        if (is_temporary(entry->d_name))
            remove_if_stale(folder, entry->d_name);
    closedir(stream);
}

/* Opens the file.  Its name is hidden and has another suffix, so that no list
 * shows it. */
static bool open_temporary(struct shmt_arena *arena, mode_t mode,
                           struct temporary *temporary)
{
    struct shmt_text text = {0};
    int fd = -1;

    for (int k = 0; k < TEMPORARIES && fd < 0; k++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, ".%.200s.%ld-%d" TEMPORARY, temporary->target,
                       (long)getpid(), k);
        if (text.failed) {
            errno = ENOMEM;
            break;
        }
        fd = openat(temporary->folder, text.data,
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
        if (fd >= 0 && !lock_temporary(fd)) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0) {
        temporary->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        temporary->name = shmt_arena_copy(arena, text.data, text.length);
        if (temporary->lock < 0 || temporary->name == NULL) {
            const int code = temporary->name == NULL ? ENOMEM : errno;

            unlinkat(temporary->folder, text.data, 0);
            close(fd);
            if (temporary->lock >= 0)
                close(temporary->lock);
            fd = -1;
            errno = code;
        }
    }
    shmt_text_free(&text);
    temporary->fd = fd;
    return fd >= 0;
}

/* -- writing -------------------------------------------------------------- */

/* Makes the new name survive a loss of power.  A failure is ignored: some file
 * systems cannot do it, and the file is already in place. */
static void sync_folder(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    shmt_path_sync(fd);
    close(fd);
}

/* Terminals and pipes keep nothing, so there is no file to replace: they are
 * written to directly. */
static bool is_stream(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 &&
           (S_ISCHR(about.st_mode) || S_ISFIFO(about.st_mode));
}

static enum shmtune_status write_stream(const char *path, const void *data,
                                        size_t size, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    int fd;

    do
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return shmt_error_system(err, path, "cannot be opened");
    if (!write_all(fd, data, size))
        status = shmt_error_system(err, path, "cannot be written");
    close(fd);
    return status;
}

/* With the permissions of what it will replace. */
static void keep_permissions(const struct temporary *temporary)
{
    struct stat about;

    /* Some file systems do not let us change permissions; that is no
     * failure. */
    if (fstatat(temporary->folder, temporary->target, &about, 0) == 0)
        (void)!fchmod(temporary->fd, about.st_mode & 0777);
}

/* Writes the file and gives it its name.  With `private_file`, which no user
 * has asked for, it is not synchronised to the disk, and a limit of the process
 * does not end that.  *gone: somebody has removed it meanwhile. */
static enum shmtune_status fill(struct temporary *temporary, const void *data,
                                size_t size, bool private_file, bool *gone,
                                struct shmt_error *err)
{
    const char *path = temporary->path;
    enum shmtune_status status = SHMTUNE_OK;
    const bool written =
        private_file ? shmt_path_put(temporary->fd, data, size)
                     : write_all(temporary->fd, data, size) &&
                           shmt_path_sync(temporary->fd);

    if (!written)
        status = shmt_error_system(err, path, "cannot be written");
    if (close(temporary->fd) != 0 && written)
        status = shmt_error_system(err, path, "cannot be written");
    if (status == SHMTUNE_OK &&
        renameat(temporary->folder, temporary->name, temporary->folder,
                 temporary->target) != 0) {
        *gone = errno == ENOENT;
        status = shmt_error_system(err, path, "cannot be replaced");
    }
    if (status != SHMTUNE_OK)
        unlinkat(temporary->folder, temporary->name, 0);
    else if (!private_file)
        sync_folder(temporary->folder);
    close(temporary->lock);
    return status;
}

/* In the open folder.  With `private_file` the file is readable by its owner
 * alone (0600) and is not synchronised to the disk. */
static enum shmtune_status replace(int folder, const char *path,
                                   const void *data, size_t size,
                                   bool private_file, struct shmt_error *err)
{
    enum shmtune_status status;
    struct shmt_arena *arena = shmt_arena_new();
    struct temporary temporary = {.path = path, .folder = folder};
    bool gone = true;

    if (arena == NULL)
        return shmt_error_memory(err);
    temporary.target = shmt_path_stem(arena, path, "");
    status = temporary.target == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
    if (status == SHMTUNE_OK)
        remove_stale(folder);
    /* Where its lock could not be taken, another process may take it for a
     * file of the dead; not twice. */
    for (int k = 0; temporary.target != NULL && gone && k < 2; k++) {
        gone = false;
        if (!open_temporary(arena, private_file ? 0600 : 0666, &temporary)) {
            status = shmt_error_system(
                err, path, "no temporary file can be created beside");
            break;
        }
        if (!private_file)
            keep_permissions(&temporary);
        status = fill(&temporary, data, size, private_file, &gone, err);
    }
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_path_write(const char *path, const void *data,
                                    size_t size, struct shmt_error *err)
{
    struct shmt_arena *arena;
    const char *name;
    enum shmtune_status status;
    int folder;

    if (is_stream(path))
        return write_stream(path, data, size, err);
    arena = shmt_arena_new();
    name = arena == NULL ? NULL : shmt_path_folder(arena, path);
    folder = name == NULL ? -1 : open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (name == NULL)
        status = shmt_error_memory(err);
    else if (folder < 0)
        status = shmt_error_system(err, path,
                                   "no temporary file can be created beside");
    else
        status = replace(folder, path, data, size, false, err);
    if (folder >= 0)
        close(folder);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_path_put_away(const char *path,
                                       struct shmt_text *old,
                                       struct shmt_error *err)
{
    enum shmt_path_kind kind = SHMT_PATH_FILE;
    enum shmtune_status status = SHMTUNE_OK;

    for (int k = 1; kind != SHMT_PATH_ABSENT && kind != SHMT_PATH_UNKNOWN;
         k++) {
        shmt_text_clear(old);
        shmt_text_addf(old, "%s.old", path);
        if (k > 1)
            shmt_text_addf(old, ".%d", k);
        if (old->failed)
            return shmt_error_memory(err);
        kind = shmt_path_kind(old->data);
    }
    if (kind == SHMT_PATH_UNKNOWN)
        status = shmt_error_system(err, old->data, "cannot be examined");
    else if (rename(path, old->data) != 0)
        status = errno == ENOENT
                     ? shmt_error_set(err, SHMTUNE_NOT_FOUND,
                                      "%s: there is no such file", path)
                     : shmt_error_set(err, SHMTUNE_STORAGE,
                                      "%s: cannot rename to %s: %s", path,
                                      old->data, strerror(errno));
    if (status != SHMTUNE_OK)
        shmt_text_clear(old);
    return status;
}

enum shmtune_status shmt_path_write_private(int folder, const char *path,
                                            const void *data, size_t size,
                                            struct shmt_error *err)
{
    return replace(folder, path, data, size, true, err);
}
