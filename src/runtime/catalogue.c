/* SPDX-License-Identifier: MIT */
/*
 * catalogue: opening a handle: which folders, which kernels in them, which
 * tunings of those, and a note for everything that was left out.
 */
#include "runtime/catalogue.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/base.h"
#include "runtime/message.h"

/* The tree of a large file, and more. */
enum { SCRATCH_BYTES = 512 << 10 };

/* Folders in search order while a handle is being opened, each once. */
struct folders {
    size_t count;
    size_t room;
    const char **names;
};

enum shmtune_status shmt_catalogue_note(struct shmtune *library,
                                        const char *format, ...)
{
    char text[SHMT_ERROR_BYTES + 512];
    const char *note;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note = shmt_arena_copy(library->arena, text, strlen(text));
    if (note == NULL)
        return SHMTUNE_NO_MEMORY;
    if (!shmt_array_reserve(&library->notes, &library->note_room,
                            library->note_count + 1, sizeof *library->notes))
        return SHMTUNE_NO_MEMORY;
    library->notes[library->note_count++] = note;
    return SHMTUNE_OK;
}

/* $SHMTUNE_PATH may name what is installed, and one may be a link to the
 * other: what is read twice would be in its own way. */
static bool is_new(const struct folders *folders, const char *name)
{
    for (size_t k = 0; k < folders->count; k++)
        if (shmt_path_is_same(folders->names[k], name))
            return false;
    return true;
}

static enum shmtune_status add_folder(struct folders *folders,
                                      const char *name)
{
    if (name == NULL)
        return SHMTUNE_NO_MEMORY;
    if (!is_new(folders, name))
        return SHMTUNE_OK;
    if (!shmt_array_reserve(&folders->names, &folders->room,
                            folders->count + 1, sizeof *folders->names))
        return SHMTUNE_NO_MEMORY;
    folders->names[folders->count++] = name;
    return SHMTUNE_OK;
}

/* A program may change its folder between opening and preparing. */
static const char *folder_of(struct shmtune *library, const char *name,
                             size_t length)
{
    const char *given = shmt_arena_copy(library->arena, name, length);

    return given == NULL ? NULL : shmt_path_absolute(library->arena, given);
}

/* The folders between ':'.  Those the application names may be relative and
 * must not be empty; of those from the environment the absolute count. */
static enum shmtune_status add_list(struct shmtune *library,
                                    struct folders *folders,
                                    const char *list, bool environment)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (;;) {
        const size_t length = strcspn(list, ":");

        if (length == 0 && !environment)
            return SHMTUNE_INVALID_ARGUMENT;
        if (environment && length > 0 && list[0] != '/')
            status = shmt_catalogue_note(
                library, "$SHMTUNE_PATH: %.*s is ignored: not an absolute "
                "path", (int)(length < 256 ? length : 256), list);
        else if (length > 0)
            status = add_folder(folders, folder_of(library, list, length));
        if (status != SHMTUNE_OK || list[length] == '\0')
            return status;
        list += length + 1;
    }
}

static enum shmtune_status default_folders(struct shmtune *library,
                                           struct folders *folders)
{
    /* set-user-id and the like: what is compiled must not come from there */
    const bool trusted = getauxval(AT_SECURE) == 0;
    const char *list = trusted ? getenv("SHMTUNE_PATH") : NULL;
    const char *user = trusted ? shmt_path_user_data(library->arena) : NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (list != NULL)
        status = add_list(library, folders, list, true);
    if (status == SHMTUNE_OK && user != NULL && user[0] == '/' &&
        shmt_path_exists(user))
        status = add_folder(folders, user);
    if (status == SHMTUNE_OK && shmt_path_exists(SHMT_PKGDATADIR))
        status = add_folder(folders, SHMT_PKGDATADIR);
    if (status == SHMTUNE_OK && folders->count == 0)
        status = shmt_catalogue_note(
            library, "no folder to open: $SHMTUNE_PATH names none, and "
            "neither %s nor %s is there", user != NULL ? user : "a user's",
            SHMT_PKGDATADIR);
    return status;
}

static struct shmtune_kernel *find(const struct shmtune *library,
                                   const char *name)
{
    for (size_t k = 0; k < library->kernel_count; k++)
        if (strcmp(library->kernels[k].spec->name, name) == 0)
            return &library->kernels[k];
    return NULL;
}

static enum shmtune_status default_values(struct shmtune *library,
                                          struct shmtune_kernel *kernel)
{
    shmt_choice *values = shmt_arena_alloc(
        library->arena, kernel->spec->parameter_count, sizeof *values);

    if (values == NULL)
        return SHMTUNE_NO_MEMORY;
    shmt_kernel_default(kernel->spec, values);
    kernel->fallback = values;
    return SHMTUNE_OK;
}

/* Takes `spec` over, whatever comes of it. */
static enum shmtune_status add_kernel(struct shmtune *library,
                                      const char *folder,
                                      struct shmt_kernel *spec)
{
    struct shmtune_kernel kernel = {
        .library = library, .spec = spec,
        .binaries = shmt_path_join(library->arena, folder, "cubins")};
    const struct shmtune_kernel *other = find(library, spec->name);
    struct shmtune_kernel *kernels;
    enum shmtune_status status;

    if (kernel.binaries == NULL)
        status = SHMTUNE_NO_MEMORY;
    /* Of two folders the first one's counts, which is what their order is
     * for. */
    else if (other != NULL && strcmp(kernel.binaries, other->binaries) != 0)
        status = SHMTUNE_OK;
    else if (other != NULL)
        status = shmt_catalogue_note(
            library, "%s: left out: %s has a kernel of the same name, %s",
            spec->path, other->spec->path, spec->name);
    else if (spec->source == NULL || spec->launch_count == 0)
        status = shmt_catalogue_note(library, "%s: left out: describes a "
                                     "space, not a kernel (no source)",
                                     spec->path);
    else
        status = default_values(library, &kernel);
    if (status != SHMTUNE_OK || kernel.fallback == NULL)
        goto refuse;
    kernels = realloc(library->kernels,
                      (library->kernel_count + 1) * sizeof *kernels);
    if (kernels == NULL) {
        status = SHMTUNE_NO_MEMORY;
        goto refuse;
    }
    library->kernels = kernels;
    kernels[library->kernel_count++] = kernel;
    return SHMTUNE_OK;
refuse:
    shmt_kernel_free(spec);
    return status;
}

/* The names in folder/part that end in `suffix`; none where it is absent. */
static enum shmtune_status list_part(struct shmtune *library,
                                     const char *folder, const char *suffix,
                                     const char *const **names, size_t *count)
{
    struct shmt_error err;
    enum shmtune_status status;

    *count = 0;
    if (!shmt_path_exists(folder))
        return SHMTUNE_OK;
    status = shmt_path_list(library->arena, folder, suffix, names, count,
                            &err);
    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY)
        return status;
    *count = 0;
    return shmt_catalogue_note(library, "%s", err.text);
}

static enum shmtune_status read_kernels(struct shmtune *library,
                                        const char *folder)
{
    const char *part = shmt_path_join(library->arena, folder, "kernels");
    const char *const *names;
    size_t count;
    enum shmtune_status status;

    if (part == NULL)
        return SHMTUNE_NO_MEMORY;
    status = list_part(library, part, ".yaml", &names, &count);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(library->arena, part, names[k]);
        struct shmt_kernel *spec;
        struct shmt_error err;

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        shmt_arena_clear(library->scratch);
        status = shmt_kernel_read_with(path, library->scratch, &spec, &err);
        if (status == SHMTUNE_OK)
            status = add_kernel(library, folder, spec);
        else if (status != SHMTUNE_NO_MEMORY)
            status = shmt_catalogue_note(library, "%s", err.text);
    }
    return status;
}

/* What is no folder is nothing of ours. */
static enum shmtune_status read_shelves(struct shmtune *library,
                                        struct shmtune_kernel *kernel,
                                        const char *folder)
{
    const char *const *names;
    size_t count = 0;
    struct shmt_error err;
    enum shmtune_status status = shmt_path_list(
        library->arena, folder, ".yaml", &names, &count, &err);

    if (status != SHMTUNE_OK && status != SHMTUNE_NO_MEMORY)
        return shmt_path_is_folder(folder)
                   ? shmt_catalogue_note(library, "%s", err.text)
                   : SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(library->arena, folder, names[k]);

        status = path == NULL ? SHMTUNE_NO_MEMORY
                              : shmt_shelf_add(library, kernel, path);
    }
    return status;
}

static enum shmtune_status read_tunings(struct shmtune *library,
                                        const char *folder)
{
    const char *part = shmt_path_join(library->arena, folder, "tunings");
    const char *const *names;
    size_t count;
    enum shmtune_status status;

    if (part == NULL)
        return SHMTUNE_NO_MEMORY;
    status = list_part(library, part, "", &names, &count);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        struct shmtune_kernel *kernel = find(library, names[k]);
        const char *path = shmt_path_join(library->arena, part, names[k]);

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        if (kernel != NULL)
            status = read_shelves(library, kernel, path);
        else if (shmt_path_is_folder(path))
            status = shmt_catalogue_note(library, "%s: left out: there is no "
                                         "kernel %s", path, names[k]);
    }
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct shmtune_kernel *left = a;
    const struct shmtune_kernel *right = b;

    return strcmp(left->spec->name, right->spec->name);
}

static enum shmtune_status check_folder(struct shmtune *library,
                                        const char *folder)
{
    const char *kernels = shmt_path_join(library->arena, folder, "kernels");
    const char *tunings = shmt_path_join(library->arena, folder, "tunings");
    const char *inside = shmt_path_join(library->arena, folder, ".");

    if (kernels == NULL || tunings == NULL || inside == NULL)
        return SHMTUNE_NO_MEMORY;
    if (!shmt_path_exists(inside))
        return errno == ENOENT || errno == ENOTDIR
                   ? shmt_catalogue_note(library, "%s: there is no such "
                                         "folder", folder)
                   : shmt_catalogue_note(library, "%s: the folder cannot be "
                                         "entered: %s", folder,
                                         strerror(errno));
    if (!shmt_path_is_folder(kernels) && !shmt_path_is_folder(tunings))
        return shmt_catalogue_note(library, "%s: has neither a folder "
                                   "kernels nor a folder tunings", folder);
    return SHMTUNE_OK;
}

/* Kernels of all folders before tunings of any: a user's tunings may be for
 * an installed kernel. */
static enum shmtune_status read_folders(struct shmtune *library,
                                        const struct folders *folders)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < folders->count; k++) {
        status = check_folder(library, folders->names[k]);
        if (status == SHMTUNE_OK)
            status = read_kernels(library, folders->names[k]);
    }
    if (library->kernel_count > 0)
        qsort(library->kernels, library->kernel_count,
              sizeof *library->kernels, by_name);
    for (size_t k = 0; status == SHMTUNE_OK && k < folders->count; k++)
        status = read_tunings(library, folders->names[k]);
    return status;
}

enum shmtune_status shmtune_open(const char *path, struct shmtune **out,
                                 struct shmtune_message *message)
{
    struct folders folders = {0};
    struct shmtune *library;
    enum shmtune_status status;

    if (out == NULL)
        return shmt_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                "shmtune_open: out is NULL");
    library = calloc(1, sizeof *library);
    if (library == NULL)
        return shmt_message_set(message, SHMTUNE_NO_MEMORY, "out of memory");
    status = SHMTUNE_NO_MEMORY;
    library->arena = shmt_arena_new();
    library->scratch = shmt_arena_new();
    if (library->scratch != NULL)
        shmt_arena_expect(library->scratch, SCRATCH_BYTES);
    if (library->arena != NULL && library->scratch != NULL)
        status = path != NULL ? add_list(library, &folders, path, false)
                              : default_folders(library, &folders);
    if (status == SHMTUNE_OK)
        status = read_folders(library, &folders);
    free(folders.names);
    shmt_arena_free(library->scratch);
    library->scratch = NULL;
    if (status == SHMTUNE_OK) {
        *out = library;
        return SHMTUNE_OK;
    }
    shmtune_close(library);
    return shmt_message_set(message, status,
                            status == SHMTUNE_INVALID_ARGUMENT
                                ? "shmtune_open: an empty folder name in "
                                  "\"%.256s\""
                                : "out of memory", path != NULL ? path : "");
}

void shmtune_close(struct shmtune *library)
{
    if (library == NULL)
        return;
    for (size_t k = 0; k < library->kernel_count; k++)
        shmt_kernel_free(library->kernels[k].spec);
    free(library->kernels);
    free(library->notes);
    shmt_arena_free(library->arena);
    free(library);
}

size_t shmtune_note_count(const struct shmtune *library)
{
    return library == NULL ? 0 : library->note_count;
}

const char *shmtune_note(const struct shmtune *library, size_t k)
{
    return k < shmtune_note_count(library) ? library->notes[k] : NULL;
}
