/* SPDX-License-Identifier: MIT */
/*
 * loaded: a cache of the binaries that are loaded on the device.  The finals
 * measure a few candidates in turn, which then need not be loaded again.
 */
#include <string.h>

#include "bench/state.h"

static void drop(struct shmt_bench *bench, struct shmt_bench_loaded *loaded)
{
    if (!bench->lost)
        shmt_module_unload(bench->options.driver, &loaded->module);
    shmt_image_free(loaded->image);
    *loaded = (struct shmt_bench_loaded){0};
}

void shmt_bench_unload_all(struct shmt_bench *bench)
{
    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++)
        drop(bench, &bench->modules[k]);
}

static struct shmt_bench_loaded *find(struct shmt_bench *bench, const char *key)
{
    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++)
        if (bench->modules[k].image != NULL &&
            strcmp(bench->modules[k].key, key) == 0)
            return &bench->modules[k];
    return NULL;
}

/* A free place, or that of the one that was not used for the longest time. */
static struct shmt_bench_loaded *make_room(struct shmt_bench *bench)
{
    struct shmt_bench_loaded *oldest = &bench->modules[0];

    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++) {
        if (bench->modules[k].image == NULL)
            return &bench->modules[k];
        if (bench->modules[k].used < oldest->used)
            oldest = &bench->modules[k];
    }
    drop(bench, oldest);
    return oldest;
}

enum shmtune_status shmt_bench_load(struct shmt_bench *bench,
                                    struct shmt_kernel_evaluated *evaluated,
                                    struct shmt_bench_loaded **out,
                                    struct shmt_error *err)
{
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = bench->arch,
        .nvrtc_version = bench->options.nvrtc->version,
    };
    char key[SHMT_DIGEST_TEXT];
    enum shmtune_status status = shmt_image_key(&request, key, err);
    struct shmt_bench_loaded *place, fresh = {0};

    if (status != SHMTUNE_OK)
        return status;
    place = find(bench, key);
    if (place == NULL) {
        status = shmt_image_get(&request, bench->options.nvrtc,
                                bench->options.images, &fresh.image, err);
        if (status != SHMTUNE_OK)
            return status;
        status = shmt_module_load(bench->options.driver, fresh.image,
                                  &fresh.module, err);
        /* There is no other binary to try. */
        if (status == SHMTUNE_NO_CONFIGURATION)
            status = SHMTUNE_CUDA;
        if (status != SHMTUNE_OK) {
            shmt_image_free(fresh.image);
            return status;
        }
        memcpy(fresh.key, key, sizeof key);
        place = make_room(bench);
        *place = fresh;
    }
    place->used = ++bench->uses;
    *out = place;
    return SHMTUNE_OK;
}
