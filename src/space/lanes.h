/* SPDX-License-Identifier: MIT */
/*
 * lanes: sub-expressions computed for many prefixes at a time, a
 * column of cells each.  For build.c alone.
 */
#ifndef SHMT_SPACE_LANES_H
#define SHMT_SPACE_LANES_H

#include "space/plan.h"

enum { SHMT_LANES = 256 };

struct shmt_lanes {
    const struct shmt_plan *plan;
    union shmt_cell *cells;
    bool *fixed_ready;             /* by node: its fixed bounds are there */
    struct shmt_value *symbols;    /* scratch for opaque constraints */
};

bool shmt_lanes_open(struct shmt_lanes *lanes, const struct shmt_plan *plan);
void shmt_lanes_close(struct shmt_lanes *lanes);

/* The column of a node's values; constants are there already. */
union shmt_cell *shmt_lanes_value(const struct shmt_lanes *lanes,
                                  uint32_t node);

/* Compute `node` from its operands' columns, for lanes [0, count). */
void shmt_lanes_exact(struct shmt_lanes *lanes, uint32_t node, size_t count);

/* bounds.c: the bounds of a mixed node of level `at` from those of its
 * operands, which must have been made before.  For truths that may have no
 * value, equal bounds mean that it has this one. */
struct shmt_bounds {
    const union shmt_cell *low, *high;
};
void shmt_lanes_bound(struct shmt_lanes *lanes, uint32_t node, uint8_t at,
                      size_t count);
/* The bounds of such a node. */
struct shmt_bounds shmt_lanes_bounds(const struct shmt_lanes *lanes,
                                     uint32_t node);

/* A node's columns: its value, its bounds, its bounds whatever is chosen. */
enum {
    SHMT_LANES_VALUE, SHMT_LANES_LOW, SHMT_LANES_HIGH,
    SHMT_LANES_FIXED_LOW, SHMT_LANES_FIXED_HIGH, SHMT_LANES_COLUMNS
};
union shmt_cell *shmt_lanes_column(const struct shmt_lanes *lanes,
                                   uint32_t node, size_t which);

#endif
