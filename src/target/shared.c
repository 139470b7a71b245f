/* SPDX-License-Identifier: MIT */
/* shared: see shared.h. */
#include "target/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t shmt_live_pool_jobs(size_t processors, size_t gpus)
{
    const size_t others = gpus > 1 ? gpus + 1 : 0;
    const size_t part = processors - (gpus > 1 ? processors / 4 : 0);

    if (processors < 2 * others)
        return processors;
    return processors - others < part ? processors - others : part;
}

enum shmtune_status shmt_live_pool_open(size_t jobs, const char *images,
                                        struct shmt_live_pool **out,
                                        struct shmt_error *err)
{
    struct shmt_live_pool *const shared = calloc(1, sizeof *shared);
    enum shmtune_status status =
        shared == NULL ? shmt_error_memory(err)
                       : shmt_pool_new(jobs > 0 ? jobs : 1, &shared->pool, err);

    if (status == SHMTUNE_OK && images != NULL)
        status = shmt_path_make_folder(images, 0700, err);
    else if (status == SHMTUNE_OK)
        status = shmt_scratch_make("shmtune", &shared->scratch, err);
    if (status != SHMTUNE_OK) {
        shmt_live_pool_close(shared);
        return status;
    }
    shared->images = images != NULL ? images : shared->scratch.folder;
    *out = shared;
    return SHMTUNE_OK;
}

void shmt_live_pool_close(struct shmt_live_pool *shared)
{
    if (shared == NULL)
        return;
    while (shared->compiled != NULL) {
        struct shmt_target_compiled *const next = shared->compiled->next;
        shmt_target_compiled_free(shared->compiled);
        shared->compiled = next;
    }
    shmt_pool_free(shared->pool);
    free(shared->told);
    shmt_scratch_remove(&shared->scratch);
    free(shared);
}

bool shmt_live_pool_is_first(struct shmt_live_pool *shared, const char *uuid)
{
    for (size_t k = 0; k < shared->told_count; k++)
        if (strcmp(shared->told[k], uuid) == 0)
            return false;
    if (!shmt_array_reserve(&shared->told, &shared->told_room,
                            shared->told_count + 1, sizeof *shared->told))
        return false;
    snprintf(shared->told[shared->told_count++], sizeof *shared->told, "%s",
             uuid);
    return true;
}

struct shmt_pool_gpu *shmt_live_pool_gpu(struct shmt_live_pool *shared,
                                         const char *name)
{
    struct shmt_pool_gpu *gpu = shared->gpus;

    while (gpu != NULL && strcmp(gpu->name, name) != 0)
        gpu = gpu->next;
    if (gpu == NULL) {
        gpu = calloc(1, sizeof *gpu);
        if (gpu == NULL)
            return NULL;
        snprintf(gpu->name, sizeof gpu->name, "%s", name);
        gpu->next = shared->gpus;
        shared->gpus = gpu;
    }
    gpu->users++;
    return gpu;
}

void shmt_live_pool_leave(struct shmt_live_pool *shared,
                          struct shmt_pool_gpu *gpu)
{
    struct shmt_pool_gpu **at = &shared->gpus;

    if (gpu == NULL || --gpu->users > 0)
        return;
    while (*at != gpu)
        at = &(*at)->next;
    *at = gpu->next;
    shmt_turn_close(gpu->turn);
    free(gpu);
}

struct shmt_target_compiled *
shmt_live_pool_compiled(struct shmt_live_pool *shared,
                        const char *const *command)
{
    struct shmt_target_compiled *compiled = shared->compiled;
    char name[SHMT_DIGEST_TEXT];
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    for (; *command != NULL; command++)
        shmt_digest_add(&digest, *command, strlen(*command) + 1);
    shmt_digest_end(&digest, name);
    while (compiled != NULL && strcmp(compiled->command, name) != 0)
        compiled = compiled->next;
    if (compiled != NULL || (compiled = calloc(1, sizeof *compiled)) == NULL)
        return compiled;
    memcpy(compiled->command, name, sizeof name);
    compiled->next = shared->compiled;
    shared->compiled = compiled;
    return compiled;
}
