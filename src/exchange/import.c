/* SPDX-License-Identifier: MIT */
/*
 * import: reads a file (plain, gzipped, or a cache that Kernel Tuner still has
 * open), recognises its format by its top-level keys and calls its importer.
 * Called by command/import.c.
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
    };

    return texts[kind];
}

/* Calls the importer for the kind of file, which its top-level keys show. */
static enum shmtune_status dispatch(const struct shmt_import_place *place,
                                    const json_t *json)
{
    if (!json_is_object(json))
        return shmt_import_refuse(place, "found no object at the top, "
                                         "expected a T1 search space, a "
                                         "Kernel Tuner cache or T4 results");
    if (json_object_get(json, "ConfigurationSpace") != NULL)
        return shmt_import_t1(place, json);
    if (json_object_get(json, "cache") != NULL)
        return shmt_import_cache(place, json);
    if (json_object_get(json, "results") != NULL)
        return shmt_import_t4(place, json);
    return shmt_import_refuse(place, "found neither \"ConfigurationSpace\" "
                                     "(T1), nor \"cache\" (Kernel Tuner), "
                                     "nor \"results\" (T4)");
}

/* Results of other tuners do not say when they were taken: each follows the one
 * before it. */
static void set_times(struct shmt_import *import)
{
    double at_s = 0.0;

    for (size_t k = 0; k < import->entry_count; k++) {
        struct shmt_import_entry *const entry = &import->entries[k];

        if (entry->origin == NULL)
            continue;
        at_s += (entry->result.compile_ms + entry->result.measure_ms) / 1000.0;
        entry->at_s = at_s;
    }
}

/* Kernel Tuner leaves a cache open while it tunes: entries end in a comma,
 * two brackets are missing. */
static json_t *load_open(const char *data, size_t size, json_error_t *error)
{
    char *closed;
    json_t *json;

    while (size > 0 && strchr(" \t\r\n,", data[size - 1]) != NULL &&
           data[size - 1] != '\0')
        size--;
    if (size == 0 || (data[size - 1] != '}' && data[size - 1] != '{'))
        return NULL;
    closed = malloc(size + 2);
    if (closed == NULL)
        return NULL;
    memcpy(closed, data, size);
    memcpy(closed + size, "}}", 2);
    json = json_loadb(closed, size + 2, JSON_REJECT_DUPLICATES, error);
    free(closed);
    return json;
}

static enum shmtune_status load(const struct shmt_import_place *place,
                                const char *data, size_t size, json_t **out)
{
    json_error_t error, other;
    json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);

    if (json == NULL &&
        json_error_code(&error) == json_error_premature_end_of_input)
        json = load_open(data, size, &other);
    if (json == NULL)
        return shmt_error_set(place->err, SHMTUNE_INVALID_FILE,
                              "%s:%d:%d: %s", place->import->file,
                              error.line, error.column, error.text);
    *out = json;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_import_parse(const char *file, const char *data,
                                      size_t size, struct shmt_import **out,
                                      struct shmt_error *err)
{
    struct shmt_import *import = calloc(1, sizeof *import);
    const struct shmt_import_place place = {.import = import, .err = err};
    enum shmtune_status status;
    json_t *json = NULL;

    if (import == NULL || (import->arena = shmt_arena_new()) == NULL) {
        free(import);
        return shmt_error_memory(err);
    }
    import->device = "";
    import->file = shmt_arena_copy(import->arena, file, strlen(file));
    status = import->file == NULL ? shmt_error_memory(err)
                                  : load(&place, data, size, &json);
    if (status == SHMTUNE_OK)
        status = dispatch(&place, json);
    set_times(import);
    json_decref(json);
    if (status != SHMTUNE_OK) {
        shmt_import_free(import);
        return status;
    }
    *out = import;
    return SHMTUNE_OK;
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
    shmt_text_free(&text);
    return status;
}

void shmt_import_free(struct shmt_import *import)
{
    if (import == NULL)
        return;
    shmt_arena_free(import->arena);
    free(import);
}
