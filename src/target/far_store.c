/* SPDX-License-Identifier: MIT */
/*
 * far_store: see far_store.h.  A file is written under a name of this process,
 * and gets that of its digest when its content is the digest's.
 */
#include "target/far_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/far.h"

enum { PART = 1 << 20, SMALL = 64 << 10 };

/* Of the cache: a few sets of inputs, and less than a usual quota. */
static const uint64_t CACHE_BYTES = UINT64_C(1) << 30;

/* -- the cache ------------------------------------------------------------ */

struct kept {
    char name[SHMT_DIGEST_TEXT];
    uint64_t bytes;
    time_t used;
};

static int compare_used(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    return x->used < y->used ? -1 : x->used > y->used;
}

/* Removes those that were not used for the longest time. */
static void prune(int folder)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    struct kept *found = NULL;
    size_t count = 0, room = 0;
    uint64_t bytes = 0;
    struct stat file;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (!shmt_digest_valid(entry->d_name) ||
            fstatat(folder, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
            !shmt_array_reserve(&found, &room, count + 1, sizeof *found))
            continue;
        memcpy(found[count].name, entry->d_name, SHMT_DIGEST_TEXT);
        found[count].bytes = (uint64_t)file.st_size;
        found[count++].used = file.st_mtime;
        bytes += (uint64_t)file.st_size;
    }
    if (count > 0)
        qsort(found, count, sizeof *found, compare_used);
    for (size_t k = 0; k < count && bytes > CACHE_BYTES; k++)
        if (unlinkat(folder, found[k].name, 0) == 0)
            bytes -= found[k].bytes;
    free(found);
    if (dir != NULL)
        closedir(dir);
    else if (copy >= 0)
        close(copy);
}

/* NULL when there is none that is this user's alone. */
static const char *open_cache(struct shmt_arena *arena)
{
    const char *cache = shmt_path_cache(arena);
    const char *path = cache == NULL || cache[0] != '/'
                           ? NULL : shmt_path_join(arena, cache, "far");
    int folder = -1;

    if (path == NULL ||
        shmt_path_open_private(path, true, &folder, NULL) != SHMTUNE_OK)
        return NULL;
    prune(folder);
    close(folder);
    return path;
}

/* -- open and close ------------------------------------------------------- */

static const char *make_folder(struct shmt_far_store *store, const char *name,
                               struct shmt_error *err)
{
    const char *path =
        shmt_path_join(store->arena, store->root, name);

    if (path == NULL)
        shmt_error_memory(err);
    return path != NULL &&
                   shmt_path_make_folder(path, 0700, err) == SHMTUNE_OK
               ? path : NULL;
}

enum shmtune_status shmt_far_store_open(struct shmt_far_store *store,
                                        struct shmt_error *err)
{
    struct shmt_error why = {0};
    enum shmtune_status status;

    *store = (struct shmt_far_store){.file = -1, .scratch = {.lock = -1}};
    store->arena = shmt_arena_new();
    if (store->arena == NULL)
        return shmt_error_memory(err);
    status = shmt_scratch_make("shmtune-far", &store->scratch, err);
    if (status != SHMTUNE_OK)
        return status;
    store->root = shmt_path_absolute(store->arena, store->scratch.folder);
    if (store->root == NULL)
        return shmt_error_memory(err);
    store->files = make_folder(store, "files", &why);
    if (store->files != NULL)
        store->tree = make_folder(store, "tree", &why);
    if (store->tree != NULL)
        store->images = make_folder(store, "images", &why);
    if (store->images == NULL)
        return shmt_error_set(err, why.status, "%s", why.text);
    store->cache = open_cache(store->arena);
    return SHMTUNE_OK;
}

static void forget(struct shmt_far_store *store)
{
    if (store->file >= 0)
        close(store->file);
    if (store->file >= 0)
        unlink(store->path);
    store->file = -1;
}

void shmt_far_store_close(struct shmt_far_store *store)
{
    forget(store);
    shmt_scratch_remove(&store->scratch);
    shmt_arena_free(store->arena);
    *store = (struct shmt_far_store){.file = -1, .scratch = {.lock = -1}};
}

/* -- files coming in ------------------------------------------------------ */

enum shmtune_status shmt_far_store_begin(struct shmt_far_store *store,
                                         const char *digest, uint64_t bytes,
                                         struct shmt_error *err)
{
    char name[32];

    store->cached = store->cache != NULL && bytes > SMALL &&
                    bytes <= CACHE_BYTES;
    snprintf(name, sizeof name, "coming-%ld", (long)getpid());
    store->path = shmt_path_join(store->arena,
                                 store->cached ? store->cache : store->files,
                                 name);
    if (store->path == NULL)
        return shmt_error_memory(err);
    unlink(store->path);
    store->file = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                       0600);
    if (store->file < 0)
        return shmt_error_system(err, store->path, "cannot be created");
    memcpy(store->wanted, digest, SHMT_DIGEST_TEXT);
    store->left = bytes;
    shmt_digest_begin(&store->digest);
    return shmt_far_store_add(store, "", 0, err);
}

static enum shmtune_status finish(struct shmt_far_store *store,
                                  struct shmt_error *err)
{
    char found[SHMT_DIGEST_TEXT];
    const char *path =
        shmt_path_join(store->arena,
                       store->cached ? store->cache : store->files,
                       store->wanted);
    enum shmtune_status status = SHMTUNE_OK;

    shmt_digest_end(&store->digest, found);
    if (path == NULL)
        status = shmt_error_memory(err);
    else if (strcmp(found, store->wanted) != 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "a file came in as %.12s, which was sent as "
                                "%.12s", found, store->wanted);
    else if (rename(store->path, path) != 0)
        status = shmt_error_system(err, path, "cannot be written");
    if (status != SHMTUNE_OK) {
        forget(store);
        return status;
    }
    close(store->file);
    store->file = -1;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_far_store_add(struct shmt_far_store *store,
                                       const void *data, size_t size,
                                       struct shmt_error *err)
{
    const char *at = data;
    size_t rest = size;

    while (rest > 0) {
        const ssize_t n = write(store->file, at, rest);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return shmt_error_system(err, store->path, "cannot be written");
        at += n;
        rest -= (size_t)n;
    }
    shmt_digest_add(&store->digest, data, size);
    store->left -= size;
    return store->left == 0 ? finish(store, err) : SHMTUNE_OK;
}

/* -- files that are there ------------------------------------------------- */

/* Opens it, where it is; its path in *path.  -1: errno says why not. */
static int open_file(const struct shmt_far_store *store, const char *digest,
                     const char **path)
{
    const char *const folders[] = {store->files, store->cache};
    int file = -1;

    for (size_t k = 0; file < 0 && k < 2 && folders[k] != NULL; k++) {
        *path = shmt_path_join(store->arena, folders[k], digest);
        if (*path == NULL) {
            errno = ENOMEM;
            return -1;
        }
        file = open(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (file < 0 && errno != ENOENT)
            return -1;
    }
    return file;
}

/* The digest of an open file, which is copied to `to` unless that is -1.
 * False: errno says what failed. */
static bool read_through(int file, int to, char found[SHMT_DIGEST_TEXT])
{
    char *part = malloc(PART);
    struct shmt_digest digest;
    ssize_t n = part == NULL ? -1 : 0;

    shmt_digest_begin(&digest);
    while (part != NULL &&
           (n = shmt_path_read_part(file, part, PART)) > 0) {
        shmt_digest_add(&digest, part, (size_t)n);
        if (to >= 0 && write(to, part, (size_t)n) != n) {
            n = -1;
            break;
        }
    }
    shmt_digest_end(&digest, found);
    free(part);
    return n == 0;
}

bool shmt_far_store_has(struct shmt_far_store *store, const char *digest)
{
    char found[SHMT_DIGEST_TEXT];
    const char *path = NULL;
    const int file = open_file(store, digest, &path);
    bool whole, has;

    if (file < 0)
        return false;
    whole = read_through(file, -1, found);
    has = whole && strcmp(found, digest) == 0;
    if (has)
        (void)futimens(file, NULL);
    else if (whole)
        unlink(path);
    close(file);
    return has;
}

/* The content is checked again, as the cache may have changed since. */
static enum shmtune_status copy(int file, const char *digest, const char *path,
                                struct shmt_error *err)
{
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    char found[SHMT_DIGEST_TEXT];
    bool whole;

    if (to < 0)
        return shmt_error_system(err, path, "cannot be created");
    whole = read_through(file, to, found) && strcmp(found, digest) == 0;
    if (close(to) != 0 || !whole)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: cannot be copied to: %s", path,
                              strerror(errno));
    return SHMTUNE_OK;
}

enum shmtune_status shmt_far_store_lay(struct shmt_far_store *store,
                                       const char *digest, const char *name,
                                       struct shmt_error *err)
{
    const char *const to =
        shmt_path_join(store->arena, store->root, name);
    const char *const folder =
        to == NULL ? NULL : shmt_path_folder(store->arena, to);
    const char *from = NULL;
    const int file = open_file(store, digest, &from);
    enum shmtune_status status;

    if (file < 0)
        return errno == ENOENT
                   ? shmt_error_set(err, SHMTUNE_NOT_FOUND, "the file %.12s "
                                    "of %s has not been sent", digest, name)
                   : shmt_error_system(err, name, "cannot be opened");
    if (to == NULL || folder == NULL) {
        close(file);
        return shmt_error_memory(err);
    }
    status = shmt_path_make_folder(folder, 0700, err);
    unlink(to);
    if (status == SHMTUNE_OK && link(from, to) != 0)
        status = copy(file, digest, to, err);
    close(file);
    return status;
}
