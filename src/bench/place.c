/* SPDX-License-Identifier: MIT */
/*
 * place: memory at the addresses that arguments have to have, since other
 * buffers hold them.  The driver gives an address that is asked for only where
 * nothing is yet, so this is done first of all; it gives whole pages of two
 * megabytes, which arguments share.  Called by bench.c.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

static CUmemAllocationProp properties(const struct shmt_bench *bench)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                     .id = bench->handle}};
}

static int compare_places(const void *a, const void *b)
{
    const struct shmt_bench_place *one = a, *other = b;

    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* Whole pages, those that meet as one. */
static void merge(struct shmt_bench *bench)
{
    struct shmt_bench_place *const all = bench->places;
    size_t count = 0;

    qsort(all, bench->place_count, sizeof *all, compare_places);
    for (size_t k = 0; k < bench->place_count; k++) {
        const CUdeviceptr end = all[k].begin + all[k].size;
        struct shmt_bench_place *last = count == 0 ? NULL : &all[count - 1];

        if (last == NULL || all[k].begin > last->begin + last->size)
            all[count++] = all[k];
        else if (end > last->begin + last->size)
            last->size = (size_t)(end - last->begin);
    }
    bench->place_count = count;
}

static enum shmtune_status find_places(struct shmt_bench *bench, size_t page,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *kernel = bench->kernel;

    bench->places = calloc(kernel->argument_count + 1, sizeof *bench->places);
    if (bench->places == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *one = &kernel->arguments[k];
        const CUdeviceptr begin = one->at / page * page;
        const CUdeviceptr end =
            (one->at + one->at_bytes + page - 1) / page * page;

        if (one->at != 0)
            bench->places[bench->place_count++] = (struct shmt_bench_place){
                .begin = begin, .size = (size_t)(end - begin)};
    }
    merge(bench);
    return SHMTUNE_OK;
}

/* SHMTUNE_WRONG_RESULT where something else is at the address. */
static enum shmtune_status reserve(struct shmt_bench *bench,
                                   struct shmt_bench_place *place,
                                   struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    CUdeviceptr got = 0;
    const CUresult result =
        driver->MemAddressReserve(&got, place->size, 0, place->begin, 0);

    place->reserved = result == CUDA_SUCCESS && got == place->begin;
    if (place->reserved)
        return SHMTUNE_OK;
    if (result == CUDA_SUCCESS)
        driver->MemAddressFree(got, place->size);
    return shmt_error_set(
        err, SHMTUNE_WRONG_RESULT, "%s: buffers have the address 0x%llx, and "
        "the driver does not give it in this process (%s); another attempt, "
        "or another device, may get it", bench->kernel->path,
        (unsigned long long)place->begin,
        result == CUDA_SUCCESS ? "it is taken"
                               : shmt_driver_error_name(driver, result));
}

static enum shmtune_status fill_place(struct shmt_bench *bench,
                                      struct shmt_bench_place *place,
                                      struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    const CUmemAllocationProp prop = properties(bench);
    const CUmemAccessDesc access = {
        .location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result =
        driver->MemCreate(&place->handle, place->size, &prop, 0);

    place->created = result == CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        result = driver->MemMap(place->begin, place->size, 0, place->handle,
                                0);
        place->mapped = result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        result = driver->MemSetAccess(place->begin, place->size, &access, 1);
    if (result == CUDA_SUCCESS)
        return SHMTUNE_OK;
    shmt_driver_check(driver, result, err, "%zu MiB of device memory at the "
                      "address 0x%llx", place->size >> 20,
                      (unsigned long long)place->begin);
    return shmt_error_set_status(err, SHMTUNE_WRONG_RESULT);
}

enum shmtune_status shmt_bench_place_open(struct shmt_bench *bench,
                                          struct shmt_error *err)
{
    const CUmemAllocationProp prop = properties(bench);
    bool any = false;
    size_t page = 0;
    enum shmtune_status status;

    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        any = any || bench->kernel->arguments[k].at != 0;
    if (!any)
        return SHMTUNE_OK;
    status = shmt_driver_check(
        bench->options.driver,
        bench->options.driver->MemGetAllocationGranularity(
            &page, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        err, "cuMemGetAllocationGranularity");
    if (status == SHMTUNE_OK)
        status = find_places(bench, page, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < bench->place_count; k++) {
        status = reserve(bench, &bench->places[k], err);
        if (status == SHMTUNE_OK)
            status = fill_place(bench, &bench->places[k], err);
    }
    if (status != SHMTUNE_WRONG_RESULT)
        return status;
    bench->unplaced = *err;
    return SHMTUNE_OK;
}

void shmt_bench_place_close(struct shmt_bench *bench)
{
    const struct shmt_driver *driver = bench->options.driver;

    for (size_t k = 0; k < bench->place_count; k++) {
        const struct shmt_bench_place *place = &bench->places[k];

        if (place->mapped)
            driver->MemUnmap(place->begin, place->size);
        if (place->created)
            driver->MemRelease(place->handle);
        if (place->reserved)
            driver->MemAddressFree(place->begin, place->size);
    }
    free(bench->places);
}
