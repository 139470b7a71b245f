/* SPDX-License-Identifier: MIT */
/*
 * include: the text of a source with the files that it includes, as a compiler
 * looks for them, and which line of it is which of which file.
 */
#include "source/source.h"

#include <string.h>

enum { BYTES = 16 << 20, DEEPEST = 16 };

bool shmt_source_splice_has(const struct shmt_source_splice *splice,
                            const char *path)
{
    for (size_t k = 0; k < splice->count; k++)
        if (shmt_path_is_same(splice->files[k], path))
            return true;
    return false;
}

static void add_file(struct shmt_source_splice *splice, const char *path,
                     int depth);

static bool is_file(struct shmt_source_splice *splice, const char *path)
{
    const enum shmt_path_kind kind = shmt_path_kind(path);

    if (kind == SHMT_PATH_UNKNOWN && !splice->lax && !splice->text.failed) {
        splice->status = shmt_error_system(splice->err, path,
                                           "cannot be examined");
        splice->text.failed = true;
    }
    return kind == SHMT_PATH_FILE;
}

/* What a toolkit has is no part of a source. */
static bool is_toolkit(struct shmt_source_splice *splice, const char *folder)
{
    static const char *const marks[] = {"cuda.h", "cuda_runtime_api.h"};
    bool is = true;

    for (size_t k = 0; is && k < sizeof marks / sizeof marks[0]; k++) {
        const char *const path =
            shmt_path_join(splice->arena, folder, marks[k]);

        splice->text.failed |= path == NULL;
        is = path != NULL && shmt_path_is_file(path);
    }
    return is;
}

/* Beside the file that includes it in quotes, or in a folder of headers. */
static const char *find_include(struct shmt_source_splice *splice,
                                const char *folder, const char *name,
                                bool quoted)
{
    for (size_t k = 0; k <= splice->folder_count; k++) {
        const char *const path =
            k == 0 && !quoted
                ? "" : shmt_path_join(splice->arena,
                                      k == 0 ? folder
                                             : splice->folders[k - 1],
                                      name);

        splice->text.failed |= path == NULL;
        if (path == NULL)
            return NULL;
        if (is_file(splice, path))
            return k > 0 && is_toolkit(splice, splice->folders[k - 1])
                       ? NULL : path;
    }
    return NULL;
}

/* What stands in the place of `#include "name"`; false: nothing does. */
static bool add_include(struct shmt_source_splice *splice, const char *folder,
                        const char *name, size_t length, bool quoted,
                        int depth)
{
    const char *copy = shmt_arena_copy(splice->arena, name, length);
    const char *path = copy == NULL || depth == DEEPEST
                           ? NULL : find_include(splice, folder, copy, quoted);

    splice->text.failed |= copy == NULL;
    splice->lacks |= path == NULL && quoted;
    if (path != NULL && !shmt_source_splice_has(splice, path))
        add_file(splice, path, depth + 1);
    return path != NULL;
}

static int lines_in(const char *from, const char *end)
{
    int count = 0;

    for (; from < end; from++)
        count += *from == '\n';
    return count;
}

/* From here on the text is the file's, from this line of it on. */
static void mark(struct shmt_source_splice *splice, const char *path, int line)
{
    const char *const all = shmt_text_string(&splice->text);

    if (splice->text.failed)
        return;
    splice->line += lines_in(all + splice->counted,
                             all + splice->text.length);
    splice->counted = splice->text.length;
    if (splice->origin_count < SHMT_SOURCE_ORIGINS)
        splice->origins[splice->origin_count++] =
            (struct shmt_source_origin){splice->line + 1, path, line};
}

static void add_text(struct shmt_source_splice *splice, const char *path,
                     const char *text, int depth)
{
    const char *const folder = shmt_path_folder(splice->arena, path);
    const char *at = text, *from = text, *name;
    size_t length;
    bool quoted;

    splice->text.failed |= folder == NULL;
    mark(splice, path, 1);
    while (!splice->text.failed &&
           shmt_kernel_next_include(text, &at, &name, &length, &quoted)) {
        /* Not `#define NAME "file"`. */
        const bool is = strncmp(at + strspn(at, " \t"), "include", 7) == 0;

        if (!is || (!quoted && splice->folder_count == 0))
            continue;
        shmt_text_add_bytes(&splice->text, from, (size_t)(at - 1 - from));
        from = at - 1;
        if (add_include(splice, folder, name, length, quoted, depth)) {
            from = name + length + 1;
            mark(splice, path, 1 + lines_in(text, from));
        }
    }
    shmt_text_add(&splice->text, from);
    shmt_text_add(&splice->text, "\n");
}

static void add_file(struct shmt_source_splice *splice, const char *path,
                     int depth)
{
    enum shmtune_status status;
    const char *text;
    size_t size;

    if (splice->count == SHMT_SOURCE_FILES || splice->text.length > BYTES ||
        splice->text.failed)
        return;
    status = shmt_path_read(splice->arena, path, BYTES, &text, &size,
                            splice->err);
    if (splice->lax && status != SHMTUNE_OK && status != SHMTUNE_NO_MEMORY)
        return;
    splice->status = status;
    splice->text.failed = status != SHMTUNE_OK;
    if (splice->text.failed)
        return;
    splice->files[splice->count++] = path;
    add_text(splice, path, text, depth);
}

void shmt_source_splice_file(struct shmt_source_splice *splice,
                             const char *path)
{
    add_file(splice, path, 0);
}

void shmt_source_splice_text(struct shmt_source_splice *splice,
                             const char *path, const char *text)
{
    splice->files[splice->count++] = path;
    add_text(splice, path, text, 0);
}

enum shmtune_status shmt_source_splice_end(struct shmt_source_splice *splice,
                                           const char **out)
{
    *out = shmt_text_keep(&splice->text, splice->arena);
    if (splice->status != SHMTUNE_OK)
        return splice->status;
    return *out == NULL ? shmt_error_memory(splice->err) : SHMTUNE_OK;
}

int shmt_source_splice_line(const struct shmt_source_splice *splice, int line,
                            const char **file)
{
    const struct shmt_source_origin *last = NULL;

    for (size_t k = 0; k < splice->origin_count; k++)
        if (splice->origins[k].at <= line)
            last = &splice->origins[k];
    *file = last == NULL ? NULL : last->file;
    return last == NULL ? line : last->line + line - last->at;
}

enum shmtune_status shmt_source_includes(const char *path, const char *header,
                                         const char *const *folders,
                                         size_t folder_count, bool *out,
                                         struct shmt_error *err)
{
    struct shmt_source_splice splice = {
        .arena = shmt_arena_new(), .folders = folders,
        .folder_count = folder_count, .lax = true, .err = err};
    const char *text;
    enum shmtune_status status = SHMTUNE_OK;

    *out = false;
    if (splice.arena == NULL)
        return shmt_error_memory(err);
    shmt_source_splice_file(&splice, path);
    status = shmt_source_splice_end(&splice, &text);
    *out = splice.count > 1 && shmt_source_splice_has(&splice, header) &&
           !shmt_path_is_same(path, header);
    shmt_arena_free(splice.arena);
    return status;
}
