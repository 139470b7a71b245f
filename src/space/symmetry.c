/* SPDX-License-Identifier: MIT */
/*
 * symmetry: finds parameters that are interchangeable for all later levels.
 * Where many parameters must be different, only the set of their values
 * matters to the later levels, not which parameter has which value.  States
 * that differ only in that become equal when the values of interchangeable
 * parameters are sorted.  Called by plan.c alone.
 */
#include <stdlib.h>
#include <string.h>

#include "space/plan.h"

/* Later use of a slot's parameter: "slot - other != constant". */
struct use {
    uint32_t slot, place, other, constant;
};

struct search {
    const struct shmt_plan *plan;
    struct shmt_plan_level *level;
    uint8_t at;
    uint32_t *readers;          /* of a node, at later levels */
    struct use *uses;
    size_t use_count;
};

static const uint32_t *kids_of(const struct shmt_graph *graph, uint32_t id)
{
    return &graph->kids[graph->nodes[id].first];
}

bool shmt_plan_is_difference(const struct shmt_graph *graph, uint32_t id)
{
    const struct shmt_graph_node *const node = &graph->nodes[id];
    const struct shmt_graph_node *minus;
    const uint32_t *kids;

    if (node->op != SHMT_OP_NE || node->count != 2 || node->fails)
        return false;
    kids = kids_of(graph, id);
    minus = &graph->nodes[kids[0]];
    if (graph->nodes[kids[1]].op != SHMT_OP_CONST ||
        minus->op != SHMT_OP_SUB || minus->type != SHMT_VALUE_INT ||
        minus->count != 2)
        return false;
    kids = kids_of(graph, kids[0]);
    return graph->nodes[kids[0]].op == SHMT_OP_SYMBOL &&
           graph->nodes[kids[1]].op == SHMT_OP_SYMBOL;
}

static void count_readers(struct search *search)
{
    const struct shmt_graph *const graph = search->plan->graph;

    for (size_t n = 0; n < search->plan->column_count; n++) {
        const uint32_t id = search->plan->columns[n];
        const uint32_t *const kids = kids_of(graph, id);

        if (graph->nodes[id].level > search->at)
            for (size_t k = 0; k < graph->nodes[id].count; k++)
                search->readers[kids[k]]++;
    }
}

static void add_use(struct search *search, uint32_t node, uint32_t place,
                    uint32_t other, uint32_t constant)
{
    for (size_t s = 0; s < search->level->slot_count; s++)
        if (search->level->slots[s].node == node)
            search->uses[search->use_count++] =
                (struct use){(uint32_t)s, place, other, constant};
}

static void collect_uses(struct search *search)
{
    const struct shmt_plan *const plan = search->plan;
    const struct shmt_graph *const graph = plan->graph;

    for (size_t c = 0; c < plan->conjunct_count; c++) {
        const uint32_t id = plan->conjuncts[c].node;
        const uint32_t *kids, *pair;

        if (plan->conjuncts[c].level <= search->at ||
            search->readers[id] > 0 || !shmt_plan_is_difference(graph, id))
            continue;
        kids = kids_of(graph, id);
        pair = kids_of(graph, kids[0]);
        if (search->readers[kids[0]] != 1)
            continue;
        for (uint32_t k = 0; k < 2; k++)
            if (graph->nodes[pair[k]].level <= search->at)
                add_use(search, pair[k], k, pair[1 - k], kids[1]);
    }
}

static int compare_uses(const void *x, const void *y)
{
    return memcmp(x, y, sizeof(struct use));
}

/* The uses of a slot: `count` from `first` on. */
static size_t find_uses(const struct search *search, size_t slot,
                        size_t *first)
{
    size_t count = 0;

    for (size_t k = 0; k < search->use_count; k++)
        if (search->uses[k].slot == slot && count++ == 0)
            *first = k;
    return count;
}

static bool are_interchangeable(const struct search *search, size_t a, size_t b)
{
    const struct shmt_graph_node *const nodes = search->plan->graph->nodes;
    const uint32_t x = search->level->slots[a].node;
    const uint32_t y = search->level->slots[b].node;
    size_t from_a = 0, from_b = 0;
    const size_t count = find_uses(search, a, &from_a);

    if (count == 0 || count != find_uses(search, b, &from_b) ||
        search->readers[x] != count || search->readers[y] != count ||
        nodes[x].low != nodes[y].low || nodes[x].high != nodes[y].high)
        return false;
    for (size_t k = 0; k < count; k++) {
        const struct use *const one = &search->uses[from_a + k];
        const struct use *const two = &search->uses[from_b + k];

        if (one->place != two->place || one->other != two->other ||
            one->constant != two->constant)
            return false;
    }
    return true;
}

static void group_slots(struct search *search)
{
    struct shmt_plan_level *const level = search->level;

    for (size_t a = 0; a < level->slot_count; a++) {
        if (level->slots[a].symmetry > 0)
            continue;
        for (size_t b = a + 1; b < level->slot_count; b++) {
            if (level->slots[b].symmetry > 0 ||
                !are_interchangeable(search, a, b))
                continue;
            if (level->slots[a].symmetry == 0)
                level->slots[a].symmetry = ++level->symmetry;
            level->slots[b].symmetry = level->slots[a].symmetry;
        }
    }
}

bool shmt_plan_find_symmetry(const struct shmt_plan *plan, uint8_t at)
{
    struct search search = {
        .plan = plan, .level = &plan->levels[at], .at = at};
    bool fine;

    search.readers = calloc(plan->graph->node_count + 1,
                            sizeof *search.readers);
    search.uses = malloc((2 * plan->conjunct_count + 1)
                         * sizeof *search.uses);
    fine = search.readers != NULL && search.uses != NULL;
    if (fine) {
        count_readers(&search);
        collect_uses(&search);
        qsort(search.uses, search.use_count, sizeof *search.uses,
              compare_uses);
        group_slots(&search);
    }
    free(search.readers);
    free(search.uses);
    return fine;
}
