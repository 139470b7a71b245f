/* SPDX-License-Identifier: MIT */
/*
 * check_folder: many files: all that is shipped with shmtune, a folder that an
 * application ships, and a pack of one, whose files are put into a temporary
 * folder, so that a compiler can read them.  Called by check.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "command/check.h"
#include "kernel/kernel.h"
#include "target/target.h"

#define MAGIC "shmtune pack/"

/* As large as a pack may be here, in bytes. */
static const size_t pack_bytes = (size_t)4 << 30;

/* -- a kernel ------------------------------------------------------------- */

static enum shmtune_status check_names(struct shmt_check *check,
                                       struct shmt_arena *arena,
                                       const char *folder,
                                       struct shmt_error *err)
{
    static const char *const suffixes[] = {".yaml", ".journal",
                                           ".journal.gz"};

    for (size_t s = 0; s < sizeof suffixes / sizeof suffixes[0]; s++) {
        const char *const *names;
        size_t count;
        const enum shmtune_status listed = shmt_path_list(
            arena, folder, suffixes[s], &names, &count, err);

        /* A folder that is not there has nothing in it. */
        if (listed == SHMTUNE_NOT_FOUND)
            continue;
        if (listed != SHMTUNE_OK)
            return listed;
        for (size_t i = 0; i < count; i++) {
            const char *path = shmt_path_join(arena, folder, names[i]);
            const enum shmtune_status status =
                path == NULL ? shmt_error_memory(err)
                             : shmt_check_file(check, path, err);

            if (status != SHMTUNE_OK)
                return status;
        }
    }
    return SHMTUNE_OK;
}

/* The spec of a kernel and what is shipped for it. */
static enum shmtune_status
check_kernel(struct shmt_check *check, const struct shmt_catalogue *catalogue,
             const struct shmt_kernel *kernel, struct shmt_error *err)
{
    struct shmt_text path = {0};
    enum shmtune_status status = shmt_check_kernel(check, kernel, err);

    for (size_t f = 0; status == SHMTUNE_OK && f < catalogue->folder_count;
         f++) {
        shmt_text_clear(&path);
        shmt_text_addf(&path, "%s/tunings/%s", catalogue->folders[f],
                       kernel->name);
        status = path.failed
                     ? shmt_error_memory(err)
                     : check_names(check, catalogue->arena,
                                   shmt_text_string(&path), err);
    }
    shmt_text_free(&path);
    return status;
}

/* -- everything that is shipped ------------------------------------------- */

enum shmtune_status shmt_check_shipped(struct shmt_check *check,
                                       struct shmt_error *err)
{
    struct shmt_catalogue *catalogue;
    enum shmtune_status status = shmt_command_catalogue(&catalogue, err);

    if (status != SHMTUNE_OK)
        return status;
    status = shmt_command_check_catalogue(catalogue, err);
    if (status == SHMTUNE_OK &&
        catalogue->kernel_count + catalogue->refused_count == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "there are no built-in kernels to check; "
                                "name files");
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++)
        status = check_kernel(check, catalogue, catalogue->kernels[k].kernel,
                              err);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->refused_count;
         k++)
        status = shmt_check_file(check, catalogue->refused[k], err);
    shmt_catalogue_close(catalogue);
    return status;
}

/* -- a folder ------------------------------------------------------------- */

/* Tunings and journals of kernels that are not in the folder. */
static enum shmtune_status
check_others(struct shmt_check *check, struct shmt_catalogue *catalogue,
             struct shmt_error *err)
{
    struct shmt_arena *const arena = catalogue->arena;
    const char *const folder =
        shmt_path_join(arena, catalogue->folders[0], "tunings");
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        folder == NULL ? shmt_error_memory(err)
                       : shmt_path_list(arena, folder, "", &names, &count,
                                        err);

    if (status == SHMTUNE_NOT_FOUND)
        return SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *const path = shmt_path_join(arena, folder, names[k]);

        if (path == NULL)
            return shmt_error_memory(err);
        if (shmt_catalogue_find(catalogue, names[k]) == NULL &&
            shmt_path_is_folder(path))
            status = check_names(check, arena, path, err);
    }
    return status;
}

/* The kernels of the folder come before built-in ones of the same name. */
static enum shmtune_status
check_kernels(struct shmt_check *check, struct shmt_catalogue *catalogue,
              struct shmt_error *err)
{
    const char *const spec = check->spec;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++) {
        check->spec = catalogue->kernels[k].kernel->path;
        status = check_kernel(check, catalogue, catalogue->kernels[k].kernel,
                              err);
    }
    check->spec = spec;
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->refused_count;
         k++)
        status = shmt_check_file(check, catalogue->refused[k], err);
    return status == SHMTUNE_OK ? check_others(check, catalogue, err)
                                : status;
}

static enum shmtune_status refuse_folder(const struct shmt_catalogue *catalogue,
                                         const char *folder,
                                         struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s%s",
                          catalogue->notes[0],
                          shmt_path_is_folder(folder)
                              ? "; name the folder that holds these, or files"
                              : "");
}

static enum shmtune_status check_all(struct shmt_check *check,
                                     const char *folder,
                                     struct shmt_error *err)
{
    const size_t before = check->good + check->bad + check->skipped;
    struct shmt_catalogue *catalogue = NULL;
    enum shmtune_status status =
        shmt_catalogue_open_folder(folder, &catalogue, err);

    if (status == SHMTUNE_OK && catalogue->unread != NULL)
        status = shmt_error_set(err, SHMTUNE_STORAGE, "%s",
                                catalogue->unread);
    else if (status == SHMTUNE_OK && catalogue->folder_count == 0)
        status = refuse_folder(catalogue, folder, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->note_count &&
                       catalogue->refused_count == 0; k++)
        shmt_check_report(check, SHMT_CHECK_NOTE, "%s", catalogue->notes[k]);
    if (status == SHMTUNE_OK)
        status = check_kernels(check, catalogue, err);
    if (status == SHMTUNE_OK &&
        check->good + check->bad + check->skipped == before)
        shmt_check_report(check, SHMT_CHECK_BAD, "has nothing to check: "
                          "neither a spec, kernels/NAME.yaml, nor a tuning, "
                          "tunings/NAME/ANY.yaml");
    if (status == SHMTUNE_OK)
        status = shmt_check_binaries(check, catalogue, err);
    shmt_catalogue_close(catalogue);
    return status;
}

/* Files in it are told by their absolute paths, and so is the folder. */
enum shmtune_status shmt_check_folder(struct shmt_check *check,
                                      const char *folder,
                                      struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const whole =
        arena == NULL ? NULL : shmt_path_absolute(arena, folder);
    enum shmtune_status status;

    check->file = whole;
    status = whole == NULL ? shmt_error_memory(err)
                           : check_all(check, folder, err);
    check->file = whole == NULL ? folder : whole;
    status = shmt_check_report_failure(check, status, err);
    check->file = folder;
    shmt_arena_free(arena);
    return status;
}

/* -- a pack --------------------------------------------------------------- */

bool shmt_check_is_pack(const char *path)
{
    char head[sizeof MAGIC];
    size_t size;
    ssize_t count;
    int fd;

    if (shmt_text_ends(path, ".pack"))
        return true;
    if (shmt_path_open(path, &fd, &size, NULL) != SHMTUNE_OK)
        return false;
    count = shmt_path_read_part(fd, head, sizeof MAGIC - 1);
    close(fd);
    return count == sizeof MAGIC - 1 &&
           memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

/* Every file that does not have its digest. */
static void check_digests(struct shmt_check *check,
                          const struct shmt_pack *pack)
{
    struct shmt_pack_entry entry;

    for (size_t k = 0; k < shmt_pack_count(pack); k++) {
        shmt_pack_examine(pack, k, &entry);
        if (strcmp(entry.found, entry.expected) != 0)
            shmt_check_report(check, SHMT_CHECK_BAD, "%s: it is damaged: the "
                              "digest of bytes %zu to %zu of the pack is "
                              "%.12s..., expected %.12s...; make the pack "
                              "again", entry.name, entry.offset,
                              entry.offset + entry.size, entry.found,
                              entry.expected);
    }
}

static enum shmtune_status write_entry(struct shmt_arena *arena,
                                       const char *root,
                                       const struct shmt_pack_entry *entry,
                                       struct shmt_error *err)
{
    const char *const path = shmt_path_join(arena, root, entry->name);
    const char *const folder =
        path == NULL ? NULL : shmt_path_folder(arena, path);
    enum shmtune_status status =
        folder == NULL ? shmt_error_memory(err)
                       : shmt_path_make_folder(folder, 0700, err);

    return status == SHMTUNE_OK
               ? shmt_path_write(path, entry->data, entry->size, err)
               : status;
}

/* The files of a whole pack, in a folder in the scratch folder. */
static enum shmtune_status check_content(struct shmt_check *check,
                                         struct shmt_arena *arena,
                                         const struct shmt_pack *pack,
                                         const char *scratch,
                                         struct shmt_error *err)
{
    const char *const root = shmt_path_join(arena, scratch, "pack");
    struct shmt_pack_entry entry;
    enum shmtune_status status =
        root == NULL ? shmt_error_memory(err)
                     : shmt_path_make_folder(root, 0700, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < shmt_pack_count(pack);
         k++) {
        shmt_pack_examine(pack, k, &entry);
        status = write_entry(arena, root, &entry, err);
    }
    if (status != SHMTUNE_OK)
        return shmt_error_prefix(err, "%s: its files cannot be put into the "
                                 "folder for temporary files", check->file);
    check->pack = check->file;
    check->root = root;
    status = shmt_check_folder(check, root, err);
    check->root = "";
    return status;
}

static enum shmtune_status check_opened(struct shmt_check *check,
                                        struct shmt_arena *arena,
                                        const struct shmt_pack *pack,
                                        struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmt_scratch scratch = {0};
    enum shmtune_status status;

    check_digests(check, pack);
    if (check->bad > bad) {
        shmt_check_report(check, SHMT_CHECK_SKIPPED, "what is in it: a pack "
                          "that is damaged has to be made again");
        return SHMTUNE_OK;
    }
    status = shmt_scratch_make("shmtune", &scratch, err);
    if (status == SHMTUNE_OK)
        status = check_content(check, arena, pack, scratch.folder, err);
    shmt_scratch_remove(&scratch);
    return status;
}

enum shmtune_status shmt_check_pack(struct shmt_check *check,
                                    const char *path, struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_pack *pack = NULL;
    const char *data;
    size_t size;
    enum shmtune_status status;

    check->file = path;
    status = arena == NULL ? shmt_error_memory(err)
                           : shmt_path_read(arena, path, pack_bytes, &data,
                                            &size, err);
    if (status == SHMTUNE_OK)
        status = shmt_pack_open(data, size, &pack, err);
    status = shmt_check_report_failure(check, status, err);
    if (pack != NULL)
        status = check_opened(check, arena, pack, err);
    shmt_pack_close(pack);
    shmt_arena_free(arena);
    return status;
}
