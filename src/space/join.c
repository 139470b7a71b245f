/* SPDX-License-Identifier: MIT */
/*
 * join: concatenates the diagrams of components that share no constraint.  The
 * result is their Cartesian product: the end of one diagram becomes the root
 * of the next.
 */
#include <stdlib.h>

#include "space/build.h"

static uint64_t times(uint64_t a, uint64_t b, bool *saturated)
{
    uint64_t product;

    if (!__builtin_mul_overflow(a, b, &product) && product != UINT64_MAX)
        return product;
    *saturated = true;
    return UINT64_MAX;
}

static void scale(struct shmt_diagram_layer *layer, uint64_t behind,
                  bool *saturated)
{
    const uint32_t edges =
        layer->node_count == 0 ? 0 : layer->first[layer->node_count];

    if (behind == 1)
        return;
    for (uint32_t e = 0; e < edges; e++)
        layer->edges[e].before =
            times(layer->edges[e].before, behind, saturated);
    for (uint32_t n = 0; n < layer->node_count; n++)
        layer->total[n] = times(layer->total[n], behind, saturated);
}

bool shmt_diagram_join(struct shmt_diagram *parts, size_t count,
                       struct shmt_diagram *out)
{
    struct shmt_diagram all = {.count = 1};
    size_t total = 0;

    for (size_t k = 0; k < count; k++)
        total += parts[k].layer_count;
    all.layers = calloc(total + 1, sizeof *all.layers);
    if (all.layers == NULL)
        return false;
    all.layer_count = total;
    for (size_t k = count; k-- > 0;) {
        struct shmt_diagram *part = &parts[k];

        for (size_t l = part->layer_count; l-- > 0;) {
            all.layers[--total] = part->layers[l];
            scale(&all.layers[total], all.count, &all.saturated);
        }
        all.saturated |= part->saturated;
        all.count = times(all.count, part->count, &all.saturated);
        free(part->layers);
        *part = (struct shmt_diagram){0};
    }
    *out = all;
    return true;
}
