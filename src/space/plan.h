/* SPDX-License-Identifier: MIT */
/*
 * plan: in which order the parameters are decided, what is computed at
 * each level, and what of it later levels still read.  For space/ alone.
 */
#ifndef SHMT_SPACE_PLAN_H
#define SHMT_SPACE_PLAN_H

#include "space/graph.h"

/* Something computed at or before a level that later levels read, as a field
 * of the state's words. */
struct shmt_plan_slot {
    uint32_t node;
    uint8_t bits;           /* 64: the cell itself */
    uint8_t shift;
    uint16_t word;
    bool pinned;            /* read by a conjunct that is never decided
                               early */
    uint64_t readers;       /* conjuncts decided early that read it */
    uint16_t symmetry;      /* number of its group of interchangeable slots,
                               or 0 */
};

/* A conjunct's place in the plan. */
struct shmt_plan_conjunct {
    uint32_t node;
    uint8_t level;
    int8_t bit;             /* of the mask of those decided early, or -1 */
};

struct shmt_plan_level {
    uint8_t parameter;
    size_t exact_count;     /* nodes of this level, operands first */
    uint32_t *exact;
    size_t decided_count;   /* conjuncts (their numbers) of this level */
    uint32_t *decided;
    size_t mixed_count;     /* later nodes whose bounds change here */
    uint32_t *mixed;
    size_t bounded_count;   /* conjuncts that the bounds may decide */
    uint32_t *bounded;
    /* The state behind this level. */
    size_t slot_count;
    struct shmt_plan_slot *slots;
    uint16_t symmetry;      /* number of groups of interchangeable slots */
    uint64_t open;          /* bits of the mask that are part of the state */
    uint8_t mask_shift, fault_shift;
    uint16_t mask_word, fault_word;
    size_t words;           /* 0: there is but one state */
};

struct shmt_plan {
    struct shmt_graph *graph;    /* its nodes here have at most 3 operands,
                                    but for opaque ones */
    size_t level_count;
    struct shmt_plan_level *levels; /* [1 .. level_count]; [0] is the root */
    size_t column_count;
    uint32_t *columns;           /* the nodes needed, operands first */
    size_t conjunct_count;
    struct shmt_plan_conjunct *conjuncts;
    bool may_fault;              /* some conjunct may have no value */
    bool never;                  /* some conjunct is false */
    uint8_t level_of[SHMT_SPACE_PARAMETERS];
    struct shmt_arena *arena;
};

/* For the parameters `order`, which share no conjunct with others.  Adds
 * nodes to the graph; see shmt_graph_rewind.  False: no memory, or the graph
 * is full. */
bool shmt_plan_make(struct shmt_graph *graph, const uint8_t *order,
                    size_t count, struct shmt_plan *plan);
void shmt_plan_free(struct shmt_plan *plan);

/* symmetry.c: "a - b != constant" of two parameters; and the groups of
 * twins behind a level.  False: no memory. */
bool shmt_plan_is_difference(const struct shmt_graph *graph, uint32_t id);
bool shmt_plan_find_symmetry(const struct shmt_plan *plan, uint8_t at);

#endif
