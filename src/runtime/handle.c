/* SPDX-License-Identifier: MIT */
/*
 * handle: opens a handle: the kernels of the catalogue that can be launched,
 * their tunings, and a note for everything that was left out; and the public
 * functions that read it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/base.h"
#include "config.h"
#include "runtime/interface.h"
#include "runtime/library.h"
#include "runtime/runtime.h"
#include "runtime/watch.h"

/* Large enough for the tree of a large file. */
enum { SCRATCH_BYTES = 512 << 10 };

static enum shmtune_status add_kernel(struct shmtune *library,
                                      const struct shmt_catalogue_kernel *from)
{
    const struct shmt_kernel *spec = from->kernel;
    shmt_config *values = shmt_arena_alloc(
        library->arena, spec->parameter_count, sizeof *values);
    const char *binaries =
        shmt_path_join(library->arena, from->folder, "cubins");

    if (spec->source == NULL || spec->launch_count == 0)
        return shmt_catalogue_note(
            library->catalogue, "%s: left out: describes a space, not a "
            "kernel (no source)", spec->path);
    if (values == NULL || binaries == NULL)
        return SHMTUNE_NO_MEMORY;
    shmt_kernel_default(spec, values);
    library->kernels[library->kernel_count++] = (struct shmtune_kernel){
        .library = library, .spec = spec, .binaries = binaries,
        .default_config = values};
    return SHMTUNE_OK;
}

static enum shmtune_status add_kernels(struct shmtune *library)
{
    const struct shmt_catalogue *catalogue = library->catalogue;
    enum shmtune_status status = SHMTUNE_OK;

    library->kernels = shmt_arena_alloc(
        library->arena, catalogue->kernel_count, sizeof *library->kernels);
    if (library->kernels == NULL)
        return SHMTUNE_NO_MEMORY;
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++)
        status = add_kernel(library, &catalogue->kernels[k]);
    return status;
}

static struct shmtune_kernel *find(const struct shmtune *library,
                                   const char *name)
{
    size_t low = 0, high = library->kernel_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, library->kernels[middle].spec->name);

        if (order == 0)
            return &library->kernels[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static enum shmtune_status read_kernel_tunings(struct shmtune *library,
                                               struct shmtune_kernel *kernel,
                                               const char *folder)
{
    const char *const *names;
    size_t count, k = 0;
    enum shmtune_status status = shmt_catalogue_list(
        library->catalogue, folder, ".yaml", &names, &count);

    for (; status == SHMTUNE_OK && k < count &&
           kernel->tuning_count < SHMT_RUNTIME_TUNINGS; k++)
        status = shmt_runtime_tuning_add(library, kernel, folder, names[k]);
    if (status == SHMTUNE_OK && k < count)
        status = shmt_catalogue_note(
            library->catalogue, "%s/%s and the %zu tunings behind it: left "
            "out: the kernel %s has %d tunings already, the most that are "
            "opened; put all sizes of a device into one file, or remove some",
            folder, names[k], count - k - 1, kernel->spec->name,
            SHMT_RUNTIME_TUNINGS);
    return status;
}

static enum shmtune_status read_tunings(struct shmtune *library,
                                        const char *folder)
{
    const char *part = shmt_path_join(library->arena, folder, "tunings");
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        part == NULL ? SHMTUNE_NO_MEMORY
                     : shmt_catalogue_list(library->catalogue, part, "",
                                           &names, &count);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        struct shmtune_kernel *kernel = find(library, names[k]);
        const char *path = shmt_path_join(library->arena, part, names[k]);

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        if (kernel != NULL)
            status = read_kernel_tunings(library, kernel, path);
        else if (shmt_path_is_folder(path))
            status = shmt_catalogue_note(library->catalogue, "%s: left out: "
                                         "there is no kernel %s", path,
                                         names[k]);
    }
    return status;
}

/* The kernels of all folders are read before any tunings, because a user's
 * tunings may be for an installed kernel. */
static enum shmtune_status fill(struct shmtune *library)
{
    const struct shmt_catalogue *catalogue = library->catalogue;
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    library->arena = shmt_arena_new();
    library->scratch = shmt_arena_new();
    if (library->scratch != NULL)
        shmt_arena_reserve(library->scratch, SCRATCH_BYTES);
    if (library->arena != NULL && library->scratch != NULL)
        status = add_kernels(library);
    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->folder_count;
         k++)
        status = read_tunings(library, catalogue->folders[k]);
    for (size_t k = 0; status == SHMTUNE_OK && k < library->kernel_count; k++)
        status = shmt_runtime_tunings_thin(library, &library->kernels[k]);
    shmt_arena_free(library->scratch);
    library->scratch = NULL;
    return status;
}

/* A cache that others could have written to is not used (image_store.c); say
 * so once, because preparing goes on without it, which takes longer. */
static enum shmtune_status note_cache(struct shmtune *library)
{
    const char *cache = shmt_path_cache_binaries(library->arena);
    struct shmt_error why;
    int folder = -1;

    if (cache == NULL || cache[0] != '/' || getauxval(AT_SECURE) != 0)
        return SHMTUNE_OK;
    if (shmt_path_open_private(cache, false, &folder, &why) ==
        SHMTUNE_STORAGE)
        return shmt_catalogue_note(library->catalogue, "cache: %s",
                                   why.text);
    if (folder >= 0)
        close(folder);
    return SHMTUNE_OK;
}

/* What opens a handle: folders, bytes, or a spec and a folder. */
struct origin {
    const char *call, *path;
    const char *spec;             /* NULL: those of the folders */
    const void *bytes;            /* NULL: folders */
    size_t size;
};

static enum shmtune_status open_catalogue(const struct origin *from,
                                          struct shmtune *library,
                                          struct shmt_error *err)
{
    enum shmtune_status status;

    if (from->spec != NULL)
        return shmt_catalogue_open_spec(from->spec, from->path,
                                        &library->catalogue, err);
    if (from->bytes == NULL)
        return shmt_catalogue_open(from->path, NULL, &library->catalogue,
                                   err);
    status = shmt_pack_open(from->bytes, from->size, &library->pack, err);
    return status != SHMTUNE_OK
               ? status
               : shmt_catalogue_open_folder(shmt_pack_root(library->pack),
                                            &library->catalogue, err);
}

static enum shmtune_status open_from(const struct origin *from,
                                     struct shmtune **out,
                                     struct shmtune_message *message)
{
    struct shmt_error err = {0};
    struct shmtune *library = calloc(1, sizeof *library);
    enum shmtune_status status;

    if (library == NULL)
        return shmt_runtime_message_set(message, SHMTUNE_NO_MEMORY,
                                        "out of memory");
    status = open_catalogue(from, library, &err);
    if (status == SHMTUNE_OK)
        status = fill(library);
    if (status == SHMTUNE_OK)
        status = note_cache(library);
    if (status == SHMTUNE_OK)
        status = shmt_runtime_watch_begin(library);
    if (status == SHMTUNE_OK) {
        *out = library;
        return SHMTUNE_OK;
    }
    shmtune_close(library);
    return status == SHMTUNE_NO_MEMORY
               ? shmt_runtime_message_set(message, status, "out of memory")
               : shmt_runtime_message_set(message, status, "%s: %s",
                                          from->call, err.text);
}

enum shmtune_status shmtune_open(const char *path, struct shmtune **out,
                                 struct shmtune_message *message)
{
    const struct origin from = {.call = "shmtune_open", .path = path};

    return out == NULL
               ? shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                          "shmtune_open: out is NULL")
               : open_from(&from, out, message);
}

enum shmtune_status shmtune_open_memory(const void *bytes, size_t size,
                                        struct shmtune **out,
                                        struct shmtune_message *message)
{
    const struct origin from = {
        .call = "shmtune_open_memory", .bytes = bytes, .size = size};

    return bytes == NULL || out == NULL
               ? shmt_runtime_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                          "shmtune_open_memory: %s is NULL",
                                          out == NULL ? "out" : "bytes")
               : open_from(&from, out, message);
}

enum shmtune_status shmt_runtime_open_spec(const char *spec,
                                           const char *folder,
                                           struct shmtune **out,
                                           struct shmtune_message *message)
{
    const struct origin from = {
        .call = "shmtune_open", .path = folder, .spec = spec};

    return open_from(&from, out, message);
}

void shmtune_close(struct shmtune *library)
{
    if (library == NULL)
        return;
    shmt_runtime_watch_end(library->watch);
    for (size_t k = 0; k < library->kernel_count; k++) {
        shmt_map_free(&library->kernels[k].exact);
        free(library->kernels[k].tunings);
    }
    shmt_catalogue_close(library->catalogue);
    shmt_pack_close(library->pack);
    shmt_arena_free(library->arena);
    free(library);
}

size_t shmtune_note_count(const struct shmtune *library)
{
    return library == NULL ? 0 : library->catalogue->note_count;
}

const char *shmtune_note(const struct shmtune *library, size_t k)
{
    return k < shmtune_note_count(library) ? library->catalogue->notes[k]
                                           : NULL;
}

/* -- reading a handle ---------------------------------------------------- */

int shmtune_version_number(void)
{
    return SHMTUNE_VERSION_NUMBER;
}

const char *shmtune_version(void)
{
    return PACKAGE_VERSION;
}

size_t shmtune_kernel_count(const struct shmtune *library)
{
    return library == NULL ? 0 : library->kernel_count;
}

const struct shmtune_kernel *shmtune_kernel_at(const struct shmtune *library,
                                               size_t k)
{
    return k < shmtune_kernel_count(library) ? &library->kernels[k] : NULL;
}

const struct shmtune_kernel *shmtune_kernel_find(const struct shmtune *library,
                                                 const char *name)
{
    return library == NULL || name == NULL ? NULL : find(library, name);
}

const char *shmtune_kernel_name(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? NULL : kernel->spec->name;
}

const char *shmtune_kernel_summary(const struct shmtune_kernel *kernel)
{
    if (kernel == NULL)
        return NULL;
    return kernel->spec->summary == NULL ? "" : kernel->spec->summary;
}

size_t shmtune_dimension_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->dimension_count;
}

enum shmtune_status shmtune_dimension_at(const struct shmtune_kernel *kernel,
                                         size_t k,
                                         struct shmtune_dimension *out)
{
    const struct shmt_dimension *dimension;
    struct shmtune_dimension made;

    if (kernel == NULL || !shmt_runtime_is_sized(out, sizeof *out))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->spec->dimension_count)
        return SHMTUNE_NOT_FOUND;
    dimension = &kernel->spec->dimensions[k];
    made = (struct shmtune_dimension){
        .name = dimension->name, .fallback = dimension->default_size,
        .low = dimension->low, .high = dimension->high,
    };
    shmt_runtime_copy_sized(out, &made, sizeof made);
    return SHMTUNE_OK;
}

size_t shmtune_argument_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->argument_count;
}

static const char *text_of(const struct shmt_expr *expr)
{
    return expr == NULL ? NULL : shmt_expr_text(expr);
}

enum shmtune_status shmtune_argument_at(const struct shmtune_kernel *kernel,
                                        size_t k,
                                        struct shmtune_argument *out)
{
    static const enum shmtune_role roles[] = {
        [SHMT_ROLE_INPUT] = SHMTUNE_INPUT,
        [SHMT_ROLE_OUTPUT] = SHMTUNE_OUTPUT,
        [SHMT_ROLE_INOUT] = SHMTUNE_INOUT,
        [SHMT_ROLE_WORKSPACE] = SHMTUNE_WORKSPACE,
        [SHMT_ROLE_VALUE] = SHMTUNE_VALUE,
        [SHMT_ROLE_SYMBOL] = SHMTUNE_SYMBOL,
        [SHMT_ROLE_POINTER] = SHMTUNE_POINTER,
        [SHMT_ROLE_STRUCT] = SHMTUNE_STRUCT,
        [SHMT_ROLE_TENSOR_MAP] = SHMTUNE_TENSOR_MAP,
        [SHMT_ROLE_TEXTURE] = SHMTUNE_TEXTURE,
        [SHMT_ROLE_SCALAR] = SHMTUNE_SCALAR,
    };
    const struct shmt_argument *argument;
    struct shmtune_argument made;
    bool packed;

    if (kernel == NULL ||
        !shmt_runtime_is_sized(out, SHMT_RUNTIME_LEAST_ARGUMENT))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->spec->argument_count)
        return SHMTUNE_NOT_FOUND;
    argument = &kernel->spec->arguments[k];
    packed = argument->bytes > 0;
    made = (struct shmtune_argument){
        .name = argument->name,
        .type = packed ? shmt_role_word(argument->role)
                       : shmt_element_word(argument->element),
        .element_bytes = packed ? argument->bytes
                                : shmt_element_bytes(argument->element),
        .role = argument->symbol != NULL ? SHMTUNE_SYMBOL
                                         : roles[argument->role],
        .zeroed = argument->zeroed,
        .count = text_of(argument->count),
        .value = text_of(argument->value),
    };
    shmt_runtime_copy_sized(out, &made, sizeof made);
    return SHMTUNE_OK;
}

size_t shmtune_parameter_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->spec->parameter_count;
}

const char *shmtune_parameter_name(const struct shmtune_kernel *kernel,
                                   size_t k)
{
    return k < shmtune_parameter_count(kernel)
               ? kernel->spec->parameters[k].name
               : NULL;
}

size_t shmtune_tuned_device_count(const struct shmtune_kernel *kernel)
{
    return kernel == NULL ? 0 : kernel->tuning_count;
}

enum shmtune_status
shmtune_tuned_device_at(const struct shmtune_kernel *kernel, size_t k,
                        struct shmtune_device *out)
{
    if (kernel == NULL ||
        !shmt_runtime_is_sized(out, SHMT_RUNTIME_LEAST_DEVICE))
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= kernel->tuning_count)
        return SHMTUNE_NOT_FOUND;
    shmt_runtime_copy_sized(out, &kernel->tunings[k].device,
                            sizeof kernel->tunings[k].device);
    return SHMTUNE_OK;
}
