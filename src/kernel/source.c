/* SPDX-License-Identifier: MIT */
/*
 * source: reads the source files of a spec.  Several are one text for the
 * compiler, in their order, as if one file included each.
 */
#include "kernel/read.h"

#include <string.h>

/* One file, given by its path from the spec's folder. */
static enum shmtune_status read_file(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     struct shmt_kernel_header *out)
{
    struct shmt_arena *arena = reader->kernel->arena;
    const char *folder = shmt_path_folder(arena, reader->kernel->path);
    struct shmt_error cause = {0};
    const char *name;
    enum shmtune_status status =
        shmt_kernel_read_string(reader, node, 1024, &name);

    if (status != SHMTUNE_OK)
        return status;
    if (name[0] == '\0')
        return shmt_yaml_refuse(node, reader->err, "source is empty; the "
                                "path of a .cu is expected");
    out->path = folder == NULL ? NULL : shmt_path_join(arena, folder, name);
    if (out->path == NULL)
        return shmt_error_memory(reader->err);
    status = shmt_path_read(arena, out->path, SHMT_KERNEL_SOURCE_BYTES,
                            &out->text, &out->size, &cause);
    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(reader->err);
    if (status != SHMTUNE_OK) {
        shmt_yaml_refuse(node, reader->err, "the source cannot be read: %s",
                         cause.text);
        /* One that is there and cannot be read is no fault of the spec. */
        return shmt_error_set_status(reader->err,
                                     status == SHMTUNE_STORAGE
                                         ? status : SHMTUNE_INVALID_FILE);
    }
    if (memchr(out->text, '\0', out->size) != NULL)
        return shmt_yaml_refuse(node, reader->err,
                                "the source %s has a NUL byte: not a text",
                                out->path);
    return SHMTUNE_OK;
}

static enum shmtune_status join(struct shmt_kernel_reader *reader,
                                struct shmt_kernel_code *code)
{
    struct shmt_text text = {0};

    for (size_t k = 0; k < code->file_count; k++) {
        if (k > 0) {
            shmt_text_add(&text, "\n");
            shmt_text_add_line_mark(&text, 1, code->files[k].path);
        }
        shmt_text_add_bytes(&text, code->files[k].text, code->files[k].size);
    }
    code->text = shmt_text_keep(&text, reader->kernel->arena);
    return code->text == NULL ? shmt_error_memory(reader->err) : SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_source_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            struct shmt_kernel_code *out)
{
    const bool several = node->kind == SHMT_YAML_SEQUENCE;
    const size_t count = several ? node->count : 1;
    struct shmt_kernel_header *files;
    struct shmt_kernel_code code = {.file_count = count};
    enum shmtune_status status = SHMTUNE_OK;

    if (count == 0 || count > SHMT_KERNEL_SOURCES)
        return shmt_yaml_refuse(node, reader->err,
                                "%zu sources; 1 to %d are expected", count,
                                SHMT_KERNEL_SOURCES);
    files = shmt_arena_alloc(reader->kernel->arena, count, sizeof *files);
    if (files == NULL)
        return shmt_error_memory(reader->err);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const struct shmt_yaml *item = several ? node->items[k] : node;

        status = read_file(reader, item, &files[k]);
        for (size_t i = 0; status == SHMTUNE_OK && i < k; i++)
            if (strcmp(files[i].path, files[k].path) == 0)
                status = shmt_yaml_refuse(item, reader->err,
                                          "the source %s is in the list "
                                          "already", files[k].path);
    }
    code.files = files;
    code.text = files[0].text;
    if (status == SHMTUNE_OK && count > 1)
        status = join(reader, &code);
    if (status == SHMTUNE_OK)
        *out = code;
    return status;
}
