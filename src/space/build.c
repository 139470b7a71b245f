/* SPDX-License-Identifier: MIT */
/*
 * build: constructs the diagram level by level, top down.  It combines every
 * state of a level with every value of its parameter, SHMT_LANES pairs at a
 * time.  What the constraints allow becomes a state of the next level; equal
 * states are one.
 */
#include "space/build.h"

#include <stdlib.h>
#include <string.h>

#include "space/lanes.h"
#include "space/pack.h"
#include "space/states.h"

typedef union shmt_graph_cell cell;

struct builder {
    const struct shmt_plan *plan;
    struct shmt_build_effort *effort;
    struct shmt_lanes lanes;
    struct shmt_build_layers raw;
    struct shmt_states now, next;
    cell *values;                 /* of the level's parameter */
    size_t value_count;
    struct shmt_pack_lanes block;
    uint64_t *keys;               /* [SHMT_LANES * words] */
    size_t bytes;                 /* of the layers that are done */
    double scale;                 /* states for each that the beam kept */
    bool limited;
};

/* Fill the lanes with pairs [from, from + count) of state and value. */
static void fill(struct builder *builder, size_t at, uint64_t from,
                 size_t count)
{
    struct shmt_pack_lanes *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *above = &plan->levels[at - 1];
    const struct shmt_plan_level *level = &plan->levels[at];
    uint32_t state = (uint32_t)(from / builder->value_count);
    size_t value = from % builder->value_count;

    block->count = count;
    for (size_t i = 0; i < count; i++) {
        block->state[i] = state;
        block->value[i] = (shmt_config)value;
        if (++value == builder->value_count) {
            value = 0;
            state++;
        }
    }
    shmt_pack_load(&builder->lanes, above, builder->now.states,
                   block);
    for (size_t k = 0; k < level->exact_count; k++)
        if (plan->graph->nodes[level->exact[k]].op == SHMT_OP_SYMBOL) {
            cell *column =
                shmt_lanes_value(&builder->lanes, level->exact[k]);

            for (size_t i = 0; i < count; i++)
                column[i] = builder->values[block->value[i]];
        }
}

static void move_cells(cell *column, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        column[i] = column[from[i]];
}

/* Keeps the lanes listed in `from` (ascending) of all columns that are read
 * later. */
static void compact(struct builder *builder, size_t at, const uint16_t *from,
                    size_t count)
{
    struct shmt_pack_lanes *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;

    for (size_t i = 0; i < count; i++) {
        block->state[i] = block->state[from[i]];
        block->value[i] = block->value[from[i]];
        block->mask[i] = block->mask[from[i]];
        block->fault[i] = block->fault[from[i]];
    }
    block->count = count;
    for (size_t s = 0; s < plan->levels[at].slot_count; s++)
        move_cells(shmt_lanes_value(&builder->lanes,
                                    plan->levels[at].slots[s].node),
                   from, count);
}

/* Evaluates the conjuncts of this level and drops the lanes in which one is
 * false. */
static size_t prune_false(struct builder *builder, size_t at, size_t count)
{
    struct shmt_pack_lanes *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];
    uint16_t from[SHMT_LANES];
    size_t kept = 0;

    if (level->decided_count == 0)
        return count;
    memset(alive, 1, count);
    for (size_t k = 0; k < level->decided_count; k++) {
        const struct shmt_plan_conjunct *c =
            &plan->conjuncts[level->decided[k]];
        const cell *truth = shmt_lanes_value(&builder->lanes, c->node);
        const uint64_t bit = c->bit < 0 ? 0 : UINT64_C(1) << c->bit;

        for (size_t i = 0; i < count; i++) {
            const bool early = (block->mask[i] & bit) != 0;

            alive[i] &= early | (truth[i].i != 0);
            block->fault[i] |= !early & (truth[i].i == SHMT_GRAPH_NO_INT);
        }
    }
    for (size_t i = 0; i < count; i++) {
        from[kept] = (uint16_t)i;
        kept += alive[i];
    }
    if (kept < count)
        compact(builder, at, from, kept);
    return kept;
}

/* Evaluates the bounds of conjuncts of later levels, and drops the lanes in
 * which one can only be false. */
static size_t prune_by_bounds(struct builder *builder, size_t at, size_t count)
{
    struct shmt_pack_lanes *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];
    uint16_t from[SHMT_LANES];
    size_t kept = 0;

    if (level->bounded_count == 0)
        return count;
    for (size_t k = 0; k < level->mixed_count; k++)
        shmt_lanes_compute_bounds(&builder->lanes, level->mixed[k], (uint8_t)at,
                                  count);
    memset(alive, 1, count);
    for (size_t k = 0; k < level->bounded_count; k++) {
        const struct shmt_plan_conjunct *c =
            &plan->conjuncts[level->bounded[k]];
        const struct shmt_lanes_bounds bounds =
            shmt_lanes_get_bounds(&builder->lanes, c->node);

        for (size_t i = 0; i < count; i++) {
            const uint64_t early = block->mask[i] >> c->bit & 1;

            alive[i] &= early | (bounds.high[i].i != 0);
            block->mask[i] |= (uint64_t)(bounds.low[i].i != 0) << c->bit;
        }
    }
    for (size_t i = 0; i < count; i++) {
        from[kept] = (uint16_t)i;
        kept += alive[i];
    }
    if (kept < count)
        compact(builder, at, from, kept);
    return kept;
}

static bool grow_edges(struct shmt_build_layer *raw)
{
    size_t children = raw->edge_room, values = raw->edge_room;

    if (!shmt_array_grow(&raw->child, &children, raw->edge_count + 1,
                         sizeof *raw->child) ||
        !shmt_array_grow(&raw->value, &values, raw->edge_count + 1,
                         sizeof *raw->value))
        return false;
    raw->edge_room = children;
    return true;
}

static bool add_edge(struct shmt_build_layer *raw, uint32_t child,
                     shmt_config value)
{
    if (raw->edge_count == raw->edge_room && !grow_edges(raw))
        return false;
    raw->child[raw->edge_count] = child;
    raw->value[raw->edge_count++] = value;
    return true;
}

/* Sorts the values of interchangeable parameters, so that states that differ
 * only in their order become equal. */
static void sort_symmetric(struct builder *builder,
                           const struct shmt_plan_level *level, size_t count)
{
    for (uint16_t group = 1; group <= level->symmetry; group++) {
        cell *columns[SHMT_SPACE_PARAMETERS];
        size_t many = 0;

        for (size_t s = 0; s < level->slot_count; s++)
            if (level->slots[s].symmetry == group)
                columns[many++] = shmt_lanes_value(&builder->lanes,
                                                   level->slots[s].node);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 1; k < many; k++) {
                const cell one = columns[k][i];
                size_t at = k;

                for (; at > 0 && columns[at - 1][i].i > one.i; at--)
                    columns[at][i] = columns[at - 1][i];
                columns[at][i] = one;
            }
    }
}

/* Survivors become edges to states of the next level. */
static bool emit(struct builder *builder, struct shmt_build_layer *raw,
                 const struct shmt_plan_level *level, size_t count)
{
    struct shmt_pack_lanes *const block = &builder->block;

    sort_symmetric(builder, level, count);
    shmt_pack_store(&builder->lanes, level, block, builder->keys);
    for (size_t i = 0; i < count; i++) {
        const uint32_t child =
            shmt_states_find(&builder->next, builder->keys + i * level->words);

        if (child == UINT32_MAX ||
            !add_edge(raw, child, block->value[i]))
            return false;
        raw->first[block->state[i] + 1]++;
    }
    return true;
}

static bool load_values(struct builder *builder,
                        const struct shmt_plan_level *level)
{
    const struct shmt_graph *graph = builder->plan->graph;
    const struct shmt_parameter *p =
        &graph->definition->parameters[level->parameter];
    cell *grown = realloc(builder->values, p->count * sizeof *grown);

    if (grown == NULL)
        return false;
    builder->values = grown;
    builder->value_count = p->count;
    for (size_t k = 0; k < p->count; k++) {
        if (p->type == SHMT_VALUE_INT)
            grown[k].i = p->values[k].i;
        else if (p->type == SHMT_VALUE_REAL)
            grown[k].r = p->values[k].r;
        else
            grown[k].i = shmt_graph_rank(graph, p->values[k].w);
    }
    return true;
}

static unsigned state_bits(const struct shmt_plan *plan,
                           const struct shmt_plan_level *level)
{
    unsigned bits = (unsigned)__builtin_popcountll(level->open) +
                    plan->may_fault;

    for (size_t s = 0; s < level->slot_count; s++)
        bits += level->slots[s].bits;
    return bits;
}

/* Keeps only `beam` states of the level, evenly spaced (beam search), when the
 * build is an estimate. */
static void apply_beam(struct builder *builder)
{
    struct shmt_states *table = &builder->next;
    const uint32_t beam = builder->effort->beam;

    if (beam == 0 || table->count <= beam)
        return;
    for (uint32_t k = 0; k < beam; k++) {
        const size_t from = (size_t)((uint64_t)k * table->count / beam);

        memmove(table->states + k * table->words,
                table->states + from * table->words,
                table->words * sizeof *table->states);
    }
    builder->scale *= (double)table->count / beam;
    table->count = beam;
}

static size_t raw_bytes(const struct shmt_build_layer *raw)
{
    return raw->state_count * sizeof *raw->first +
           raw->edge_room * (sizeof *raw->child + sizeof *raw->value);
}

static bool is_too_much(const struct builder *builder,
                        const struct shmt_build_layer *raw)
{
    const struct shmt_build_effort *effort = builder->effort;

    return effort->visited > effort->limit ||
           (effort->bytes != 0 &&
            builder->bytes + raw_bytes(raw) + shmt_states_bytes(&builder->now) +
                    shmt_states_bytes(&builder->next) > effort->bytes);
}

static bool build_level(struct builder *builder, size_t at)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    struct shmt_build_layer *raw = &builder->raw.layers[at - 1];
    uint64_t pairs, from = 0;
    uint64_t *keys;

    raw->state_count = builder->now.count;
    raw->first = calloc((size_t)raw->state_count + 1, sizeof *raw->first);
    keys = realloc(builder->keys, (SHMT_LANES * level->words + 1) *
                                      sizeof *keys);
    if (keys != NULL)
        builder->keys = keys;
    if (raw->first == NULL || keys == NULL || !load_values(builder, level) ||
        !shmt_states_open(&builder->next, level->words,
                          state_bits(builder->plan, level)))
        return false;
    pairs = (uint64_t)raw->state_count * builder->value_count;
    while (from < pairs) {
        size_t count = pairs - from < SHMT_LANES ? (size_t)(pairs - from)
                                                 : SHMT_LANES;

        fill(builder, at, from, count);
        from += count;
        builder->effort->visited += count;
        if (is_too_much(builder, raw)) {
            builder->limited = true;
            return false;
        }
        for (size_t k = 0; k < level->exact_count; k++)
            shmt_lanes_compute(&builder->lanes, level->exact[k], count);
        count = prune_false(builder, at, count);
        count = prune_by_bounds(builder, at, count);
        if (!emit(builder, raw, level, count))
            return false;
    }
    for (uint32_t s = 0; s < raw->state_count; s++)
        raw->first[s + 1] += raw->first[s];
    builder->bytes += raw_bytes(raw);
    builder->effort->estimate += builder->scale * (double)pairs;
    apply_beam(builder);
    shmt_states_close(&builder->now);
    builder->now = builder->next;
    builder->next = (struct shmt_states){0};
    return true;
}

static bool open_builder(struct builder *builder,
                         const struct shmt_plan *plan)
{
    const uint64_t none = 0;

    builder->raw.layers =
        calloc(plan->level_count + 1, sizeof *builder->raw.layers);
    if (builder->raw.layers == NULL ||
        !shmt_lanes_open(&builder->lanes, plan) ||
        !shmt_states_open(&builder->now, 0, 0))
        return false;
    return shmt_states_find(&builder->now, &none) != UINT32_MAX;
}

static void close_builder(struct builder *builder)
{
    struct shmt_build_layer *layers = builder->raw.layers;

    for (size_t k = 0; layers != NULL && k < builder->plan->level_count;
         k++) {
        free(layers[k].first);
        free(layers[k].child);
        free(layers[k].value);
    }
    free(layers);
    free(builder->values);
    free(builder->keys);
    shmt_states_close(&builder->now);
    shmt_states_close(&builder->next);
    shmt_lanes_close(&builder->lanes);
}

/* The states behind the last level: one for the configurations, and one for
 * the prefixes on which a constraint has no value. */
static void find_end(struct builder *builder)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *last = &plan->levels[plan->level_count];
    const struct shmt_states *end = &builder->now;

    builder->raw.end_count = end->count;
    builder->raw.end_fault = UINT32_MAX;
    if (!plan->may_fault)
        return;
    for (uint32_t s = 0; s < end->count; s++)
        if (shmt_pack_fault(last, end->states + s * end->words))
            builder->raw.end_fault = s;
}

enum shmt_build_outcome shmt_build_diagram(const struct shmt_plan *plan,
                                           struct shmt_build_effort *effort,
                                           struct shmt_diagram *out)
{
    struct builder *builder = calloc(1, sizeof *builder);
    enum shmt_build_outcome built;
    bool fine;

    if (builder == NULL)
        return SHMT_BUILD_MEMORY;
    builder->plan = plan;
    builder->effort = effort;
    builder->scale = 1.0;
    effort->estimate = 0.0;
    fine = open_builder(builder, plan);
    for (size_t at = 1; fine && at <= plan->level_count; at++)
        fine = build_level(builder, at);
    if (fine && effort->beam == 0) {
        find_end(builder);
        fine = shmt_build_reduce(plan, &builder->raw, out);
    }
    built = fine ? SHMT_BUILD_DONE
                 : builder->limited ? SHMT_BUILD_LIMIT : SHMT_BUILD_MEMORY;
    close_builder(builder);
    free(builder);
    return built;
}
