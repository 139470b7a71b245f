/* SPDX-License-Identifier: MIT */
/*
 * catalogue: see catalogue.h.  First the search path, then the specs in each
 * of its folders.
 */
#include "kernel/kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    /* What is needed while a spec is read goes into memory that serves the
     * next one again: the tree of a large file, and more. */
    SCRATCH_BYTES = 512 << 10,
    SHOWN = 256           /* characters of a folder's name in a note */
};

/* The last note counts those that are not kept. */
static const char *count_unsaid(struct shmt_catalogue *catalogue)
{
    snprintf(catalogue->unsaid_note, sizeof catalogue->unsaid_note,
             "%zu more notes are not kept, %d is the most; see to these, then "
             "open the folders again", ++catalogue->unsaid_count,
             SHMT_CATALOGUE_NOTES);
    return catalogue->unsaid_note;
}

enum shmtune_status shmt_catalogue_note(struct shmt_catalogue *catalogue,
                                        const char *format, ...)
{
    char text[SHMT_ERROR_BYTES + 512];
    const char *note;
    va_list arguments;

    va_start(arguments, format);
    shmt_error_format(text, sizeof text, 0, format, arguments);
    va_end(arguments);
    note = catalogue->note_count < SHMT_CATALOGUE_NOTES - 1
               ? shmt_arena_copy(catalogue->arena, text, strlen(text))
               : count_unsaid(catalogue);
    if (catalogue->note_count == SHMT_CATALOGUE_NOTES)
        return SHMTUNE_OK;
    if (note == NULL ||
        !shmt_array_reserve(&catalogue->notes, &catalogue->note_room,
                            catalogue->note_count + 1, sizeof note))
        return SHMTUNE_NO_MEMORY;
    catalogue->notes[catalogue->note_count++] = note;
    return SHMTUNE_OK;
}

/* A note of a folder that could not be looked at. */
__attribute__((format(printf, 2, 3)))
static enum shmtune_status note_unread(struct shmt_catalogue *catalogue,
                                       const char *format, ...)
{
    char text[SHMT_ERROR_BYTES + 512];
    enum shmtune_status status;
    va_list arguments;

    va_start(arguments, format);
    shmt_error_format(text, sizeof text, 0, format, arguments);
    va_end(arguments);
    status = shmt_catalogue_note(catalogue, "%s", text);
    if (status == SHMTUNE_OK && catalogue->unread == NULL)
        catalogue->unread = catalogue->notes[catalogue->note_count - 1];
    return status;
}

enum shmtune_status shmt_catalogue_list(struct shmt_catalogue *catalogue,
                                        const char *folder,
                                        const char *suffix,
                                        const char *const **names,
                                        size_t *count)
{
    struct shmt_error why;
    const enum shmtune_status status = shmt_path_list(
        catalogue->arena, folder, suffix, names, count, &why);

    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY)
        return status;
    *count = 0;
    return status == SHMTUNE_NOT_FOUND
               ? SHMTUNE_OK
               : note_unread(catalogue, "%s", why.text);
}

/* -- the search path ------------------------------------------------------ */

static bool may_be_folder(const char *path)
{
    const enum shmt_path_kind kind = shmt_path_kind(path);

    return kind == SHMT_PATH_FOLDER || kind == SHMT_PATH_UNKNOWN;
}

/* What is wrong with a folder, NULL when nothing is; `why` has room for it.
 * The folder itself may be absent, closed to us, or a folder of other
 * things. */
static const char *fault_of(const char *folder, const char *inside,
                            const char *kernels, const char *tunings,
                            char why[SHOWN])
{
    if (!shmt_path_exists(inside)) {
        if (errno == ENOENT || errno == ENOTDIR)
            return shmt_path_is_file(folder)
                       ? "there is no such folder: it is a file "
                         "(shmtune_open_memory opens a pack)"
                       : "there is no such folder";
        snprintf(why, SHOWN, "the folder cannot be entered: %s",
                 strerror(errno));
        return why;
    }
    return may_be_folder(kernels) || may_be_folder(tunings)
               ? NULL
               : "has neither a folder kernels nor a folder tunings";
}

static bool is_new(const struct shmt_catalogue *catalogue, const char *folder)
{
    for (size_t k = 0; k < catalogue->folder_count; k++)
        if (shmt_path_is_same(catalogue->folders[k], folder))
            return false;
    return true;
}

/* $SHMTUNE_PATH may name what is installed, and one may be a link to the
 * other: what is read twice would be in its own way.  `from` names in a note
 * who named the folder. */
static enum shmtune_status add_folder(struct shmt_catalogue *catalogue,
                                      const char *given, const char *from)
{
    struct shmt_arena *arena = catalogue->arena;
    const char *folder =
        given == NULL ? NULL : shmt_path_absolute(arena, given);
    const char *parts[] = {".", "kernels", "tunings"};
    const char *fault;
    char why[SHOWN];

    for (size_t k = 0; k < 3 && folder != NULL; k++) {
        parts[k] = shmt_path_join(arena, folder, parts[k]);
        if (parts[k] == NULL)
            return SHMTUNE_NO_MEMORY;
    }
    if (folder == NULL)
        return SHMTUNE_NO_MEMORY;
    fault = fault_of(folder, parts[0], parts[1], parts[2], why);
    if (fault == why)
        return note_unread(catalogue, "%s%.*s: %s", from, SHOWN, folder,
                           fault);
    if (fault != NULL)
        return shmt_catalogue_note(catalogue, "%s%.*s: %s", from, SHOWN,
                                   folder, fault);
    if (!is_new(catalogue, folder))
        return SHMTUNE_OK;
    if (!shmt_array_reserve(&catalogue->folders, &catalogue->folder_room,
                            catalogue->folder_count + 1, sizeof folder))
        return SHMTUNE_NO_MEMORY;
    catalogue->folders[catalogue->folder_count++] = folder;
    return SHMTUNE_OK;
}

/* The folders between ':'.  Those that the caller names may be relative and
 * must not be empty; of those from the environment the absolute ones count:
 * the current folder is not to be trusted with code. */
static enum shmtune_status add_list(struct shmt_catalogue *catalogue,
                                    const char *list, bool environment)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (;;) {
        const size_t length = strcspn(list, ":");

        if (length == 0 && !environment)
            return SHMTUNE_INVALID_ARGUMENT;
        if (environment && length > 0 && list[0] != '/')
            status = shmt_catalogue_note(
                catalogue, "$SHMTUNE_PATH: %.*s is ignored: not an absolute "
                "path", (int)(length < SHOWN ? length : SHOWN), list);
        else if (length > 0)
            status = add_folder(
                catalogue, shmt_arena_copy(catalogue->arena, list, length),
                environment ? "$SHMTUNE_PATH: " : "");
        if (status != SHMTUNE_OK || list[length] == '\0')
            return status;
        list += length + 1;
    }
}

/* A folder that nobody named is used when it is there. */
static enum shmtune_status add_usual(struct shmt_catalogue *catalogue,
                                     const char *folder)
{
    return folder != NULL && folder[0] == '/' && !shmt_path_is_absent(folder)
               ? add_folder(catalogue, folder, "")
               : SHMTUNE_OK;
}

static enum shmtune_status add_defaults(struct shmt_catalogue *catalogue,
                                        const char *tree)
{
    /* set-user-id and the like: what is compiled must not come from there */
    const bool trusted = getauxval(AT_SECURE) == 0;
    const char *list = trusted ? getenv("SHMTUNE_PATH") : NULL;
    const char *user = trusted ? shmt_path_user_data(catalogue->arena) : NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (list != NULL)
        status = add_list(catalogue, list, true);
    if (status == SHMTUNE_OK)
        status = add_usual(catalogue, trusted ? tree : NULL);
    if (status == SHMTUNE_OK)
        status = add_usual(catalogue, user);
    if (status == SHMTUNE_OK)
        status = add_usual(catalogue, SHMT_PKGDATADIR);
    if (status == SHMTUNE_OK && catalogue->folder_count == 0)
        status = shmt_catalogue_note(
            catalogue, "no folder to open: $SHMTUNE_PATH names none, and "
            "neither %s nor %s is there", user != NULL ? user : "a user's",
            SHMT_PKGDATADIR);
    return status;
}

/* -- the kernels ---------------------------------------------------------- */

/* Linear, as they are not sorted while they are added. */
struct shmt_catalogue_kernel *
shmt_catalogue_find(const struct shmt_catalogue *catalogue, const char *name)
{
    for (size_t k = 0; k < catalogue->kernel_count; k++)
        if (catalogue->kernels[k].kernel != NULL &&
            strcmp(catalogue->kernels[k].kernel->name, name) == 0)
            return &catalogue->kernels[k];
    return NULL;
}

struct shmt_kernel *shmt_catalogue_take(struct shmt_catalogue *catalogue,
                                        const char *name)
{
    struct shmt_catalogue_kernel *found = shmt_catalogue_find(catalogue, name);
    struct shmt_kernel *kernel = found == NULL ? NULL : found->kernel;

    if (found != NULL)
        found->kernel = NULL;
    return kernel;
}

/* Takes `kernel` over, whatever comes of it. */
static enum shmtune_status add_kernel(struct shmt_catalogue *catalogue,
                                      const char *folder,
                                      struct shmt_kernel *kernel)
{
    const struct shmt_catalogue_kernel *other =
        shmt_catalogue_find(catalogue, kernel->name);
    const char *stem = shmt_path_stem(catalogue->arena, kernel->path, ".yaml");
    enum shmtune_status status = SHMTUNE_OK;

    if (other != NULL) {
        if (other->folder == folder ||
            strcmp(other->kernel->digest, kernel->digest) != 0)
            status = shmt_catalogue_note(
                catalogue, "%s: left out: the kernel %s is the one of %s",
                kernel->path, kernel->name, other->kernel->path);
        goto leave_out;
    }
    if (stem == NULL)
        status = SHMTUNE_NO_MEMORY;
    else if (strcmp(stem, kernel->name) != 0)
        status = shmt_catalogue_note(
            catalogue, "%s: holds the kernel %s; it is known by that name",
            kernel->path, kernel->name);
    if (status == SHMTUNE_OK &&
        !shmt_array_reserve(&catalogue->kernels, &catalogue->kernel_room,
                            catalogue->kernel_count + 1,
                            sizeof *catalogue->kernels))
        status = SHMTUNE_NO_MEMORY;
    if (status != SHMTUNE_OK)
        goto leave_out;
    catalogue->kernels[catalogue->kernel_count++] =
        (struct shmt_catalogue_kernel){kernel, folder};
    return SHMTUNE_OK;
leave_out:
    shmt_kernel_free(kernel);
    return status;
}

static enum shmtune_status refuse(struct shmt_catalogue *catalogue,
                                  const char *path,
                                  const struct shmt_error *why)
{
    enum shmtune_status status;

    if (!shmt_array_reserve(&catalogue->refused, &catalogue->refused_room,
                            catalogue->refused_count + 1, sizeof path))
        return SHMTUNE_NO_MEMORY;
    catalogue->refused[catalogue->refused_count++] = path;
    status = shmt_catalogue_note(catalogue, "%s", why->text);
    if (status == SHMTUNE_OK && catalogue->refusal_note == NULL) {
        catalogue->refusal = why->status;
        catalogue->refusal_note = catalogue->notes[catalogue->note_count - 1];
    }
    return status;
}

/* Files that look as if they counted: those in `part` that end in `suffix`. */
static enum shmtune_status note_misplaced(struct shmt_catalogue *catalogue,
                                          const char *folder,
                                          const char *part,
                                          const char *suffix,
                                          const char *remedy)
{
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status;

    part = shmt_path_join(catalogue->arena, folder, part);
    if (part == NULL)
        return SHMTUNE_NO_MEMORY;
    status = shmt_path_list(catalogue->arena, part, suffix, &names, &count,
                            NULL);
    if (status != SHMTUNE_OK)     /* told of where it is read */
        return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(catalogue->arena, part, names[k]);

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        if (shmt_path_is_file(path))
            status = shmt_catalogue_note(catalogue, "%s: left out: %s", path,
                                         remedy);
    }
    return status;
}

static enum shmtune_status read_folder(struct shmt_catalogue *catalogue,
                                       const char *folder,
                                       struct shmt_arena *scratch)
{
    const char *part = shmt_path_join(catalogue->arena, folder, "kernels");
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        part == NULL ? SHMTUNE_NO_MEMORY
                     : shmt_catalogue_list(catalogue, part, ".yaml", &names,
                                           &count);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(catalogue->arena, part, names[k]);
        struct shmt_kernel *kernel;
        struct shmt_error why;

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        shmt_arena_clear(scratch);
        status = shmt_kernel_read_with(path, scratch, &kernel, &why);
        if (status == SHMTUNE_OK)
            status = add_kernel(catalogue, folder, kernel);
        else if (status != SHMTUNE_NO_MEMORY)
            status = refuse(catalogue, path, &why);
    }
    if (status == SHMTUNE_OK)
        status = note_misplaced(catalogue, folder, "kernels", ".yml",
                                "the name of a spec ends in .yaml");
    if (status == SHMTUNE_OK)
        status = note_misplaced(catalogue, folder, "tunings", ".yaml",
                                "a tuning lies in the folder of its kernel, "
                                "tunings/KERNEL/");
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct shmt_catalogue_kernel *left = a, *right = b;

    return strcmp(left->kernel->name, right->kernel->name);
}

static enum shmtune_status read_folders(struct shmt_catalogue *catalogue)
{
    struct shmt_arena *scratch = shmt_arena_new();
    enum shmtune_status status = SHMTUNE_OK;

    if (scratch == NULL)
        return SHMTUNE_NO_MEMORY;
    shmt_arena_reserve(scratch, SCRATCH_BYTES);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->folder_count;
         k++)
        status = read_folder(catalogue, catalogue->folders[k], scratch);
    if (catalogue->kernel_count > 0)
        qsort(catalogue->kernels, catalogue->kernel_count,
              sizeof *catalogue->kernels, by_name);
    shmt_arena_free(scratch);
    return status;
}

/* Reads the folders that `add` adds. */
static enum shmtune_status
open_with(enum shmtune_status (*add)(struct shmt_catalogue *catalogue,
                                     const char *list, const char *tree),
          const char *list, const char *tree, struct shmt_catalogue **out,
          struct shmt_error *err)
{
    struct shmt_catalogue *catalogue = calloc(1, sizeof *catalogue);
    enum shmtune_status status;

    if (catalogue == NULL)
        return shmt_error_memory(err);
    catalogue->arena = shmt_arena_new();
    status = catalogue->arena == NULL ? SHMTUNE_NO_MEMORY
                                      : add(catalogue, list, tree);
    if (status == SHMTUNE_OK)
        status = read_folders(catalogue);
    if (status == SHMTUNE_OK) {
        *out = catalogue;
        return SHMTUNE_OK;
    }
    shmt_catalogue_close(catalogue);
    return status == SHMTUNE_NO_MEMORY
               ? shmt_error_memory(err)
               : shmt_error_set(err, status, "an empty folder name in "
                                "\"%.256s\"", list);
}

static enum shmtune_status add_all(struct shmt_catalogue *catalogue,
                                   const char *list, const char *tree)
{
    return list != NULL ? add_list(catalogue, list, false)
                        : add_defaults(catalogue, tree);
}

static enum shmtune_status add_one(struct shmt_catalogue *catalogue,
                                   const char *list, const char *tree)
{
    (void)tree;
    return add_folder(catalogue, list, "");
}

static enum shmtune_status add_spec(struct shmt_catalogue *catalogue,
                                    const char *folder, const char *spec)
{
    struct shmt_kernel *kernel;
    struct shmt_error why;
    enum shmtune_status status = add_folder(catalogue, folder, "");

    if (status != SHMTUNE_OK || catalogue->folder_count == 0)
        return status;
    status = shmt_kernel_read(spec, &kernel, &why);
    if (status == SHMTUNE_OK)
        return add_kernel(catalogue, catalogue->folders[0], kernel);
    return status == SHMTUNE_NO_MEMORY ? status
                                       : refuse(catalogue, spec, &why);
}

enum shmtune_status shmt_catalogue_open(const char *list, const char *tree,
                                        struct shmt_catalogue **out,
                                        struct shmt_error *err)
{
    return open_with(add_all, list, tree, out, err);
}

enum shmtune_status shmt_catalogue_open_folder(const char *folder,
                                               struct shmt_catalogue **out,
                                               struct shmt_error *err)
{
    return open_with(add_one, folder, NULL, out, err);
}

enum shmtune_status shmt_catalogue_open_spec(const char *spec,
                                             const char *folder,
                                             struct shmt_catalogue **out,
                                             struct shmt_error *err)
{
    return open_with(add_spec, folder, spec, out, err);
}

void shmt_catalogue_close(struct shmt_catalogue *catalogue)
{
    if (catalogue == NULL)
        return;
    for (size_t k = 0; k < catalogue->kernel_count; k++)
        shmt_kernel_free(catalogue->kernels[k].kernel);
    free(catalogue->kernels);
    free(catalogue->folders);
    free(catalogue->refused);
    free(catalogue->notes);
    shmt_arena_free(catalogue->arena);
    free(catalogue);
}
