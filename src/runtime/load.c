/* SPDX-License-Identifier: MIT */
/*
 * load: from a choice to functions of the current context: the binary from
 * beside the spec, the cache or the compiler, loaded, allowed its shared
 * memory, checked.
 */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device.h"
#include "core/path.h"
#include "runtime/admit.h"
#include "runtime/choice.h"
#include "runtime/current.h"
#include "runtime/function.h"
#include "runtime/message.h"

/* Binaries are kept whatever version of NVRTC made them: an application that
 * has them needs none. */
enum { ANY_NVRTC = 0 };

/* What one call of shmtune_prepare works on. */
struct loading {
    const struct shmtune_choice *choice;
    unsigned flags;
    struct shmt_arena *arena;
    struct shmt_value values[SHMT_CHOICE_VALUES];
    struct shmtune_device device;
    struct shmtune_function *function;
    struct shmt_error *err;
};

/* The folder of the cache, made when it is not there; NULL when there is
 * none to be trusted: a binary from it runs with our rights. */
static const char *cache_folder(const struct loading *loading)
{
    const char *folder = NULL;
    struct stat found;

    if ((loading->flags & SHMTUNE_NO_CACHE) != 0 ||
        getauxval(AT_SECURE) != 0)
        return NULL;
    folder = shmt_path_cache(loading->arena);
    if (folder != NULL)
        folder = shmt_path_join(loading->arena, folder, "cubin");
    if (folder == NULL || folder[0] != '/' ||
        shmt_path_make(folder, 0700, NULL) != SHMTUNE_OK ||
        stat(folder, &found) != 0)
        return NULL;
    if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
        (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return NULL;
    return folder;
}

static enum shmtune_status compile(const struct loading *loading,
                                   const struct shmt_image_request *request,
                                   const char *folder,
                                   struct shmt_image **image)
{
    const struct shmt_nvrtc *nvrtc;
    enum shmtune_status status = shmt_nvrtc_open(&nvrtc, loading->err);

    if (status != SHMTUNE_OK)
        return status;
    if (folder != NULL && access(folder, W_OK | X_OK) != 0)
        folder = NULL;
    status = shmt_image_obtain(request, nvrtc, folder, image, loading->err);
    /* A full disk costs a second compile, not the launch. */
    if (status == SHMTUNE_STORAGE && folder != NULL)
        status =
            shmt_image_obtain(request, nvrtc, NULL, image, loading->err);
    return status;
}

static enum shmtune_status obtain(struct loading *loading,
                                  struct shmt_image **image)
{
    const char *folder = cache_folder(loading);
    char arch[16];
    const struct shmt_image_request request = {
        .kernel = loading->choice->kernel->spec,
        .values = loading->values,
        .arch = arch,
        .nvrtc_version = ANY_NVRTC,
    };
    const char *const folders[] = {loading->choice->kernel->binaries, folder};
    enum shmtune_status status = SHMTUNE_NOT_FOUND;

    shmt_device_arch_text(&loading->device, arch);
    for (size_t k = 0; k < 2; k++)
        if (status != SHMTUNE_OK && status != SHMTUNE_NO_MEMORY &&
            folders[k] != NULL)
            status = shmt_image_obtain(&request, NULL, folders[k], image,
                                       loading->err);
    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY)
        return status;
    if ((loading->flags & SHMTUNE_ALLOW_COMPILE) != 0)
        return compile(loading, &request, folder, image);
    return shmt_error_set(
        loading->err, SHMTUNE_NOT_FOUND,
        "kernel %s: no binary for %s in %s or %s, and compiling was not "
        "allowed; prepare it once with SHMTUNE_ALLOW_COMPILE",
        request.kernel->name, arch, folders[0],
        folder != NULL ? folder : "a cache (there is none)");
}

static enum shmtune_status check_device(struct loading *loading)
{
    const struct shmtune_choice *choice = loading->choice;
    const struct shmtune_device *device = &loading->device;
    const struct shmt_candidate candidate = {choice->problem, choice->values,
                                             NULL};
    enum shmtune_status status;

    if (choice->compute_major != device->compute_major ||
        choice->compute_minor != device->compute_minor)
        return shmt_error_set(
            loading->err, SHMTUNE_INVALID_ARGUMENT,
            "the choice is for compute capability %d.%d, the current context "
            "is on \"%s\" with %d.%d; select for that device",
            choice->compute_major, choice->compute_minor, device->name,
            device->compute_major, device->compute_minor);
    status = shmt_admit_check(choice->kernel->spec, device, &candidate,
                              loading->err);
    if (status == SHMTUNE_NO_CONFIGURATION)
        return shmt_error_prefix(loading->err, "kernel %s cannot run on "
                                 "\"%s\"", choice->kernel->spec->name,
                                 device->name);
    return status;
}

/* One launch: its function, allowed what it needs. */
static enum shmtune_status ready_step(struct loading *loading, size_t launch)
{
    struct shmtune_function *function = loading->function;
    const struct shmt_kernel *spec = function->spec;
    struct shmt_step *step = &function->steps[function->step_count];
    struct shmt_function *loaded =
        shmt_launch_function(&function->module, launch);
    int blocks = 0;
    enum shmtune_status status =
        shmt_kernel_geometry(spec, &spec->launches[launch], loading->values,
                             &step->geometry, loading->err);

    if (status != SHMTUNE_OK || !step->geometry.used || loaded == NULL)
        return status;
    status = shmt_launch_prepare(function->driver, loaded, &step->geometry,
                                 loading->err);
    if (status == SHMTUNE_OK)
        status = shmt_launch_occupancy(function->driver, loaded,
                                       &step->geometry, &blocks,
                                       loading->err);
    if (status == SHMTUNE_OK && blocks < 1)
        status = shmt_error_set(
            loading->err, SHMTUNE_NO_CONFIGURATION,
            "kernel %s: no block of %u x %u x %u threads with %d registers "
            "each and %lld bytes of shared memory fits a multiprocessor of "
            "\"%s\"", spec->name, step->geometry.block[0],
            step->geometry.block[1], step->geometry.block[2],
            loaded->registers,
            (long long)(loaded->shared_static_bytes +
                        step->geometry.shared_dynamic),
            loading->device.name);
    if (status != SHMTUNE_OK)
        return status;
    step->function = loaded;
    step->launch = &spec->launches[launch];
    function->step_count++;
    for (size_t k = 0; k < step->launch->argument_count; k++)
        function->slots[step->launch->arguments[k]].needed = true;
    return SHMTUNE_OK;
}

static enum shmtune_status ready_slot(struct loading *loading, size_t k)
{
    struct shmtune_function *function = loading->function;
    const struct shmt_argument *argument = &function->spec->arguments[k];
    struct shmt_parameter_slot *slot = &function->slots[k];
    struct shmt_value value;
    int64_t bytes = 0;
    enum shmtune_status status;

    slot->scalar = argument->role == SHMT_ROLE_SCALAR;
    if (slot->scalar) {
        status = shmt_expr_eval(argument->value, loading->values, &value,
                                loading->err);
        return status == SHMTUNE_OK
                   ? shmt_element_convert(argument->element, value,
                                          &slot->value, loading->err)
                   : SHMTUNE_INVALID_ARGUMENT;
    }
    status = shmt_choice_bytes(function->spec, k, loading->values, &bytes,
                               loading->err);
    if (status != SHMTUNE_OK)
        return status;
    slot->needed = slot->needed && bytes > 0;
    slot->cleared = slot->needed && argument->zeroed ? bytes : 0;
    return SHMTUNE_OK;
}

static enum shmtune_status load(struct loading *loading)
{
    struct shmtune_function *function = loading->function;
    struct shmt_image *image = NULL;
    enum shmtune_status status = obtain(loading, &image);

    if (status == SHMTUNE_OK)
        status = shmt_launch_load(function->driver, image, &function->module,
                                  loading->err);
    shmt_image_free(image);
    for (size_t k = 0;
         status == SHMTUNE_OK && k < function->spec->launch_count; k++)
        status = ready_step(loading, k);
    for (size_t k = 0;
         status == SHMTUNE_OK && k < function->spec->argument_count; k++)
        status = ready_slot(loading, k);
    return status;
}

static enum shmtune_status prepare(struct loading *loading,
                                   struct shmtune_function **out)
{
    const struct shmtune_choice *choice = loading->choice;
    struct shmtune_function *function = calloc(1, sizeof *function);
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    loading->arena = shmt_arena_new();
    loading->function = function;
    if (function == NULL || loading->arena == NULL) {
        shmt_error_memory(loading->err);
        goto out;
    }
    function->spec = choice->kernel->spec;
    function->slot_count = function->spec->argument_count;
    shmt_choice_values(choice, loading->values);
    status = shmt_driver_open(&function->driver, loading->err);
    if (status == SHMTUNE_OK)
        status = shmt_current_context(function->driver, &function->context,
                                      loading->err);
    if (status == SHMTUNE_OK)
        status = shmt_current_device(function->driver, &loading->device,
                                     loading->err);
    if (status == SHMTUNE_OK)
        status = check_device(loading);
    if (status == SHMTUNE_OK)
        status = load(loading);
    if (status == SHMTUNE_OK) {
        *out = function;
        function = NULL;
    }
out:
    if (function != NULL && function->driver != NULL)
        shmt_launch_unload(function->driver, &function->module);
    free(function);
    shmt_arena_free(loading->arena);
    return status;
}

enum shmtune_status shmtune_prepare(const struct shmtune_choice *choice,
                                    unsigned flags,
                                    struct shmtune_function **out,
                                    struct shmtune_message *message)
{
    struct shmt_error err = {.status = SHMTUNE_OK};
    struct loading loading = {.choice = choice, .flags = flags, .err = &err};
    enum shmtune_status status;

    if (choice == NULL || choice->kernel == NULL || out == NULL)
        return shmt_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                "shmtune_prepare: a NULL");
    if ((flags & ~(unsigned)(SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE)) != 0)
        return shmt_message_set(message, SHMTUNE_INVALID_ARGUMENT,
                                "shmtune_prepare: unknown flags 0x%x", flags);
    status = prepare(&loading, out);
    return status == SHMTUNE_OK ? status
                                : shmt_message_take(message, status, &err);
}

void shmtune_release(struct shmtune_function *function)
{
    const struct shmt_driver *driver;
    CUcontext before = NULL;

    if (function == NULL)
        return;
    driver = function->driver;
    /* A module is unloaded in its own context. */
    if (driver->CtxGetCurrent(&before) == CUDA_SUCCESS &&
        (before == function->context ||
         driver->CtxSetCurrent(function->context) == CUDA_SUCCESS)) {
        shmt_launch_unload(driver, &function->module);
        if (before != function->context)
            driver->CtxSetCurrent(before);
    }
    free(function);
}
