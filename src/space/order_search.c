/* SPDX-License-Identifier: MIT */
/*
 * order_search: builds the diagram of a component, trying variable orders
 * until one succeeds.
 *
 * The declared order is tried first and is good enough for most spaces.  If it
 * exceeds its limit, orders are compared by building with a narrow beam; new
 * orders are variations of the best so far.  The best order is then built with
 * four times the limit of the attempt before, and so on.  The limit counts
 * prefixes, not time, so the same space always gets the same order.
 */
#include <math.h>
#include <string.h>

#include "space/build.h"

/* Prefixes of the first attempt; states that a beam keeps. */
enum { FIRST = 1 << 17, BEAM = 96 };

struct order_search {
    struct shmt_graph *graph;
    size_t nodes;               /* of the graph, without any plan's */
    size_t count;
    uint8_t best[SHMT_SPACE_PARAMETERS];
    double cost;
    uint64_t draws;
    enum shmt_build_outcome failure; /* SHMT_BUILD_DONE: none */
};

/* Build with this order. */
static enum shmt_build_outcome try_order(struct order_search *order_search,
                                         const uint8_t *order,
                                         struct shmt_build_effort *effort,
                                         struct shmt_diagram *out)
{
    struct shmt_plan plan;
    enum shmt_build_outcome built = SHMT_BUILD_MEMORY;

    if (shmt_plan_make(order_search->graph, order, order_search->count,
                       &plan)) {
        if (plan.never && effort->beam == 0) {
            *out = (struct shmt_diagram){0};
            built = SHMT_BUILD_DONE;
        } else {
            built = shmt_build_diagram(&plan, effort, out);
        }
        shmt_plan_free(&plan);
    }
    shmt_graph_rewind(order_search->graph, order_search->nodes);
    return built;
}

/* Estimates the work of building with this order, and keeps the order if it is
 * the best. */
static uint64_t estimate_order(struct order_search *order_search,
                               const uint8_t *order)
{
    struct shmt_build_effort effort = {.limit = UINT64_MAX, .beam = BEAM};
    const enum shmt_build_outcome built =
        try_order(order_search, order, &effort, NULL);

    if (built != SHMT_BUILD_DONE) {
        order_search->failure = built;
    } else if (effort.estimate < order_search->cost) {
        order_search->cost = effort.estimate;
        memcpy(order_search->best, order, order_search->count);
    }
    /* Making the plan counts too. */
    return effort.visited + 2000;
}

static size_t below(struct order_search *order_search, size_t bound)
{
    return (size_t)(shmt_random_at(1, order_search->draws++) % bound);
}

/* Moves one parameter, or a run of them, to another place. */
static void mutate_order(struct order_search *order_search, uint8_t *order)
{
    const size_t from = below(order_search, order_search->count);
    const size_t most = order_search->count - from;
    const size_t length = below(order_search, 3) == 0
                              ? 1 + below(order_search, most < 4 ? most : 4) :
                                  1;
    uint8_t moved[SHMT_SPACE_PARAMETERS];
    size_t rest = order_search->count - length, to;

    memcpy(order, order_search->best, order_search->count);
    memcpy(moved, order + from, length);
    memmove(order + from, order + from + length,
            order_search->count - from - length);
    to = below(order_search, rest + 1);
    memmove(order + to + length, order + to, rest - to);
    memcpy(order + to, moved, length);
}

static int by_size(const struct order_search *order_search, uint8_t a,
                   uint8_t b)
{
    const struct shmt_parameter *p =
        order_search->graph->definition->parameters;

    return (p[a].count > p[b].count) - (p[a].count < p[b].count);
}

/* The declared order, backwards, by size, and the greedy walk's. */
static uint64_t start(struct order_search *order_search,
                      const uint8_t *declared,
                      uint64_t component)
{
    uint8_t order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = estimate_order(order_search, declared);

    for (size_t k = 0; k < order_search->count; k++)
        order[k] = declared[order_search->count - 1 - k];
    spent += estimate_order(order_search, order);
    memcpy(order, declared, order_search->count);
    for (size_t k = 1; k < order_search->count; k++)
        for (size_t j = k; j > 0 && by_size(order_search, order[j - 1],
                                            order[j]) < 0; j--) {
            const uint8_t swap = order[j];

            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    spent += estimate_order(order_search, order);
    if (!shmt_plan_greedy_order(order_search->graph, component, order))
        order_search->failure = SHMT_BUILD_MEMORY;
    else
        spent += estimate_order(order_search, order);
    return spent;
}

enum shmt_build_outcome
shmt_build_component(struct shmt_graph *graph, uint64_t component,
                     const struct shmt_build_effort *most,
                     struct shmt_diagram *out)
{
    struct order_search order_search =
        {.graph = graph, .nodes = graph->node_count,
                                        .cost = INFINITY};
    uint8_t declared[SHMT_SPACE_PARAMETERS], order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = 0, patience = FIRST;
    struct shmt_build_effort effort = {.limit = patience, .bytes = most->bytes};
    enum shmt_build_outcome built;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[order_search.count++] = (uint8_t)__builtin_ctzll(rest);
    if (order_search.count < 2)
        effort.limit = most->limit;
    built = try_order(&order_search, declared, &effort, out);
    while (built == SHMT_BUILD_LIMIT && effort.limit < most->limit) {
        if (spent == 0)
            spent = start(&order_search, declared, component);
        while (spent < 2 * patience && order_search.failure ==
               SHMT_BUILD_DONE) {
            mutate_order(&order_search, order);
            spent += estimate_order(&order_search, order);
        }
        if (order_search.failure != SHMT_BUILD_DONE)
            return order_search.failure;
        patience = patience < most->limit / 4 ? 4 * patience : most->limit;
        effort = (struct shmt_build_effort){.limit = patience,
                                            .bytes = most->bytes};
        built = try_order(&order_search, order_search.best, &effort, out);
    }
    return built;
}
