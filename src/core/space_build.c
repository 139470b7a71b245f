/* SPDX-License-Identifier: MIT */
/*
 * space_build: all states of a level times all values of its parameter, a
 * block of lanes at a time; what survives becomes a state of the next level,
 * once.
 */
#include "core/space_build.h"

#include <stdlib.h>
#include <string.h>

#include "core/space_lanes.h"

typedef union shmt_cell cell;

/* States by their words: open addressing, states kept as one array. */
struct table {
    size_t words;
    uint64_t *states;             /* [count * words] */
    uint32_t count, room;
    uint32_t *buckets;            /* state + 1 */
    size_t bucket_count;
    bool direct;                  /* the bucket is the word itself */
};

struct builder {
    const struct shmt_plan *plan;
    struct shmt_effort *effort;
    struct shmt_lanes lanes;
    struct shmt_raw raw;
    struct table now, next;
    cell *values;                 /* of the level's parameter */
    size_t value_count;
    /* Lanes of the block at hand. */
    uint32_t state[SHMT_LANES];
    shmt_choice value[SHMT_LANES];
    uint64_t mask[SHMT_LANES];    /* conjuncts decided early */
    uint64_t fault[SHMT_LANES];
    uint64_t *keys;               /* [SHMT_LANES * words] */
    size_t bytes;                 /* of the layers that are done */
    double scale;                 /* states for each that the beam kept */
    bool limited;
};

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    uint64_t hash = 0;

    for (size_t k = 0; k < count; k++) {
        hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool table_open(struct table *table, const struct shmt_level *level,
                       unsigned bits)
{
    *table = (struct table){.words = level->words, .room = 64};
    table->direct = level->words <= 1 && bits <= 12;
    table->bucket_count = table->direct ? (size_t)1 << bits : 256;
    table->states = malloc((table->room * table->words + 1) *
                           sizeof *table->states);
    table->buckets = calloc(table->bucket_count, sizeof *table->buckets);
    return table->states != NULL && table->buckets != NULL;
}

static void table_close(struct table *table)
{
    free(table->states);
    free(table->buckets);
    *table = (struct table){0};
}

static bool table_grow(struct table *table)
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

static bool table_add(struct table *table, const uint64_t *key)
{
    uint64_t *grown;

    if (table->count == table->room) {
        if (table->room > UINT32_MAX / 4)
            return false;
        grown = realloc(table->states, ((size_t)2 * table->room *
                                        table->words + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        table->states = grown;
        table->room *= 2;
    }
    memcpy(table->states + table->count * table->words, key,
           table->words * sizeof *key);
    table->count++;
    return true;
}

/* The state with these words, made when it is new; UINT32_MAX: no memory. */
static uint32_t table_find(struct table *table, const uint64_t *key)
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
    if (!table_add(table, key))
        return UINT32_MAX;
    table->buckets[at] = table->count;
    if (!table->direct && 2 * (size_t)table->count > table->bucket_count &&
        !table_grow(table))
        return UINT32_MAX;
    return table->count - 1;
}

/* A state's field. */
static uint64_t field(const uint64_t *words, uint16_t word, unsigned shift,
                      unsigned bits)
{
    return bits == 64 ? words[word]
                      : words[word] >> shift & ((UINT64_C(1) << bits) - 1);
}

/* What a slot holds for a value, and back. */
static cell decode(const struct shmt_graph_node *node,
                   const struct shmt_slot *slot, const uint64_t *words)
{
    const uint64_t code = slot->bits == 0
                              ? 0 : field(words, slot->word, slot->shift,
                                          slot->bits);
    cell out = {.bits = code};

    if (slot->bits == 64)
        return out;
    if (node->fails && code == 0)
        out.i = SHMT_CELL_NO_INT;
    else
        out.i = (int64_t)((uint64_t)node->low + code - node->fails);
    return out;
}

static void unpack_slot(struct builder *builder, const struct shmt_slot *slot,
                        size_t count)
{
    const struct shmt_graph_node *node =
        &builder->plan->graph->nodes[slot->node];
    const struct table *table = &builder->now;
    cell *column = shmt_lanes_value(&builder->lanes, slot->node);
    cell last = {.i = 0};

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || builder->state[i] != builder->state[i - 1])
            last = decode(node, slot, table->states + builder->state[i] *
                                                          table->words);
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

static void unpack_flags(struct builder *builder,
                         const struct shmt_level *above, size_t count)
{
    const struct table *table = &builder->now;
    const unsigned bits = (unsigned)__builtin_popcountll(above->open);

    for (size_t i = 0; i < count; i++) {
        const uint64_t *words =
            table->states + builder->state[i] * table->words;

        builder->mask[i] = 0;
        builder->fault[i] = 0;
        if (above->open != 0)
            builder->mask[i] = spread_bits(
                field(words, above->mask_word, above->mask_shift, bits),
                above->open);
        if (builder->plan->may_fault && above->words > 0)
            builder->fault[i] =
                field(words, above->fault_word, above->fault_shift, 1);
    }
}

/* Fill the lanes with pairs [from, from + count) of state and value. */
static void fill(struct builder *builder, size_t at, uint64_t from,
                 size_t count)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_level *above = &plan->levels[at - 1];
    const struct shmt_level *level = &plan->levels[at];
    uint32_t state = (uint32_t)(from / builder->value_count);
    size_t value = from % builder->value_count;

    for (size_t i = 0; i < count; i++) {
        builder->state[i] = state;
        builder->value[i] = (shmt_choice)value;
        if (++value == builder->value_count) {
            value = 0;
            state++;
        }
    }
    for (size_t s = 0; s < above->slot_count; s++)
        unpack_slot(builder, &above->slots[s], count);
    unpack_flags(builder, above, count);
    for (size_t k = 0; k < level->exact_count; k++)
        if (plan->graph->nodes[level->exact[k]].op == SHMT_OP_SYMBOL) {
            cell *column =
                shmt_lanes_value(&builder->lanes, level->exact[k]);

            for (size_t i = 0; i < count; i++)
                column[i] = builder->values[builder->value[i]];
        }
}

static void move_cells(cell *column, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        column[i] = column[from[i]];
}

/* Keep the lanes `from`, ascending, of everything that is read on. */
static void compact(struct builder *builder, size_t at, const uint16_t *from,
                    size_t count)
{
    const struct shmt_plan *plan = builder->plan;

    for (size_t i = 0; i < count; i++) {
        builder->state[i] = builder->state[from[i]];
        builder->value[i] = builder->value[from[i]];
        builder->mask[i] = builder->mask[from[i]];
        builder->fault[i] = builder->fault[from[i]];
    }
    for (size_t s = 0; s < plan->levels[at].slot_count; s++)
        move_cells(shmt_lanes_value(&builder->lanes,
                                    plan->levels[at].slots[s].node),
                   from, count);
}

/* Conjuncts of this level: lanes in which one is false go. */
static size_t decide(struct builder *builder, size_t at, size_t count)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];
    uint16_t from[SHMT_LANES];
    size_t kept = 0;

    if (level->decided_count == 0)
        return count;
    memset(alive, 1, count);
    for (size_t k = 0; k < level->decided_count; k++) {
        const struct shmt_conjunct *c = &plan->conjuncts[level->decided[k]];
        const cell *truth = shmt_lanes_value(&builder->lanes, c->node);
        const uint64_t bit = c->bit < 0 ? 0 : UINT64_C(1) << c->bit;

        for (size_t i = 0; i < count; i++) {
            const bool early = (builder->mask[i] & bit) != 0;

            alive[i] &= early | (truth[i].i != 0);
            builder->fault[i] |= !early & (truth[i].i == SHMT_CELL_NO_INT);
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

/* Open conjuncts that the bounds decide. */
static size_t bound(struct builder *builder, size_t at, size_t count)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_level *level = &plan->levels[at];
    uint8_t alive[SHMT_LANES];
    uint16_t from[SHMT_LANES];
    size_t kept = 0;

    if (level->bounded_count == 0)
        return count;
    for (size_t k = 0; k < level->mixed_count; k++)
        shmt_lanes_bound(&builder->lanes, level->mixed[k], (uint8_t)at,
                         count);
    memset(alive, 1, count);
    for (size_t k = 0; k < level->bounded_count; k++) {
        const struct shmt_conjunct *c = &plan->conjuncts[level->bounded[k]];
        const struct shmt_bounds bounds =
            shmt_lanes_bounds(&builder->lanes, c->node);

        for (size_t i = 0; i < count; i++) {
            const uint64_t early = builder->mask[i] >> c->bit & 1;

            alive[i] &= early | (bounds.high[i].i != 0);
            builder->mask[i] |= (uint64_t)(bounds.low[i].i != 0) << c->bit;
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

static void pack_slot(struct builder *builder, const struct shmt_slot *slot,
                      size_t words, size_t count)
{
    const struct shmt_graph_node *node =
        &builder->plan->graph->nodes[slot->node];
    const cell *column = shmt_lanes_value(&builder->lanes, slot->node);
    uint64_t *key = builder->keys + slot->word;

    if (slot->bits == 0)
        return;
    for (size_t i = 0; i < count; i++, key += words) {
        uint64_t code = column[i].bits;

        /* Nobody asks any more: all values are alike. */
        if (!slot->pinned && (slot->readers & ~builder->mask[i]) == 0)
            code = slot->bits == 64 && node->type == SHMT_REAL
                       ? 0 : (uint64_t)node->low;
        if (slot->bits != 64)
            code = node->fails && (int64_t)code == SHMT_CELL_NO_INT
                       ? 0 : code - (uint64_t)node->low + node->fails;
        *key |= code << slot->shift;
    }
}

static void pack(struct builder *builder, const struct shmt_level *level,
                 size_t count)
{
    const size_t words = level->words;

    memset(builder->keys, 0, count * words * sizeof *builder->keys);
    for (size_t s = 0; s < level->slot_count; s++)
        pack_slot(builder, &level->slots[s], words, count);
    if (level->open != 0)
        for (size_t i = 0; i < count; i++)
            builder->keys[i * words + level->mask_word] |=
                gather_bits(builder->mask[i], level->open)
                << level->mask_shift;
    if (builder->plan->may_fault)
        for (size_t i = 0; i < count; i++)
            builder->keys[i * words + level->fault_word] |=
                builder->fault[i] << level->fault_shift;
}

static bool add_edge(struct shmt_raw_layer *raw, uint32_t child,
                     shmt_choice value)
{
    const size_t room = raw->edge_room == 0 ? 256 : 2 * raw->edge_room;
    void *grown;

    if (raw->edge_count == raw->edge_room) {
        grown = realloc(raw->child, room * sizeof *raw->child);
        if (grown == NULL)
            return false;
        raw->child = grown;
        grown = realloc(raw->value, room * sizeof *raw->value);
        if (grown == NULL)
            return false;
        raw->value = grown;
        raw->edge_room = room;
    }
    raw->child[raw->edge_count] = child;
    raw->value[raw->edge_count++] = value;
    return true;
}

/* Survivors become edges to states of the next level. */
static bool emit(struct builder *builder, struct shmt_raw_layer *raw,
                 const struct shmt_level *level, size_t count)
{
    pack(builder, level, count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t child =
            table_find(&builder->next, builder->keys + i * level->words);

        if (child == UINT32_MAX ||
            !add_edge(raw, child, builder->value[i]))
            return false;
        raw->first[builder->state[i] + 1]++;
    }
    return true;
}

static bool load_values(struct builder *builder,
                        const struct shmt_level *level)
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
        if (p->type == SHMT_INT)
            grown[k].i = p->values[k].i;
        else if (p->type == SHMT_REAL)
            grown[k].r = p->values[k].r;
        else
            grown[k].i = shmt_graph_rank(graph, p->values[k].w);
    }
    return true;
}

static unsigned state_bits(const struct shmt_plan *plan,
                           const struct shmt_level *level)
{
    unsigned bits = (unsigned)__builtin_popcountll(level->open) +
                    plan->may_fault;

    for (size_t s = 0; s < level->slot_count; s++)
        bits += level->slots[s].bits;
    return bits;
}

/* The next level starts from a part of the states, evenly taken. */
static void narrow(struct builder *builder)
{
    struct table *table = &builder->next;
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

static size_t table_bytes(const struct table *table)
{
    return table->room * table->words * sizeof *table->states +
           table->bucket_count * sizeof *table->buckets;
}

static size_t raw_bytes(const struct shmt_raw_layer *raw)
{
    return raw->state_count * sizeof *raw->first +
           raw->edge_room * (sizeof *raw->child + sizeof *raw->value);
}

static bool is_too_much(const struct builder *builder,
                        const struct shmt_raw_layer *raw)
{
    const struct shmt_effort *effort = builder->effort;

    return effort->looked > effort->limit ||
           (effort->bytes != 0 &&
            builder->bytes + raw_bytes(raw) + table_bytes(&builder->now) +
                    table_bytes(&builder->next) > effort->bytes);
}

static bool build_level(struct builder *builder, size_t at)
{
    const struct shmt_level *level = &builder->plan->levels[at];
    struct shmt_raw_layer *raw = &builder->raw.layers[at - 1];
    uint64_t pairs, from = 0;
    uint64_t *keys;

    raw->state_count = builder->now.count;
    raw->first = calloc((size_t)raw->state_count + 1, sizeof *raw->first);
    keys = realloc(builder->keys, (SHMT_LANES * level->words + 1) *
                                      sizeof *keys);
    if (keys != NULL)
        builder->keys = keys;
    if (raw->first == NULL || keys == NULL || !load_values(builder, level) ||
        !table_open(&builder->next, level, state_bits(builder->plan, level)))
        return false;
    pairs = (uint64_t)raw->state_count * builder->value_count;
    while (from < pairs) {
        size_t count = pairs - from < SHMT_LANES ? (size_t)(pairs - from)
                                                 : SHMT_LANES;

        fill(builder, at, from, count);
        from += count;
        builder->effort->looked += count;
        if (is_too_much(builder, raw)) {
            builder->limited = true;
            return false;
        }
        for (size_t k = 0; k < level->exact_count; k++)
            shmt_lanes_exact(&builder->lanes, level->exact[k], count);
        count = decide(builder, at, count);
        count = bound(builder, at, count);
        if (!emit(builder, raw, level, count))
            return false;
    }
    for (uint32_t s = 0; s < raw->state_count; s++)
        raw->first[s + 1] += raw->first[s];
    builder->bytes += raw_bytes(raw);
    builder->effort->estimate += builder->scale * (double)pairs;
    narrow(builder);
    table_close(&builder->now);
    builder->now = builder->next;
    builder->next = (struct table){0};
    return true;
}

static bool open_builder(struct builder *builder,
                         const struct shmt_plan *plan)
{
    const struct shmt_level root = {0};
    const uint64_t none = 0;

    builder->raw.layers =
        calloc(plan->level_count + 1, sizeof *builder->raw.layers);
    if (builder->raw.layers == NULL || !shmt_lanes_open(&builder->lanes, plan) ||
        !table_open(&builder->now, &root, 0))
        return false;
    return table_find(&builder->now, &none) != UINT32_MAX;
}

static void close_builder(struct builder *builder)
{
    struct shmt_raw_layer *layers = builder->raw.layers;

    for (size_t k = 0; layers != NULL && k < builder->plan->level_count;
         k++) {
        free(layers[k].first);
        free(layers[k].child);
        free(layers[k].value);
    }
    free(layers);
    free(builder->values);
    free(builder->keys);
    table_close(&builder->now);
    table_close(&builder->next);
    shmt_lanes_close(&builder->lanes);
}

/* The states behind the last level: one, and one for those prefixes on which
 * a constraint has no value. */
static void find_end(struct builder *builder)
{
    const struct shmt_plan *plan = builder->plan;
    const struct shmt_level *last = &plan->levels[plan->level_count];
    const struct table *end = &builder->now;

    builder->raw.end_count = end->count;
    builder->raw.end_fault = UINT32_MAX;
    if (!plan->may_fault)
        return;
    for (uint32_t s = 0; s < end->count; s++)
        if (field(end->states + s * end->words, last->fault_word,
                  last->fault_shift, 1) != 0)
            builder->raw.end_fault = s;
}

enum shmt_built shmt_build_diagram(const struct shmt_plan *plan,
                                   struct shmt_effort *effort,
                                   struct shmt_diagram *out)
{
    struct builder *builder = calloc(1, sizeof *builder);
    enum shmt_built built;
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
        fine = shmt_reduce(plan, &builder->raw, out);
    }
    built = fine ? SHMT_BUILT
                 : builder->limited ? SHMT_BUILD_LIMIT : SHMT_BUILD_MEMORY;
    close_builder(builder);
    free(builder);
    return built;
}
