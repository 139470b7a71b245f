/* SPDX-License-Identifier: MIT */
/*
 * search: orders of a component's parameters are tried out until a
 * diagram is done.
 *
 * The declared order comes first, and with most spaces last.  Where it takes
 * too much, orders are compared by building with a narrow beam, those near
 * the best so far next; the best is built with four times as much patience as
 * the attempt before, and so on.  Effort is counted in prefixes, not in time:
 * the same space always gets the same order.
 */
#include <math.h>
#include <string.h>

#include "space/build.h"

/* Prefixes of the first attempt; states that a beam keeps. */
enum { FIRST = 1 << 17, BEAM = 96 };

struct hunt {
    struct shmt_graph *graph;
    size_t nodes;               /* of the graph, without any plan's */
    size_t count;
    uint8_t best[SHMT_SPACE_PARAMETERS];
    double cost;
    uint64_t draws;
    enum shmt_built failure;    /* SHMT_BUILT: none */
};

/* Build with this order. */
static enum shmt_built attempt(struct hunt *hunt, const uint8_t *order,
                               struct shmt_effort *effort,
                               struct shmt_diagram *out)
{
    struct shmt_plan plan;
    enum shmt_built built = SHMT_BUILD_MEMORY;

    if (shmt_plan_make(hunt->graph, order, hunt->count, &plan)) {
        if (plan.never && effort->beam == 0) {
            *out = (struct shmt_diagram){0};
            built = SHMT_BUILT;
        } else {
            built = shmt_build_diagram(&plan, effort, out);
        }
        shmt_plan_free(&plan);
    }
    shmt_graph_rewind(hunt->graph, hunt->nodes);
    return built;
}

/* What building with this order would take; taken when it is the least. */
static uint64_t compare(struct hunt *hunt, const uint8_t *order)
{
    struct shmt_effort effort = {.limit = UINT64_MAX, .beam = BEAM};
    const enum shmt_built built = attempt(hunt, order, &effort, NULL);

    if (built != SHMT_BUILT) {
        hunt->failure = built;
    } else if (effort.estimate < hunt->cost) {
        hunt->cost = effort.estimate;
        memcpy(hunt->best, order, hunt->count);
    }
    /* Making the plan counts too. */
    return effort.looked + 2000;
}

static size_t below(struct hunt *hunt, size_t bound)
{
    return (size_t)(shmt_random_at(1, hunt->draws++) % bound);
}

/* One parameter somewhere else, or a stretch of them. */
static void vary(struct hunt *hunt, uint8_t *order)
{
    const size_t from = below(hunt, hunt->count);
    const size_t most = hunt->count - from;
    const size_t length = below(hunt, 3) == 0
                              ? 1 + below(hunt, most < 4 ? most : 4) : 1;
    uint8_t moved[SHMT_SPACE_PARAMETERS];
    size_t rest = hunt->count - length, to;

    memcpy(order, hunt->best, hunt->count);
    memcpy(moved, order + from, length);
    memmove(order + from, order + from + length,
            hunt->count - from - length);
    to = below(hunt, rest + 1);
    memmove(order + to + length, order + to, rest - to);
    memcpy(order + to, moved, length);
}

static int by_size(const struct hunt *hunt, uint8_t a, uint8_t b)
{
    const struct shmt_parameter *p = hunt->graph->definition->parameters;

    return (p[a].count > p[b].count) - (p[a].count < p[b].count);
}

/* The declared order, backwards, by size, and the greedy walk's. */
static uint64_t start(struct hunt *hunt, const uint8_t *declared,
                      uint64_t component)
{
    uint8_t order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = compare(hunt, declared);

    for (size_t k = 0; k < hunt->count; k++)
        order[k] = declared[hunt->count - 1 - k];
    spent += compare(hunt, order);
    memcpy(order, declared, hunt->count);
    for (size_t k = 1; k < hunt->count; k++)
        for (size_t j = k; j > 0 && by_size(hunt, order[j - 1],
                                            order[j]) < 0; j--) {
            const uint8_t swap = order[j];

            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    spent += compare(hunt, order);
    if (!shmt_order_greedy(hunt->graph, component, order))
        hunt->failure = SHMT_BUILD_MEMORY;
    else
        spent += compare(hunt, order);
    return spent;
}

enum shmt_built shmt_search_component(struct shmt_graph *graph,
                                      uint64_t component,
                                      const struct shmt_effort *most,
                                      struct shmt_diagram *out)
{
    struct hunt hunt = {.graph = graph, .nodes = graph->node_count,
                        .cost = INFINITY};
    uint8_t declared[SHMT_SPACE_PARAMETERS], order[SHMT_SPACE_PARAMETERS];
    uint64_t spent = 0, patience = FIRST;
    struct shmt_effort effort = {.limit = patience, .bytes = most->bytes};
    enum shmt_built built;

    for (uint64_t rest = component; rest != 0; rest &= rest - 1)
        declared[hunt.count++] = (uint8_t)__builtin_ctzll(rest);
    if (hunt.count < 2)
        effort.limit = most->limit;
    built = attempt(&hunt, declared, &effort, out);
    while (built == SHMT_BUILD_LIMIT && effort.limit < most->limit) {
        if (spent == 0)
            spent = start(&hunt, declared, component);
        while (spent < 2 * patience && hunt.failure == SHMT_BUILT) {
            vary(&hunt, order);
            spent += compare(&hunt, order);
        }
        if (hunt.failure != SHMT_BUILT)
            return hunt.failure;
        patience = patience < most->limit / 4 ? 4 * patience : most->limit;
        effort = (struct shmt_effort){.limit = patience,
                                      .bytes = most->bytes};
        built = attempt(&hunt, hunt.best, &effort, out);
    }
    return built;
}
