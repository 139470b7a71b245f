/* SPDX-License-Identifier: MIT */
/*
 * resources: what the compiler reported of a binary, and which resource of a
 * multiprocessor limits the resident blocks.  Occupancy and the question
 * whether a launch fits a device are computed from these; results keep them.
 */
#ifndef SHMT_DEVICE_RESOURCES_H
#define SHMT_DEVICE_RESOURCES_H

#include <stdint.h>

/* What limits the resident blocks.  X(name, word) */
#define SHMT_LIMITER_LIST(X)                                                 \
    X(NONE, "none") X(WARPS, "warps") X(REGISTERS, "registers")              \
    X(SHARED, "shared_memory") X(BLOCKS, "blocks") X(THREADS, "threads")
enum shmt_limiter {
#define SHMT_LIMITER_ENUM(name, word) SHMT_LIMITER_##name,
    SHMT_LIMITER_LIST(SHMT_LIMITER_ENUM)
#undef SHMT_LIMITER_ENUM
    SHMT_LIMITER_COUNT
};
const char *shmt_limiter_word(enum shmt_limiter limiter);

/* Of the launch with the most registers when there are several; -1 where
 * not known. */
struct shmt_resources {
    int registers;             /* per thread */
    int spill_store_bytes;     /* per thread */
    int spill_load_bytes;
    int stack_bytes;
    int64_t shared_static_bytes;   /* per block, from the compiler */
    int64_t constant_bytes;
    int max_threads;           /* launch bound of the binary, or -1 */
};

enum { SHMT_RESOURCES_LAUNCHES = 64 };

/* Of one launch of several.  Every result has room for all of them, so they
 * are small. */
struct shmt_resources_of_launch {
    int32_t shared_static_bytes;
    int16_t registers;
    int16_t max_threads;
};

/* If a candidate has several launches: registers, shared_static_bytes and
 * max_threads of each, in launch order.  Empty for one launch, and when not
 * known. */
struct shmt_resources_of_launches {
    int count;
    struct shmt_resources_of_launch of[SHMT_RESOURCES_LAUNCHES];
};

/* From one to the other; what the smaller one has not is not known. */
struct shmt_resources_of_launch
shmt_resources_keep(const struct shmt_resources *resources);
struct shmt_resources
shmt_resources_kept(const struct shmt_resources_of_launch *kept);

#endif
