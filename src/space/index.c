/* SPDX-License-Identifier: MIT */
/*
 * walk: from an index to a configuration and back: one path of the
 * diagram.  Indices follow the diagram's order of the parameters, which need
 * not be the declared one.
 */
#include <string.h>

#include "space/state.h"

void shmt_space_configuration(const struct shmt_space *space, uint64_t index,
                              shmt_config *config)
{
    uint32_t node = 0;

    memset(config, 0, space->definition.parameter_count * sizeof *config);
    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_diagram_layer *layer = &space->diagram.layers[k];
        const struct shmt_diagram_edge *edge = layer->edges +
            layer->first[node];
        size_t count = layer->first[node + 1] - layer->first[node];

        while (count > 1) {
            const size_t half = count / 2;

            edge += edge[half].before <= index ? half : 0;
            count -= half;
        }
        index -= edge->before;
        config[layer->parameter] = edge->value;
        node = edge->child;
    }
}

const struct shmt_diagram_edge *
shmt_space_edge(const struct shmt_diagram_layer *layer,
                uint32_t node, shmt_config value)
{
    const struct shmt_diagram_edge *edge = layer->edges + layer->first[node];
    size_t count = layer->first[node + 1] - layer->first[node];
    const size_t offset = (size_t)value - edge->value;

    /* Mostly the values of a node follow each other. */
    if (offset < count && edge[offset].value == value)
        return edge + offset;
    if ((size_t)edge[count - 1].value - edge->value + 1 == count)
        return NULL;
    while (count > 1) {
        const size_t half = count / 2;

        edge += edge[half].value <= value ? half : 0;
        count -= half;
    }
    return edge->value == value ? edge : NULL;
}

bool shmt_space_index(const struct shmt_space *space,
                      const shmt_config *config, uint64_t *index)
{
    uint32_t node = 0;
    uint64_t sum = 0;

    if (space->diagram.count == 0)
        return false;
    for (size_t p = 0; p < space->definition.parameter_count; p++)
        if (config[p] >= space->definition.parameters[p].count)
            return false;
    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_diagram_layer *layer = &space->diagram.layers[k];
        const struct shmt_diagram_edge *edge =
            shmt_space_edge(layer, node, config[layer->parameter]);

        if (edge == NULL)
            return false;
        sum += edge->before;
        node = edge->child;
    }
    *index = sum;
    return true;
}

/* The position of an enumeration: the current edge of each layer, and the end
 * of its node's edges. */
struct cursor {
    const struct shmt_diagram_edge *edge[SHMT_SPACE_PARAMETERS];
    const struct shmt_diagram_edge *end[SHMT_SPACE_PARAMETERS];
};

/* The first path from `node` of layer `from` on. */
static void descend(const struct shmt_diagram *diagram, size_t from,
                    uint32_t node, struct cursor *cursor,
                    shmt_config *config)
{
    for (size_t k = from; k < diagram->layer_count; k++) {
        const struct shmt_diagram_layer *layer = &diagram->layers[k];

        cursor->edge[k] = layer->edges + layer->first[node];
        cursor->end[k] = layer->edges + layer->first[node + 1];
        config[layer->parameter] = cursor->edge[k]->value;
        node = cursor->edge[k]->child;
    }
}

/* The path of an index. */
static void seek(const struct shmt_diagram *diagram, uint64_t index,
                 struct cursor *cursor, shmt_config *config)
{
    uint32_t node = 0;

    for (size_t k = 0; k < diagram->layer_count; k++) {
        const struct shmt_diagram_layer *layer = &diagram->layers[k];
        const struct shmt_diagram_edge *edge = layer->edges +
            layer->first[node];

        cursor->end[k] = layer->edges + layer->first[node + 1];
        while (edge + 1 < cursor->end[k] && edge[1].before <= index)
            edge++;
        cursor->edge[k] = edge;
        index -= edge->before;
        config[layer->parameter] = edge->value;
        node = edge->child;
    }
}

void shmt_space_list(const struct shmt_space *space, uint64_t first,
                     size_t count, shmt_config *configs)
{
    const struct shmt_diagram *diagram = &space->diagram;
    const size_t width = space->definition.parameter_count;
    shmt_config config[SHMT_SPACE_PARAMETERS] = {0};
    struct cursor cursor;
    size_t k;

    if (count == 0)
        return;
    seek(diagram, first, &cursor, config);
    for (;;) {
        memcpy(configs, config, width * sizeof *config);
        if (--count == 0)
            return;
        configs += width;
        k = diagram->layer_count - 1;
        while (++cursor.edge[k] == cursor.end[k])
            k--;
        config[diagram->layers[k].parameter] = cursor.edge[k]->value;
        descend(diagram, k + 1, cursor.edge[k]->child, &cursor, config);
    }
}
