/* SPDX-License-Identifier: MIT */
/*
 * find: where kernels and tunings lie, and which one a word on the
 * command line means.
 */
#include "config.h"

#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { FOLDERS = 64, LARGEST = 64 << 20 };

struct folders {
    struct shmt_arena *arena;
    const char *items[FOLDERS];
    size_t count;
    bool failed;
};

static void add_folder(struct folders *folders, const char *path,
                       size_t length)
{
    const char *name;

    if (folders->count == FOLDERS || length == 0)
        return;
    name = shmt_arena_copy(folders->arena, path, length);
    folders->failed |= name == NULL;
    if (name == NULL)
        return;
    for (size_t i = 0; i < folders->count; i++)
        if (strcmp(folders->items[i], name) == 0 ||
            shmt_path_is_same(folders->items[i], name))
            return;
    folders->items[folders->count++] = name;
}

/* What is not absolute is left out: the current folder is not to be trusted
 * with code. */
static void add_environment(struct folders *folders)
{
    const char *list = getenv("SHMTUNE_PATH");

    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");

        if (list[0] == '/')
            add_folder(folders, list, length);
        list += length;
        list += *list == ':';
    }
}

/* A program that has not been installed uses the tree it was built from. */
static void add_source_tree(struct folders *folders)
{
    char self[4096], *build = realpath(SHMT_BUILD_FOLDER, NULL);
    char *source = realpath(SHMT_SOURCE_FOLDER, NULL);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    const size_t prefix = build == NULL ? 0 : strlen(build);

    if (source != NULL && prefix > 0 && length > (ssize_t)prefix &&
        memcmp(self, build, prefix) == 0 && self[prefix] == '/')
        add_folder(folders, source, strlen(source));
    free(build);
    free(source);
}

enum shmtune_status shmt_command_folders(struct shmt_arena *arena,
                                         const char *const **out,
                                         size_t *count,
                                         struct shmt_error *err)
{
    struct folders *folders = shmt_arena_alloc(arena, 1, sizeof *folders);
    const char *user;

    if (folders == NULL)
        return shmt_error_memory(err);
    folders->arena = arena;
    add_environment(folders);
    add_source_tree(folders);
    user = shmt_path_user_data(arena);
    if (user != NULL)
        add_folder(folders, user, strlen(user));
    add_folder(folders, SHMT_PKGDATADIR, strlen(SHMT_PKGDATADIR));
    if (folders->failed)
        return shmt_error_memory(err);
    *out = (const char *const *)folders->items;
    *count = folders->count;
    return SHMTUNE_OK;
}

static int compare_found(const void *a, const void *b)
{
    return strcmp(((const struct shmt_command_found *)a)->name,
                  ((const struct shmt_command_found *)b)->name);
}

struct catalogue {
    struct shmt_arena *arena;
    struct shmt_command_found *items;
    size_t count, capacity;
};

static enum shmtune_status add_kernel(struct catalogue *catalogue,
                                      const char *folder, const char *file,
                                      struct shmt_error *err)
{
    const struct shmt_command_found found = {
        shmt_path_stem(catalogue->arena, file, ".yaml"),
        shmt_path_join(catalogue->arena, folder, file)
    };

    if (found.name == NULL || found.path == NULL)
        return shmt_error_memory(err);
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->items[i].name, found.name) == 0)
            return SHMTUNE_OK;
    if (catalogue->count == catalogue->capacity) {
        const size_t capacity = 2 * catalogue->capacity + 16;
        struct shmt_command_found *items =
            shmt_arena_alloc(catalogue->arena, capacity, sizeof *items);

        if (items == NULL)
            return shmt_error_memory(err);
        if (catalogue->count > 0)
            memcpy(items, catalogue->items, catalogue->count * sizeof *items);
        catalogue->items = items;
        catalogue->capacity = capacity;
    }
    catalogue->items[catalogue->count++] = found;
    return SHMTUNE_OK;
}

static enum shmtune_status add_folder_kernels(struct catalogue *catalogue,
                                              const char *folder,
                                              struct shmt_error *err)
{
    const char *kernels = shmt_path_join(catalogue->arena, folder, "kernels");
    const char *const *files;
    size_t count;
    enum shmtune_status status;

    if (kernels == NULL)
        return shmt_error_memory(err);
    /* A folder that is not there, or not ours to read, has no kernels. */
    status = shmt_path_list(catalogue->arena, kernels, ".yaml", &files,
                            &count, err);
    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
    for (size_t i = 0; status == SHMTUNE_OK && i < count; i++)
        status = add_kernel(catalogue, kernels, files[i], err);
    return status;
}

enum shmtune_status
shmt_command_kernels(struct shmt_arena *arena,
                     const struct shmt_command_found **found, size_t *count,
                     struct shmt_error *err)
{
    struct catalogue catalogue = {.arena = arena};
    const char *const *folders;
    size_t folder_count;
    enum shmtune_status status =
        shmt_command_folders(arena, &folders, &folder_count, err);

    for (size_t i = 0; status == SHMTUNE_OK && i < folder_count; i++)
        status = add_folder_kernels(&catalogue, folders[i], err);
    if (status != SHMTUNE_OK)
        return status;
    if (catalogue.count > 1)
        qsort(catalogue.items, catalogue.count, sizeof *catalogue.items,
              compare_found);
    *found = catalogue.items;
    *count = catalogue.count;
    return SHMTUNE_OK;
}

static bool ends_with(const char *word, const char *suffix)
{
    const size_t length = strlen(word), tail = strlen(suffix);

    return length > tail && strcmp(word + length - tail, suffix) == 0;
}

bool shmt_command_is_path(const char *word)
{
    return strchr(word, '/') != NULL || ends_with(word, ".yaml") ||
           ends_with(word, ".yml");
}

void shmt_command_hint(const char *word, char out[256])
{
    char path[128];

    out[0] = '\0';
    snprintf(path, sizeof path, "%.100s.yaml", word);
    if (ends_with(word, ".cu"))
        snprintf(out, 256, "; a source is tuned by its spec, a YAML file "
                 "beside it: name that");
    else if (shmt_path_exists(path))
        snprintf(out, 256, "; a spec of your own is given by its path: "
                 "%s", path);
}

static enum shmtune_status
refuse_kernel(struct shmt_arena *arena, const char *word,
              const struct shmt_command_found *found, size_t count,
              struct shmt_error *err)
{
    const char **names = shmt_arena_alloc(arena, count + 1, sizeof *names);
    const char *nearest;
    char hint[256];

    if (names == NULL)
        return shmt_error_memory(err);
    shmt_command_hint(word, hint);
    if (hint[0] != '\0')
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "no kernel \"%.64s\"%s", word, hint);
    for (size_t i = 0; i < count; i++)
        names[i] = found[i].name;
    nearest = shmt_command_nearest(word, names);
    if (nearest != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "no kernel \"%.64s\"; did you mean \"%s\"?",
                              word, nearest);
    return shmt_error_set(
        err, SHMTUNE_INVALID_ARGUMENT,
        "no kernel \"%.64s\" among %zu; \"shmtune list\" shows them, and a "
        "spec of your own is given by its path, as \"%.64s.yaml\"",
        word, count, word);
}

static enum shmtune_status find_path(struct shmt_arena *arena,
                                     const char *word, const char **path,
                                     struct shmt_error *err)
{
    const struct shmt_command_found *found;
    size_t count;
    const enum shmtune_status status =
        shmt_command_kernels(arena, &found, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i].name, word) == 0) {
            *path = found[i].path;
            return SHMTUNE_OK;
        }
    return refuse_kernel(arena, word, found, count, err);
}

enum shmtune_status shmt_command_kernel(const char *word,
                                        struct shmt_kernel **out,
                                        struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *path = word;
    enum shmtune_status status = SHMTUNE_OK;

    if (arena == NULL)
        return shmt_error_memory(err);
    if (!shmt_command_is_path(word))
        status = find_path(arena, word, &path, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read(path, out, err);
    shmt_arena_free(arena);
    return status == SHMTUNE_OK
               ? status
               : shmt_command_blame(err, SHMTUNE_NOT_FOUND, SHMTUNE_STORAGE);
}

/* The first bytes of a file, as a string. */
static enum shmtune_status read_head(const char *path, char *out, size_t room,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    size_t size;
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(arena, path, LARGEST, &data, &size, err);
    if (status == SHMTUNE_OK)
        snprintf(out, room, "%s", data);
    else
        status = shmt_command_blame(err, SHMTUNE_NOT_FOUND, SHMTUNE_STORAGE);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_command_format(const char *path,
                                        enum shmt_command_format *out,
                                        struct shmt_error *err)
{
    static const struct {
        const char *word;
        enum shmt_command_format format;
    } formats[] = {
        {"kernel/", SHMT_FORMAT_SPEC}, {"tuning/", SHMT_FORMAT_TUNING},
        {"journal/", SHMT_FORMAT_JOURNAL}
    };
    char head[4096];
    const char *key;
    enum shmtune_status status;

    if (ends_with(path, ".journal") || ends_with(path, ".gz")) {
        *out = SHMT_FORMAT_JOURNAL;
        return SHMTUNE_OK;
    }
    status = read_head(path, head, sizeof head, err);
    if (status != SHMTUNE_OK)
        return status;
    key = strstr(head, "format:");
    for (size_t i = 0; key != NULL && i < sizeof formats / sizeof *formats;
         i++) {
        const char *value = key + strlen("format:");

        value += strspn(value, " \"'");
        if (strncmp(value, formats[i].word, strlen(formats[i].word)) == 0) {
            *out = formats[i].format;
            return SHMTUNE_OK;
        }
    }
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s:1:1: no \"format: kernel/1\", \"tuning/1\" or "
                          "\"journal/1\" at its beginning", path);
}

/* ROOT/tunings/NAME/FILE lies beside ROOT/kernels/NAME.yaml. */
static const char *spec_beside(struct shmt_arena *arena, const char *file,
                               const char *name)
{
    const char *folder = shmt_path_folder(arena, file);
    struct shmt_text path = {0};
    const char *copy = NULL;

    if (folder == NULL)
        return NULL;
    shmt_text_addf(&path, "%s/../../kernels/%s.yaml", folder, name);
    if (!path.failed && shmt_path_exists(shmt_text_string(&path)))
        copy = shmt_arena_copy(arena, path.data, path.length);
    shmt_text_free(&path);
    return copy;
}

enum shmtune_status shmt_command_kernel_of(const char *file,
                                           const char *name,
                                           const char *spec,
                                           struct shmt_kernel **out,
                                           struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status = SHMTUNE_OK;

    if (arena == NULL)
        return shmt_error_memory(err);
    if (spec == NULL && find_path(arena, name, &spec, err) != SHMTUNE_OK)
        spec = spec_beside(arena, file, name);
    if (spec == NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s: the kernel %.64s is not among the "
                                "built-in ones; name its spec with --spec",
                                file, name);
    else
        status = shmt_command_kernel(spec, out, err);
    if (status == SHMTUNE_OK && strcmp((*out)->name, name) != 0) {
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s is about the kernel %.64s, and %s has "
                                "%s", file, name, (*out)->path,
                                (*out)->name);
        shmt_kernel_free(*out);
        *out = NULL;
    }
    shmt_arena_free(arena);
    return status;
}
