/* SPDX-License-Identifier: MIT */
/*
 * path: reads and writes whole files, lists the names in a folder, and says
 * where a user's own folders are (XDG base directory specification).  Every
 * system call that a signal interrupted is repeated.
 */
#define _GNU_SOURCE   /* O_PATH */
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

enum { TEMPORARIES = 1000 };

/* The end of the name of a temporary file. */
#define TEMPORARY ".shmtune.tmp"

static enum shmtune_status fail(struct shmt_error *err, const char *path,
                                const char *what)
{
    const int code = errno;

    if (code == ENOMEM)
        return shmt_error_memory(err);
    return shmt_error_set(err, SHMTUNE_STORAGE, "%s: %s: %s", path, what,
                          strerror(code));
}

static enum shmtune_status refuse_to_open(struct shmt_error *err,
                                          const char *path)
{
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    const enum shmtune_status status = fail(err, path, "cannot be opened");

    if (!absent)
        return status;
    if (err != NULL)
        err->status = SHMTUNE_NOT_FOUND;
    return SHMTUNE_NOT_FOUND;
}

/* Reads until the end of the file or until `size` bytes are there.  Returns
 * their number, or -1 with errno.  A short read after `expected` bytes is
 * taken for the end of the file, which saves one system call. */
static ssize_t read_all(int fd, char *data, size_t size, size_t expected)
{
    size_t used = 0;

    while (used < size) {
        const ssize_t got = read(fd, data + used, size - used);

        if (got > 0)
            used += (size_t)got;
        else if (got < 0 && errno != EINTR)
            return -1;
        if (got == 0 || used == expected)
            break;
    }
    return (ssize_t)used;
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

static bool sync_all(int fd)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

/* The bytes of an open file.  The size that fstat gave is only a hint: the
 * file may grow while it is read, and files in /proc report a size of 0. */
static enum shmtune_status read_open(struct shmt_arena *arena, int fd,
                                     size_t expected, size_t limit,
                                     const char **data, size_t *size)
{
    char *bytes = NULL;
    /* One byte more than the file has, so that the end is seen without a
     * second read. */
    size_t used = 0, room = expected + 1;

    for (;;) {
        char *more = shmt_arena_alloc_raw(arena, room + 1);
        ssize_t got;

        if (more == NULL) {
            errno = ENOMEM;
            return SHMTUNE_NO_MEMORY;
        }
        if (used > 0)
            memcpy(more, bytes, used);
        bytes = more;
        got = read_all(fd, bytes + used, room - used, expected);
        if (got < 0)
            return SHMTUNE_STORAGE;
        used += (size_t)got;
        if (used < room || used > limit)
            break;
        room = room < limit / 2 ? room * 2 : limit + 1;
    }
    bytes[used] = '\0';
    *data = bytes;
    *size = used;
    return SHMTUNE_OK;
}

static enum shmtune_status refuse_size(struct shmt_error *err,
                                       const char *path, size_t limit)
{
    return shmt_error_set(err, SHMTUNE_STORAGE, "%s: found more than %zu "
                          "bytes, expected at most that", path, limit);
}

/* `name` is that of `path` in the open folder `folder`. */
static enum shmtune_status open_at(int folder, const char *name,
                                   const char *path, int flags, int *fd,
                                   size_t *size, struct shmt_error *err)
{
    enum shmtune_status status;
    struct stat about;
    int opened;

    /* A pipe without a writer would block the open. */
    do
        opened = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                          O_NOCTTY | flags);
    while (opened < 0 && errno == EINTR);
    if (opened < 0)
        return refuse_to_open(err, path);
    if (fstat(opened, &about) != 0) {
        status = fail(err, path, "cannot be examined");
    } else if (!S_ISREG(about.st_mode)) {
        status = shmt_error_set(err, SHMTUNE_STORAGE, "%s: found a %s, "
                                "expected a regular file", path,
                                S_ISDIR(about.st_mode) ? "folder"
                                                       : "device or pipe");
    } else {
        *fd = opened;
        *size = (size_t)about.st_size;
        return SHMTUNE_OK;
    }
    close(opened);
    return status;
}

enum shmtune_status shmt_path_open(const char *path, int *fd, size_t *size,
                                   struct shmt_error *err)
{
    return open_at(AT_FDCWD, path, path, 0, fd, size, err);
}

/* Closes `fd`, of a file of `expected` bytes, in any case. */
static enum shmtune_status read_and_close(struct shmt_arena *arena, int fd,
                                          const char *path, size_t expected,
                                          size_t limit, const char **data,
                                          size_t *size,
                                          struct shmt_error *err)
{
    const char *bytes = NULL;
    size_t count = 0;
    enum shmtune_status status = SHMTUNE_OK;

    if (expected > limit) {
        status = refuse_size(err, path, limit);
        goto done;
    }
    status = read_open(arena, fd, expected, limit, &bytes, &count);
    if (status != SHMTUNE_OK)
        status = fail(err, path, "cannot be read");
    else if (count > limit)
        status = refuse_size(err, path, limit);
    if (status == SHMTUNE_OK) {
        *data = bytes;
        *size = count;
    }
done:
    close(fd);
    return status;
}

enum shmtune_status shmt_path_read(struct shmt_arena *arena, const char *path,
                                   size_t limit, const char **data,
                                   size_t *size, struct shmt_error *err)
{
    size_t expected;
    int fd;
    enum shmtune_status status = shmt_path_open(path, &fd, &expected, err);

    return status != SHMTUNE_OK
               ? status
               : read_and_close(arena, fd, path, expected, limit, data, size,
                                err);
}

enum shmtune_status shmt_path_read_private(struct shmt_arena *arena,
                                           int folder, const char *path,
                                           size_t limit, const char **data,
                                           size_t *size,
                                           struct shmt_error *err)
{
    const char *name = shmt_path_stem(arena, path, "");
    size_t expected;
    int fd;
    enum shmtune_status status =
        name == NULL ? shmt_error_memory(err)
                     : open_at(folder, name, path, O_NOFOLLOW, &fd, &expected,
                               err);

    if (status != SHMTUNE_OK)
        return status;
    status = shmt_path_check_private(fd, path, err);
    if (status != SHMTUNE_OK) {
        close(fd);
        return status;
    }
    return read_and_close(arena, fd, path, expected, limit, data, size, err);
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
           fstat(fd, &about) == 0 && about.st_nlink > 0;
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
    const size_t length = strlen(name), tail = sizeof TEMPORARY - 1;

    return name[0] == '.' && length > tail &&
           strcmp(name + length - tail, TEMPORARY) == 0;
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
    sync_all(fd);
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
        return fail(err, path, "cannot be opened");
    if (!write_all(fd, data, size))
        status = fail(err, path, "cannot be written");
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

/* Writes the file and gives it its name.  With `private_file` it is not
 * synchronised to the disk. */
static enum shmtune_status fill(struct temporary *temporary, const void *data,
                                size_t size, bool private_file,
                                struct shmt_error *err)
{
    const char *path = temporary->path;
    enum shmtune_status status = SHMTUNE_OK;
    const bool written = write_all(temporary->fd, data, size) &&
                         (private_file || sync_all(temporary->fd));

    if (!written)
        status = fail(err, path, "cannot be written");
    if (close(temporary->fd) != 0 && written)
        status = fail(err, path, "cannot be written");
    if (status == SHMTUNE_OK &&
        renameat(temporary->folder, temporary->name, temporary->folder,
                 temporary->target) != 0)
        status = fail(err, path, "cannot be replaced");
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

    if (arena == NULL)
        return shmt_error_memory(err);
    temporary.target = shmt_path_stem(arena, path, "");
    if (temporary.target == NULL) {
        status = shmt_error_memory(err);
        goto done;
    }
    remove_stale(folder);
    if (!open_temporary(arena, private_file ? 0600 : 0666, &temporary)) {
        status = fail(err, path, "no temporary file can be created beside");
        goto done;
    }
    if (!private_file)
        keep_permissions(&temporary);
    status = fill(&temporary, data, size, private_file, err);
done:
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
        status = fail(err, path, "no temporary file can be created beside");
    else
        status = replace(folder, path, data, size, false, err);
    if (folder >= 0)
        close(folder);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_path_write_private(int folder, const char *path,
                                            const void *data, size_t size,
                                            struct shmt_error *err)
{
    return replace(folder, path, data, size, true, err);
}

enum shmtune_status shmt_path_make_folder(const char *path, unsigned mode,
                                          struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const size_t length = strlen(path);
    char *part;

    if (shmt_path_is_folder(path))
        return SHMTUNE_OK;
    part = malloc(length + 1);
    if (part == NULL)
        return shmt_error_memory(err);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length && status == SHMTUNE_OK; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, (mode_t)mode) != 0 && errno != EEXIST
            && !shmt_path_is_folder(part))
            status = fail(err, part, "folder cannot be created");
        part[i] = path[i];
    }
    if (status == SHMTUNE_OK && !shmt_path_is_folder(path))
        status = shmt_error_set(err, SHMTUNE_STORAGE, "%s: found a file, "
                                "expected a folder", path);
    free(part);
    return status;
}

const char *shmt_path_join(struct shmt_arena *arena, const char *folder,
                           const char *name)
{
    const size_t first = strlen(folder), second = strlen(name);
    const bool slash = first > 0 && folder[first - 1] != '/';
    char *path;

    if (name[0] == '/' || first == 0)
        return shmt_arena_copy(arena, name, second);
    path = shmt_arena_alloc(arena, first + second + 2, 1);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, first);
    if (slash)
        path[first] = '/';
    memcpy(path + first + slash, name, second);
    return path;
}

const char *shmt_path_absolute(struct shmt_arena *arena, const char *path)
{
    char here[4096];

    if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
        return shmt_arena_copy(arena, path, strlen(path));
    return shmt_path_join(arena, here, path);
}

/* The last component is [*begin, *end); slashes at the end do not count. */
static void last_component(const char *path, size_t *begin, size_t *end)
{
    *end = strlen(path);
    while (*end > 1 && path[*end - 1] == '/')
        (*end)--;
    *begin = *end;
    while (*begin > 0 && path[*begin - 1] != '/')
        (*begin)--;
}

const char *shmt_path_folder(struct shmt_arena *arena, const char *path)
{
    size_t begin, end;

    last_component(path, &begin, &end);
    if (begin == 0)
        return shmt_arena_copy(arena, ".", 1);
    while (begin > 1 && path[begin - 1] == '/')
        begin--;
    return shmt_arena_copy(arena, path, begin);
}

const char *shmt_path_stem(struct shmt_arena *arena, const char *path,
                           const char *suffix)
{
    const size_t length = strlen(suffix);
    size_t begin, end;

    last_component(path, &begin, &end);
    if (end - begin > length
        && memcmp(path + end - length, suffix, length) == 0)
        end -= length;
    return shmt_arena_copy(arena, path + begin, end - begin);
}

bool shmt_path_exists(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0;
}

static bool is_kind(const char *path, mode_t kind)
{
    const int code = errno;
    struct stat about;
    const bool is = stat(path, &about) == 0 &&
                    (about.st_mode & S_IFMT) == kind;

    errno = code;
    return is;
}

bool shmt_path_is_folder(const char *path)
{
    return is_kind(path, S_IFDIR);
}

bool shmt_path_is_file(const char *path)
{
    return is_kind(path, S_IFREG);
}

bool shmt_path_is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool wanted(const char *name, const char *suffix)
{
    const size_t length = strlen(name), tail = strlen(suffix);

    return name[0] != '.' && length > tail
           && strcmp(name + length - tail, suffix) == 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

enum shmtune_status shmt_path_list(struct shmt_arena *arena,
                                   const char *folder, const char *suffix,
                                   const char *const **names, size_t *count,
                                   struct shmt_error *err)
{
    const char **found = NULL;
    size_t found_count = 0, room = 0;
    enum shmtune_status status = SHMTUNE_OK;
    const struct dirent *entry;
    DIR *stream = opendir(folder);

    if (stream == NULL)
        return shmt_error_set(err,
                              errno == ENOENT ? SHMTUNE_NOT_FOUND
                                              : SHMTUNE_STORAGE,
                              "%s: folder cannot be opened: %s", folder,
                              strerror(errno));
    while (status == SHMTUNE_OK &&
           (errno = 0, entry = readdir(stream)) != NULL)
        if (wanted(entry->d_name, suffix) &&
            (!shmt_array_reserve(&found, &room, found_count + 1,
                                 sizeof *found) ||
             (found[found_count++] = shmt_arena_copy(
                  arena, entry->d_name, strlen(entry->d_name))) == NULL))
            status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && errno != 0)
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "%s: folder cannot be read: %s", folder,
                                strerror(errno));
    closedir(stream);
    if (status == SHMTUNE_OK) {
        if (found_count > 0)
            qsort(found, found_count, sizeof *found, compare_names);
        *names = shmt_arena_copy(arena, found, found_count * sizeof *found);
        *count = found_count;
        if (*names == NULL)
            status = shmt_error_memory(err);
    }
    free(found);
    return status;
}

/* A relative folder in the variable is ignored, as the XDG base directory
 * specification demands. */
static const char *user_folder(struct shmt_arena *arena, const char *variable,
                               const char *below_home)
{
    const char *base = getenv(variable);
    const char *home = getenv("HOME");

    if (base == NULL || base[0] != '/') {
        if (home == NULL || home[0] != '/')
            return NULL;
        base = shmt_path_join(arena, home, below_home);
    }
    return base == NULL ? NULL : shmt_path_join(arena, base, "shmtune");
}

const char *shmt_path_cache(struct shmt_arena *arena)
{
    return user_folder(arena, "XDG_CACHE_HOME", ".cache");
}

const char *shmt_path_cache_binaries(struct shmt_arena *arena)
{
    const char *cache = shmt_path_cache(arena);

    return cache == NULL ? NULL : shmt_path_join(arena, cache, "cubin");
}

const char *shmt_path_user_data(struct shmt_arena *arena)
{
    return user_folder(arena, "XDG_DATA_HOME", ".local/share");
}
