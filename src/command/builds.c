/* SPDX-License-Identifier: MIT */
/*
 * builds: see builds.h.
 */
#include "config.h"

#include "command/builds.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/json.h"
#include "exchange/exchange.h"
#include "source/source.h"

/* Folders above, bytes of a file, commands of which the headers are read. */
enum { HIGHEST = 8, BYTES = 256 << 20, FILES = 256 };

struct shmt_builds_list {
    const char *name;          /* its path */
    json_t *root;              /* NULL: there is no such file */
};

void shmt_builds_free(struct shmt_builds *builds)
{
    for (size_t k = 0; k < builds->count; k++)
        json_decref(builds->lists[k].root);
    free(builds->lists);
    *builds = (struct shmt_builds){.arena = builds->arena};
}

/* -- what a command compiles ---------------------------------------------- */

bool shmt_builds_is_unit(const char *path)
{
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};

    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
        if (shmt_text_ends(path, ends[k]))
            return true;
    return false;
}

static enum shmtune_status read_line(struct shmt_arena *arena,
                                     const struct shmt_builds_entry *build,
                                     struct shmt_compiler_line *out,
                                     struct shmt_error *err)
{
    struct shmt_compiler_words kept;
    const enum shmtune_status status = shmt_compiler_line_command(
        arena, build->folder, build->words.items, build->words.count, &kept,
        err);

    return status != SHMTUNE_OK
               ? status
               : shmt_compiler_line_read(arena, build->folder, kept.items,
                                         kept.count, out, err);
}

enum shmtune_status shmt_builds_compiled(struct shmt_arena *arena,
                                         const struct shmt_builds_entry *build,
                                         const char *path, const char **out,
                                         struct shmt_error *err)
{
    struct shmt_compiler_line line;
    enum shmtune_status status = read_line(arena, build, &line, err);

    *out = NULL;
    for (size_t k = 1; status == SHMTUNE_OK && k < build->words.count; k++) {
        const char *const word = build->words.items[k];
        const char *const file =
            shmt_compiler_line_path(arena, build->folder, word);
        bool includes = false;

        if (file == NULL)
            return shmt_error_memory(err);
        if (!shmt_builds_is_unit(word) || !shmt_path_is_file(file))
            continue;
        if (shmt_path_is_same(file, path)) {
            *out = NULL;
            break;
        }
        if (*out == NULL)
            status = shmt_source_includes(file, path, line.includes.items,
                                          line.includes.count, &includes, err);
        if (includes)
            *out = file;
    }
    return status;
}

/* Headers of the toolkit are there without being named. */
static bool is_folder(struct shmt_arena *arena, const char *path)
{
    const char *const header = shmt_path_join(arena, path, "cuda_runtime.h");

    return header != NULL && !shmt_path_is_absent(path) &&
           !shmt_path_is_file(header);
}

enum shmtune_status shmt_builds_line(struct shmt_arena *arena,
                                     const struct shmt_builds_entry *build,
                                     struct shmt_compiler_line *out,
                                     struct shmt_error *err)
{
    const enum shmtune_status status = read_line(arena, build, out, err);
    const size_t count = status == SHMTUNE_OK ? out->includes.count : 0;

    if (status == SHMTUNE_OK)
        out->includes.count = 0;
    for (size_t k = 0; k < count; k++)
        if (is_folder(arena, out->includes.items[k]))
            out->includes.items[out->includes.count++] =
                out->includes.items[k];
    return status;
}

/* -- a list --------------------------------------------------------------- */

static const char *text_of(const json_t *entry, const char *key)
{
    const char *text = json_string_value(json_object_get(entry, key));

    return text == NULL ? "" : text;
}

static enum shmtune_status take_words(struct shmt_arena *arena,
                                      const json_t *entry,
                                      struct shmt_compiler_words *out,
                                      struct shmt_error *err)
{
    const json_t *const list = json_object_get(entry, "arguments");
    const char *const command = text_of(entry, "command");
    const char *const copy = shmt_arena_copy(arena, command, strlen(command));

    if (copy == NULL)
        return shmt_error_memory(err);
    if (!json_is_array(list))
        return shmt_compiler_line_split(arena, copy, out, err);
    out->count = 0;
    out->items = shmt_arena_alloc(arena, json_array_size(list) + 1,
                                  sizeof *out->items);
    for (size_t k = 0; out->items != NULL && k < json_array_size(list); k++) {
        const char *const word = json_string_value(json_array_get(list, k));
        const char *const kept =
            word == NULL ? "" : shmt_arena_copy(arena, word, strlen(word));

        if (kept == NULL)
            return shmt_error_memory(err);
        out->items[out->count++] = kept;
    }
    return out->items == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* Where the command of an entry is used, and what it compiles. */
static bool place_entry(struct shmt_arena *arena, const json_t *entry,
                        const char *place, const char **folder,
                        const char **file)
{
    *folder = shmt_path_join(arena, place, text_of(entry, "directory"));
    *file = *folder == NULL ? NULL
                            : shmt_compiler_line_path(arena, *folder,
                                                      text_of(entry, "file"));
    return *file != NULL;
}

/* An entry whose file includes the source. */
static enum shmtune_status search_includer(struct shmt_arena *arena,
                                           const json_t *root,
                                           const char *place, const char *path,
                                           struct shmt_builds_entry *found,
                                           struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const char *compiled = NULL, *file;

    for (size_t k = 0; status == SHMTUNE_OK && compiled == NULL &&
                       k < json_array_size(root) && k < FILES; k++) {
        const json_t *const entry = json_array_get(root, k);
        struct shmt_builds_entry one = {.exact = false};

        if (!place_entry(arena, entry, place, &one.folder, &file))
            return shmt_error_memory(err);
        status = take_words(arena, entry, &one.words, err);
        if (status == SHMTUNE_OK)
            status = shmt_builds_compiled(arena, &one, path, &compiled, err);
        if (status == SHMTUNE_OK && compiled != NULL)
            *found = one;
    }
    return status;
}

/* The entry of the source, or else one whose file includes it, or the first of
 * its folder.  `place`: the folder of the list. */
static enum shmtune_status search(struct shmt_arena *arena,
                                  const json_t *root, const char *place,
                                  const char *path,
                                  struct shmt_builds_entry *found,
                                  struct shmt_error *err)
{
    const char *const own = shmt_path_folder(arena, path);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && !found->exact &&
                       k < json_array_size(root); k++) {
        const json_t *const entry = json_array_get(root, k);
        const char *folder, *file, *beside;

        if (text_of(entry, "file")[0] == '\0' ||
            text_of(entry, "directory")[0] == '\0')
            continue;
        beside = place_entry(arena, entry, place, &folder, &file)
                     ? shmt_path_folder(arena, file) : NULL;
        if (own == NULL || beside == NULL)
            return shmt_error_memory(err);
        found->exact = shmt_path_is_same(file, path);
        if (!found->exact &&
            (found->folder != NULL || !shmt_path_is_same(beside, own)))
            continue;
        found->folder = folder;
        status = take_words(arena, entry, &found->words, err);
    }
    return status != SHMTUNE_OK || found->exact
               ? status
               : search_includer(arena, root, place, path, found, err);
}

/* -- the lists ------------------------------------------------------------ */

/* Of one that is damaged. */
static void tell(const char *name, const char *why)
{
    struct shmt_text line = {0};

    shmt_text_addf(&line, "%s: %s; the draft does without it", name, why);
    shmt_command_tell("note: ", shmt_text_string(&line));
    shmt_text_free(&line);
}

static enum shmtune_status parse(const char *name, const char *text,
                                 size_t size, json_t **out,
                                 struct shmt_error *err)
{
    json_error_t error;

    shmt_export_memory_watch();
    *out = json_loadb(text, size, 0, &error);
    if (shmt_export_memory_failed()) {
        json_decref(*out);
        *out = NULL;
        return shmt_error_memory(err);
    }
    if (!json_is_array(*out))
        tell(name, *out == NULL ? error.text : "it is no list of commands");
    return SHMTUNE_OK;
}

/* *out: NULL where there is no such file. */
static enum shmtune_status read_list(struct shmt_builds *builds,
                                     const char *name, json_t **out,
                                     struct shmt_error *err)
{
    const char *text;
    size_t size;
    enum shmtune_status status;

    *out = NULL;
    switch (shmt_path_kind(name)) {
    case SHMT_PATH_FILE:
        break;
    case SHMT_PATH_UNKNOWN:
        return shmt_error_system(err, name, "cannot be examined");
    default:
        return SHMTUNE_OK;
    }
    status = shmt_path_read(builds->arena, name, BYTES, &text, &size, err);
    return status == SHMTUNE_OK ? parse(name, text, size, out, err) : status;
}

static enum shmtune_status list_of(struct shmt_builds *builds,
                                   const char *name, const json_t **out,
                                   struct shmt_error *err)
{
    json_t *root;
    enum shmtune_status status;

    for (size_t k = 0; k < builds->count; k++)
        if (strcmp(builds->lists[k].name, name) == 0) {
            *out = builds->lists[k].root;
            return SHMTUNE_OK;
        }
    if (!shmt_array_reserve(&builds->lists, &builds->room, builds->count + 1,
                            sizeof *builds->lists))
        return shmt_error_memory(err);
    status = read_list(builds, name, &root, err);
    if (status == SHMTUNE_OK)
        builds->lists[builds->count++] =
            (struct shmt_builds_list){name, root};
    *out = root;
    return status;
}

/* What is asked of the lists, from the nearest one on, until it says that there
 * is no need to go on. */
typedef enum shmtune_status ask_list(struct shmt_builds *builds,
                                     const json_t *root, const char *name,
                                     void *context, bool *done,
                                     struct shmt_error *err);

/* Of a folder and those above it, and of their build/. */
static enum shmtune_status ask_lists(struct shmt_builds *builds,
                                     const char *folder, ask_list *ask,
                                     void *context, struct shmt_error *err)
{
    static const char *const names[] = {"compile_commands.json",
                                        "build/compile_commands.json"};
    const json_t *root = NULL;
    bool done = false;

    for (int up = 0; folder != NULL && up <= HIGHEST; up++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            const char *const name =
                shmt_path_join(builds->arena, folder, names[k]);
            enum shmtune_status status =
                name == NULL ? shmt_error_memory(err)
                             : list_of(builds, name, &root, err);

            if (status == SHMTUNE_OK && root != NULL)
                status = ask(builds, root, name, context, &done, err);
            if (status != SHMTUNE_OK || done)
                return status;
        }
        if (strcmp(folder, "/") == 0)
            break;
        folder = shmt_path_folder(builds->arena, folder);
    }
    return folder == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

struct asked {
    const char *path;
    struct shmt_builds_entry *out;
};

static enum shmtune_status ask_build(struct shmt_builds *builds,
                                     const json_t *root, const char *name,
                                     void *context, bool *done,
                                     struct shmt_error *err)
{
    const struct asked *const asked = context;
    const char *const place = shmt_path_folder(builds->arena, name);
    enum shmtune_status status =
        place == NULL ? shmt_error_memory(err)
                      : search(builds->arena, root, place, asked->path,
                               asked->out, err);

    *done = asked->out->folder != NULL;
    if (*done)
        asked->out->list = name;
    return status;
}

enum shmtune_status shmt_builds_find(struct shmt_builds *builds,
                                     const char *path,
                                     struct shmt_builds_entry *out,
                                     struct shmt_error *err)
{
    struct asked asked = {path, out};
    const char *const absolute = shmt_path_absolute(builds->arena, path);

    *out = (struct shmt_builds_entry){.exact = false};
    if (absolute != NULL && absolute[0] != '/')
        return shmt_error_system(err, ".", "cannot be named");
    return absolute == NULL
               ? shmt_error_memory(err)
               : ask_lists(builds, shmt_path_folder(builds->arena, absolute),
                           ask_build, &asked, err);
}

static enum shmtune_status ask_sources(struct shmt_builds *builds,
                                       const json_t *root, const char *name,
                                       void *context, bool *done,
                                       struct shmt_error *err)
{
    struct shmt_compiler_words *const out = context;
    const char *const place = shmt_path_folder(builds->arena, name);
    const char *folder, *file;

    out->items = shmt_arena_alloc(builds->arena, json_array_size(root) + 1,
                                  sizeof *out->items);
    for (size_t k = 0; k < json_array_size(root); k++) {
        if (out->items == NULL || place == NULL ||
            !place_entry(builds->arena, json_array_get(root, k), place,
                         &folder, &file))
            return shmt_error_memory(err);
        if (shmt_text_ends(file, ".cu"))
            out->items[out->count++] = file;
    }
    *done = out->count > 0;
    return out->items == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status shmt_builds_sources(struct shmt_builds *builds,
                                        const char *folder,
                                        struct shmt_compiler_words *out,
                                        struct shmt_error *err)
{
    const char *const absolute = shmt_path_absolute(builds->arena, folder);

    out->count = 0;
    if (absolute == NULL || absolute[0] != '/')
        return absolute == NULL
                   ? shmt_error_memory(err)
                   : shmt_error_system(err, folder, "cannot be named");
    return ask_lists(builds, absolute, ask_sources, out, err);
}
