/* SPDX-License-Identifier: MIT */
/*
 * texture: the texture objects of a problem.  Those of inputs are made with the
 * problem, so that what they need of the device's memory is known; those of
 * buffers that differ from run to run, before a launch.  Called by problem.c
 * and run.c.
 */
#include <stdlib.h>

#include "bench/state.h"

static bool is_texture(const struct shmt_bench *bench, size_t k)
{
    return bench->kernel->arguments[k].role == SHMT_ROLE_TEXTURE;
}

static enum shmtune_status make(struct shmt_bench *bench, size_t k,
                                struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const size_t target = argument->members[0].target;
    struct shmt_bench_slot *slot = &bench->slots[k];
    const struct shmt_argument_texture *as = slot->packed;
    size_t free_bytes = 0, all_bytes = 0;
    const char *what;
    CUresult result;

    if (bench->kernel->arguments[target].role != SHMT_ROLE_INPUT)
        return SHMTUNE_OK;
    result = shmt_texture_make(
        driver, as, shmt_buffer_data(&bench->slots[target].actual),
        &slot->texture, &what);
    if (result == CUDA_SUCCESS)
        return SHMTUNE_OK;
    driver->MemGetInfo(&free_bytes, &all_bytes);
    return shmt_driver_check(
        driver, result, err,
        "%s for the texture %s, %llu x %llu x %llu texels of %d %s (%zu of "
        "%zu MiB are free)%s", what, argument->name,
        (unsigned long long)as->extents[0],
        (unsigned long long)as->extents[1],
        (unsigned long long)as->extents[2], as->channels,
        shmt_element_word(as->element), free_bytes >> 20, all_bytes >> 20,
        result == CUDA_ERROR_OUT_OF_MEMORY ? "; choose a smaller size" : "");
}

enum shmtune_status
shmt_bench_texture_make(struct shmt_bench *bench,
                        struct shmt_kernel_evaluated *evaluated,
                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK &&
                       k < bench->kernel->argument_count; k++) {
        struct shmt_bench_slot *slot = &bench->slots[k];

        if (!is_texture(bench, k))
            continue;
        slot->packed = malloc(sizeof(struct shmt_argument_texture));
        if (slot->packed == NULL)
            return shmt_error_memory(err);
        status = shmt_kernel_argument_texture(evaluated, k, slot->packed, err);
        if (status == SHMTUNE_OK)
            status = make(bench, k, err);
    }
    return status;
}

CUresult shmt_bench_texture_fill(struct shmt_bench *bench)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0;
         result == CUDA_SUCCESS && k < bench->kernel->argument_count; k++)
        if (is_texture(bench, k))
            result = shmt_texture_copy(bench->options.driver,
                                       bench->slots[k].packed,
                                       &bench->slots[k].texture,
                                       bench->stream);
    return result;
}

/* What reads the texture is done before it goes. */
CUresult shmt_bench_texture_link(struct shmt_bench *bench, size_t k,
                                 CUdeviceptr address)
{
    const struct shmt_driver *driver = bench->options.driver;
    struct shmt_bench_slot *slot = &bench->slots[k];
    CUresult result = CUDA_SUCCESS;
    const char *what;

    if (slot->texture.object != 0 && slot->texture.address == address)
        return CUDA_SUCCESS;
    if (slot->texture.object != 0)
        result = driver->StreamSynchronize(bench->stream);
    if (result != CUDA_SUCCESS)
        return result;
    shmt_texture_free(driver, &slot->texture);
    return shmt_texture_make(driver, slot->packed, address, &slot->texture,
                             &what);
}
