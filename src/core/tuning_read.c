/* SPDX-License-Identifier: MIT */
/*
 * tuning_read: tuning/1 from bytes and files.
 */
#include <string.h>

#include "core/path.h"
#include "core/tuning_take.h"

static enum shmtune_status parse(struct shmt_yaml_source source,
                                 struct shmt_tuning **out,
                                 struct shmt_error *err)
{
    const char *const file = source.origin.file;
    struct shmt_tuning *tuning = NULL;
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status = shmt_tuning_new(&tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    source.origin.file = shmt_arena_copy(tuning->arena, file, strlen(file));
    if (source.origin.file == NULL)
        status = shmt_error_memory(err);
    else if (source.size > SHMT_TUNING_BYTES)
        status = shmt_yaml_refuse_at(source.origin, err, "found %zu bytes, "
                                     "expected at most %d", source.size,
                                     SHMT_TUNING_BYTES);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse_from(tuning->arena, &source, &root, err);
    if (status == SHMTUNE_OK)
        status = shmt_tuning_take(tuning, root, err);
    if (status == SHMTUNE_OK)
        *out = tuning;
    else
        shmt_tuning_free(tuning);
    return status;
}

enum shmtune_status shmt_tuning_parse(const char *name, const char *data,
                                      size_t size, struct shmt_tuning **out,
                                      struct shmt_error *err)
{
    return parse((struct shmt_yaml_source){.origin = {name, 1, 1},
                                           .data = data, .size = size},
                 out, err);
}

/* From the file of the source's origin. */
static enum shmtune_status read_file(struct shmt_yaml_source source,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(arena, source.origin.file, SHMT_TUNING_BYTES,
                            &source.data, &source.size, err);
    if (status == SHMTUNE_OK)
        status = parse(source, out, err);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_tuning_read(const char *path,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err)
{
    return read_file((struct shmt_yaml_source){.origin = {path, 1, 1}}, out,
                     err);
}

enum shmtune_status shmt_tuning_read_brief(const char *path,
                                           struct shmt_tuning **out,
                                           struct shmt_error *err)
{
    return read_file((struct shmt_yaml_source){
                         .origin = {path, 1, 1}, .unread = "samples_us",
                         .unread_most = SHMT_RESULT_SAMPLES}, out, err);
}
