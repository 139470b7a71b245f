/* SPDX-License-Identifier: MIT */
/*
 * pack: states as words of bits: what later levels read, which
 * conjuncts are decided early, whether one has no value.  For build.c
 * alone.
 */
#ifndef SHMT_SPACE_PACK_H
#define SHMT_SPACE_PACK_H

#include "space/lanes.h"

/* Lanes at work: prefixes of one level, each a state and a value. */
struct shmt_pack_lanes {
    size_t count;
    uint32_t state[SHMT_LANES];
    shmt_config value[SHMT_LANES];
    uint64_t mask[SHMT_LANES];    /* conjuncts decided early */
    uint64_t fault[SHMT_LANES];   /* 1: one has no value */
};

/* The columns, masks and faults of the block's states; `words` are those of
 * all states behind `level`. */
void shmt_pack_load(const struct shmt_lanes *lanes,
                    const struct shmt_plan_level *level, const uint64_t *words,
                    struct shmt_pack_lanes *block);
/* The words of the state that each lane leads to, into `keys`. */
void shmt_pack_store(const struct shmt_lanes *lanes,
                     const struct shmt_plan_level *level,
                     const struct shmt_pack_lanes *block, uint64_t *keys);
bool shmt_pack_fault(const struct shmt_plan_level *level,
                     const uint64_t *words);

#endif
