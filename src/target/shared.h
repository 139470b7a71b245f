/* SPDX-License-Identifier: MIT */
/*
 * shared: what the live targets of a pool share (live.h): the workers, the
 * folder of binaries, and which GPUs the user was told of.
 *
 * Called by target/live.c alone.
 */
#ifndef SHMT_TARGET_SHARED_H
#define SHMT_TARGET_SHARED_H

#include "target/live.h"
#include "target/pool.h"
#include "target/scratch.h"

struct shmt_live_pool {
    struct shmt_pool *pool;
    const char *images;
    struct shmt_scratch scratch;
    bool has_news;                  /* a target has become ready */
    char (*told)[64];               /* UUIDs of GPUs whose sharing was told */
    size_t told_count, told_room;
};

/* Whether nothing was told of the GPU before. */
bool shmt_live_pool_is_first(struct shmt_live_pool *shared, const char *uuid);

#endif
