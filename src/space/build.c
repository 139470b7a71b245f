/* SPDX-License-Identifier: MIT */
/*
 * build: constructs the diagram level by level, top down.  It combines every
 * state of a level with every value of its parameter, SHMT_LANES pairs at a
 * time.  What the constraints allow becomes a state of the next level; equal
 * states are one.  A state is a few words of bits: what later levels read,
 * which conjuncts are decided early, whether one has no value.  Called by
 * order.c.
 */
#include "space/build.h"

#include <stdlib.h>
#include <string.h>

#include "space/lanes.h"

typedef union shmt_graph_cell cell;

/* Lanes at work: prefixes of one level, each a state and a value. */
struct block {
    size_t count;
    uint32_t state[SHMT_LANES];
    shmt_config value[SHMT_LANES];
    uint64_t mask[SHMT_LANES];    /* conjuncts decided early */
    uint64_t fault[SHMT_LANES];   /* 1: one has no value */
};

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

struct builder {
    const struct shmt_plan *plan;
    struct shmt_build_effort *effort;
    struct shmt_lanes lanes;
    struct shmt_build_layers raw;
    struct states now, next;
    cell *values;                 /* of the level's parameter */
    size_t value_count;
    struct block block;
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

static uint64_t field(const uint64_t *words, uint16_t word, unsigned shift,
                      unsigned bits)
{
    return bits == 64 ? words[word]
                      : words[word] >> shift & ((UINT64_C(1) << bits) - 1);
}

static cell decode(const struct shmt_graph_node *node,
                   const struct shmt_plan_slot *slot, const uint64_t *words)
{
    const uint64_t code = slot->bits == 0
                              ? 0 : field(words, slot->word, slot->shift,
                                          slot->bits);
    cell out = {.bits = code};

    if (slot->bits == 64)
        return out;
    if (node->fails && code == 0)
        out.i = SHMT_GRAPH_NO_INT;
    else
        out.i = (int64_t)((uint64_t)node->low + code - node->fails);
    return out;
}

static void load_slot(const struct shmt_lanes *lanes,
                      const struct shmt_plan_slot *slot, size_t width,
                      const uint64_t *words,
                      const struct block *block)
{
    const struct shmt_graph_node *node =
        &lanes->plan->graph->nodes[slot->node];
    cell *column = shmt_lanes_value(lanes, slot->node);
    cell last = {.i = 0};

    for (size_t i = 0; i < block->count; i++) {
        if (i == 0 || block->state[i] != block->state[i - 1])
            last = decode(node, slot, words + block->state[i] * width);
        column[i] = last;
    }
}

/* Bits of the open conjuncts, next to each other, and back. */
static uint64_t gather_bits(uint64_t mask, uint64_t open)
{
    uint64_t out = 0;

    for (unsigned k = 0; open != 0; open &= open - 1, k++)
        out |= (mask >> __builtin_ctzll(open) & 1) << k;
    return out;
}

static uint64_t spread_bits(uint64_t code, uint64_t open)
{
    uint64_t out = 0;

    for (unsigned k = 0; open != 0; open &= open - 1, k++)
        out |= (code >> k & 1) << __builtin_ctzll(open);
    return out;
}

static bool has_fault(const struct shmt_plan_level *level,
                      const uint64_t *words)
{
    return field(words, level->fault_word, level->fault_shift, 1) != 0;
}

static void load_flags(const struct shmt_lanes *lanes,
                       const struct shmt_plan_level *level,
                       const uint64_t *words,
                       struct block *block)
{
    const unsigned bits = (unsigned)__builtin_popcountll(level->open);
    const bool may_fault = lanes->plan->may_fault && level->words > 0;
    uint64_t mask = 0, fault = 0;

    for (size_t i = 0; i < block->count; i++) {
        const uint64_t *state = words + block->state[i] * level->words;

        if (i == 0 || block->state[i] != block->state[i - 1]) {
            if (level->open != 0)
                mask = spread_bits(field(state, level->mask_word,
                                         level->mask_shift, bits),
                                   level->open);
            fault = may_fault && has_fault(level, state);
        }
        block->mask[i] = mask;
        block->fault[i] = fault;
    }
}

/* The columns, masks and faults of the block's states; `words` are those of
 * all states behind `level`. */
static void load_states(const struct shmt_lanes *lanes,
                    const struct shmt_plan_level *level, const uint64_t *words,
                    struct block *block)
{
    for (size_t s = 0; s < level->slot_count; s++)
        load_slot(lanes, &level->slots[s], level->words, words, block);
    load_flags(lanes, level, words, block);
}

static void store_slot(const struct shmt_lanes *lanes,
                       const struct shmt_plan_slot *slot, size_t width,
                       const struct block *block, uint64_t *key)
{
    const struct shmt_graph_node *node =
        &lanes->plan->graph->nodes[slot->node];
    const cell *column = shmt_lanes_value(lanes, slot->node);
    const uint64_t readers = slot->pinned ? 0 : slot->readers;
    /* If no open conjunct reads the slot any more, it is stored as 0, so that
     * states which differ only in it are equal. */
    const uint64_t idle = node->type == SHMT_VALUE_REAL ? 0 :
        (uint64_t)node->low;

    if (slot->bits == 0)
        return;
    for (size_t i = 0; i < block->count; i++, key += width) {
        uint64_t code = column[i].bits;

        if (!slot->pinned && (readers & ~block->mask[i]) == 0)
            code = idle;
        if (slot->bits != 64)
            code = node->fails && (int64_t)code == SHMT_GRAPH_NO_INT
                       ? 0 : code - (uint64_t)node->low + node->fails;
        *key |= code << slot->shift;
    }
}

/* The words of the state that each lane leads to, into `keys`. */
static void store_states(const struct shmt_lanes *lanes,
                     const struct shmt_plan_level *level,
                     const struct block *block, uint64_t *keys)
{
    const size_t width = level->words;

    memset(keys, 0, block->count * width * sizeof *keys);
    for (size_t s = 0; s < level->slot_count; s++)
        store_slot(lanes, &level->slots[s], width, block,
                   keys + level->slots[s].word);
    if (level->open != 0)
        for (size_t i = 0; i < block->count; i++)
            keys[i * width + level->mask_word] |=
                gather_bits(block->mask[i], level->open)
                << level->mask_shift;
    if (lanes->plan->may_fault)
        for (size_t i = 0; i < block->count; i++)
            keys[i * width + level->fault_word] |= block->fault[i]
                                                   << level->fault_shift;
}

/* Fill the lanes with pairs [from, from + count) of state and value. */
static void fill(struct builder *builder, size_t at, uint64_t from,
                 size_t count)
{
    struct block *const block = &builder->block;
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
    load_states(&builder->lanes, above, builder->now.states, block);
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

/* Keeps the lanes that are alive, of all columns that are read later; returns
 * how many they are. */
static size_t keep_alive(struct builder *builder, size_t at,
                         const uint8_t *alive, size_t count)
{
    struct block *const block = &builder->block;
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
    struct block *const block = &builder->block;
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
    struct block *const block = &builder->block;
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
    struct block *const block = &builder->block;

    sort_symmetric(builder, level, count);
    store_states(&builder->lanes, level, block, builder->keys);
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

/* Takes what so many prefixes cost of `each` steps: all of a block, refused or
 * not, or what those cost more that are kept.  False: that is too much. */
static bool spend(struct builder *builder, const struct shmt_build_layer *raw,
                  uint64_t each, size_t count, size_t kept)
{
    builder->limited =
        !shmt_budget_spend(builder->effort->budget,
                           (count + kept * (KEPT - 1)) * each / KEPT) ||
        is_too_much(builder, raw);
    return !builder->limited;
}

static bool build_level(struct builder *builder, size_t at)
{
    const struct shmt_plan_level *level = &builder->plan->levels[at];
    struct shmt_build_layer *raw = &builder->raw.layers[at - 1];
    const uint64_t each =
        8 + level->exact_count + level->mixed_count + level->slot_count;
    uint64_t pairs, from = 0;
    uint64_t *keys;

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
    pairs = (uint64_t)raw->state_count * builder->value_count;
    while (from < pairs) {
        size_t count = pairs - from < SHMT_LANES ? (size_t)(pairs - from)
                                                 : SHMT_LANES;

        fill(builder, at, from, count);
        from += count;
        builder->effort->visited += count;
        if (!spend(builder, raw, each, count, 0))
            return false;
        for (size_t k = 0; k < level->exact_count; k++)
            shmt_lanes_compute(&builder->lanes, level->exact[k], count);
        count = prune_false(builder, at, count);
        count = prune_by_bounds(builder, at, count);
        if (!spend(builder, raw, each, 0, count) ||
            !emit(builder, raw, level, count))
            return false;
    }
    for (uint32_t s = 0; s < raw->state_count; s++)
        raw->first[s + 1] += raw->first[s];
    builder->bytes += raw_bytes(raw);
    builder->effort->estimate += builder->scale * (double)pairs;
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
    if (builder->raw.layers == NULL ||
        !shmt_lanes_open(&builder->lanes, plan) ||
        !open_states(&builder->now, 0, 0))
        return false;
    return find_state(&builder->now, &none) != UINT32_MAX;
}

static void close_builder(struct builder *builder)
{
    shmt_build_free_layers(&builder->raw, builder->plan->level_count);
    free(builder->values);
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
        if (has_fault(last, end->states + s * end->words))
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
