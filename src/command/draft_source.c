/* SPDX-License-Identifier: MIT */
/*
 * draft_source: which source a captured kernel has whose compiler was not seen:
 * of the files that the user names, and those that its binary names, the first
 * that has a kernel of its name with as many parameters.  nvcc compiles it, as
 * it is, from where it lies.  The others may have the host code that launches
 * it.  Called by capture.c.
 */
#include "config.h"

#include <string.h>

#include "command/draft.h"
#include "gpu/gpu.h"

enum { MOST_SOURCE = 16 << 20, MOST_IMAGE = 1 << 28 };

/* *is where it is the source.  A file that cannot be read is none. */
static enum shmtune_status try_file(struct shmt_draft *draft, const char *path,
                                    bool *is, struct shmt_error *err)
{
    const char *absolute = shmt_path_absolute(draft->arena, path), *code;
    struct shmt_source source;
    size_t size;
    enum shmtune_status status = SHMTUNE_OK;

    *is = false;
    if (absolute == NULL)
        return shmt_error_memory(err);
    if (!shmt_path_is_file(absolute) ||
        shmt_path_read(draft->arena, absolute, MOST_SOURCE, &code, &size,
                       NULL) != SHMTUNE_OK)
        return SHMTUNE_OK;
    status = shmt_source_read(draft->arena, code, &source, err);
    if (status != SHMTUNE_OK || shmt_draft_signature_in(draft, &source) == NULL)
        return status;
    draft->source = absolute;
    draft->code = code;
    draft->nvcc = *is = true;
    return SHMTUNE_OK;
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

enum shmtune_status shmt_draft_find_source(struct shmt_draft *draft,
                                           const char *folder,
                                           const char *const *files,
                                           size_t count,
                                           struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_lines lines;
    bool is = draft->source != NULL;

    for (size_t k = 0; status == SHMTUNE_OK && !is && k < count; k++)
        status = try_file(draft, files[k], &is, err);
    if (status != SHMTUNE_OK || is)
        return status;
    read_lines(draft, folder, &lines);
    for (size_t k = 0; status == SHMTUNE_OK && !is && k < lines.count; k++)
        status = try_file(draft, lines.files[k], &is, err);
    if (!is)
        note_lines(draft, &lines);
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
    if (strcmp(absolute, draft->source) == 0 ||
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
