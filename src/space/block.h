/* SPDX-License-Identifier: MIT */
/*
 * block: prefixes of one level, side by side, and the words of their states: a
 * few bits for what later levels read, for which conjuncts are decided early,
 * and for whether one has no value.  For build.c alone.
 */
#ifndef SHMT_SPACE_BLOCK_H
#define SHMT_SPACE_BLOCK_H

#include "space/lanes.h"

/* Lanes at work: each a state and a value. */
struct shmt_block {
    size_t count;
    uint32_t state[SHMT_LANES];
    shmt_config value[SHMT_LANES];
    uint64_t mask[SHMT_LANES];    /* conjuncts decided early */
    uint64_t fault[SHMT_LANES];   /* 1: one has no value */
};

/* The columns, masks and faults of the block's states; `words` are those of
 * all states behind `level`. */
void shmt_block_load(const struct shmt_lanes *lanes,
                     const struct shmt_plan_level *level,
                     const uint64_t *words, struct shmt_block *block);
/* The words of the state that each lane leads to, into `keys`. */
void shmt_block_store(const struct shmt_lanes *lanes,
                      const struct shmt_plan_level *level,
                      const struct shmt_block *block, uint64_t *keys);
/* Whether a constraint has no value in the state of these words. */
bool shmt_block_has_fault(const struct shmt_plan_level *level,
                          const uint64_t *words);

#endif
