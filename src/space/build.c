/* SPDX-License-Identifier: MIT */
/*
 * build: constructs the diagram level by level, top down.  It combines every
 * state of a level with every value of its parameter, SHMT_LANES pairs at a
 * time (block.h).  What the constraints allow becomes a state of the next
 * level; equal states are one.  Called by order.c.
 */
#include "space/build.h"

#include <stdlib.h>
#include <string.h>

#include "space/block.h"

typedef union shmt_graph_cell cell;

/* States by their words, each once, in one array in the order in which they
 * came.  Open addressing like base/map.h, which it does not use: a bucket is
 * four bytes instead of twelve, and tables of this kind are most of what
 * building a diagram takes; states of a few bits need no hash; and building is
 * up to 3 % faster. */
struct states {
    size_t words;                 /* of a state */
    uint64_t *states;             /* [count * words] */
    uint32_t count;
    size_t room;
    uint32_t *buckets;            /* state + 1 */
    size_t bucket_count;
    bool direct;                  /* the bucket is the word itself */
};

/* Values of a level's parameter that stand side by side, to be tried with a
 * state. */
struct part {
    uint32_t state, from, to;
};

/* The parts of a level.  Where its parameter has many values, bounds may refuse
 * a part before its values are tried: of A * B == C, given A and B, all that do
 * not reach over the one C. */
struct parts {
    uint32_t each;                /* values of one */
    struct part next;             /* to be looked at */
    bool tested;                  /* by bounds, */
    unsigned left, pause;         /* but for so many blocks of them; for so
                                     many after the next few that were not
                                     refused */
    cell low[SHMT_LANES], high[SHMT_LANES];   /* of each part's values */
    struct part list[SHMT_LANES]; /* those at hand */
    size_t count, at;
};

struct builder {
    const struct shmt_plan *plan;
    struct shmt_build_effort *effort;
    struct shmt_lanes lanes;
    struct shmt_build_layers raw;
    struct states now, next;
    cell *values;                 /* of the level's parameter */
    size_t value_count;
    struct parts *parts;
    struct shmt_block block;
    uint64_t *keys;               /* [SHMT_LANES * words] */
    size_t bytes;                 /* of the layers that are done */
    double scale;                 /* states for each that the beam kept */
    bool limited;
};

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    uint64_t hash = 0;

    for (size_t k = 0; k < count; k++)
        hash = shmt_map_hash(hash, words[k]);
    return hash;
}

/* `bits`: how many of the words' bits are used in all. */
static bool open_states(struct states *table, size_t words, unsigned bits)
{
    *table = (struct states){.words = words, .room = 64};
    table->direct = words <= 1 && bits <= 12;
    table->bucket_count = table->direct ? (size_t)1 << bits : 256;
    table->states = malloc((table->room * table->words + 1) *
                           sizeof *table->states);
    table->buckets = calloc(table->bucket_count, sizeof *table->buckets);
    return table->states != NULL && table->buckets != NULL;
}

static void close_states(struct states *table)
{
    free(table->states);
    free(table->buckets);
    *table = (struct states){0};
}

static bool grow_states(struct states *table)
{
    const size_t count = 4 * table->bucket_count;
    uint32_t *buckets = calloc(count, sizeof *buckets);

    if (buckets == NULL)
        return false;
    for (uint32_t s = 0; s < table->count; s++) {
        size_t at = hash_words(table->states + s * table->words,
                               table->words) & (count - 1);

        while (buckets[at] != 0)
            at = (at + 1) & (count - 1);
        buckets[at] = s + 1;
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = count;
    return true;
}

static bool add_state(struct states *table, const uint64_t *key)
{
    if (table->count == UINT32_MAX - 1 ||
        !shmt_array_reserve(&table->states, &table->room, table->count + 1,
                            table->words * sizeof *table->states))
        return false;
    memcpy(table->states + table->count * table->words, key,
           table->words * sizeof *key);
    table->count++;
    return true;
}

/* The state with these words, made when it is new; UINT32_MAX: no memory. */
static uint32_t find_state(struct states *table, const uint64_t *key)
{
    size_t at;

    if (table->words == 0)
        at = 0;
    else if (table->direct)
        at = key[0];
    else
        at = hash_words(key, table->words) & (table->bucket_count - 1);
    while (table->buckets[at] != 0) {
        const uint32_t found = table->buckets[at] - 1;

        if (table->direct ||
            memcmp(table->states + found * table->words, key,
                   table->words * sizeof *key) == 0)
            return found;
        at = (at + 1) & (table->bucket_count - 1);
    }
    if (!add_state(table, key))
        return UINT32_MAX;
    table->buckets[at] = table->count;
    if (!table->direct && 2 * (size_t)table->count > table->bucket_count &&
        !grow_states(table))
        return UINT32_MAX;
    return table->count - 1;
}

static size_t states_bytes(const struct states *table)
{
    return table->room * table->words * sizeof *table->states +
           table->bucket_count * sizeof *table->buckets;
}

static size_t raw_bytes(const struct shmt_build_layer *raw)
{
    return raw->state_count * sizeof *raw->first +
           raw->edge_room * (sizeof *raw->child + sizeof *raw->value);
}

static bool is_too_much(struct builder *builder,
                        const struct shmt_build_layer *raw)
{
    const struct shmt_build_effort *effort = builder->effort;

    effort->budget->progress.states = builder->next.count;
    return effort->visited > effort->limit ||
           !shmt_budget_fits(effort->budget,
                             builder->bytes + raw_bytes(raw) +
                                 states_bytes(&builder->now) +
                                 states_bytes(&builder->next));
}

/* A prefix that is refused costs a fifth of one that is kept, whose state is
 * looked up among all others. */
enum { KEPT = 5 };

/* Takes what so many prefixes of a level, or parts, cost: all of a block,
 * refused or not, or what those cost more that are kept.  False: that is too
 * much. */
static bool spend(struct builder *builder, size_t at, size_t count,
                  size_t kept)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    const uint64_t each =
        8 + level->exact_count + level->mixed_count + level->slot_count;

    builder->effort->visited += count;
    builder->limited =
        !shmt_budget_spend(builder->effort->budget,
                           (count + kept * (KEPT - 1)) * each / KEPT) ||
        is_too_much(builder, &builder->raw.layers[at - 1]);
    return !builder->limited;
}

/* -- prefixes ------------------------------------------------------------- */

/* A parameter of fewer values is tried whole: to look at parts costs more than
 * it saves. */
enum { PARTED = 1024, SELDOM = 16 };
_Static_assert(SHMT_SPACE_VALUES <= SHMT_LANES * SHMT_LANES,
               "as many parts as values in one are a block at most");

static void open_parts(struct builder *builder,
                       const struct shmt_plan_level *level)
{
    const struct shmt_graph *const graph = builder->plan->graph;
    struct parts *const parts = builder->parts;
    const size_t values = builder->value_count;

    parts->each = (uint32_t)values;
    parts->tested =
        values >= PARTED && level->decided_count + level->bounded_count > 0 &&
        graph->definition->parameters[level->parameter].type ==
            SHMT_VALUE_INT;
    parts->next = (struct part){0};
    parts->left = 0;
    parts->pause = 1;
    parts->count = parts->at = 0;
    if (!parts->tested)
        return;
    for (parts->each = 1; parts->each * parts->each < values;)
        parts->each++;
    for (size_t k = 0; k < values; k++) {
        cell *const low = &parts->low[k / parts->each];
        cell *const high = &parts->high[k / parts->each];
        const cell value = builder->values[k];

        if (k % parts->each == 0 || value.i < low->i)
            *low = value;
        if (k % parts->each == 0 || value.i > high->i)
            *high = value;
    }
}

/* Bounds of what this level and later ones compute, with the values of a part
 * in the place of the parameter. */
static void bound_parts(struct builder *builder, size_t at)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    const struct parts *const parts = builder->parts;
    struct shmt_lanes *const lanes = &builder->lanes;
    const uint8_t above = (uint8_t)(at - 1);

    lanes->parted = UINT64_C(1) << level->parameter;
    for (size_t k = 0; k < level->exact_count; k++) {
        const uint32_t id = level->exact[k];

        if (lanes->plan->graph->nodes[id].op != SHMT_OP_SYMBOL) {
            shmt_lanes_compute_bounds(lanes, id, above, parts->count);
            continue;
        }
        for (size_t i = 0; i < parts->count; i++) {
            const size_t part = parts->list[i].from / parts->each;

            shmt_lanes_set_bounds(lanes, id, i, parts->low[part],
                                  parts->high[part]);
        }
    }
    for (size_t k = 0; k < level->mixed_count; k++)
        shmt_lanes_compute_bounds(lanes, level->mixed[k], above, parts->count);
    lanes->parted = 0;
}

static void refuse_parts(struct builder *builder, const uint32_t *conjuncts,
                         size_t count, uint8_t *alive)
{
    for (size_t k = 0; k < count; k++) {
        const struct shmt_plan_conjunct *c =
            &builder->plan->conjuncts[conjuncts[k]];
        const cell *high =
            shmt_lanes_get_bounds(&builder->lanes, c->node).high;
        const uint64_t bit = c->bit < 0 ? 0 : UINT64_C(1) << c->bit;

        for (size_t i = 0; i < builder->parts->count; i++)
            alive[i] &= ((builder->block.mask[i] & bit) != 0) |
                        (high[i].i != 0);
    }
}

/* Drops parts that bounds refuse.  Where hardly one is they are asked less
 * often: of A % B == 0, given B, only that of a large one refuses any. */
static void test_parts(struct builder *builder, size_t at)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    struct parts *const parts = builder->parts;
    struct shmt_block *const block = &builder->block;
    uint8_t alive[SHMT_LANES];
    size_t kept = 0;

    block->count = parts->count;
    for (size_t i = 0; i < parts->count; i++)
        block->state[i] = parts->list[i].state;
    shmt_block_load(&builder->lanes, &builder->plan->levels[at - 1],
                builder->now.states, block);
    bound_parts(builder, at);
    memset(alive, 1, parts->count);
    refuse_parts(builder, level->decided, level->decided_count, alive);
    refuse_parts(builder, level->bounded, level->bounded_count, alive);
    for (size_t i = 0; i < parts->count; i++) {
        parts->list[kept] = parts->list[i];
        kept += alive[i];
    }
    if (kept < parts->count - parts->count / 8) {
        parts->pause = 1;
    } else {
        parts->left = parts->pause;
        parts->pause += parts->pause < SELDOM ? parts->pause : 0;
    }
    parts->count = kept;
}

/* The next parts; false: there are none, or the effort is spent. */
static bool take_parts(struct builder *builder, size_t at)
{
    struct parts *const parts = builder->parts;
    struct part *const next = &parts->next;
    const uint32_t values = (uint32_t)builder->value_count;
    const uint32_t states = builder->now.count, each = parts->each;

    parts->at = parts->count = 0;
    while (parts->count == 0 && next->state < states && !builder->limited) {
        while (parts->count < SHMT_LANES && next->state < states) {
            next->to = next->from + each < values ? next->from + each : values;
            parts->list[parts->count++] = *next;
            next->from = next->to < values ? next->to : 0;
            next->state += next->from == 0;
        }
        if (parts->left > 0)
            parts->left--;
        else if (parts->tested && spend(builder, at, parts->count, 0))
            test_parts(builder, at);
    }
    return parts->count > 0 && !builder->limited;
}

/* The next pairs of a state and a value, into the block; 0: there are none, or
 * the effort is spent. */
static size_t take_pairs(struct builder *builder, size_t at)
{
    struct shmt_block *const block = &builder->block;
    struct parts *const parts = builder->parts;
    size_t count = 0;

    if (parts->at == parts->count && !take_parts(builder, at))
        return 0;
    while (count < SHMT_LANES && parts->at < parts->count) {
        struct part *const part = &parts->list[parts->at];
        const uint32_t state = part->state, from = part->from;
        const size_t room = SHMT_LANES - count, values = part->to - from;
        const size_t taken = values < room ? values : room;

        for (size_t k = 0; k < taken; k++) {
            block->state[count + k] = state;
            block->value[count + k] = (shmt_config)(from + k);
        }
        count += taken;
        part->from += (uint32_t)taken;
        parts->at += taken == values;
    }
    block->count = count;
    return count;
}

/* Puts the values into the lanes that stand for pairs of state and value. */
static void fill(struct builder *builder, size_t at)
{
    struct shmt_block *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *level = &plan->levels[at];

    shmt_block_load(&builder->lanes, &plan->levels[at - 1], builder->now.states,
                block);
    for (size_t k = 0; k < level->exact_count; k++)
        if (plan->graph->nodes[level->exact[k]].op == SHMT_OP_SYMBOL) {
            cell *column =
                shmt_lanes_value(&builder->lanes, level->exact[k]);

            for (size_t i = 0; i < block->count; i++)
                column[i] = builder->values[block->value[i]];
        }
}

static void move_cells(cell *column, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        column[i] = column[from[i]];
}

/* Keeps the lanes that are alive, of all columns that are read later; returns
 * how many they are. */
static size_t keep_alive(struct builder *builder, size_t at,
                         const uint8_t *alive, size_t count)
{
    struct shmt_block *const block = &builder->block;
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    uint16_t from[SHMT_LANES];
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        from[kept] = (uint16_t)i;
        kept += alive[i];
    }
    if (kept == count)
        return kept;
    for (size_t i = 0; i < kept; i++) {
        block->state[i] = block->state[from[i]];
        block->value[i] = block->value[from[i]];
        block->mask[i] = block->mask[from[i]];
        block->fault[i] = block->fault[from[i]];
    }
    block->count = kept;
    for (size_t s = 0; s < level->slot_count; s++)
        move_cells(shmt_lanes_value(&builder->lanes, level->slots[s].node),
                   from, kept);
    return kept;
}

/* Evaluates the conjuncts of this level and drops the lanes in which one is
 * false. */
static size_t prune_false(struct builder *builder, size_t at, size_t count)
{
    struct shmt_block *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];

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
    return keep_alive(builder, at, alive, count);
}

/* Evaluates the bounds of conjuncts of later levels, and drops the lanes in
 * which one can only be false. */
static size_t prune_by_bounds(struct builder *builder, size_t at, size_t count)
{
    struct shmt_block *const block = &builder->block;
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];

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
    return keep_alive(builder, at, alive, count);
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
    struct shmt_block *const block = &builder->block;

    sort_symmetric(builder, level, count);
    shmt_block_store(&builder->lanes, level, block, builder->keys);
    for (size_t i = 0; i < count; i++) {
        const uint32_t child =
            find_state(&builder->next, builder->keys + i * level->words);

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
    struct states *table = &builder->next;
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

static bool build_level(struct builder *builder, size_t at)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    struct shmt_build_layer *raw = &builder->raw.layers[at - 1];
    const uint64_t visited = builder->effort->visited;
    uint64_t *keys;
    size_t count;

    raw->state_count = builder->now.count;
    raw->first = calloc((size_t)raw->state_count + 1, sizeof *raw->first);
    keys = realloc(builder->keys, (SHMT_LANES * level->words + 1) *
                                      sizeof *keys);
    if (keys != NULL)
        builder->keys = keys;
    if (raw->first == NULL || keys == NULL || !load_values(builder, level) ||
        !open_states(&builder->next, level->words,
                          state_bits(builder->plan, level)))
        return false;
    open_parts(builder, level);
    while ((count = take_pairs(builder, at)) > 0) {
        fill(builder, at);
        if (!spend(builder, at, count, 0))
            return false;
        for (size_t k = 0; k < level->exact_count; k++)
            shmt_lanes_compute(&builder->lanes, level->exact[k], count);
        count = prune_false(builder, at, count);
        count = prune_by_bounds(builder, at, count);
        if (!spend(builder, at, 0, count) ||
            !emit(builder, raw, level, count))
            return false;
    }
    if (builder->limited)
        return false;
    for (uint32_t s = 0; s < raw->state_count; s++)
        raw->first[s + 1] += raw->first[s];
    builder->bytes += raw_bytes(raw);
    builder->effort->estimate +=
        builder->scale * (double)(builder->effort->visited - visited);
    apply_beam(builder);
    close_states(&builder->now);
    builder->now = builder->next;
    builder->next = (struct states){0};
    return true;
}

static bool open_builder(struct builder *builder,
                         const struct shmt_plan *plan)
{
    const uint64_t none = 0;

    builder->raw.layers =
        calloc(plan->level_count + 1, sizeof *builder->raw.layers);
    builder->parts = malloc(sizeof *builder->parts);   /* open_parts fills it */
    if (builder->raw.layers == NULL || builder->parts == NULL ||
        !shmt_lanes_open(&builder->lanes, plan) ||
        !open_states(&builder->now, 0, 0))
        return false;
    return find_state(&builder->now, &none) != UINT32_MAX;
}

static void close_builder(struct builder *builder)
{
    shmt_build_free_layers(&builder->raw, builder->plan->level_count);
    free(builder->values);
    free(builder->parts);
    free(builder->keys);
    close_states(&builder->now);
    close_states(&builder->next);
    shmt_lanes_close(&builder->lanes);
}

/* The states behind the last level: one for the configurations, and one for
 * the prefixes on which a constraint has no value. */
static void find_end(struct builder *builder)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_plan_level *last = &plan->levels[plan->level_count];
    const struct states *end = &builder->now;

    builder->raw.end_count = end->count;
    builder->raw.end_fault = UINT32_MAX;
    if (!plan->may_fault)
        return;
    for (uint32_t s = 0; s < end->count; s++)
        if (shmt_block_has_fault(last, end->states + s * end->words))
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
    built = fine ? SHMT_BUILD_DONE
                 : builder->limited ? SHMT_BUILD_LIMIT : SHMT_BUILD_MEMORY;
    if (fine && effort->beam == 0) {
        find_end(builder);
        built = shmt_build_reduce(plan, &builder->raw, effort->budget, out);
    }
    close_builder(builder);
    free(builder);
    return built;
}
