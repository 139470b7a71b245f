/* SPDX-License-Identifier: MIT */
/*
 * init_read: the text of a source as init reads it: the files that it includes
 * in quotes stand where they are included, each once; behind them stands the
 * file that launches the kernel, where that is another one.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"

/* Of files that are looked through. */
enum { BYTES = 16 << 20, FILES = 256 };

static enum shmtune_status keep(struct shmt_init_draft *draft,
                                struct shmt_source_splice *splice,
                                struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_source_splice_end(splice, &draft->text);

    draft->lacks = splice->lacks;
    return status != SHMTUNE_OK
               ? status : shmt_source_read(draft->arena, draft->text,
                                           &draft->source, err);
}

static struct shmt_source_splice begin(const struct shmt_init_draft *draft,
                                       struct shmt_error *err)
{
    return (struct shmt_source_splice){
        .arena = draft->arena, .err = err,
        .folders = draft->line.includes.items,
        .folder_count = draft->line.includes.count};
}

enum shmtune_status shmt_init_read(struct shmt_init_draft *draft,
                                   const char *path, struct shmt_error *err)
{
    struct shmt_source_splice splice = begin(draft, err);
    const char *text;
    size_t size;
    enum shmtune_status status =
        shmt_path_read(draft->arena, path, BYTES, &text, &size, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_init_add_definitions(draft, &splice.text);
    shmt_source_splice_text(&splice, path, text);
    status = keep(draft, &splice, err);
    draft->own = draft->text;
    return status == SHMTUNE_OK
               ? shmt_source_read(draft->arena, text, &draft->file, err)
               : status;
}

/* -- who launches it ------------------------------------------------------- */

/* `NAME<<<`, with the arguments of a template between them. */
static bool launches(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, "<<<")) != NULL; at += 3) {
        const char *from = at;
        size_t depth = 0;

        while (from > text && (depth > 0 || strchr(" \t\n>", from[-1]))) {
            from--;
            depth += *from == '>';
            depth -= *from == '<';
        }
        if ((size_t)(from - text) >= length &&
            memcmp(from - length, name, length) == 0 &&
            (from - length == text ||
             shmt_text_name_length(from - length - 1) == 0))
            return true;
    }
    return false;
}

/* The path of the first file of the folder that launches it; NULL: none. */
static const char *find_launch(struct shmt_init_draft *draft,
                               const char *folder, const char *path)
{
    static const char *const ends[] = {".cu", ".cuh", ".cpp", ".cc", ".h",
                                       ".hpp", ".c"};

    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
        const char *const *names;
        size_t count = 0;

        if (shmt_path_list(draft->arena, folder, ends[e], &names, &count,
                           NULL) != SHMTUNE_OK)
            continue;
        for (size_t k = 0; k < count && k < FILES; k++) {
            const char *const one =
                shmt_path_join(draft->arena, folder, names[k]);
            const char *text;
            size_t size;

            if (one != NULL && !shmt_path_is_same(one, path) &&
                shmt_path_read(draft->arena, one, BYTES / 8, &text, &size,
                               NULL) == SHMTUNE_OK &&
                launches(text, draft->kernel->name))
                return one;
        }
    }
    return NULL;
}

/* The file, which includes the source, as it is named from the spec's folder;
 * NULL: there is no memory. */
static const char *named(const struct shmt_init_draft *draft, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const folder = shmt_path_folder(draft->arena, path);

    if (folder == NULL)
        return NULL;
    return shmt_path_is_same(folder, draft->spec_folder)
               ? slash == NULL ? path : slash + 1
               : shmt_path_absolute(draft->arena, path);
}

/* A file that includes the source: it may define what that needs. */
static enum shmtune_status keep_launcher(struct shmt_init_draft *draft,
                                         const char *path,
                                         struct shmt_source_splice *splice,
                                         struct shmt_error *err)
{
    const char *text;
    size_t size;
    enum shmtune_status status = keep(draft, splice, err);

    if (status == SHMTUNE_OK)
        status = shmt_path_read(draft->arena, path, BYTES, &text, &size, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, text, &draft->file, err);
    draft->own = draft->text;
    draft->path = named(draft, path);
    return status == SHMTUNE_OK && draft->path == NULL ? shmt_error_memory(err)
                                                       : status;
}

enum shmtune_status shmt_init_read_compiled(struct shmt_init_draft *draft,
                                            const char *path,
                                            struct shmt_error *err)
{
    struct shmt_source_splice splice = begin(draft, err);

    shmt_init_add_definitions(draft, &splice.text);
    shmt_source_splice_file(&splice, path);
    return keep_launcher(draft, path, &splice, err);
}

enum shmtune_status shmt_init_read_launch(struct shmt_init_draft *draft,
                                          const char *path,
                                          struct shmt_error *err)
{
    struct shmt_source_splice splice = begin(draft, err);
    const char *const folder = shmt_path_folder(draft->arena, path);
    const char *const other =
        folder == NULL ? NULL : find_launch(draft, folder, path);

    if (folder == NULL)
        return shmt_error_memory(err);
    if (other == NULL)
        return SHMTUNE_OK;
    shmt_init_add_definitions(draft, &splice.text);
    shmt_source_splice_file(&splice, other);
    /* That is what is compiled, unless it needs folders that nobody names. */
    if (shmt_source_splice_has(&splice, path) && !splice.lacks)
        return keep_launcher(draft, other, &splice, err);
    shmt_text_free(&splice.text);
    splice = begin(draft, err);
    shmt_init_add_definitions(draft, &splice.text);
    shmt_source_splice_file(&splice, path);
    shmt_source_splice_file(&splice, other);
    return keep(draft, &splice, err);
}
