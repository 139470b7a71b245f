/* SPDX-License-Identifier: MIT */
/*
 * image_store: KEY.cubin, or KEY.so, and KEY.res in a folder.
 *
 * Each is written to a temporary file and renamed, the report last.  Nothing
 * is synchronised to disk, for speed: the report holds the size and digest of
 * the binary, so one that a crash of the machine cut short is not used.
 *
 * A private folder is the user's cache.  Nothing is read from it or written to
 * it unless this user alone, or root, can have changed what it holds; the
 * folder is opened, checked, and not looked up again.
 */
#define _GNU_SOURCE   /* O_PATH */
#include "gpu/image_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "yaml/yaml.h"

#define FORMAT "image/1"

enum { CUBIN_LIMIT = 256 << 20, REPORT_LIMIT = 1 << 20 };

/* X(field, low): numbers of an entry, by their names in the file */
#define NUMBER_LIST(X)                                                       \
    X(registers, 0) X(spill_store_bytes, 0) X(spill_load_bytes, 0)           \
    X(stack_bytes, 0) X(shared_static_bytes, 0) X(constant_bytes, -1)        \
    X(max_threads, -1)

static const char *const report_keys[] = {
    "format", "key", "bytes", "digest", "compile_ms", "entries", NULL};
static const char *const entry_keys[] = {
    "name", "lowered",
#define NUMBER_KEY(field, low) #field,
    NUMBER_LIST(NUMBER_KEY)
#undef NUMBER_KEY
    NULL};

static void digest_of(const void *data, size_t size,
                      char text[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, data, size);
    shmt_digest_end(&digest, text);
}

static const char *file_of(struct shmt_arena *arena, const char *folder,
                           const char *key, const char *suffix)
{
    char name[SHMT_DIGEST_TEXT + 16];

    snprintf(name, sizeof name, "%s%s", key, suffix);
    return shmt_path_join(arena, folder, name);
}

const char *shmt_image_stored_path(const struct shmt_image_folder *folder,
                                   const struct shmt_image *image)
{
    return file_of(image->arena, folder->path, image->key,
                   image->host ? ".so" : ".cubin");
}

static void write_report(const struct shmt_image *image, const char *digest,
                         struct shmt_text *text)
{
    shmt_text_addf(text, "format: " FORMAT "\nkey: %s\nbytes: %zu\n"
                   "digest: %s\ncompile_ms: ", image->key, image->cubin_size,
                   digest);
    shmt_yaml_add_real(text, image->compile_ms, 6);
    shmt_text_add(text, "\nentries:\n");
    for (size_t k = 0; k < image->entry_count; k++) {
        const struct shmt_image_entry *entry = &image->entries[k];

        shmt_text_add(text, "- {name: ");
        shmt_yaml_add_string(text, entry->name);
        shmt_text_add(text, ", lowered: ");
        shmt_yaml_add_string(text, entry->lowered);
#define NUMBER_WRITE(field, low)                                             \
        shmt_text_addf(text, ", " #field ": %lld",                           \
                       (long long)entry->resources.field);
        NUMBER_LIST(NUMBER_WRITE)
#undef NUMBER_WRITE
        shmt_text_add(text, "}\n");
    }
}

/* A folder that is not private may be reached through anything. */
static enum shmtune_status open_folder(const struct shmt_image_folder *folder,
                                       bool make, int *fd,
                                       struct shmt_error *err)
{
    if (folder->is_private)
        return shmt_path_open_private(folder->path, make, fd, err);
    *fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? SHMTUNE_OK
                    : shmt_error_system(err, folder->path,
                                        "folder cannot be opened");
}

enum shmtune_status
shmt_image_write_stored(const struct shmt_image_folder *folder,
                        const struct shmt_image *image,
                        struct shmt_error *err)
{
    const char *cubin = shmt_image_stored_path(folder, image);
    const char *report =
        file_of(image->arena, folder->path, image->key, ".res");
    char digest[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};
    enum shmtune_status status;
    int fd = -1;

    if (cubin == NULL || report == NULL)
        return shmt_error_memory(err);
    digest_of(image->cubin, image->cubin_size, digest);
    write_report(image, digest, &text);
    status = text.failed ? shmt_error_memory(err)
                         : open_folder(folder, true, &fd, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_write_private(fd, cubin, image->cubin,
                                         image->cubin_size, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_write_private(fd, report, text.data, text.length,
                                         err);
    if (fd >= 0)
        close(fd);
    shmt_text_free(&text);
    return status;
}

/* `host`: a function of the host, whose numbers are all not known. */
static enum shmtune_status read_entry(const struct shmt_yaml *node, bool host,
                                      struct shmt_image_entry *entry,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *name, *lowered;
    enum shmtune_status status;

    status = shmt_yaml_expect(node, SHMT_YAML_MAPPING, "an entry", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, entry_keys, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "name", &name, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(name, SHMT_YAML_SCALAR, "name", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "lowered", &lowered, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(lowered, SHMT_YAML_SCALAR, "lowered", err);
    if (status == SHMTUNE_OK && strcmp(name->text, entry->name) != 0)
        status = shmt_yaml_refuse(name, err, "found entry \"%s\", expected "
                                  "\"%s\"", name->text, entry->name);
#define NUMBER_READ(field, low)                                              \
    if (status == SHMTUNE_OK) {                                              \
        const struct shmt_yaml *number_;                                     \
        int64_t value_ = 0;                                                  \
        status = shmt_yaml_need(node, #field, &number_, err);                \
        if (status == SHMTUNE_OK)                                            \
            status = shmt_yaml_int(number_, host ? -1 : low,                 \
                                   host ? -1 : INT32_MAX, &value_, err);     \
        entry->resources.field = (int)value_;                                \
    }
    NUMBER_LIST(NUMBER_READ)
#undef NUMBER_READ
    if (status == SHMTUNE_OK)
        entry->lowered = lowered->text;
    return status;
}

static enum shmtune_status read_text(const struct shmt_yaml *node,
                                     const char *key, const char *expected,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *value;
    enum shmtune_status status = shmt_yaml_need(node, key, &value, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(value, SHMT_YAML_SCALAR, key, err);
    if (status == SHMTUNE_OK && strcmp(value->text, expected) != 0)
        status = shmt_yaml_refuse(value, err, "%s is %s, expected %s", key,
                                  value->text, expected);
    return status;
}

static enum shmtune_status read_entries(const struct shmt_yaml *node,
                                        struct shmt_image *image,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *list;
    struct shmt_image_entry *entries;
    enum shmtune_status status = shmt_yaml_need(node, "entries", &list, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(list, SHMT_YAML_SEQUENCE, "entries", err);
    if (status != SHMTUNE_OK)
        return status;
    if (list->count != image->entry_count)
        return shmt_yaml_refuse(list, err, "found %zu entries, expected %zu",
                                list->count, image->entry_count);
    entries = shmt_arena_alloc(image->arena, list->count, sizeof *entries);
    if (entries == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < list->count && status == SHMTUNE_OK; k++) {
        entries[k].name = image->entries[k].name;
        status = read_entry(list->items[k], image->host, &entries[k], err);
    }
    if (status == SHMTUNE_OK)
        image->entries = entries;
    return status;
}

/* What the report says of the binary, which was read. */
static enum shmtune_status read_binary(const struct shmt_yaml *node,
                                       const struct shmt_image *image,
                                       struct shmt_error *err)
{
    char found[SHMT_DIGEST_TEXT];
    const struct shmt_yaml *bytes, *digest;
    enum shmtune_status status = shmt_yaml_need(node, "bytes", &bytes, err);
    int64_t size = 0;

    digest_of(image->cubin, image->cubin_size, found);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(bytes, 0, CUBIN_LIMIT, &size, err);
    if (status == SHMTUNE_OK && (size_t)size != image->cubin_size)
        status = shmt_yaml_refuse(bytes, err, "the binary has %zu bytes, "
                                  "expected %lld", image->cubin_size,
                                  (long long)size);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "digest", &digest, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(digest, SHMT_YAML_SCALAR, "digest", err);
    if (status == SHMTUNE_OK && strcmp(digest->text, found) != 0)
        status = shmt_yaml_refuse(digest, err, "the digest of the binary is "
                                  "%.12s..., expected %.12s...", found,
                                  digest->text);
    return status;
}

/* All of a report but the entries, which a kernel knows. */
static enum shmtune_status read_head(const char *path,
                                     const struct shmt_yaml *node,
                                     struct shmt_image *image,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *compile_ms;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, path, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, report_keys, err);
    if (status == SHMTUNE_OK)
        status = read_text(node, "format", FORMAT, err);
    if (status == SHMTUNE_OK)
        status = read_text(node, "key", image->key, err);
    if (status == SHMTUNE_OK)
        status = read_binary(node, image, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "compile_ms", &compile_ms, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_real(compile_ms, &image->compile_ms, err);
    return status;
}

/* In an open private folder, or by its path when there is none: -1. */
static enum shmtune_status read_file(struct shmt_arena *arena, int folder,
                                     const char *path, size_t limit,
                                     const char **data, size_t *size,
                                     struct shmt_error *err)
{
    return folder >= 0 ? shmt_path_read_private(arena, folder, path, limit,
                                                data, size, err)
                       : shmt_path_read(arena, path, limit, data, size, err);
}

/* Reads both files; *node is the report. */
static enum shmtune_status fetch(const struct shmt_image_folder *folder,
                                 struct shmt_image *image,
                                 const struct shmt_yaml **node,
                                 struct shmt_error *err)
{
    struct shmt_arena *arena = image->arena;
    const char *cubin = shmt_image_stored_path(folder, image);
    const char *report = file_of(arena, folder->path, image->key, ".res");
    const char *data = NULL, *text = NULL;
    enum shmtune_status status = SHMTUNE_OK;
    size_t size = 0, length = 0;
    int fd = -1;

    if (cubin == NULL || report == NULL)
        return shmt_error_memory(err);
    if (folder->is_private)
        status = open_folder(folder, false, &fd, err);
    if (status == SHMTUNE_OK)
        status = read_file(arena, fd, report, REPORT_LIMIT, &text, &length,
                           err);
    if (status == SHMTUNE_OK)
        status = read_file(arena, fd, cubin, CUBIN_LIMIT, &data, &size, err);
    if (fd >= 0)
        close(fd);
    if (status == SHMTUNE_OK) {
        image->cubin = data;
        image->cubin_size = size;
        status = shmt_yaml_parse(arena, report, text, length, node, err);
    }
    return status == SHMTUNE_OK ? read_head(report, *node, image, err)
                                : status;
}

enum shmtune_status shmt_image_check_stored(const char *folder,
                                            const char *key,
                                            struct shmt_error *err)
{
    const struct shmt_image_folder place = {folder, false};
    struct shmt_image image = {.arena = shmt_arena_new()};
    const struct shmt_yaml *node = NULL;
    enum shmtune_status status;

    snprintf(image.key, sizeof image.key, "%s", key);
    status = image.arena == NULL ? shmt_error_memory(err)
                                 : fetch(&place, &image, &node, err);
    shmt_arena_free(image.arena);
    return status;
}

enum shmtune_status
shmt_image_read_stored(const struct shmt_image_folder *folder,
                       struct shmt_image *image, struct shmt_error *err)
{
    struct shmt_error why = {0};
    const struct shmt_yaml *node = NULL;
    enum shmtune_status status = fetch(folder, image, &node, &why);

    if (status == SHMTUNE_OK)
        status = read_entries(node, image, &why);
    if (status == SHMTUNE_OK)
        return SHMTUNE_OK;
    if (status == SHMTUNE_NO_MEMORY || status == SHMTUNE_STORAGE)
        return shmt_error_set(err, status, "%s", why.text);
    /* A file that is damaged or of another version counts as absent. */
    return SHMTUNE_NOT_FOUND;
}
