/* SPDX-License-Identifier: MIT */
/*
 * include: whether a file includes another one, as a compiler looks for it.
 */
#include "source/source.h"

#include <string.h>

/* Bytes of a file, and files that are looked through. */
enum { BYTES = 16 << 20, FILES = 512 };

struct walk {
    struct shmt_arena *arena;
    const char *wanted;
    const char *const *folders;
    size_t folder_count;
    const char *files[FILES];
    size_t count;
    bool found;
};

static void reach(struct walk *walk, const char *path)
{
    if (shmt_path_is_same(path, walk->wanted)) {
        walk->found = true;
        return;
    }
    for (size_t k = 0; k < walk->count; k++)
        if (shmt_path_is_same(walk->files[k], path))
            return;
    if (walk->count < FILES)
        walk->files[walk->count++] = path;
}

/* Beside the file that includes it in quotes, or in the first of the folders
 * that has it. */
static enum shmtune_status look_up(struct walk *walk, const char *beside,
                                   const char *name, bool quoted,
                                   struct shmt_error *err)
{
    for (size_t k = quoted ? 0 : 1; k <= walk->folder_count; k++) {
        const char *const path =
            shmt_path_join(walk->arena,
                           k == 0 ? beside : walk->folders[k - 1], name);

        if (path == NULL)
            return shmt_error_memory(err);
        if (shmt_path_is_file(path)) {
            reach(walk, path);
            break;
        }
    }
    return SHMTUNE_OK;
}

static enum shmtune_status scan(struct walk *walk, const char *path,
                                struct shmt_error *err)
{
    const char *const beside = shmt_path_folder(walk->arena, path);
    const char *text, *at, *name;
    size_t size, length;
    bool quoted;
    enum shmtune_status status =
        shmt_path_read(walk->arena, path, BYTES, &text, &size, NULL);

    if (status == SHMTUNE_NO_MEMORY || beside == NULL)
        return shmt_error_memory(err);
    if (status != SHMTUNE_OK)
        return SHMTUNE_OK;
    at = text;
    while (status == SHMTUNE_OK && !walk->found &&
           shmt_kernel_next_include(text, &at, &name, &length, &quoted)) {
        const char *const copy = shmt_arena_copy(walk->arena, name, length);

        if (copy == NULL)
            return shmt_error_memory(err);
        /* Not `#define NAME "file"`. */
        if (strncmp(at + strspn(at, " \t"), "include", 7) == 0)
            status = look_up(walk, beside, copy, quoted, err);
    }
    return status;
}

enum shmtune_status shmt_source_includes(const char *path, const char *header,
                                         const char *const *folders,
                                         size_t folder_count, bool *out,
                                         struct shmt_error *err)
{
    struct walk walk = {.arena = shmt_arena_new(), .wanted = header,
                        .folders = folders, .folder_count = folder_count};
    enum shmtune_status status =
        walk.arena == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    walk.files[walk.count++] = path;
    for (size_t k = 0;
         status == SHMTUNE_OK && !walk.found && k < walk.count; k++)
        status = scan(&walk, walk.files[k], err);
    shmt_arena_free(walk.arena);
    *out = walk.found;
    return status;
}
