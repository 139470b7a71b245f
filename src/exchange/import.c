/* SPDX-License-Identifier: MIT */
/*
 * import: reads a file (plain, gzipped, or a cache that Kernel Tuner still has
 * open: its entries end in a comma, two brackets are missing), recognises its
 * format by its top-level keys and calls its importer.  Called by
 * command/import.c.
 */
#include "exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/import_json.h"
#include "record/record.h"

static const size_t file_limit = (size_t)256 << 20;

const char *shmt_import_kind_text(enum shmt_import_kind kind)
{
    static const char *const texts[] = {
        [SHMT_IMPORT_SPACE] = "T1 search space",
        [SHMT_IMPORT_CACHE] = "Kernel Tuner cache",
        [SHMT_IMPORT_RESULTS] = "T4 results",
        [SHMT_IMPORT_KTT] = "KTT results",
        [SHMT_IMPORT_CLBLAST] = "CLBlast results",
    };

    return texts[kind];
}

/* Calls the importer for the kind of file, which its top-level keys show. */
static enum shmtune_status dispatch(const struct shmt_import_place *place,
                                    const struct shmt_import_node *json)
{
    if (shmt_import_get(json, "ConfigurationSpace") != NULL)
        return shmt_import_t1(place, json);
    if (shmt_import_get(json, "cache") != NULL)
        return shmt_import_cache(place, json);
    if (shmt_import_get(json, "results") != NULL)
        return shmt_import_get(json, "device_vendor") != NULL
                   ? shmt_import_clblast(place, json)
                   : shmt_import_t4(place, json);
    if (shmt_import_get(json, "Results") != NULL)
        return shmt_import_ktt(place, json);
    return shmt_import_refuse(place, "found neither \"ConfigurationSpace\" "
                                     "(T1), nor \"cache\" (Kernel Tuner), "
                                     "nor \"results\" (T4, CLBlast), nor "
                                     "\"Results\" (KTT)");
}

static enum shmtune_status read_file(struct shmt_import *import,
                                     const char *data, size_t size,
                                     struct shmt_error *err)
{
    static const char *const lists[] = {"cache", "results", "Results",
                                        NULL};
    struct shmt_import_reader reader = {.file = import->file, .text = data,
                                        .end = data + size, .err = err};
    const struct shmt_import_place place = {.import = import,
                                            .reader = &reader, .err = err};
    const struct shmt_import_node *json;
    struct shmt_arena *const arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_import_node_read(&reader, arena, lists, &json);

    if (status == SHMTUNE_OK)
        status = dispatch(&place, json);
    shmt_import_node_leave(&reader);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_import_parse(const char *file, const char *data,
                                      size_t size, struct shmt_import **out,
                                      struct shmt_error *err)
{
    struct shmt_import *import = calloc(1, sizeof *import);
    enum shmtune_status status;

    if (import != NULL) {
        import->arena = shmt_arena_new();
        import->scratch = shmt_arena_new();
        import->device = "";
        if (import->arena != NULL && import->scratch != NULL)
            import->file = shmt_arena_copy(import->arena, file, strlen(file));
    }
    status = import == NULL || import->file == NULL
                 ? shmt_error_memory(err)
                 : read_file(import, data, size, err);
    if (status == SHMTUNE_OK)
        *out = import;
    else
        shmt_import_free(import);
    return status;
}

enum shmtune_status shmt_import_read(const char *path,
                                     struct shmt_import **out,
                                     struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = shmt_gzip_read(path, NULL, file_limit, &text,
                                                err);

    if (status == SHMTUNE_OK)
        status = shmt_import_parse(path, shmt_text_string(&text),
                                   text.length, out, err);
    else if (text.length > file_limit)
        status = shmt_error_append(err, "; split the file and import the "
                                        "parts by --name");
    shmt_text_free(&text);
    return status;
}

void shmt_import_free(struct shmt_import *import)
{
    if (import == NULL)
        return;
    shmt_arena_free(import->arena);
    shmt_arena_free(import->scratch);
    shmt_map_free(&import->distinct_map);
    shmt_text_free(&import->results);
    free(import->distinct);
    free(import->values);
    free(import);
}
