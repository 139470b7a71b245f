/* SPDX-License-Identifier: MIT */
/*
 * tuning_read: reads a tuning from a file or from memory (YAML), and gives the
 * tree to tuning_tree.c.
 */
#include <string.h>

#include "base/base.h"
#include "record/tuning_tree.h"

/* Everything goes into `arena`. */
static enum shmtune_status parse(struct shmt_arena *arena,
                                 struct shmt_yaml_source source,
                                 struct shmt_tuning **out,
                                 struct shmt_error *err)
{
    const char *const file = source.origin.file;
    struct shmt_tuning *tuning = shmt_tuning_new_in(arena);
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    source.origin.file = shmt_arena_copy(arena, file, strlen(file));
    if (tuning == NULL || source.origin.file == NULL)
        status = shmt_error_memory(err);
    else if (source.size > SHMT_TUNING_BYTES)
        status = shmt_yaml_refuse_at(source.origin, err, "found %zu bytes, "
                                     "expected at most %d", source.size,
                                     SHMT_TUNING_BYTES);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse_from(arena, &source, &root, err);
    if (status == SHMTUNE_OK)
        status = shmt_tuning_read_tree(tuning, root, err);
    if (status == SHMTUNE_OK)
        *out = tuning;
    return status;
}

enum shmtune_status shmt_tuning_parse(const char *name, const char *data,
                                      size_t size, struct shmt_tuning **out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml_source source = {.origin = {name, 1, 1},
                                            .data = data, .size = size};
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : parse(arena, source, out, err);

    if (status != SHMTUNE_OK)
        shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_tuning_read(const char *path,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data = NULL;
    size_t size = 0;
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(arena, path, SHMT_TUNING_BYTES, &data, &size,
                            err);
    if (status == SHMTUNE_OK)
        status = shmt_tuning_parse(path, data, size, out, err);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_tuning_read_into(struct shmt_arena *arena,
                                          const char *path,
                                          struct shmt_tuning **out,
                                          struct shmt_error *err)
{
    struct shmt_yaml_source source = {.origin = {path, 1, 1}};
    enum shmtune_status status =
        shmt_path_read(arena, path, SHMT_TUNING_BYTES, &source.data,
                       &source.size, err);

    return status == SHMTUNE_OK ? parse(arena, source, out, err) : status;
}
