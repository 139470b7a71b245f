/* SPDX-License-Identifier: MIT */
/*
 * path_folders: lists the names in a folder, and says where a user's own
 * folders are (XDG base directory specification).
 */
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct names {
    struct shmt_arena *arena;
    const char **data;
    size_t count, room;
};

static bool add_name(struct names *names, const char *name)
{
    const char **more;

    if (names->count == names->room) {
        const size_t room = names->room == 0 ? 32 : 2 * names->room;

        more = shmt_arena_alloc(names->arena, room, sizeof *more);
        if (more == NULL)
            return false;
        if (names->count > 0)
            memcpy(more, names->data, names->count * sizeof *more);
        names->data = more;
        names->room = room;
    }
    names->data[names->count] =
        shmt_arena_copy(names->arena, name, strlen(name));
    return names->data[names->count++] != NULL;
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
    struct names found = {.arena = arena};
    const struct dirent *entry;
    int code;
    DIR *stream = opendir(folder);

    if (stream == NULL)
        return shmt_error_set(err,
                              errno == ENOENT ? SHMTUNE_NOT_FOUND
                                              : SHMTUNE_STORAGE,
                              "%s: folder cannot be opened: %s", folder,
                              strerror(errno));
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        if (wanted(entry->d_name, suffix)
            && !add_name(&found, entry->d_name)) {
            closedir(stream);
            return shmt_error_memory(err);
        }
        errno = 0;
    }
    code = errno;
    closedir(stream);
    if (code != 0)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: folder cannot be read: %s", folder,
                              strerror(code));
    if (found.count > 0)
        qsort(found.data, found.count, sizeof *found.data, compare_names);
    *names = found.data;
    *count = found.count;
    return SHMTUNE_OK;
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

const char *shmt_path_user_data(struct shmt_arena *arena)
{
    return user_folder(arena, "XDG_DATA_HOME", ".local/share");
}
