/* SPDX-License-Identifier: MIT */
/*
 * order: which parameter to decide first, by estimates.
 *
 * The width of the diagram between two levels is the number of different
 * states there.  It is estimated from the sub-expressions that are known above
 * and read below.  A greedy search, started from every parameter in turn,
 * looks for the order with the least total work.  How much the constraints
 * prune is not known here; order_search.c therefore tries orders out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/plan.h"

enum {
    GROUPS = 256,           /* different values read by later levels */
    VISITS = 400000,        /* nodes looked at, before no walk begins */
    WALK = 4000000          /* nodes that one walk may look at */
};

struct order_estimate {
    const struct shmt_graph *graph;
    bool *reachable;             /* from a conjunct */
    double *distinct;            /* log2 of how many values a node has */
    double size[64];             /* log2 of a parameter's values */
    uint32_t *nodes;             /* of the component at hand */
    size_t node_count;
    size_t visits;
};

static double size_of(const struct order_estimate *order_estimate,
                      uint64_t support)
{
    double sum = 0.0;

    for (; support != 0; support &= support - 1)
        sum += order_estimate->size[__builtin_ctzll(support)];
    return sum;
}

static void mark(struct order_estimate *order_estimate, uint32_t id)
{
    const struct shmt_graph_node *node = &order_estimate->graph->nodes[id];

    if (order_estimate->reachable[id])
        return;
    order_estimate->reachable[id] = true;
    for (size_t k = 0; k < node->count; k++)
        mark(order_estimate, order_estimate->graph->kids[node->first + k]);
}

static void estimate_distinct(struct order_estimate *order_estimate)
{
    const struct shmt_graph *const graph = order_estimate->graph;

    for (size_t n = 0; n < graph->node_count; n++) {
        const struct shmt_graph_node *node = &graph->nodes[n];
        double most = size_of(order_estimate, node->support), range;

        if (node->type != SHMT_VALUE_REAL) {
            range = log2((double)node->high - (double)node->low + 1.0);
            most = range < most ? range : most;
        }
        order_estimate->distinct[n] = most < 0.0 ? 0.0 : most;
    }
}

static bool groups_operands(const struct shmt_graph_node *node)
{
    return node->op == SHMT_OP_ADD || node->op == SHMT_OP_MUL ||
           node->op == SHMT_OP_MIN || node->op == SHMT_OP_MAX ||
           ((node->op == SHMT_OP_AND || node->op == SHMT_OP_OR) &&
            !node->fails);
}

struct group {
    uint64_t support, identity;
    double distinct;
};

struct groups {
    struct group items[GROUPS];
    size_t count;
};

static void add_group(struct groups *groups, struct group group)
{
    for (size_t k = 0; k < groups->count; k++)
        if (groups->items[k].identity == group.identity)
            return;
    if (groups->count < GROUPS)
        groups->items[groups->count++] = group;
}

/* What node n, open under the parameters `chosen`, reads of them. */
static void collect(struct order_estimate *order_estimate, uint32_t n,
                    uint64_t chosen,
                    struct groups *groups)
{
    const struct shmt_graph *const graph = order_estimate->graph;
    const struct shmt_graph_node *node = &graph->nodes[n];
    const bool together = groups_operands(node);
    struct group group = {0};

    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = graph->kids[node->first + k];
        const uint64_t support = graph->nodes[kid].support;

        if (support == 0 || (support & ~chosen) != 0)
            continue;
        group.support |= support;
        group.distinct += order_estimate->distinct[kid];
        group.identity = (group.identity + kid + 1) *
                         UINT64_C(0x9e3779b97f4a7c15);
        if (together)
            continue;
        add_group(groups, group);
        group = (struct group){0};
    }
    if (group.support != 0) {
        const double most = size_of(order_estimate, group.support);

        if (group.distinct > most)
            group.distinct = most;
        add_group(groups, group);
    }
}

/* log2 of the number of states when `chosen` are decided. */
static double width(struct order_estimate *order_estimate, uint64_t chosen)
{
    const struct shmt_graph *const graph = order_estimate->graph;
    struct groups groups;
    double sum = 0.0, most;

    groups.count = 0;
    for (size_t k = 0; k < order_estimate->node_count; k++) {
        const uint64_t support = graph->nodes[order_estimate->nodes[k]].support;

        if ((support & chosen) != 0 && (support & ~chosen) != 0)
            collect(order_estimate, order_estimate->nodes[k], chosen, &groups);
    }
    order_estimate->visits += order_estimate->node_count;
    /* Groups that overlap are together bounded by their parameters. */
    while (groups.count > 0) {
        struct group all = groups.items[--groups.count];

        for (size_t k = 0; k < groups.count;) {
            if ((groups.items[k].support & all.support) == 0) {
                k++;
                continue;
            }
            all.support |= groups.items[k].support;
            all.distinct += groups.items[k].distinct;
            groups.items[k] = groups.items[--groups.count];
            k = 0;
        }
        most = size_of(order_estimate, all.support);
        sum += all.distinct < most ? all.distinct : most;
    }
    return sum;
}

/* Work of deciding the parameters in this order. */
static double cost_of(struct order_estimate *order_estimate,
                      const uint8_t *order,
                      size_t count)
{
    uint64_t chosen = 0;
    double cost = 0.0, states = 0.0;

    for (size_t k = 0; k < count; k++) {
        cost += exp2(states + order_estimate->size[order[k]]);
        chosen |= UINT64_C(1) << order[k];
        states = width(order_estimate, chosen);
    }
    return cost;
}

/* From `start` on, always what leaves the fewest states, then the fewest
 * values, then the first declared. */
static void walk(struct order_estimate *order_estimate, uint64_t component,
                 size_t start,
                 uint8_t *order)
{
    uint64_t chosen = UINT64_C(1) << start;
    size_t count = 0;

    order[count++] = (uint8_t)start;
    while (chosen != component) {
        double least = INFINITY;
        size_t best = 0;

        for (uint64_t rest = component & ~chosen; rest != 0;
             rest &= rest - 1) {
            const size_t p = (size_t)__builtin_ctzll(rest);
            const double states =
                width(order_estimate, chosen | UINT64_C(1) << p) +
                1e-3 * order_estimate->size[p];

            if (states < least - 1e-9) {
                least = states;
                best = p;
            }
        }
        chosen |= UINT64_C(1) << best;
        order[count++] = (uint8_t)best;
    }
}

/* The nodes of the component. */
static void collect_nodes(struct order_estimate *order_estimate,
                          uint64_t component)
{
    const struct shmt_graph *const graph = order_estimate->graph;

    for (size_t c = 0; c < graph->conjunct_count; c++)
        if ((graph->nodes[graph->conjuncts[c]].support & component) != 0)
            mark(order_estimate, graph->conjuncts[c]);
    for (size_t n = 0; n < graph->node_count; n++)
        if (order_estimate->reachable[n] && graph->nodes[n].count > 0 &&
            graph->nodes[n].support != 0)
            order_estimate->nodes[order_estimate->node_count++] = (uint32_t)n;
}

static void choose(struct order_estimate *order_estimate, uint64_t component,
                   uint8_t *order)
{
    const size_t count = (size_t)__builtin_popcountll(component);
    uint8_t trial[SHMT_SPACE_PARAMETERS], declared[SHMT_SPACE_PARAMETERS];
    double best = INFINITY, cost;
    size_t k = 0;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[k++] = (uint8_t)__builtin_ctzll(rest);
    memcpy(order, declared, count);
    if (order_estimate->node_count > WALK / (count * count))
        return;
    for (k = 0; k < count && (k == 0 || order_estimate->visits < VISITS); k++) {
        walk(order_estimate, component, declared[k], trial);
        cost = cost_of(order_estimate, trial, count);
        if (cost < best * 0.999) {
            best = cost;
            memcpy(order, trial, count);
        }
    }
}

bool shmt_plan_greedy_order(const struct shmt_graph *graph, uint64_t component,
                            uint8_t *order)
{
    const struct shmt_space_definition *const d = graph->definition;
    struct order_estimate order_estimate = {.graph = graph};
    const size_t nodes = graph->node_count + 1;
    bool fine;

    order_estimate.reachable = calloc(nodes, sizeof *order_estimate.reachable);
    order_estimate.distinct = malloc(nodes * sizeof *order_estimate.distinct);
    order_estimate.nodes = malloc(nodes * sizeof *order_estimate.nodes);
    fine = order_estimate.reachable != NULL && order_estimate.distinct !=
        NULL &&
           order_estimate.nodes != NULL;
    if (fine) {
        for (size_t p = 0; p < d->parameter_count; p++)
            order_estimate.size[p] = log2((double)d->parameters[p].count);
        collect_nodes(&order_estimate, component);
        estimate_distinct(&order_estimate);
        choose(&order_estimate, component, order);
    }
    free(order_estimate.reachable);
    free(order_estimate.distinct);
    free(order_estimate.nodes);
    return fine;
}
