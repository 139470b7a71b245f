/* SPDX-License-Identifier: MIT */
/*
 * index: from an index to a configuration and back: one path of the diagram.
 * Indices follow the diagram's order of the parameters, which need not be the
 * declared one.
 *
 * Also the neighbours of a configuration.  The path of a neighbour leaves the
 * path of its configuration at one layer and usually joins it again soon.  From
 * there on the rest of the index is the same and need not be computed.
 */
#include <string.h>

#include "space/build.h"

/* Of a node's `count` edges the one that the path of an index takes. */
static inline const struct shmt_diagram_edge *
edge_of(const struct shmt_diagram_edge *edge, size_t count, uint64_t index)
{
    while (count > 1) {
        const size_t half = count / 2;

        edge += edge[half].before <= index ? half : 0;
        count -= half;
    }
    return edge;
}

void shmt_space_configuration(const struct shmt_space *space, uint64_t index,
                              shmt_config *config)
{
    uint32_t node = 0;

    memset(config, 0, space->definition.parameter_count * sizeof *config);
    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_diagram_layer *layer = &space->diagram.layers[k];
        const struct shmt_diagram_edge *edge = layer->edges +
            layer->first[node];

        edge = edge_of(edge, layer->first[node + 1] - layer->first[node],
                       index);
        index -= edge->before;
        config[layer->parameter] = edge->value;
        node = edge->child;
    }
}

/* The edge of `node` with this value, or NULL. */
static const struct shmt_diagram_edge *
find_edge(const struct shmt_diagram_layer *layer,
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
            find_edge(layer, node, config[layer->parameter]);

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

struct path {
    const struct shmt_space *space;
    uint32_t node[SHMT_SPACE_PARAMETERS + 1];
    uint32_t edge[SHMT_SPACE_PARAMETERS];      /* taken, within the node */
    shmt_config value[SHMT_SPACE_PARAMETERS];
    uint64_t rest[SHMT_SPACE_PARAMETERS + 1];  /* of the index, from a layer
                                                  on */
    uint64_t index;
};

static const struct shmt_diagram_edge *edges_at(const struct path *path,
                                                size_t layer)
{
    const struct shmt_diagram_layer *l = &path->space->diagram.layers[layer];

    return l->edges + l->first[path->node[layer]];
}

static size_t edge_count(const struct path *path, size_t layer)
{
    const struct shmt_diagram_layer *l = &path->space->diagram.layers[layer];

    return l->first[path->node[layer] + 1] - l->first[path->node[layer]];
}

static void trace(struct path *path)
{
    uint64_t rest = path->index;
    uint32_t node = 0;

    for (size_t k = 0; k < path->space->diagram.layer_count; k++) {
        const struct shmt_diagram_edge *edge;

        path->node[k] = node;
        path->rest[k] = rest;
        edge = edge_of(edges_at(path, k), edge_count(path, k), rest);
        path->edge[k] = (uint32_t)(edge - edges_at(path, k));
        path->value[k] = edge->value;
        rest -= edge->before;
        node = edge->child;
    }
    path->node[path->space->diagram.layer_count] = 0;
    path->rest[path->space->diagram.layer_count] = 0;
}

/* The rest of an index from `node` of layer `from` on, with the values of the
 * path; UINT64_MAX when that leads nowhere. */
static uint64_t rest_of(const struct path *path, size_t from, uint32_t node)
{
    const struct shmt_diagram *diagram = &path->space->diagram;
    uint64_t sum = 0;

    for (size_t k = from; k < diagram->layer_count; k++) {
        const struct shmt_diagram_edge *edge;

        if (node == path->node[k])
            return sum + path->rest[k];
        edge = find_edge(&diagram->layers[k], node, path->value[k]);
        if (edge == NULL)
            return UINT64_MAX;
        sum += edge->before;
        node = edge->child;
    }
    return sum;
}

/* The path with another edge at `layer`; false when it leads nowhere. */
static bool with_edge(const struct path *path, size_t layer, size_t other,
                      uint64_t *index)
{
    const struct shmt_diagram_edge *edge = &edges_at(path, layer)[other];
    const uint64_t rest = rest_of(path, layer + 1, edge->child);

    *index = path->index - path->rest[layer] + edge->before + rest;
    return rest != UINT64_MAX;
}

/* All paths with another edge at `layer`; edges next to each other often have
 * one child. */
static size_t with_each_edge(const struct path *path, size_t layer,
                             uint64_t *out,
                             size_t room)
{
    const struct shmt_diagram_edge *const edges = edges_at(path, layer);
    const size_t count = edge_count(path, layer);
    const uint64_t before = path->index - path->rest[layer];
    uint32_t child = edges[path->edge[layer]].child;
    uint64_t rest = path->rest[layer + 1];
    size_t total = 0;

    for (size_t e = 0; e < count; e++) {
        if (e == path->edge[layer])
            continue;
        if (edges[e].child != child) {
            child = edges[e].child;
            rest = rest_of(path, layer + 1, child);
        }
        if (rest == UINT64_MAX)
            continue;
        if (total < room)
            out[total] = before + edges[e].before + rest;
        total++;
    }
    return total;
}

/* One step along an ordered parameter: the nearest value on either side that
 * is valid with the others as they are. */
static size_t step(const struct path *path, size_t layer, uint64_t found[2])
{
    const size_t count = edge_count(path, layer);
    size_t used = 0;

    for (size_t k = path->edge[layer]; k-- > 0;)
        if (with_edge(path, layer, k, &found[used])) {
            used++;
            break;
        }
    for (size_t k = path->edge[layer] + 1; k < count; k++)
        if (with_edge(path, layer, k, &found[used])) {
            used++;
            break;
        }
    return used;
}

size_t shmt_space_neighbours(const struct shmt_space *space, uint64_t index,
                             enum shmt_space_neighbourhood kind, uint64_t *out,
                             size_t room)
{
    struct path path = {.space = space, .index = index};
    size_t total = 0;

    trace(&path);
    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_parameter *parameter =
            &space->definition
                 .parameters[space->diagram.layers[k].parameter];
        uint64_t found[2];
        size_t steps;

        if (kind != SHMT_SPACE_ADJACENT || !parameter->ordered) {
            total += with_each_edge(&path, k, total < room ? out + total : NULL,
                                    total < room ? room - total : 0);
            continue;
        }
        steps = step(&path, k, found);
        for (size_t s = 0; s < steps; s++, total++)
            if (total < room)
                out[total] = found[s];
    }
    return total;
}

uint64_t shmt_space_nearest(const struct shmt_space *space,
                            const shmt_config *config)
{
    uint32_t node = 0;
    uint64_t index = 0;

    for (size_t k = 0; k < space->diagram.layer_count; k++) {
        const struct shmt_diagram_layer *layer = &space->diagram.layers[k];
        const struct shmt_diagram_edge *edge = layer->edges +
            layer->first[node];
        const struct shmt_diagram_edge *end = layer->edges +
            layer->first[node + 1];
        const shmt_config wanted = config[layer->parameter];
        const struct shmt_diagram_edge *best = edge;
        unsigned least = UINT16_MAX + 1u;

        for (; edge < end; edge++) {
            const unsigned distance = edge->value > wanted
                                          ? (unsigned)(edge->value - wanted)
                                          : (unsigned)(wanted - edge->value);

            if (distance < least) {
                least = distance;
                best = edge;
            }
        }
        index += best->before;
        node = best->child;
    }
    return index;
}
