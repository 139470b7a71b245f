/* SPDX-License-Identifier: MIT */
/*
 * state: what a space is inside, for space.c and neighbours.c.
 */
#ifndef SHMT_SPACE_STATE_H
#define SHMT_SPACE_STATE_H

#include "space/build.h"

struct shmt_space {
    struct shmt_space_definition definition;   /* a copy */
    struct shmt_diagram diagram;
};

/* The edge of `node` with this value, or NULL. */
const struct shmt_diagram_edge *
shmt_space_edge(const struct shmt_diagram_layer *layer,
                uint32_t node, shmt_config value);

#endif
