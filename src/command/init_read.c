/* SPDX-License-Identifier: MIT */
/*
 * init_read: the text of a source as init reads it: the files that it includes
 * in quotes stand where they are included, each once; behind them stands the
 * file that launches the kernel, where that is another one.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"

enum { BYTES = 16 << 20, FILES = 256, DEEPEST = 16 };

struct splice {
    struct shmt_arena *arena;
    const struct shmt_compiler_words *includes;
    const char *seen[FILES];
    size_t count;
    bool lacks;                /* a file in quotes is elsewhere */
    struct shmt_text text;     /* failed: see `status`, if it is not OK */
    struct shmt_error *err;
    enum shmtune_status status;
};

static bool is_seen(const struct splice *splice, const char *path)
{
    for (size_t k = 0; k < splice->count; k++)
        if (shmt_path_is_same(splice->seen[k], path))
            return true;
    return false;
}

static void add_file(struct splice *splice, const char *path, int depth);

static bool is_file(struct splice *splice, const char *path)
{
    const enum shmt_path_kind kind = shmt_path_kind(path);

    if (kind == SHMT_PATH_UNKNOWN && !splice->text.failed) {
        splice->status = shmt_error_system(splice->err, path,
                                           "cannot be examined");
        splice->text.failed = true;
    }
    return kind == SHMT_PATH_FILE;
}

/* Beside the file that includes it in quotes, or in a folder of headers. */
static const char *find_include(struct splice *splice, const char *folder,
                                const char *name, bool quoted)
{
    for (size_t k = 0; k <= splice->includes->count; k++) {
        const char *const path =
            k == 0 && !quoted
                ? "" : shmt_path_join(splice->arena,
                                      k == 0 ? folder
                                             : splice->includes->items[k - 1],
                                      name);

        splice->text.failed |= path == NULL;
        if (path == NULL || is_file(splice, path))
            return path;
    }
    return NULL;
}

/* What stands in the place of `#include "name"`; false: nothing does. */
static bool add_include(struct splice *splice, const char *folder,
                        const char *name, size_t length, bool quoted,
                        int depth)
{
    const char *copy = shmt_arena_copy(splice->arena, name, length);
    const char *path = copy == NULL || depth == DEEPEST
                           ? NULL : find_include(splice, folder, copy, quoted);

    splice->text.failed |= copy == NULL;
    splice->lacks |= path == NULL && quoted;
    if (path != NULL && !is_seen(splice, path))
        add_file(splice, path, depth + 1);
    return path != NULL;
}

static void add_text(struct splice *splice, const char *path,
                     const char *text, int depth)
{
    const char *const folder = shmt_path_folder(splice->arena, path);
    const char *at = text, *from = text, *name;
    size_t length;
    bool quoted;

    splice->text.failed |= folder == NULL;
    while (!splice->text.failed &&
           shmt_kernel_next_include(text, &at, &name, &length, &quoted)) {
        /* Not `#define NAME "file"`. */
        const bool is = strncmp(at + strspn(at, " \t"), "include", 7) == 0;

        if (!is || (!quoted && splice->includes->count == 0))
            continue;
        shmt_text_add_bytes(&splice->text, from, (size_t)(at - 1 - from));
        from = at - 1;
        if (add_include(splice, folder, name, length, quoted, depth))
            from = name + length + 1;
    }
    shmt_text_add(&splice->text, from);
    shmt_text_add(&splice->text, "\n");
}

static void add_file(struct splice *splice, const char *path, int depth)
{
    const char *text;
    size_t size;

    if (splice->count == FILES || splice->text.length > BYTES ||
        splice->text.failed)
        return;
    splice->status = shmt_path_read(splice->arena, path, BYTES, &text, &size,
                                    splice->err);
    splice->text.failed = splice->status != SHMTUNE_OK;
    if (splice->text.failed)
        return;
    splice->seen[splice->count++] = path;
    add_text(splice, path, text, depth);
}

static enum shmtune_status keep(struct shmt_init_draft *draft,
                                struct splice *splice, struct shmt_error *err)
{
    draft->text = splice->text.failed
                      ? NULL
                      : shmt_arena_copy(draft->arena,
                                        shmt_text_string(&splice->text),
                                        splice->text.length);
    shmt_text_free(&splice->text);
    if (splice->status != SHMTUNE_OK)
        return splice->status;
    return draft->text == NULL ? shmt_error_memory(err)
                               : shmt_source_read(draft->arena, draft->text,
                                                  &draft->source, err);
}

enum shmtune_status shmt_init_read(struct shmt_init_draft *draft,
                                   const char *path, struct shmt_error *err)
{
    struct splice splice = {.arena = draft->arena, .err = err,
                            .includes = &draft->line.includes};
    const char *text;
    size_t size;
    enum shmtune_status status =
        shmt_path_read(draft->arena, path, BYTES, &text, &size, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_init_add_definitions(draft, &splice.text);
    splice.seen[splice.count++] = path;
    add_text(&splice, path, text, 0);
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

/* A file that includes the source: it may define what that needs. */
static enum shmtune_status keep_launcher(struct shmt_init_draft *draft,
                                         const char *path,
                                         struct splice *splice,
                                         struct shmt_error *err)
{
    const char *const slash = strrchr(path, '/');
    const char *text;
    size_t size;
    enum shmtune_status status = keep(draft, splice, err);

    if (status == SHMTUNE_OK)
        status = shmt_path_read(draft->arena, path, BYTES, &text, &size, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, text, &draft->file, err);
    draft->own = draft->text;
    draft->path = draft->path[0] == '/' ? shmt_path_absolute(draft->arena, path)
                  : slash == NULL       ? path
                                        : slash + 1;
    return status == SHMTUNE_OK && draft->path == NULL ? shmt_error_memory(err)
                                                       : status;
}

enum shmtune_status shmt_init_read_launch(struct shmt_init_draft *draft,
                                          const char *path,
                                          struct shmt_error *err)
{
    struct splice splice = {.arena = draft->arena, .err = err,
                            .includes = &draft->line.includes};
    const char *const folder = shmt_path_folder(draft->arena, path);
    const char *const other =
        folder == NULL ? NULL : find_launch(draft, folder, path);

    if (folder == NULL)
        return shmt_error_memory(err);
    if (other == NULL)
        return SHMTUNE_OK;
    shmt_init_add_definitions(draft, &splice.text);
    add_file(&splice, other, 0);
    /* That is what is compiled, unless it needs folders that nobody names. */
    if (is_seen(&splice, path) && !splice.lacks)
        return keep_launcher(draft, other, &splice, err);
    splice.count = 0;
    shmt_text_clear(&splice.text);
    shmt_init_add_definitions(draft, &splice.text);
    add_file(&splice, path, 0);
    add_file(&splice, other, 0);
    return keep(draft, &splice, err);
}
