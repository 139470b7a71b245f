/* SPDX-License-Identifier: MIT */
/*
 * reduce: the reduction of the decision diagram, bottom up.  It drops states
 * from which no configuration is reached, merges states with equal edges into
 * one node, and counts configurations.  Also joins the diagrams of components
 * that share no constraint: their product is one behind the other.  Called by
 * build.c, from_list.c and space.c.
 */
#include <stdlib.h>
#include <string.h>

#include "space/build.h"

static const uint32_t DEAD = UINT32_MAX;

struct reducer {
    const struct shmt_plan *plan;
    struct shmt_build_layers *raw;
    uint32_t *below, *here;       /* states -> nodes, or DEAD */
    uint64_t *totals_below;       /* of the nodes below */
    struct shmt_diagram_layer *layer; /* being made */
    size_t edge_count, edge_room, node_room;
    struct shmt_map places;       /* hash of edges -> node */
    bool saturated;
    struct shmt_budget *budget;   /* or NULL */
    size_t bytes;                 /* of layers, done and not yet */
};

static bool grow_nodes(struct reducer *reducer)
{
    struct shmt_diagram_layer *layer = reducer->layer;
    const size_t wanted = (size_t)layer->node_count + 2;
    size_t first = reducer->node_room, total = reducer->node_room;

    if (!shmt_array_grow(&layer->first, &first, wanted,
                         sizeof *layer->first) ||
        !shmt_array_grow(&layer->total, &total, wanted,
                         sizeof *layer->total))
        return false;
    reducer->node_room = first;
    return true;
}

/* Room for `more` edges, one node and where its edges end. */
static bool make_room(struct reducer *reducer, size_t more)
{
    return shmt_array_reserve(&reducer->layer->edges, &reducer->edge_room,
                              reducer->edge_count + more,
                              sizeof *reducer->layer->edges) &&
           (reducer->layer->node_count + (size_t)2 <= reducer->node_room ||
            grow_nodes(reducer));
}

/* Edges of a state that lead on, behind the layer's edges. */
static void put_edges(struct reducer *reducer,
                      const struct shmt_build_layer *raw, uint32_t state,
                      uint64_t *hash, uint64_t *total)
{
    struct shmt_diagram_layer *layer = reducer->layer;
    size_t at = reducer->edge_count;

    *hash = *total = 0;
    for (uint32_t e = raw->first[state]; e < raw->first[state + 1]; e++) {
        const uint32_t child = reducer->below[raw->child[e]];

        if (child == DEAD)
            continue;
        layer->edges[at++] = (struct shmt_diagram_edge){
            .before = *total, .child = child, .value = raw->value[e]};
        if (__builtin_add_overflow(*total, reducer->totals_below[child],
                                   total))
            *total = UINT64_MAX;
        reducer->saturated |= *total == UINT64_MAX;
        *hash = shmt_map_hash(*hash, (uint64_t)child << 16 | raw->value[e]);
    }
    reducer->edge_count = at;
}

static bool same_edges(const struct reducer *reducer, uint32_t node,
                       size_t from)
{
    const struct shmt_diagram_layer *layer = reducer->layer;
    const struct shmt_diagram_edge *a = layer->edges + layer->first[node];
    const struct shmt_diagram_edge *b = layer->edges + from;
    const size_t count = reducer->edge_count - from;

    if (layer->first[node + 1] - layer->first[node] != count)
        return false;
    for (size_t k = 0; k < count; k++)
        if (a[k].child != b[k].child || a[k].value != b[k].value)
            return false;
    return true;
}

/* The node of a state: an equal one, or a new one. */
static bool join(struct reducer *reducer, const struct shmt_build_layer *raw,
                 uint32_t state)
{
    struct shmt_diagram_layer *layer = reducer->layer;
    const size_t from = reducer->edge_count;
    uint64_t hash, total;
    uint32_t node;

    reducer->here[state] = DEAD;
    if (!make_room(reducer, raw->first[state + 1] - raw->first[state]))
        return false;
    put_edges(reducer, raw, state, &hash, &total);
    if (reducer->edge_count == from)
        return true;
    for (size_t probe = 0;
         (node = shmt_map_next(&reducer->places, hash, &probe)) !=
         SHMT_MAP_NONE;)
        if (same_edges(reducer, node, from)) {
            reducer->edge_count = from;
            reducer->here[state] = node;
            return true;
        }
    if (reducer->edge_count > UINT32_MAX ||
        !shmt_map_add(&reducer->places, hash, layer->node_count))
        return false;
    reducer->here[state] = layer->node_count;
    layer->total[layer->node_count] = total;
    layer->first[layer->node_count] = (uint32_t)from;
    layer->first[++layer->node_count] = (uint32_t)reducer->edge_count;
    return true;
}

/* Give back what the layer's arrays have too much. */
static void shrink(struct reducer *reducer)
{
    struct shmt_diagram_layer *layer = reducer->layer;
    void *less;

    less = realloc(layer->edges,
                   (reducer->edge_count + 1) * sizeof *layer->edges);
    layer->edges = less == NULL ? layer->edges : less;
    less = realloc(layer->first,
                   ((size_t)layer->node_count + 1) * sizeof *layer->first);
    layer->first = less == NULL ? layer->first : less;
    less = realloc(layer->total,
                   ((size_t)layer->node_count + 1) * sizeof *layer->total);
    layer->total = less == NULL ? layer->total : less;
}

static void free_layer(struct shmt_build_layer *layer)
{
    free(layer->first);
    free(layer->child);
    free(layer->value);
    *layer = (struct shmt_build_layer){0};
}

void shmt_build_free_layers(struct shmt_build_layers *raw, size_t count)
{
    for (size_t k = 0; raw->layers != NULL && k < count; k++)
        free_layer(&raw->layers[k]);
    free(raw->layers);
}

static size_t raw_bytes(const struct shmt_build_layer *raw)
{
    return raw->edge_room * (sizeof *raw->child + sizeof *raw->value);
}

static bool is_affordable(struct reducer *reducer)
{
    return reducer->budget == NULL ||
           (shmt_budget_spend(reducer->budget, 4096) &&
            shmt_budget_fits(reducer->budget,
                             reducer->bytes + reducer->edge_room *
                                 sizeof *reducer->layer->edges));
}

static bool reduce_layer(struct reducer *reducer, size_t at,
                         struct shmt_diagram *diagram)
{
    struct shmt_build_layer *raw = &reducer->raw->layers[at];

    reducer->layer = &diagram->layers[at];
    reducer->layer->parameter = reducer->plan->levels[at + 1].parameter;
    reducer->edge_count = reducer->edge_room = reducer->node_room = 0;
    reducer->here = malloc(((size_t)raw->state_count + 1) *
                           sizeof *reducer->here);
    if (reducer->here == NULL)
        return false;
    shmt_map_clear(&reducer->places);
    if (!make_room(reducer, 1))
        return false;
    for (uint32_t s = 0; s < raw->state_count; s++)
        if ((s % 4096 == 0 && !is_affordable(reducer)) ||
            !join(reducer, raw, s))
            return false;
    shrink(reducer);
    reducer->bytes += reducer->edge_count * sizeof *reducer->layer->edges;
    reducer->bytes -= raw_bytes(raw);
    free_layer(raw);
    free(reducer->below);
    reducer->below = reducer->here;
    reducer->here = NULL;
    reducer->totals_below = reducer->layer->total;
    return true;
}

/* A path to a constraint without a value, from its end up. */
static void trace_fault(const struct reducer *reducer,
                        struct shmt_diagram *diagram)
{
    uint32_t state = reducer->raw->end_fault;

    if (state == UINT32_MAX)
        return;
    diagram->fault = true;
    for (size_t at = reducer->plan->level_count; at-- > 0;) {
        const struct shmt_build_layer *raw = &reducer->raw->layers[at];
        uint32_t edge = 0, from = 0;

        while (raw->child[edge] != state)
            edge++;
        while (raw->first[from + 1] <= edge)
            from++;
        diagram->fault_path[at] = raw->value[edge];
        state = from;
    }
    reducer->below[reducer->raw->end_fault] = DEAD;
}

static bool begin(struct reducer *reducer, struct shmt_diagram *diagram)
{
    const size_t count = reducer->plan->level_count;

    diagram->layers = calloc(count + 1, sizeof *diagram->layers);
    reducer->below = calloc((size_t)reducer->raw->end_count + 1,
                            sizeof *reducer->below);
    if (diagram->layers == NULL || reducer->below == NULL)
        return false;
    diagram->layer_count = count;
    return true;
}

enum shmt_build_outcome shmt_build_reduce(const struct shmt_plan *plan,
                                          struct shmt_build_layers *raw,
                                          struct shmt_budget *budget,
                                          struct shmt_diagram *out)
{
    uint64_t one = 1;
    struct reducer reducer = {.plan = plan, .raw = raw,
                              .totals_below = &one, .budget = budget};
    struct shmt_diagram diagram = {0};
    bool fine = begin(&reducer, &diagram);

    if (fine)
        trace_fault(&reducer, &diagram);
    for (size_t at = 0; at < plan->level_count; at++)
        reducer.bytes += raw_bytes(&raw->layers[at]);
    for (size_t at = plan->level_count; fine && at-- > 0;)
        fine = reduce_layer(&reducer, at, &diagram);
    if (fine) {
        diagram.count = reducer.below[0] == DEAD ? 0
                        : reducer.totals_below[0];
        diagram.saturated = reducer.saturated;
        *out = diagram;
    } else {
        shmt_diagram_free(&diagram);
    }
    free(reducer.below);
    free(reducer.here);
    shmt_map_free(&reducer.places);
    if (fine)
        return SHMT_BUILD_DONE;
    return budget != NULL && (budget->spent || budget->full)
               ? SHMT_BUILD_LIMIT : SHMT_BUILD_MEMORY;
}

void shmt_diagram_free(struct shmt_diagram *diagram)
{
    for (size_t k = 0; diagram->layers != NULL && k < diagram->layer_count;
         k++) {
        free(diagram->layers[k].first);
        free(diagram->layers[k].edges);
        free(diagram->layers[k].total);
    }
    free(diagram->layers);
    *diagram = (struct shmt_diagram){0};
}

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

/* The result is their Cartesian product: the end of one diagram becomes the
 * root of the next. */
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
