/* SPDX-License-Identifier: MIT */
/*
 * draft_source: which source a captured kernel has whose compiler was not seen:
 * of the files that the user names, those that its binary names, or, where
 * nobody names any, those of the current folder, the first that has a kernel of
 * its name with as many parameters, in itself or in what it includes, and that
 * none of the others includes.  nvcc compiles it, as it is, from where it lies.
 * The others may have the host code that launches it.  Called by capture.c.
 */
#include "config.h"

#include <string.h>

#include "command/draft.h"
#include "gpu/gpu.h"

enum { MOST_SOURCE = 16 << 20, MOST_IMAGE = 1 << 28 };

/* What is tried as a source, as nvcc reads it. */
struct candidate {
    const char *path;                  /* absolute */
    const char *text;
    struct shmt_source_splice splice;
};

/* The file with all that it includes; *out NULL: it cannot be read. */
static enum shmtune_status read_whole(struct shmt_draft *draft,
                                      const struct shmt_compiler_line *line,
                                      const char *path,
                                      const struct candidate **out,
                                      struct shmt_error *err)
{
    struct candidate *const one =
        shmt_arena_alloc(draft->arena, 1, sizeof *one);

    *out = NULL;
    if (one == NULL)
        return shmt_error_memory(err);
    one->path = shmt_path_absolute(draft->arena, path);
    one->splice = (struct shmt_source_splice){
        .arena = draft->arena, .folders = line->includes.items,
        .folder_count = line->includes.count, .lax = true, .err = err};
    if (one->path == NULL)
        return shmt_error_memory(err);
    if (!shmt_path_is_file(one->path))
        return SHMTUNE_OK;
    shmt_source_splice_file(&one->splice, one->path);
    if (one->splice.count > 0)
        *out = one;
    return shmt_source_splice_end(&one->splice, &one->text);
}

/* As it is, or as the compiler sees it who is given these definitions. */
static enum shmtune_status has_kernel(struct shmt_draft *draft,
                                      const struct shmt_compiler_line *line,
                                      const char *text, bool *has,
                                      struct shmt_error *err)
{
    struct shmt_text defined = {0};
    struct shmt_source source;
    const char *code;
    enum shmtune_status status;

    *has = false;
    if (strstr(text, draft->name) == NULL)
        return SHMTUNE_OK;
    status = shmt_source_read(draft->arena, text, &source, err);
    *has = status == SHMTUNE_OK &&
           shmt_draft_kernel_in(draft, &source) != NULL;
    if (status != SHMTUNE_OK || *has)
        return status;
    for (size_t k = 0; k < line->definitions.count; k++)
        shmt_compiler_line_define(line->definitions.items[k], &defined);
    shmt_text_add(&defined, text);
    status = defined.failed
                 ? shmt_error_memory(err)
                 : shmt_source_preprocess(draft->arena, defined.data, &code,
                                          err);
    shmt_text_free(&defined);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, code, &source, err);
    *has = status == SHMTUNE_OK &&
           shmt_draft_kernel_in(draft, &source) != NULL;
    return status;
}

static enum shmtune_status try_file(struct shmt_draft *draft,
                                    const struct shmt_compiler_line *line,
                                    const char *path,
                                    const struct candidate **out,
                                    struct shmt_error *err)
{
    bool has = false;
    enum shmtune_status status = read_whole(draft, line, path, out, err);

    if (status == SHMTUNE_OK && *out != NULL)
        status = has_kernel(draft, line, (*out)->text, &has, err);
    if (!has)
        *out = NULL;
    return status;
}

/* A file that is compiled, by its name. */
static bool is_unit(const char *path)
{
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};

    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
        if (shmt_text_ends(path, ends[k]))
            return true;
    return false;
}

/* One that others include is compiled with them, and needs what they have: the
 * first of the files that includes it, and so on. */
static enum shmtune_status lift(struct shmt_draft *draft,
                                const struct shmt_compiler_line *line,
                                const char *const *files, size_t count,
                                const struct candidate **source,
                                struct shmt_error *err)
{
    const struct candidate *other;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        if (!is_unit(files[k]) ||
            shmt_source_splice_has(&(*source)->splice, files[k]))
            continue;
        status = read_whole(draft, line, files[k], &other, err);
        if (status == SHMTUNE_OK && other != NULL &&
            shmt_source_splice_has(&other->splice, (*source)->path)) {
            *source = other;
            k = (size_t)-1;            /* who includes that? */
        }
    }
    return status;
}

/* The first of the files that has the kernel. */
static enum shmtune_status find_among(struct shmt_draft *draft,
                                      const struct shmt_compiler_line *line,
                                      const char *const *files, size_t count,
                                      const struct candidate **out,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && *out == NULL && k < count; k++)
        status = try_file(draft, line, files[k], out, err);
    if (status == SHMTUNE_OK && *out != NULL)
        status = lift(draft, line, files, count, out, err);
    return status;
}

/* What its binary names, for people too. */
static void read_lines(const struct shmt_draft *draft, const char *folder,
                       struct shmt_lines *out)
{
    const char *path = draft->image == NULL
                           ? NULL : shmt_path_join(draft->arena, folder,
                                                   draft->image);
    const char *data;
    size_t size;

    out->count = 0;
    if (path != NULL && shmt_path_read(draft->arena, path, MOST_IMAGE, &data,
                                       &size, NULL) == SHMTUNE_OK)
        shmt_lines_read(draft->arena, data, size, out);
}

static void note_lines(struct shmt_draft *draft, const struct shmt_lines *lines)
{
    enum { MOST = 8 };

    if (lines->count == 0)
        return;
    shmt_text_add(&draft->notes, "# Its binary names these sources:\n");
    for (size_t k = 0; k < lines->count && k < MOST; k++) {
        shmt_text_add(&draft->notes, "#   ");
        shmt_text_add_visible(&draft->notes, lines->files[k]);
        shmt_text_add(&draft->notes, "\n");
    }
    if (lines->count > MOST)
        shmt_text_addf(&draft->notes, "#   and %zu more\n",
                       lines->count - MOST);
}

/* Those of the current folder, in which a program often is. */
static enum shmtune_status find_here(struct shmt_draft *draft,
                                     const struct shmt_compiler_line *line,
                                     const struct candidate **out,
                                     struct shmt_error *err)
{
    const char *const *names;
    size_t count;

    return shmt_path_list(draft->arena, ".", ".cu", &names, &count, NULL) ==
                   SHMTUNE_OK
               ? find_among(draft, line, names, count, out, err) : SHMTUNE_OK;
}

enum shmtune_status
shmt_draft_find_source(struct shmt_draft *draft, const char *folder,
                       const struct shmt_compiler_line *line,
                       const char *const *files, size_t count,
                       struct shmt_error *err)
{
    const struct candidate *found = NULL;
    struct shmt_lines lines = {.count = 0};
    enum shmtune_status status;

    if (draft->source != NULL)
        return SHMTUNE_OK;
    status = find_among(draft, line, files, count, &found, err);
    if (status != SHMTUNE_OK)
        return status;
    if (found == NULL)
        read_lines(draft, folder, &lines);
    if (found == NULL)
        status = find_among(draft, line, lines.files, lines.count, &found,
                            err);
    /* Where nobody names a file. */
    if (status == SHMTUNE_OK && found == NULL && count + lines.count == 0)
        status = find_here(draft, line, &found, err);
    if (status == SHMTUNE_OK && found == NULL)
        note_lines(draft, &lines);
    if (status != SHMTUNE_OK || found == NULL)
        return status;
    draft->source = found->path;
    draft->code = found->text;
    draft->whole = &found->splice;
    draft->line = *line;
    draft->nvcc = true;
    return SHMTUNE_OK;
}

/* -- host code ------------------------------------------------------------ */

/* The file's text; NULL: it cannot be read. */
static enum shmtune_status read_host(struct shmt_draft *draft,
                                     const char *path,
                                     const struct shmt_source **out,
                                     struct shmt_error *err)
{
    struct shmt_source *const source =
        shmt_arena_alloc(draft->arena, 1, sizeof *source);
    const char *absolute = shmt_path_absolute(draft->arena, path), *code;
    size_t size;

    *out = NULL;
    if (source == NULL || absolute == NULL)
        return shmt_error_memory(err);
    if (shmt_source_splice_has(draft->whole, absolute) ||
        shmt_path_read(draft->arena, absolute, MOST_SOURCE, &code, &size,
                       NULL) != SHMTUNE_OK)
        return SHMTUNE_OK;
    *out = source;
    return shmt_source_read(draft->arena, code, source, err);
}

enum shmtune_status shmt_draft_find_hosts(struct shmt_draft *draft,
                                          const char *const *files,
                                          size_t count,
                                          struct shmt_error *err)
{
    const struct shmt_source **hosts =
        shmt_arena_alloc(draft->arena, count + 1, sizeof *hosts);
    enum shmtune_status status = SHMTUNE_OK;

    if (hosts == NULL)
        return shmt_error_memory(err);
    draft->hosts = hosts;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        status = read_host(draft, files[k], &hosts[draft->host_count], err);
        draft->host_count += hosts[draft->host_count] != NULL;
    }
    return status;
}
