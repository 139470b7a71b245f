/* SPDX-License-Identifier: MIT */
/*
 * path: reads whole files, lists the names in a folder, and says where a
 * user's own folders are (XDG base directory specification).  Every system
 * call that a signal interrupted is repeated.
 */
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pack.h"

static enum shmtune_status refuse_to_open(struct shmt_error *err,
                                          const char *path, const char *what)
{
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    const enum shmtune_status status =
        shmt_error_system(err, path, what);

    if (!absent)
        return status;
    if (err != NULL)
        err->status = SHMTUNE_NOT_FOUND;
    return SHMTUNE_NOT_FOUND;
}

ssize_t shmt_path_read_part(int fd, void *data, size_t size)
{
    ssize_t got;

    do
        got = read(fd, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Reads until the end of the file or until `size` bytes are there.  Returns
 * their number, or -1 with errno.  A short read after `expected` bytes is
 * taken for the end of the file, which saves one system call. */
static ssize_t read_all(int fd, char *data, size_t size, size_t expected)
{
    size_t used = 0;

    while (used < size) {
        const ssize_t got = shmt_path_read_part(fd, data + used, size - used);

        if (got < 0)
            return -1;
        used += (size_t)got;
        if (got == 0 || used == expected)
            break;
    }
    return (ssize_t)used;
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
        return refuse_to_open(err, path, "cannot be opened");
    if (fstat(opened, &about) != 0) {
        status = shmt_error_system(err, path, "cannot be examined");
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
        status = shmt_error_system(err, path, "cannot be read");
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
    struct shmt_pack_place place;
    size_t expected;
    int fd;
    enum shmtune_status status;

    if (shmt_pack_find(path, &place))
        return shmt_pack_read(arena, &place, path, limit, data, size, err);
    status = shmt_path_open(path, &fd, &expected, err);
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

static enum shmtune_status expect_folder(const char *path,
                                         struct shmt_error *err)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return shmt_error_system(err, path, "cannot be examined");
    return S_ISDIR(about.st_mode)
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_STORAGE, "%s: found a file, "
                                "expected a folder", path);
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
            status = shmt_error_system(err, part, "folder cannot be created");
        part[i] = path[i];
    }
    free(part);
    return status == SHMTUNE_OK ? expect_folder(path, err) : status;
}

const char *shmt_path_join(struct shmt_arena *arena, const char *folder,
                           const char *name)
{
    const size_t first = strlen(folder), second = strlen(name);
    const bool slash = first > 0 && folder[first - 1] != '/';
    struct shmt_pack_place place;
    char *path;

    if (first == 0 || (name[0] == '/' && !shmt_pack_find(folder, &place)))
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

/* What is behind the "./" and "../" that a path begins with.  The path of the
 * current folder has no links, so each "../" takes a folder from its end. */
static const char *climb(char *here, const char *path)
{
    for (;;) {
        const size_t dots = strspn(path, ".");
        char *last;

        if (dots == 0 || dots > 2 || (path[dots] != '/' && path[dots] != '\0'))
            return path;
        path += dots + strspn(path + dots, "/");
        last = strrchr(here, '/');
        if (dots == 2)
            last[last == here] = '\0';    /* the root's own slash stays */
    }
}

const char *shmt_path_absolute(struct shmt_arena *arena, const char *path)
{
    struct shmt_pack_place place;
    char here[4096];
    const char *rest;

    if (path[0] == '/' || path[0] == '\0' || shmt_pack_find(path, &place) ||
        getcwd(here, sizeof here) == NULL || here[0] != '/')
        return shmt_arena_copy(arena, path, strlen(path));
    rest = climb(here, path);
    return rest[0] == '\0' ? shmt_arena_copy(arena, here, strlen(here))
                           : shmt_path_join(arena, here, rest);
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

static enum shmt_path_kind kind_in_pack(const struct shmt_pack_place *place)
{
    if (shmt_pack_has_file(place))
        return SHMT_PATH_FILE;
    if (shmt_pack_has_folder(place))
        return SHMT_PATH_FOLDER;
    errno = ENOENT;
    return SHMT_PATH_ABSENT;
}

enum shmt_path_kind shmt_path_kind(const char *path)
{
    struct shmt_pack_place place;
    struct stat about;

    if (shmt_pack_find(path, &place))
        return kind_in_pack(&place);
    if (stat(path, &about) != 0)
        return errno == ENOENT || errno == ENOTDIR ? SHMT_PATH_ABSENT
                                                   : SHMT_PATH_UNKNOWN;
    return S_ISREG(about.st_mode)   ? SHMT_PATH_FILE
           : S_ISDIR(about.st_mode) ? SHMT_PATH_FOLDER
                                    : SHMT_PATH_OTHER;
}

bool shmt_path_exists(const char *path)
{
    const enum shmt_path_kind kind = shmt_path_kind(path);

    return kind != SHMT_PATH_ABSENT && kind != SHMT_PATH_UNKNOWN;
}

bool shmt_path_is_absent(const char *path)
{
    return shmt_path_kind(path) == SHMT_PATH_ABSENT;
}

static bool is_kind(const char *path, enum shmt_path_kind kind)
{
    const int code = errno;
    const bool is = shmt_path_kind(path) == kind;

    errno = code;
    return is;
}

bool shmt_path_is_folder(const char *path)
{
    return is_kind(path, SHMT_PATH_FOLDER);
}

bool shmt_path_is_file(const char *path)
{
    return is_kind(path, SHMT_PATH_FILE);
}

bool shmt_path_is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The folder of the path, and its last name; NULL: there is no such folder. */
static const char *place(const char *path, uint64_t folder[2])
{
    const char *const slash = strrchr(path, '/');
    char text[PATH_MAX];
    struct stat found;
    const size_t length = slash == NULL ? 1 : (size_t)(slash - path) + 1;

    if (length >= sizeof text)
        return NULL;
    memcpy(text, slash == NULL ? "." : path, length);
    text[length] = '\0';
    if (stat(text, &found) != 0)
        return NULL;
    folder[0] = (uint64_t)found.st_dev;
    folder[1] = (uint64_t)found.st_ino;
    return slash == NULL ? path : slash + 1;
}

uint64_t shmt_path_place(const char *path)
{
    uint64_t folder[2];
    const char *const name = place(path, folder);

    return name == NULL
               ? 0 : shmt_map_hash(shmt_map_hash_bytes(folder, sizeof folder),
                                   shmt_map_hash_bytes(name, strlen(name))) | 1;
}

bool shmt_path_is_same_place(const char *one, const char *other)
{
    uint64_t a[2], b[2];
    const char *const name = place(one, a), *const second = place(other, b);

    return name != NULL && second != NULL && strcmp(name, second) == 0 &&
           a[0] == b[0] && a[1] == b[1];
}

/* The names of a folder, while they are met. */
struct listing {
    struct shmt_arena *arena;
    const char *suffix;
    const char **names;
    size_t count, room;
};

static bool wanted(const char *name, size_t length, const char *suffix)
{
    const size_t tail = strlen(suffix);

    return name[0] != '.' && length > tail
           && memcmp(name + length - tail, suffix, tail) == 0;
}

/* False: there is no memory. */
static bool add_name(void *context, const char *name, size_t length)
{
    struct listing *const list = context;

    if (!wanted(name, length, list->suffix))
        return true;
    return shmt_array_reserve(&list->names, &list->room, list->count + 1,
                              sizeof *list->names) &&
           (list->names[list->count++] =
                shmt_arena_copy(list->arena, name, length)) != NULL;
}

static enum shmtune_status list_folder(const char *folder,
                                       struct listing *list,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const struct dirent *entry;
    DIR *stream = opendir(folder);

    if (stream == NULL)
        return refuse_to_open(err, folder, "folder cannot be opened");
    while (status == SHMTUNE_OK &&
           (errno = 0, entry = readdir(stream)) != NULL)
        if (!add_name(list, entry->d_name, strlen(entry->d_name)))
            status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && errno != 0)
        status = shmt_error_system(err, folder, "folder cannot be read");
    closedir(stream);
    return status;
}

static enum shmtune_status list_pack(const struct shmt_pack_place *place,
                                     const char *folder, struct listing *list,
                                     struct shmt_error *err)
{
    if (!shmt_pack_has_folder(place))
        return shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s: the pack has no "
                              "such folder", folder);
    return shmt_pack_list(place, add_name, list) ? SHMTUNE_OK
                                                 : shmt_error_memory(err);
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
    struct listing list = {.arena = arena, .suffix = suffix};
    struct shmt_pack_place place;
    enum shmtune_status status = shmt_pack_find(folder, &place)
                                     ? list_pack(&place, folder, &list, err)
                                     : list_folder(folder, &list, err);

    if (status == SHMTUNE_OK) {
        if (list.count > 0)
            qsort(list.names, list.count, sizeof *list.names, compare_names);
        *names = shmt_arena_copy(arena, list.names,
                                 list.count * sizeof *list.names);
        *count = list.count;
        if (*names == NULL)
            status = shmt_error_memory(err);
    }
    free(list.names);
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
