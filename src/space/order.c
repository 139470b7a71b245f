/* SPDX-License-Identifier: MIT */
/*
 * order: which parameter to decide first, by estimates.
 *
 * The diagram is as wide as there are different states between two levels.
 * Their number is estimated from the sub-expressions that are known on one
 * side and read on the other; a greedy walk from every parameter in turn
 * looks for the order with the least work in sum.  What constraints prune is
 * not known here: search.c tries orders out.
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

struct chooser {
    const struct shmt_graph *graph;
    bool *reachable;             /* from a conjunct */
    double *distinct;            /* log2 of how many values a node has */
    double size[64];             /* log2 of a parameter's values */
    uint32_t *nodes;             /* of the component at hand */
    size_t node_count;
    size_t visits;
};

static double size_of(const struct chooser *chooser, uint64_t support)
{
    double sum = 0.0;

    for (; support != 0; support &= support - 1)
        sum += chooser->size[__builtin_ctzll(support)];
    return sum;
}

static void mark(struct chooser *chooser, uint32_t id)
{
    const struct shmt_graph_node *node = &chooser->graph->nodes[id];

    if (chooser->reachable[id])
        return;
    chooser->reachable[id] = true;
    for (size_t k = 0; k < node->count; k++)
        mark(chooser, chooser->graph->kids[node->first + k]);
}

static void estimate_distinct(struct chooser *chooser)
{
    const struct shmt_graph *const graph = chooser->graph;

    for (size_t n = 0; n < graph->node_count; n++) {
        const struct shmt_graph_node *node = &graph->nodes[n];
        double most = size_of(chooser, node->support), range;

        if (node->type != SHMT_REAL) {
            range = log2((double)node->high - (double)node->low + 1.0);
            most = range < most ? range : most;
        }
        chooser->distinct[n] = most < 0.0 ? 0.0 : most;
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
static void collect(struct chooser *chooser, uint32_t n, uint64_t chosen,
                    struct groups *groups)
{
    const struct shmt_graph *const graph = chooser->graph;
    const struct shmt_graph_node *node = &graph->nodes[n];
    const bool together = groups_operands(node);
    struct group group = {0};

    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = graph->kids[node->first + k];
        const uint64_t support = graph->nodes[kid].support;

        if (support == 0 || (support & ~chosen) != 0)
            continue;
        group.support |= support;
        group.distinct += chooser->distinct[kid];
        group.identity = (group.identity + kid + 1) *
                         UINT64_C(0x9e3779b97f4a7c15);
        if (together)
            continue;
        add_group(groups, group);
        group = (struct group){0};
    }
    if (group.support != 0) {
        const double most = size_of(chooser, group.support);

        if (group.distinct > most)
            group.distinct = most;
        add_group(groups, group);
    }
}

/* log2 of the number of states when `chosen` are decided. */
static double width(struct chooser *chooser, uint64_t chosen)
{
    const struct shmt_graph *const graph = chooser->graph;
    struct groups groups;
    double sum = 0.0, most;

    groups.count = 0;
    for (size_t k = 0; k < chooser->node_count; k++) {
        const uint64_t support = graph->nodes[chooser->nodes[k]].support;

        if ((support & chosen) != 0 && (support & ~chosen) != 0)
            collect(chooser, chooser->nodes[k], chosen, &groups);
    }
    chooser->visits += chooser->node_count;
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
        most = size_of(chooser, all.support);
        sum += all.distinct < most ? all.distinct : most;
    }
    return sum;
}

/* Work of deciding the parameters in this order. */
static double cost_of(struct chooser *chooser, const uint8_t *order,
                      size_t count)
{
    uint64_t chosen = 0;
    double cost = 0.0, states = 0.0;

    for (size_t k = 0; k < count; k++) {
        cost += exp2(states + chooser->size[order[k]]);
        chosen |= UINT64_C(1) << order[k];
        states = width(chooser, chosen);
    }
    return cost;
}

/* From `start` on, always what leaves the fewest states, then the fewest
 * values, then the first declared. */
static void walk(struct chooser *chooser, uint64_t component, size_t start,
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
                width(chooser, chosen | UINT64_C(1) << p) +
                1e-3 * chooser->size[p];

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
static void gather(struct chooser *chooser, uint64_t component)
{
    const struct shmt_graph *const graph = chooser->graph;

    for (size_t c = 0; c < graph->conjunct_count; c++)
        if ((graph->nodes[graph->conjuncts[c]].support & component) != 0)
            mark(chooser, graph->conjuncts[c]);
    for (size_t n = 0; n < graph->node_count; n++)
        if (chooser->reachable[n] && graph->nodes[n].count > 0 &&
            graph->nodes[n].support != 0)
            chooser->nodes[chooser->node_count++] = (uint32_t)n;
}

static void choose(struct chooser *chooser, uint64_t component,
                   uint8_t *order)
{
    const size_t count = (size_t)__builtin_popcountll(component);
    uint8_t trial[SHMT_SPACE_PARAMETERS], declared[SHMT_SPACE_PARAMETERS];
    double best = INFINITY, cost;
    size_t k = 0;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[k++] = (uint8_t)__builtin_ctzll(rest);
    memcpy(order, declared, count);
    if (chooser->node_count > WALK / (count * count))
        return;
    for (k = 0; k < count && (k == 0 || chooser->visits < VISITS); k++) {
        walk(chooser, component, declared[k], trial);
        cost = cost_of(chooser, trial, count);
        if (cost < best * 0.999) {
            best = cost;
            memcpy(order, trial, count);
        }
    }
}

bool shmt_order_greedy(const struct shmt_graph *graph, uint64_t component,
                       uint8_t *order)
{
    const struct shmt_space_definition *const d = graph->definition;
    struct chooser chooser = {.graph = graph};
    const size_t nodes = graph->node_count + 1;
    bool fine;

    chooser.reachable = calloc(nodes, sizeof *chooser.reachable);
    chooser.distinct = malloc(nodes * sizeof *chooser.distinct);
    chooser.nodes = malloc(nodes * sizeof *chooser.nodes);
    fine = chooser.reachable != NULL && chooser.distinct != NULL &&
           chooser.nodes != NULL;
    if (fine) {
        for (size_t p = 0; p < d->parameter_count; p++)
            chooser.size[p] = log2((double)d->parameters[p].count);
        gather(&chooser, component);
        estimate_distinct(&chooser);
        choose(&chooser, component, order);
    }
    free(chooser.reachable);
    free(chooser.distinct);
    free(chooser.nodes);
    return fine;
}
