/* SPDX-License-Identifier: MIT */
/*
 * compile_here: compiles single configurations in this process, by the compiler
 * of their kernel: references, and binaries to ship.  Called by check*.c; for
 * what may take for ever there are workers (compile.c).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/compile.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "target/target.h"

struct shmt_compiler_here {
    struct shmt_arena *arena;
    const struct shmt_nvrtc *nvrtc;   /* NULL: nvcc it is */
    struct shmt_nvcc nvcc;
    struct shmt_scratch scratch;      /* for nvcc */
};

enum shmtune_status
shmt_compiler_here_open(const struct shmt_kernel *kernel,
                        struct shmt_compiler_here **out,
                        struct shmt_error *err)
{
    struct shmt_compiler_here *here = calloc(1, sizeof *here);
    enum shmtune_status status = SHMTUNE_OK;

    if (here == NULL || (here->arena = shmt_arena_new()) == NULL) {
        free(here);
        return shmt_error_memory(err);
    }
    if (!kernel->nvcc) {
        status = shmt_nvrtc_open(&here->nvrtc, err);
    } else {
        status = shmt_scratch_make("shmtune", &here->scratch, err);
        if (status == SHMTUNE_OK)
            status = shmt_nvcc_open(shmt_program_run, here->scratch.folder,
                                    here->arena, &here->nvcc, err);
        if (status == SHMTUNE_OK && shmt_kernel_has_host(kernel))
            status = shmt_nvcc_ask_host(&here->nvcc, here->arena, err);
    }
    if (status != SHMTUNE_OK) {
        shmt_compiler_here_close(here);
        return status;
    }
    *out = here;
    return SHMTUNE_OK;
}

void shmt_compiler_here_close(struct shmt_compiler_here *here)
{
    if (here == NULL)
        return;
    shmt_scratch_remove(&here->scratch);
    shmt_arena_free(here->arena);
    free(here);
}

enum shmtune_status
shmt_compiler_here_get(struct shmt_compiler_here *here,
                       struct shmt_kernel_evaluated *evaluated,
                       const char *arch, struct shmt_image **out,
                       struct shmt_error *err)
{
    char target[16];
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = target,
        .nvrtc_version = here->nvrtc != NULL ? here->nvrtc->version
                                             : here->nvcc.version,
        .nvcc = &here->nvcc, .keep_ptx = true
    };

    shmt_device_arch_target(arch, evaluated->kernel->features, target);
    return shmt_image_get(&request, here->nvrtc, NULL, out, err);
}

enum shmtune_status
shmt_compiler_here_cached(struct shmt_compiler_here *here,
                          struct shmt_kernel_evaluated *evaluated,
                          const char *arch, struct shmt_image **out,
                          struct shmt_error *err)
{
    const char *cache = shmt_path_cache_binaries(here->arena);
    char target[16];
    struct shmt_image_request request = {
        .evaluated = evaluated, .arch = target,
        .nvrtc_version = here->nvrtc != NULL ? here->nvrtc->version
                                             : here->nvcc.version,
        .private_folder = true
    };

    shmt_device_arch_target(arch, evaluated->kernel->features, target);
    if (cache != NULL &&
        shmt_image_get(&request, NULL, cache, out, NULL) == SHMTUNE_OK)
        return SHMTUNE_OK;
    request.nvcc = &here->nvcc;
    request.recompile = true;
    return shmt_image_get(&request, here->nvrtc, cache, out, err);
}

/* What is written for the owner of a cache is shipped to everybody. */
static enum shmtune_status open_to_all(struct shmt_arena *arena,
                                       const char *folder, const char *key,
                                       struct shmt_error *err)
{
    static const char *const suffixes[] = {".cubin", ".res"};
    struct shmt_text name = {0};
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++) {
        const char *path;

        shmt_text_clear(&name);
        shmt_text_addf(&name, "%s%s", key, suffixes[k]);
        path = name.failed ? NULL : shmt_path_join(arena, folder,
                                                   shmt_text_string(&name));
        if (path == NULL)
            status = shmt_error_memory(err);
        else if (chmod(path, 0644) != 0)
            status = shmt_error_system(err, path, "cannot be made readable");
    }
    shmt_text_free(&name);
    return status;
}

enum shmtune_status
shmt_compiler_here_make(struct shmt_compiler_here *here,
                        struct shmt_kernel_evaluated *evaluated,
                        const char *arch, const char *folder,
                        struct shmt_error *err)
{
    const int version =
        here->nvrtc != NULL ? here->nvrtc->version : here->nvcc.version;
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = arch,
        .nvrtc_version = folder == NULL ? version : 0, .nvcc = &here->nvcc
    };
    struct shmt_image *image = NULL;
    enum shmtune_status status =
        shmt_image_get(&request, here->nvrtc, folder, &image, err);

    if (status == SHMTUNE_OK && folder != NULL && !image->found)
        status = open_to_all(here->arena, folder, image->key, err);
    shmt_image_free(image);
    return status;
}

enum shmtune_status shmt_compiler_ship(const struct shmt_image *image,
                                       const char *folder,
                                       struct shmt_error *err)
{
    const enum shmtune_status status = shmt_image_put(image, folder, err);

    return status == SHMTUNE_OK
               ? open_to_all(image->arena, folder, image->key, err) : status;
}
