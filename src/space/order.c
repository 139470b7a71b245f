/* SPDX-License-Identifier: MIT */
/*
 * order: which parameter to decide first.  Builds the diagram of a component,
 * trying variable orders until one succeeds.  Called by space.c.
 *
 * The declared order is tried first and is good enough for most spaces.  If it
 * exceeds its limit, orders are compared by building with a narrow beam; new
 * orders are variations of the best so far.  The best order is then built with
 * four times the limit of the attempt before, and so on.  The limit counts
 * prefixes, not time, so the same space always gets the same order.
 *
 * One of the first orders is a guess.  The width of the diagram between two
 * levels is the number of different states there.  It is estimated from the
 * sub-expressions that are known above and read below.  A greedy search,
 * started from every parameter in turn, looks for the order with the least
 * total work.  How much the constraints prune is not known to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/build.h"

/* Prefixes of the first attempt; states that a beam keeps. */
enum { FIRST = 1 << 17, BEAM = 96 };

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
    struct shmt_budget *budget;  /* when it is spent, any order will do */
};

static double size_of(const struct order_estimate *estimate, uint64_t support)
{
    double sum = 0.0;

    for (; support != 0; support &= support - 1)
        sum += estimate->size[__builtin_ctzll(support)];
    return sum;
}

static void mark(struct order_estimate *estimate, uint32_t id)
{
    const struct shmt_graph_node *node = &estimate->graph->nodes[id];

    if (estimate->reachable[id])
        return;
    estimate->reachable[id] = true;
    for (size_t k = 0; k < node->count; k++)
        mark(estimate, estimate->graph->kids[node->first + k]);
}

static void estimate_distinct(struct order_estimate *estimate)
{
    const struct shmt_graph *const graph = estimate->graph;

    for (size_t n = 0; n < graph->node_count; n++) {
        const struct shmt_graph_node *node = &graph->nodes[n];
        double most = size_of(estimate, node->support), range;

        if (node->type != SHMT_VALUE_REAL) {
            range = log2((double)node->high - (double)node->low + 1.0);
            most = range < most ? range : most;
        }
        estimate->distinct[n] = most < 0.0 ? 0.0 : most;
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
static void collect(const struct order_estimate *estimate, uint32_t n,
                    uint64_t chosen, struct groups *groups)
{
    const struct shmt_graph *const graph = estimate->graph;
    const struct shmt_graph_node *node = &graph->nodes[n];
    const bool together = groups_operands(node);
    struct group group = {0};

    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = graph->kids[node->first + k];
        const uint64_t support = graph->nodes[kid].support;

        if (support == 0 || (support & ~chosen) != 0)
            continue;
        group.support |= support;
        group.distinct += estimate->distinct[kid];
        group.identity = (group.identity + kid + 1) *
                         UINT64_C(0x9e3779b97f4a7c15);
        if (together)
            continue;
        add_group(groups, group);
        group = (struct group){0};
    }
    if (group.support != 0) {
        const double most = size_of(estimate, group.support);

        if (group.distinct > most)
            group.distinct = most;
        add_group(groups, group);
    }
}

/* log2 of the number of states when `chosen` are decided. */
static double width(struct order_estimate *estimate, uint64_t chosen)
{
    const struct shmt_graph *const graph = estimate->graph;
    struct groups groups;
    double sum = 0.0, most;

    groups.count = 0;
    if (!shmt_budget_spend(estimate->budget, 16 * estimate->node_count))
        return 0.0;
    for (size_t k = 0; k < estimate->node_count; k++) {
        const uint64_t support = graph->nodes[estimate->nodes[k]].support;

        if ((support & chosen) != 0 && (support & ~chosen) != 0)
            collect(estimate, estimate->nodes[k], chosen, &groups);
    }
    estimate->visits += estimate->node_count;
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
        most = size_of(estimate, all.support);
        sum += all.distinct < most ? all.distinct : most;
    }
    return sum;
}

/* Work of deciding the parameters in this order. */
static double cost_of(struct order_estimate *estimate, const uint8_t *order,
                      size_t count)
{
    uint64_t chosen = 0;
    double cost = 0.0, states = 0.0;

    for (size_t k = 0; k < count; k++) {
        cost += exp2(states + estimate->size[order[k]]);
        chosen |= UINT64_C(1) << order[k];
        states = width(estimate, chosen);
    }
    return cost;
}

/* From `start` on, always what leaves the fewest states, then the fewest
 * values, then the first declared. */
static void walk(struct order_estimate *estimate, uint64_t component,
                 size_t start, uint8_t *order)
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
                width(estimate, chosen | UINT64_C(1) << p) +
                1e-3 * estimate->size[p];

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
static void collect_nodes(struct order_estimate *estimate, uint64_t component)
{
    const struct shmt_graph *const graph = estimate->graph;

    for (size_t c = 0; c < graph->conjunct_count; c++)
        if ((graph->nodes[graph->conjuncts[c]].support & component) != 0)
            mark(estimate, graph->conjuncts[c]);
    for (size_t n = 0; n < graph->node_count; n++)
        if (estimate->reachable[n] && graph->nodes[n].count > 0 &&
            graph->nodes[n].support != 0)
            estimate->nodes[estimate->node_count++] = (uint32_t)n;
}

static void choose(struct order_estimate *estimate, uint64_t component,
                   uint8_t *order)
{
    const size_t count = (size_t)__builtin_popcountll(component);
    uint8_t trial[SHMT_SPACE_PARAMETERS], declared[SHMT_SPACE_PARAMETERS];
    double best = INFINITY, cost;
    size_t k = 0;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[k++] = (uint8_t)__builtin_ctzll(rest);
    memcpy(order, declared, count);
    if (estimate->node_count > WALK / (count * count))
        return;
    for (k = 0; k < count && (k == 0 || estimate->visits < VISITS); k++) {
        walk(estimate, component, declared[k], trial);
        cost = cost_of(estimate, trial, count);
        if (cost < best * 0.999) {
            best = cost;
            memcpy(order, trial, count);
        }
    }
}

/* A promising order of the parameters of a component (those bound to each
 * other by constraints).  False: no memory. */
static bool greedy_order(const struct shmt_graph *graph, uint64_t component,
                         struct shmt_budget *budget, uint8_t *order)
{
    const struct shmt_space_definition *const d = graph->definition;
    struct order_estimate estimate = {.graph = graph, .budget = budget};
    const size_t nodes = graph->node_count + 1;
    bool fine;

    estimate.reachable = calloc(nodes, sizeof *estimate.reachable);
    estimate.distinct = malloc(nodes * sizeof *estimate.distinct);
    estimate.nodes = malloc(nodes * sizeof *estimate.nodes);
    fine = estimate.reachable != NULL && estimate.distinct != NULL &&
           estimate.nodes != NULL;
    if (fine) {
        for (size_t p = 0; p < d->parameter_count; p++)
            estimate.size[p] = log2((double)d->parameters[p].count);
        collect_nodes(&estimate, component);
        estimate_distinct(&estimate);
        choose(&estimate, component, order);
    }
    free(estimate.reachable);
    free(estimate.distinct);
    free(estimate.nodes);
    return fine;
}

struct order_search {
    struct shmt_graph *graph;
    size_t nodes;               /* of the graph, without any plan's */
    size_t count;
    uint8_t best[SHMT_SPACE_PARAMETERS];
    double cost;
    struct shmt_budget *budget;
    uint64_t draws;
    enum shmt_build_outcome failure; /* SHMT_BUILD_DONE: none */
};

/* Build with this order. */
static enum shmt_build_outcome try_order(struct order_search *search,
                                         const uint8_t *order,
                                         struct shmt_build_effort *effort,
                                         struct shmt_diagram *out)
{
    struct shmt_plan plan;
    enum shmt_build_outcome built = SHMT_BUILD_MEMORY;

    if (!shmt_budget_spend(search->budget,
                           2000 + 16 * (uint64_t)search->nodes))
        return SHMT_BUILD_LIMIT;
    effort->budget = search->budget;
    if (shmt_plan_make(search->graph, order, search->count,
                       &plan)) {
        if (plan.never && effort->beam == 0) {
            *out = (struct shmt_diagram){0};
            built = SHMT_BUILD_DONE;
        } else {
            built = shmt_build_diagram(&plan, effort, out);
        }
        shmt_plan_free(&plan);
    }
    shmt_graph_rewind(search->graph, search->nodes);
    return built;
}

/* Estimates the work of building with this order, and keeps the order if it is
 * the best. */
static uint64_t estimate_order(struct order_search *search,
                               const uint8_t *order)
{
    struct shmt_build_effort effort = {.limit = UINT64_MAX, .beam = BEAM};
    const enum shmt_build_outcome built =
        try_order(search, order, &effort, NULL);

    if (built != SHMT_BUILD_DONE) {
        search->failure = built;
    } else if (effort.estimate < search->cost) {
        search->cost = effort.estimate;
        memcpy(search->best, order, search->count);
    }
    /* Making the plan counts too. */
    return effort.visited + 2000;
}

static size_t below(struct order_search *search, size_t bound)
{
    return (size_t)(shmt_random_at(1, search->draws++) % bound);
}

/* Moves one parameter, or a run of them, to another place. */
static void mutate_order(struct order_search *search, uint8_t *order)
{
    const size_t from = below(search, search->count);
    const size_t most = search->count - from;
    const size_t length = below(search, 3) == 0
                              ? 1 + below(search, most < 4 ? most : 4) : 1;
    uint8_t moved[SHMT_SPACE_PARAMETERS];
    size_t rest = search->count - length, to;

    memcpy(order, search->best, search->count);
    memcpy(moved, order + from, length);
    memmove(order + from, order + from + length,
            search->count - from - length);
    to = below(search, rest + 1);
    memmove(order + to + length, order + to, rest - to);
    memcpy(order + to, moved, length);
}

static int by_size(const struct order_search *search, uint8_t a, uint8_t b)
{
    const struct shmt_parameter *p = search->graph->definition->parameters;

    return (p[a].count > p[b].count) - (p[a].count < p[b].count);
}

/* The declared order, backwards, by size, and the greedy walk's. */
static uint64_t start(struct order_search *search, const uint8_t *declared,
                      uint64_t component)
{
    uint8_t order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = estimate_order(search, declared);

    for (size_t k = 0; k < search->count; k++)
        order[k] = declared[search->count - 1 - k];
    spent += estimate_order(search, order);
    memcpy(order, declared, search->count);
    for (size_t k = 1; k < search->count; k++)
        for (size_t j = k; j > 0 && by_size(search, order[j - 1],
                                            order[j]) < 0; j--) {
            const uint8_t swap = order[j];

            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    spent += estimate_order(search, order);
    if (search->failure != SHMT_BUILD_DONE)
        return spent;
    if (!greedy_order(search->graph, component, search->budget, order))
        search->failure = SHMT_BUILD_MEMORY;
    else
        spent += estimate_order(search, order);
    return spent;
}

enum shmt_build_outcome
shmt_build_component(struct shmt_graph *graph, uint64_t component,
                     uint64_t limit, struct shmt_budget *budget,
                     struct shmt_diagram *out)
{
    struct order_search search = {
        .graph = graph, .nodes = graph->node_count, .cost = INFINITY,
        .budget = budget};
    uint8_t declared[SHMT_SPACE_PARAMETERS], order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = 0, patience = FIRST;
    struct shmt_build_effort effort = {.limit = patience};
    enum shmt_build_outcome built;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[search.count++] = (uint8_t)__builtin_ctzll(rest);
    if (search.count < 2)
        effort.limit = limit;
    built = try_order(&search, declared, &effort, out);
    while (built == SHMT_BUILD_LIMIT && effort.limit < limit &&
           !budget->spent) {
        if (spent == 0)
            spent = start(&search, declared, component);
        while (spent < 2 * patience && search.failure == SHMT_BUILD_DONE) {
            mutate_order(&search, order);
            spent += estimate_order(&search, order);
        }
        if (search.failure != SHMT_BUILD_DONE)
            return search.failure;
        patience = patience < limit / 4 ? 4 * patience : limit;
        effort = (struct shmt_build_effort){.limit = patience};
        built = try_order(&search, search.best, &effort, out);
    }
    return built;
}
