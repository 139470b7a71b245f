/* SPDX-License-Identifier: MIT */
/*
 * module: loads the binary of a choice into the current context.  It comes
 * from the folder beside the spec, from the cache, or from the compiler.
 */
#include "runtime/module.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/base.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "runtime/library.h"
#include "runtime/context.h"

/* The key of a stored binary does not contain the version of NVRTC, because an
 * application that has the binaries needs no NVRTC. */
enum { ANY_NVRTC = 0 };

/* What one search works on. */
struct search {
    const struct shmt_runtime_module_request *request;
    const struct shmt_image_request *wanted;
    struct shmt_runtime_module *binary; /* the key and the module are set */
    bool found_one;                    /* a binary was found but could not be
                                          used; `why` says why */
    struct shmt_error why;             /* "", or why the binary that was
                                          found could not be used */
};

/* The cache folder, or NULL: its binaries run with the rights of this
 * process. */
static const char *cache_folder(const struct search *search,
                                struct shmt_arena *arena)
{
    return (search->request->flags & SHMTUNE_NO_CACHE) != 0 ||
                   getauxval(AT_SECURE) != 0
               ? NULL
               : shmt_path_cache_binaries(arena);
}

/* Becomes the owner of the image. */
static enum shmtune_status load_image(struct search *search,
                                      struct shmt_image *image,
                                      struct shmt_error *err)
{
    struct shmt_runtime_module *binary = search->binary;
    enum shmtune_status status;

    memcpy(binary->key, image->key, sizeof binary->key);
    status = shmt_module_load(binary->driver, image, &binary->module, err);
    shmt_image_free(image);
    return status;
}

/* If the binary in this folder is unreadable or too new for the driver, the
 * next folder is tried: SHMTUNE_NOT_FOUND. */
static enum shmtune_status load_from_folder(struct search *search,
                                            const char *folder, bool cache,
                                            struct shmt_error *err)
{
    struct shmt_image_request wanted = *search->wanted;
    struct shmt_image *image = NULL;
    enum shmtune_status status;

    wanted.private_folder = cache;
    status = shmt_image_get(&wanted, NULL, folder, &image, err);

    if (status == SHMTUNE_OK) {
        status = load_image(search, image, err);
        search->binary->origin = cache ? "cached" : "shipped";
        if (status == SHMTUNE_NO_CONFIGURATION)
            shmt_error_prefix(err, "%s/%s.cubin", folder,
                              search->binary->key);
    }
    if (status != SHMTUNE_STORAGE && status != SHMTUNE_NO_CONFIGURATION)
        return status;
    if (!search->found_one)
        search->why = *err;
    search->found_one = true;
    return SHMTUNE_NOT_FOUND;
}

/* The first header of the kernel that is no source, or NULL. */
static const char *own_header(const struct shmt_kernel *kernel)
{
    const struct shmt_kernel_code *const codes[] = {&kernel->code,
                                                    &kernel->reference_code};

    for (size_t k = 0; k < kernel->header_count; k++) {
        bool source = false;

        for (size_t c = 0; c < 2; c++)
            for (size_t i = 0; i < codes[c]->file_count; i++)
                source |= strcmp(codes[c]->files[i].path,
                                 kernel->headers[k].path) == 0;
        if (!source)
            return kernel->headers[k].path;
    }
    return NULL;
}

/* The compiler opens headers as files. */
static enum shmtune_status check_headers(const struct search *search,
                                         struct shmt_error *err)
{
    const struct shmtune_kernel *kernel = search->request->choice->kernel;
    const char *const header =
        kernel->library->pack == NULL ? NULL : own_header(kernel->spec);

    return header == NULL
               ? SHMTUNE_OK
               : shmt_error_set(
                     err, SHMTUNE_NOT_FOUND, "kernel %s: no binary for %s in "
                     "the pack, and it cannot be compiled from memory, because "
                     "it includes %s: make the pack with \"shmtune pack DIR "
                     "--arch %s\", or open the folder", kernel->spec->name,
                     search->wanted->arch, header, search->wanted->arch);
}

static enum shmtune_status compile(struct search *search, const char *folder,
                                   struct shmt_error *err)
{
    const struct shmt_driver *driver = search->binary->driver;
    struct shmt_image_request wanted = *search->wanted;
    const struct shmt_nvrtc *nvrtc;
    struct shmt_image *image = NULL;
    enum shmtune_status status = check_headers(search, err);

    if (status == SHMTUNE_OK)
        status = shmt_nvrtc_open(&nvrtc, err);
    wanted.recompile = wanted.private_folder = true;
    if (status == SHMTUNE_OK)
        status = shmt_image_get(&wanted, nvrtc, folder, &image, err);
    if (status != SHMTUNE_OK)
        return status;
    status = load_image(search, image, err);
    search->binary->origin = "compiled";
    if (status == SHMTUNE_NO_CONFIGURATION && nvrtc->version > driver->version)
        shmt_error_append(err, "; it was made by NVRTC %d.%d, which is newer: "
                          "update the driver, or name an older NVRTC in "
                          "$SHMTUNE_NVRTC", nvrtc->version / 1000,
                          nvrtc->version % 1000 / 10);
    return status;
}

/* A file that is damaged counts as absent, so that the next folder is tried;
 * where nothing serves, that of the application is why. */
static void note_damage(struct search *search, const char *folder)
{
    char key[SHMT_DIGEST_TEXT];
    struct shmt_error why = {0};

    if (!search->found_one &&
        shmt_image_key(search->wanted, key, &why) == SHMTUNE_OK &&
        shmt_image_check_stored(folder, key, &why) == SHMTUNE_INVALID_FILE)
        search->why = why;
}

static enum shmtune_status find(struct search *search, struct shmt_error *err)
{
    const struct shmt_runtime_module_request *request = search->request;
    struct shmt_arena *arena = shmt_arena_new();
    const char *cache = arena == NULL ? NULL : cache_folder(search, arena);
    const char *const folders[] = {request->choice->kernel->binaries, cache};
    const char *const second =
        cache != NULL ? cache
        : (request->flags & SHMTUNE_NO_CACHE) != 0
            ? "the cache (SHMTUNE_NO_CACHE leaves it alone)"
            : "a cache (there is none)";
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err) : SHMTUNE_NOT_FOUND;

    for (size_t k = 0; k < 2 && status == SHMTUNE_NOT_FOUND; k++)
        if (folders[k] != NULL)
            status = load_from_folder(search, folders[k], k == 1, err);
    if (status != SHMTUNE_NOT_FOUND)
        goto out;
    if (request->evaluated->kernel->nvcc)
        shmt_error_set(
            err, status, "kernel %s: no binary for %s in %s or %s; nvcc "
            "compiles it, which needs a program that this library does not "
            "start: make the binaries with \"shmtune check TUNING --cubins "
            "DIR\" and ship them in the first of these folders",
            request->evaluated->kernel->name, search->wanted->arch, folders[0],
            second);
    else if ((request->flags & SHMTUNE_ALLOW_COMPILE) != 0)
        status = compile(search, cache, err);
    else
        shmt_error_set(
            err, status, "kernel %s: no binary for %s in %s or %s, and "
            "compiling was not allowed; prepare it once with "
            "SHMTUNE_ALLOW_COMPILE", request->evaluated->kernel->name,
            search->wanted->arch, folders[0], second);
    if (status == SHMTUNE_NOT_FOUND)
        note_damage(search, folders[0]);
    if (status == SHMTUNE_NOT_FOUND && search->why.text[0] != '\0')
        shmt_error_append(err, " (%s)", search->why.text);
out:
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status
shmt_runtime_module_matches(const struct shmt_runtime_module *binary,
                            struct shmt_kernel_evaluated *evaluated,
                            bool *matches,
                            struct shmt_error *err)
{
    char arch[16], key[SHMT_DIGEST_TEXT];
    const struct shmt_image_request wanted = {
        .evaluated = evaluated, .arch = arch, .nvrtc_version = ANY_NVRTC};
    enum shmtune_status status;

    shmt_device_target(&binary->device, evaluated->kernel->features, arch);
    status = shmt_image_key(&wanted, key, err);
    if (status == SHMTUNE_OK)
        *matches = memcmp(key, binary->key, sizeof key) == 0;
    return status;
}

static enum shmtune_status check_device(const struct shmtune_choice *choice,
                                        const struct shmtune_device *device,
                                        struct shmt_error *err)
{
    if (choice->compute_major == device->compute_major &&
        choice->compute_minor == device->compute_minor)
        return SHMTUNE_OK;
    return shmt_error_set(
        err, SHMTUNE_INVALID_ARGUMENT,
        "the choice is for compute capability %d.%d, the current context is "
        "on \"%s\" with %d.%d; select for that device",
        choice->compute_major, choice->compute_minor, device->name,
        device->compute_major, device->compute_minor);
}

static enum shmtune_status
load(const struct shmt_runtime_module_request *request,
     struct shmt_runtime_module *binary,
     struct shmt_error *err)
{
    char arch[16];
    const struct shmt_image_request wanted = {.evaluated = request->evaluated,
                                              .arch = arch,
                                              .nvrtc_version = ANY_NVRTC};
    struct search search = {.request = request, .wanted = &wanted,
                            .binary = binary};
    enum shmtune_status status;

    shmt_device_target(&binary->device, request->evaluated->kernel->features,
                       arch);
    status = find(&search, err);
    if (status == SHMTUNE_INVALID_FILE || status == SHMTUNE_NO_CONFIGURATION)
        shmt_error_prefix(err, "kernel %s",
                          request->evaluated->kernel->name);
    return status;
}

enum shmtune_status
shmt_runtime_module_load(const struct shmt_runtime_module_request *request,
                         struct shmt_runtime_module **out,
                         struct shmt_error *err)
{
    struct shmt_runtime_module *binary;
    enum shmtune_status status;

    if (shmt_kernel_is_host(request->evaluated))
        return shmt_error_set(
            err, SHMTUNE_INVALID_ARGUMENT, "kernel %s: %s is a function of the "
            "host, which this library never runs: build it into the "
            "application, with the values of the choice as its macros",
            request->evaluated->kernel->name,
            request->evaluated->launches[0].entry);
    binary = calloc(1, sizeof *binary);
    if (binary == NULL)
        return shmt_error_memory(err);
    binary->users = 1;
    status = shmt_driver_open(&binary->driver, err);
    if (status == SHMTUNE_OK)
        status =
            shmt_runtime_current_context(binary->driver, &binary->context, err);
    if (status == SHMTUNE_OK)
        status =
            shmt_runtime_current_device(binary->driver, &binary->device, err);
    if (status == SHMTUNE_OK)
        status = check_device(request->choice, &binary->device, err);
    if (status == SHMTUNE_OK && pthread_mutex_init(&binary->lock, NULL) != 0)
        status = shmt_error_memory(err);
    if (status != SHMTUNE_OK) {
        free(binary);
        return status;
    }
    status = load(request, binary, err);
    if (status == SHMTUNE_OK)
        *out = binary;
    else
        shmt_runtime_module_release(binary);
    return status;
}

void shmt_runtime_module_release(struct shmt_runtime_module *binary)
{
    const struct shmt_driver *driver = binary->driver;
    CUcontext before = NULL;

    if (atomic_fetch_sub(&binary->users, 1) > 1)
        return;
    if (driver->CtxGetCurrent(&before) == CUDA_SUCCESS &&
        (before == binary->context ||
         driver->CtxSetCurrent(binary->context) == CUDA_SUCCESS)) {
        shmt_module_unload(driver, &binary->module);
        if (before != binary->context)
            driver->CtxSetCurrent(before);
    }
    pthread_mutex_destroy(&binary->lock);
    free(binary);
}
