/* SPDX-License-Identifier: MIT */
/*
 * block: see block.h.  Called by build.c.
 */
#include "space/block.h"

#include <string.h>

typedef union shmt_graph_cell cell;

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
                      const struct shmt_block *block)
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

bool shmt_block_has_fault(const struct shmt_plan_level *level,
                          const uint64_t *words)
{
    return field(words, level->fault_word, level->fault_shift, 1) != 0;
}

static void load_flags(const struct shmt_lanes *lanes,
                       const struct shmt_plan_level *level,
                       const uint64_t *words,
                       struct shmt_block *block)
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
            fault = may_fault && shmt_block_has_fault(level, state);
        }
        block->mask[i] = mask;
        block->fault[i] = fault;
    }
}

void shmt_block_load(const struct shmt_lanes *lanes,
                     const struct shmt_plan_level *level,
                     const uint64_t *words, struct shmt_block *block)
{
    for (size_t s = 0; s < level->slot_count; s++)
        load_slot(lanes, &level->slots[s], level->words, words, block);
    load_flags(lanes, level, words, block);
}

static void store_slot(const struct shmt_lanes *lanes,
                       const struct shmt_plan_slot *slot, size_t width,
                       const struct shmt_block *block, uint64_t *key)
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

void shmt_block_store(const struct shmt_lanes *lanes,
                      const struct shmt_plan_level *level,
                      const struct shmt_block *block, uint64_t *keys)
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
