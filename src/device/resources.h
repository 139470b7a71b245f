/* SPDX-License-Identifier: MIT */
/*
 * resources: what the compiler reported of a binary, and what of a
 * multiprocessor runs out first.  Occupancy and the question whether a launch
 * fits a device are computed from these; results keep them.
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

enum { SHMT_RESULT_LAUNCHES = 8 };

/* Of several launches each one's own registers, shared_static_bytes and
 * max_threads, in the order in which they are made; none where there is one,
 * and where it is not known. */
struct shmt_launch_resources {
    int count;
    struct shmt_resources of[SHMT_RESULT_LAUNCHES];
};

#endif
