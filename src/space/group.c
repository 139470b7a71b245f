/* SPDX-License-Identifier: MIT */
/*
 * group: turns sums, products and others of many operands into operators of
 * two, in the order in which the plan decides the operands.  Called by plan.c
 * alone.
 */
#include <stdlib.h>
#include <string.h>

#include "space/plan.h"

static int rank_of(const struct shmt_plan_grouping *grouping, uint32_t id)
{
    const uint64_t support = grouping->plan->graph->nodes[id].support;

    /* Constants last. */
    return support == 0 ? 256 : shmt_plan_level_of(grouping->plan, support);
}

static uint32_t group(struct shmt_plan_grouping *grouping, uint32_t id);

/* Sorts operands by level, constants last.  So the operands that are decided
 * early become one value early, and expressions that differ by a constant
 * share it. */
static void sort_operands(const struct shmt_plan_grouping *grouping,
                          uint32_t *kids,
                          size_t count)
{
    for (size_t k = 1; k < count; k++) {
        const uint32_t kid = kids[k];
        const int rank = rank_of(grouping, kid);
        size_t at = k;

        for (; at > 0; at--) {
            const int before = rank_of(grouping, kids[at - 1]);

            if (before < rank || (before == rank && kids[at - 1] < kid))
                break;
            kids[at] = kids[at - 1];
        }
        kids[at] = kid;
    }
}

/* acc + kid; what is multiplied by -1 is subtracted. */
static uint32_t add_term(struct shmt_plan_grouping *grouping, uint32_t sum,
                         uint32_t kid)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node *node = &graph->nodes[kid];
    uint32_t both[2] = {sum, kid};

    if (node->op == SHMT_OP_MUL && node->count == 2)
        for (size_t k = 0; k < 2; k++) {
            const struct shmt_graph_node *factor =
                &graph->nodes[graph->kids[node->first + k]];

            if (factor->op == SHMT_OP_CONST && factor->low == -1) {
                both[1] = graph->kids[node->first + 1 - k];
                return shmt_graph_add_node(graph, SHMT_OP_SUB, SHMT_VALUE_INT,
                                           both, 2);
            }
        }
    return shmt_graph_add_node(graph, SHMT_OP_ADD, SHMT_VALUE_INT, both, 2);
}

static uint32_t group_many(struct shmt_plan_grouping *grouping, uint32_t id,
                           uint32_t *kids, size_t count)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node node = graph->nodes[id];
    const bool ordered = (node.op == SHMT_OP_AND || node.op == SHMT_OP_OR)
                             ? node.fails : false;
    uint32_t all;

    if (!ordered)
        sort_operands(grouping, kids, count);
    all = kids[0];
    for (size_t k = 1; k < count && !graph->failed; k++) {
        const uint32_t both[2] = {all, kids[k]};

        all = node.op == SHMT_OP_ADD
                  ? add_term(grouping, all, kids[k])
                  : shmt_graph_add_node(graph, node.op, node.type, both, 2);
    }
    return all;
}

/* Rewrites (a + b) % m as ((a % m) + b) % m, and the same for *: the value
 * that a state keeps from level to level stays below m. */
static uint32_t group_remainder(struct shmt_plan_grouping *grouping,
                                uint32_t id,
                                uint32_t *kids, size_t count)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const uint8_t op = graph->nodes[id].op;
    const uint32_t divisor = kids[count];
    uint32_t all, both[2];

    sort_operands(grouping, kids, count);
    all = kids[0];
    for (size_t k = 1; k <= count && !graph->failed; k++) {
        if (k == count ||
            rank_of(grouping, kids[k]) != rank_of(grouping, kids[k - 1])) {
            both[0] = all;
            both[1] = divisor;
            all =
                shmt_graph_add_node(graph, SHMT_OP_MOD, SHMT_VALUE_INT, both,
                                    2);
        }
        if (k == count || graph->failed)
            break;
        both[0] = all;
        both[1] = kids[k];
        all = op == SHMT_OP_ADD
                  ? add_term(grouping, all, kids[k])
                  : shmt_graph_add_node(graph, SHMT_OP_MUL, SHMT_VALUE_INT,
                                        both, 2);
    }
    return all;
}

/* Whether the node is a remainder by a constant, of a sum or product that can
 * be much larger than the constant and cannot overflow. */
static bool is_remainder(const struct shmt_graph *graph, uint32_t id)
{
    const struct shmt_graph_node *node = &graph->nodes[id];
    const struct shmt_graph_node *sum, *divisor;

    if (node->op != SHMT_OP_MOD || node->type != SHMT_VALUE_INT)
        return false;
    sum = &graph->nodes[graph->kids[node->first]];
    divisor = &graph->nodes[graph->kids[node->first + 1]];
    return (sum->op == SHMT_OP_ADD || sum->op == SHMT_OP_MUL) &&
           !sum->overflows && divisor->op == SHMT_OP_CONST &&
           divisor->low > 0 &&
           (uint64_t)sum->high - (uint64_t)sum->low >
               2 * (uint64_t)divisor->low;
}

static bool has_many(const struct shmt_graph_node *node)
{
    return node->type != SHMT_VALUE_REAL &&
           (node->op == SHMT_OP_ADD || node->op == SHMT_OP_MUL ||
            node->op == SHMT_OP_MIN || node->op == SHMT_OP_MAX ||
            node->op == SHMT_OP_AND || node->op == SHMT_OP_OR);
}

static uint32_t group_new(struct shmt_plan_grouping *grouping, uint32_t id)
{
    struct shmt_graph *const graph = grouping->plan->graph;
    const struct shmt_graph_node node = graph->nodes[id];
    const bool remainder = is_remainder(graph, id);
    const uint32_t many = remainder ? graph->kids[node.first] : id;
    const size_t count = graph->nodes[many].count;
    uint32_t *kids;
    uint32_t made = id;

    if (node.count == 0 || node.op == SHMT_GRAPH_OPAQUE)
        return id;
    kids = malloc((count + 1) * sizeof *kids);
    if (kids == NULL) {
        graph->failed = true;
        return id;
    }
    memcpy(kids, graph->kids + graph->nodes[many].first,
           count * sizeof *kids);
    for (size_t k = 0; k < count; k++)
        kids[k] = group(grouping, kids[k]);
    if (remainder)
        kids[count] = graph->kids[node.first + 1];
    if (!graph->failed)
        made = remainder ? group_remainder(grouping, many, kids, count)
               : has_many(&node)
                   ? group_many(grouping, id, kids, node.count)
                   : shmt_graph_add_node(graph, node.op, node.type, kids,
                                         node.count);
    free(kids);
    return made;
}

static uint32_t group(struct shmt_plan_grouping *grouping, uint32_t id)
{
    if (id >= grouping->count || grouping->plan->graph->failed)
        return id;
    if (grouping->forms[id] == SHMT_GRAPH_NONE)
        grouping->forms[id] = group_new(grouping, id);
    return grouping->forms[id];
}

bool shmt_plan_grouping_open(struct shmt_plan_grouping *grouping,
                             struct shmt_plan *plan)
{
    const size_t count = plan->graph->node_count;

    *grouping = (struct shmt_plan_grouping){.plan = plan, .count = count};
    grouping->forms = malloc((count + 1) * sizeof *grouping->forms);
    if (grouping->forms == NULL)
        return false;
    memset(grouping->forms, 0xff, (count + 1) * sizeof *grouping->forms);
    return true;
}

uint32_t shmt_plan_grouping_form(struct shmt_plan_grouping *grouping,
                                 uint32_t id)
{
    return group(grouping, id);
}

void shmt_plan_grouping_close(struct shmt_plan_grouping *grouping)
{
    free(grouping->forms);
}
