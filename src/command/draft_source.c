/* SPDX-License-Identifier: MIT */
/*
 * draft_source: which source a captured kernel has whose compiler was not seen:
 * of the files that the user names, those that its binary names, or, where
 * nobody names any, those of the current folder and of its project, the first
 * that has a kernel of its name with as many parameters, in itself or in what
 * it includes, and that none of the others includes.  nvcc compiles it, as it
 * is, from where it lies, as the user says, or else a compile_commands.json.
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
    struct shmt_builds_entry build;    /* where the user says nothing */
    struct shmt_compiler_line line;    /* how it is compiled */
};

struct search {
    struct shmt_draft *draft;
    const struct shmt_draft_sources *given;
};

static enum shmtune_status find_line(const struct search *search,
                                     struct candidate *one,
                                     struct shmt_error *err)
{
    enum shmtune_status status;

    if (search->given->line != NULL) {
        one->line = *search->given->line;
        return SHMTUNE_OK;
    }
    status = shmt_builds_find(search->given->builds, one->path, &one->build,
                              err);
    return status == SHMTUNE_OK
               ? shmt_builds_line(search->draft->arena, &one->build,
                                  &one->line, err)
               : status;
}

/* The file with all that it includes; *out NULL: it cannot be read. */
static enum shmtune_status read_whole(const struct search *search,
                                      const char *path,
                                      const struct candidate **out,
                                      struct shmt_error *err)
{
    struct shmt_draft *const draft = search->draft;
    enum shmtune_status status;
    struct candidate *const one =
        shmt_arena_alloc(draft->arena, 1, sizeof *one);

    *out = NULL;
    if (one == NULL)
        return shmt_error_memory(err);
    one->path = shmt_path_absolute(draft->arena, path);
    if (one->path == NULL)
        return shmt_error_memory(err);
    if (!shmt_path_is_file(one->path))
        return SHMTUNE_OK;
    status = find_line(search, one, err);
    if (status != SHMTUNE_OK)
        return status;
    one->splice = (struct shmt_source_splice){
        .arena = draft->arena, .folders = one->line.includes.items,
        .folder_count = one->line.includes.count, .lax = true, .err = err};
    shmt_source_splice_file(&one->splice, one->path);
    if (one->splice.count > 0)
        *out = one;
    return shmt_source_splice_end(&one->splice, &one->text);
}

/* As it is, or as the compiler sees it who is given these definitions. */
static enum shmtune_status has_kernel(const struct shmt_draft *draft,
                                      const struct candidate *one, bool *has,
                                      struct shmt_error *err)
{
    const struct shmt_compiler_words *const definitions =
        &one->line.definitions;
    struct shmt_text defined = {0};
    struct shmt_source source;
    const char *code;
    enum shmtune_status status;

    *has = false;
    if (strstr(one->text, draft->name) == NULL)
        return SHMTUNE_OK;
    status = shmt_source_read(draft->arena, one->text, &source, err);
    *has = status == SHMTUNE_OK &&
           shmt_draft_kernel_in(draft, &source) != NULL;
    if (status != SHMTUNE_OK || *has)
        return status;
    for (size_t k = 0; k < definitions->count; k++)
        shmt_compiler_line_define(definitions->items[k], &defined);
    shmt_text_add(&defined, one->text);
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

static enum shmtune_status try_file(const struct search *search,
                                    const char *path,
                                    const struct candidate **out,
                                    struct shmt_error *err)
{
    bool has = false;
    enum shmtune_status status = read_whole(search, path, out, err);

    if (status == SHMTUNE_OK && *out != NULL)
        status = has_kernel(search->draft, *out, &has, err);
    if (!has)
        *out = NULL;
    return status;
}

/* One that others include is compiled with them, and needs what they have: the
 * first of the files that includes it, and so on. */
static enum shmtune_status lift(const struct search *search,
                                const char *const *files, size_t count,
                                const struct candidate **source,
                                struct shmt_error *err)
{
    const struct candidate *other;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        if (!shmt_builds_is_unit(files[k]) ||
            shmt_source_splice_has(&(*source)->splice, files[k]))
            continue;
        status = read_whole(search, files[k], &other, err);
        if (status == SHMTUNE_OK && other != NULL &&
            shmt_source_splice_has(&other->splice, (*source)->path)) {
            *source = other;
            k = (size_t)-1;            /* who includes that? */
        }
    }
    return status;
}

/* One that a command compiles with another file: that one. */
static enum shmtune_status lift_built(const struct search *search,
                                      const struct candidate **source,
                                      struct shmt_error *err)
{
    const struct candidate *const found = *source, *other = NULL;
    const char *path = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (found->build.list != NULL && !found->build.exact)
        status = shmt_builds_compiled(search->draft->arena, &found->build,
                                      found->path, &path, err);
    if (status == SHMTUNE_OK && path != NULL)
        status = read_whole(search, path, &other, err);
    if (status == SHMTUNE_OK && other != NULL &&
        shmt_source_splice_has(&other->splice, found->path))
        *source = other;
    return status;
}

/* The first of the files that has the kernel. */
static enum shmtune_status find_among(const struct search *search,
                                      const char *const *files, size_t count,
                                      const struct candidate **out,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && *out == NULL && k < count; k++)
        status = try_file(search, files[k], out, err);
    if (status == SHMTUNE_OK && *out != NULL)
        status = lift(search, files, count, out, err);
    return status == SHMTUNE_OK && *out != NULL ? lift_built(search, out, err)
                                                : status;
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

/* Whether the file itself does: a project has many. */
static bool names_kernel(const struct shmt_draft *draft, const char *path)
{
    const char *text;
    size_t size;

    return shmt_path_read(draft->arena, path, MOST_SOURCE, &text, &size,
                          NULL) == SHMTUNE_OK &&
           strstr(text, draft->name) != NULL;
}

/* Those of the current folder, in which a program often is, and then those of
 * its project that have the kernel's name. */
static enum shmtune_status find_here(const struct search *search,
                                     const struct candidate **out,
                                     struct shmt_error *err)
{
    struct shmt_draft *const draft = search->draft;
    struct shmt_compiler_words built = {.count = 0};
    enum shmtune_status status = SHMTUNE_OK;
    const char *const *names;
    size_t count, kept = 0;

    if (shmt_path_list(draft->arena, ".", ".cu", &names, &count, NULL) ==
        SHMTUNE_OK)
        status = find_among(search, names, count, out, err);
    if (status != SHMTUNE_OK || *out != NULL)
        return status;
    status = shmt_builds_sources(search->given->builds, ".", &built, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < built.count; k++)
        if (names_kernel(draft, built.items[k]))
            built.items[kept++] = built.items[k];
    return status == SHMTUNE_OK
               ? find_among(search, built.items, kept, out, err) : status;
}

static void take(struct shmt_draft *draft, const struct candidate *found)
{
    draft->source = found->path;
    draft->code = found->text;
    draft->whole = &found->splice;
    draft->line = found->line;
    draft->built = found->build.list;
    draft->nvcc = true;
    if (found->build.list != NULL)
        draft->compiled_in = found->build.folder;
}

enum shmtune_status
shmt_draft_find_source(struct shmt_draft *draft, const char *folder,
                       const struct shmt_draft_sources *given,
                       struct shmt_error *err)
{
    const struct search search = {draft, given};
    const struct candidate *found = NULL;
    struct shmt_lines lines = {.count = 0};
    enum shmtune_status status;

    if (draft->source != NULL)
        return SHMTUNE_OK;
    status = find_among(&search, given->files, given->count, &found, err);
    if (status != SHMTUNE_OK)
        return status;
    if (found == NULL)
        read_lines(draft, folder, &lines);
    if (found == NULL)
        status = find_among(&search, lines.files, lines.count, &found, err);
    /* Where nobody names a file. */
    if (status == SHMTUNE_OK && found == NULL &&
        given->count + lines.count == 0)
        status = find_here(&search, &found, err);
    if (status == SHMTUNE_OK && found == NULL)
        note_lines(draft, &lines);
    if (status == SHMTUNE_OK && found != NULL)
        take(draft, found);
    return status;
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
