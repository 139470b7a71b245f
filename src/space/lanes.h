/* SPDX-License-Identifier: MIT */
/*
 * lanes: computes sub-expressions for many prefixes (lanes) at a time.  Each
 * node has a column of cells, one for each lane.  For build.c alone.
 */
#ifndef SHMT_SPACE_LANES_H
#define SHMT_SPACE_LANES_H

#include "space/plan.h"

enum { SHMT_LANES = 256 };

struct shmt_lanes {
    const struct shmt_plan *plan;
    union shmt_graph_cell *cells;
    bool *fixed_ready;             /* by node: its fixed bounds are there */
    struct shmt_value *symbols;    /* scratch for opaque constraints */
    uint64_t parted;               /* bit of a parameter that is not decided
                                      and has bounds of its own, or 0 */
};

bool shmt_lanes_open(struct shmt_lanes *lanes, const struct shmt_plan *plan);
void shmt_lanes_close(struct shmt_lanes *lanes);

/* The column of a node's values; constants are there already. */
union shmt_graph_cell *shmt_lanes_value(const struct shmt_lanes *lanes,
                                        uint32_t node);

/* Compute `node` from its operands' columns, for lanes [0, count). */
void shmt_lanes_compute(struct shmt_lanes *lanes, uint32_t node, size_t count);

/* Computes the bounds of a node of a later level from the bounds of
 * its operands, which must have been computed before.  For a truth value that
 * may have no value, equal bounds mean that it has this value. */
struct shmt_lanes_bounds {
    const union shmt_graph_cell *low, *high;
};
void shmt_lanes_compute_bounds(struct shmt_lanes *lanes, uint32_t node,
                               uint8_t at, size_t count);
/* Sets those of a parameter that is parted. */
void shmt_lanes_set_bounds(const struct shmt_lanes *lanes, uint32_t node,
                           size_t lane, union shmt_graph_cell low,
                           union shmt_graph_cell high);
/* The bounds of such a node. */
struct shmt_lanes_bounds shmt_lanes_get_bounds(const struct shmt_lanes *lanes,
                                               uint32_t node);

#endif
