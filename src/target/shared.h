/* SPDX-License-Identifier: MIT */
/*
 * shared: what the live targets of a pool share (live.h): the workers, the
 * GPUs, what is compiled and the folder of it, and which GPUs the user was told
 * of.
 *
 * Called by target/live.c alone.
 */
#ifndef SHMT_TARGET_SHARED_H
#define SHMT_TARGET_SHARED_H

#include "target/compiled.h"
#include "target/live.h"
#include "target/pool.h"
#include "target/scratch.h"

struct shmt_live_pool {
    struct shmt_pool *pool;
    const char *images;
    struct shmt_scratch scratch;
    struct shmtune_device kind;     /* where launchers lead; no name: not
                                       known yet */
    bool has_news;                  /* a target has become ready */
    struct shmt_pool_gpu *gpus;
    struct shmt_target_compiled *compiled;
    char (*told)[64];               /* UUIDs of GPUs whose sharing was told */
    size_t told_count, told_room;
};

/* The GPU of that name, for one target more, until that leaves it; NULL: no
 * memory.  Its turn has to be opened by the first. */
struct shmt_pool_gpu *shmt_live_pool_gpu(struct shmt_live_pool *shared,
                                         const char *name);
void shmt_live_pool_leave(struct shmt_live_pool *shared,
                          struct shmt_pool_gpu *gpu);

/* What is compiled by that command; NULL: no memory. */
struct shmt_target_compiled *
shmt_live_pool_compiled(struct shmt_live_pool *shared,
                        const char *const *command);

/* Whether nothing was told of the GPU before. */
bool shmt_live_pool_is_first(struct shmt_live_pool *shared, const char *uuid);

#endif
