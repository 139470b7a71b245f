/* SPDX-License-Identifier: MIT */
/*
 * normal: one form for expressions that mean the same: sums, products,
 * comparisons, logic.  Equal forms are then one node.
 */
#include <stdlib.h>
#include <string.h>

#include "space/graph.h"

/* Sums and products whose operands keep to this in any grouping. */
#define BOUND (INT64_C(1) << 62)

struct term {
    uint32_t base;
    int64_t factor;
};

struct terms {
    struct term *items;
    size_t count, room;
    int64_t constant;
    bool bad;               /* overflow, or no memory */
};

static bool out_of_memory(struct shmt_graph *graph)
{
    graph->failed = true;
    return false;
}

static void push_term(struct shmt_graph *graph, struct terms *terms,
                      uint32_t base, int64_t factor)
{
    if (!shmt_array_reserve(&terms->items, &terms->room, terms->count + 1,
                            sizeof *terms->items)) {
        terms->bad = true;
        out_of_memory(graph);
        return;
    }
    terms->items[terms->count++] = (struct term){base, factor};
}

/* The product without its constant factor, which is multiplied into
 * *factor. */
static uint32_t strip(struct shmt_graph *graph, uint32_t id, int64_t *factor)
{
    const struct shmt_graph_node *node = &graph->nodes[id];
    uint32_t rest[64];
    size_t count = 0;
    int64_t product = *factor;
    uint32_t stripped;

    if (node->op != SHMT_OP_MUL || node->overflows || node->count > 64)
        return id;
    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = graph->kids[node->first + k];

        if (!shmt_graph_is_constant(graph, kid))
            rest[count++] = kid;
        else if (__builtin_mul_overflow(product, graph->nodes[kid].low,
                                        &product))
            return id;
    }
    if (count == node->count || count == 0)
        return id;
    stripped = shmt_graph_product(graph, rest, count);
    if (stripped == SHMT_GRAPH_NONE)
        return id;
    *factor = product;
    return stripped;
}

static void expand(struct shmt_graph *graph, uint32_t id, int64_t factor,
                   struct terms *terms)
{
    const struct shmt_graph_node *node;
    int64_t part;

    id = strip(graph, id, &factor);
    if (graph->failed)
        return;
    node = &graph->nodes[id];
    if (node->op == SHMT_OP_CONST) {
        terms->bad |= __builtin_mul_overflow(node->low, factor, &part) ||
                      __builtin_add_overflow(terms->constant, part,
                                             &terms->constant);
        return;
    }
    if (node->op != SHMT_OP_ADD || node->overflows) {
        push_term(graph, terms, id, factor);
        return;
    }
    for (size_t k = 0; k < graph->nodes[id].count && !terms->bad; k++)
        expand(graph, graph->kids[graph->nodes[id].first + k], factor, terms);
}

static int by_base(const void *a, const void *b)
{
    const struct term *x = a, *y = b;

    return (x->base > y->base) - (x->base < y->base);
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void shmt_graph_sort(uint32_t *kids, size_t count)
{
    qsort(kids, count, sizeof *kids, by_id);
}

/* Combines the terms of equal base.  A term that may have no value stays even
 * with factor 0, because it decides whether the sum has a value. */
static void combine(const struct shmt_graph *graph, struct terms *terms)
{
    size_t kept = 0;

    if (terms->count > 1)
        qsort(terms->items, terms->count, sizeof *terms->items, by_base);
    for (size_t k = 0; k < terms->count; k++) {
        struct term *last = kept > 0 ? &terms->items[kept - 1] : NULL;

        if (last != NULL && last->base == terms->items[k].base)
            terms->bad |= __builtin_add_overflow(
                last->factor, terms->items[k].factor, &last->factor);
        else
            terms->items[kept++] = terms->items[k];
    }
    terms->count = kept;
    for (size_t k = kept = 0; k < terms->count; k++)
        if (terms->items[k].factor != 0 ||
            graph->nodes[terms->items[k].base].fails)
            terms->items[kept++] = terms->items[k];
    terms->count = kept;
}

static int64_t largest(const struct shmt_graph_node *node)
{
    if (node->low < -BOUND || node->high > BOUND)
        return INT64_MAX;
    return -node->low > node->high ? -node->low : node->high;
}

static bool is_bounded(const struct shmt_graph *graph,
                       const struct terms *terms)
{
    int64_t sum = terms->constant, part, factor;

    if (sum < -BOUND)
        return false;
    sum = sum < 0 ? -sum : sum;
    for (size_t k = 0; k < terms->count; k++) {
        factor = terms->items[k].factor;
        if (factor < -BOUND ||
            __builtin_mul_overflow(largest(&graph->nodes[
                                       terms->items[k].base]),
                                   factor < 0 ? -factor : factor, &part) ||
            __builtin_add_overflow(sum, part, &sum) || sum > BOUND)
            return false;
    }
    return true;
}

uint32_t shmt_graph_multiply(struct shmt_graph *graph, uint32_t a, uint32_t b)
{
    const uint32_t both[2] = {a, b};
    const uint32_t id = shmt_graph_product(graph, both, 2);

    return id != SHMT_GRAPH_NONE
               ? id : shmt_graph_add_node(graph, SHMT_OP_MUL, SHMT_VALUE_INT,
                                          both, 2);
}

/* The node of the terms without their constant. */
static uint32_t make_sum(struct shmt_graph *graph, const struct terms *terms,
                         bool with_constant)
{
    uint32_t *kids = malloc((terms->count + 1) * sizeof *kids);
    size_t count = 0;
    uint32_t id;

    if (kids == NULL)
        return out_of_memory(graph), 0;
    for (size_t k = 0; k < terms->count; k++) {
        const struct term *term = &terms->items[k];

        kids[count++] =
            term->factor == 1
                ? term->base
                : shmt_graph_multiply(
                      graph, shmt_graph_int(graph, term->factor), term->base);
    }
    if (with_constant && (terms->constant != 0 || count == 0))
        kids[count++] = shmt_graph_int(graph, terms->constant);
    shmt_graph_sort(kids, count);
    if (count == 0)
        id = shmt_graph_int(graph, 0);
    else if (count == 1)
        id = kids[0];
    else
        id = shmt_graph_add_node(graph, SHMT_OP_ADD, SHMT_VALUE_INT, kids,
                                 count);
    free(kids);
    return id;
}

uint32_t shmt_graph_sum(struct shmt_graph *graph, const uint32_t *terms,
                        size_t count)
{
    struct terms list = {0};
    uint32_t id = SHMT_GRAPH_NONE;

    for (size_t k = 0; k < count && !list.bad; k++)
        expand(graph, terms[k], 1, &list);
    if (!list.bad && !graph->failed) {
        combine(graph, &list);
        if (!list.bad && is_bounded(graph, &list))
            id = make_sum(graph, &list, true);
    }
    free(list.items);
    return id;
}

uint32_t shmt_graph_product(struct shmt_graph *graph, const uint32_t *factors,
                            size_t count)
{
    uint32_t flat[256];
    size_t used = 0;
    int64_t constant = 1, bound = 1;

    if (graph->failed)
        return 0;
    for (size_t k = 0; k < count; k++) {
        const struct shmt_graph_node *node = &graph->nodes[factors[k]];
        const bool nested = node->op == SHMT_OP_MUL && !node->overflows;

        for (size_t j = 0; j < (nested ? node->count : 1); j++) {
            const uint32_t id =
                nested ? graph->kids[node->first + j] : factors[k];
            const int64_t size = largest(&graph->nodes[id]);

            if (__builtin_mul_overflow(bound, size < 1 ? 1 : size, &bound) ||
                bound > BOUND)
                return SHMT_GRAPH_NONE;
            if (shmt_graph_is_constant(graph, id))
                constant *= graph->nodes[id].low;
            else if (used == 255)
                return SHMT_GRAPH_NONE;
            else
                flat[used++] = id;
        }
    }
    if (constant != 1 || used == 0)
        flat[used++] = shmt_graph_int(graph, constant);
    if (used == 1)
        return flat[0];
    shmt_graph_sort(flat, used);
    return shmt_graph_add_node(graph, SHMT_OP_MUL, SHMT_VALUE_INT, flat, used);
}

/* sum op -constant, with what is common to all factors divided out. */
static uint32_t compare_sum(struct shmt_graph *graph, enum shmt_op op,
                            struct terms *terms)
{
    int64_t limit = -terms->constant, common = 0;
    uint32_t kids[2];

    for (size_t k = 0; k < terms->count; k++) {
        int64_t a = common, b = terms->items[k].factor;

        for (b = b < 0 ? -b : b; b != 0;) {
            const int64_t rest = a % b;

            a = b;
            b = rest;
        }
        common = a;
    }
    if (common > 1) {
        for (size_t k = 0; k < terms->count; k++)
            terms->items[k].factor /= common;
        if (op != SHMT_OP_LE && limit % common != 0) {
            /* The constant is out of the sum's range: never equal, if the sum
             * has a value. */
            limit = BOUND + 1;
        } else {
            limit = shmt_arith_floor(limit, common);
        }
    }
    if (op != SHMT_OP_LE && terms->count > 0 && terms->items[0].factor < 0 &&
        limit <= BOUND) {
        for (size_t k = 0; k < terms->count; k++)
            terms->items[k].factor = -terms->items[k].factor;
        limit = -limit;
    }
    kids[0] = make_sum(graph, terms, false);
    kids[1] = shmt_graph_int(graph, limit);
    return shmt_graph_add_node(graph, op, SHMT_VALUE_INT, kids, 2);
}

/* a op b on integers or ranks of words; op is LE, LT, EQ or NE. */
static uint32_t compare_ints(struct shmt_graph *graph, enum shmt_op op,
                             uint32_t a, uint32_t b)
{
    const uint32_t kids[2] = {a, b};
    struct terms terms = {.constant = op == SHMT_OP_LT ? 1 : 0};
    uint32_t id = SHMT_GRAPH_NONE;

    expand(graph, a, 1, &terms);
    if (!terms.bad)
        expand(graph, b, -1, &terms);
    if (!terms.bad && !graph->failed) {
        combine(graph, &terms);
        if (!terms.bad && is_bounded(graph, &terms))
            id = compare_sum(graph, op == SHMT_OP_LT ? SHMT_OP_LE : op,
                             &terms);
    }
    free(terms.items);
    if (id == SHMT_GRAPH_NONE)
        id = shmt_graph_add_node(graph, op, SHMT_VALUE_INT, kids, 2);
    return id;
}

/* An integer as a real, where that is exact. */
static uint32_t as_real(struct shmt_graph *graph, uint32_t id)
{
    const int64_t exact = INT64_C(1) << 53;
    const struct shmt_graph_node *node = &graph->nodes[id];

    if (node->type == SHMT_VALUE_REAL || node->low < -exact || node->high >
        exact)
        return id;
    return shmt_graph_add_node(graph, SHMT_OP_FLOAT, SHMT_VALUE_REAL, &id, 1);
}

uint32_t shmt_graph_compare(struct shmt_graph *graph, enum shmt_op op,
                            uint32_t a, uint32_t b)
{
    uint32_t kids[2];
    uint8_t type_a, type_b;

    if (graph->failed)
        return 0;
    if (op == SHMT_OP_GT || op == SHMT_OP_GE) {
        const uint32_t swap = a;

        a = b;
        b = swap;
        op = op == SHMT_OP_GT ? SHMT_OP_LT : SHMT_OP_LE;
    }
    type_a = graph->nodes[a].type;
    type_b = graph->nodes[b].type;
    if ((type_a == SHMT_VALUE_WORD) != (type_b == SHMT_VALUE_WORD)) {
        if ((op != SHMT_OP_EQ && op != SHMT_OP_NE) ||
            graph->nodes[a].fails || graph->nodes[b].fails)
            return SHMT_GRAPH_NONE;
        return shmt_graph_int(graph, op == SHMT_OP_NE);
    }
    if (type_a != SHMT_VALUE_REAL && type_b != SHMT_VALUE_REAL)
        return compare_ints(graph, op, a, b);
    kids[0] = as_real(graph, a);
    kids[1] = as_real(graph, b);
    return shmt_graph_add_node(graph, op, SHMT_VALUE_INT, kids, 2);
}

uint32_t shmt_graph_truth(struct shmt_graph *graph, uint32_t id)
{
    const struct shmt_graph_node *node = &graph->nodes[id];
    struct shmt_value zero = {.type = node->type};

    if (graph->failed)
        return 0;
    if (node->type == SHMT_VALUE_REAL)
        zero.r = 0.0;
    else if (node->type == SHMT_VALUE_WORD)
        zero.w = "";
    else if (node->low >= 0 && node->high <= 1)
        return id;
    return shmt_graph_compare(graph, SHMT_OP_NE, id,
                              shmt_graph_value(graph, zero));
}

uint32_t shmt_graph_negate(struct shmt_graph *graph, uint32_t truth)
{
    const struct shmt_graph_node *node = &graph->nodes[truth];
    uint32_t kids[2];

    if (graph->failed)
        return 0;
    if (node->op == SHMT_OP_CONST)
        return shmt_graph_int(graph, node->low == 0);
    if (node->op == SHMT_OP_NOT)
        return graph->kids[node->first];
    if (node->op == SHMT_OP_EQ || node->op == SHMT_OP_NE) {
        memcpy(kids, graph->kids + node->first, sizeof kids);
        return shmt_graph_add_node(graph, node->op == SHMT_OP_EQ ? SHMT_OP_NE
                                                             : SHMT_OP_EQ,
                                   SHMT_VALUE_INT, kids, 2);
    }
    if (node->op == SHMT_OP_LE &&
        graph->nodes[graph->kids[node->first]].type != SHMT_VALUE_REAL &&
        graph->nodes[graph->kids[node->first + 1]].type != SHMT_VALUE_REAL)
        return shmt_graph_compare(graph, SHMT_OP_GT,
                                  graph->kids[node->first],
                                  graph->kids[node->first + 1]);
    return shmt_graph_add_node(graph, SHMT_OP_NOT, SHMT_VALUE_INT, &truth, 1);
}

/* Operands of the same operator come up; those that change nothing go; one
 * that decides ends the list. */
static size_t flatten(struct shmt_graph *graph, enum shmt_op op,
                      const uint32_t *kids, size_t count, uint32_t *flat)
{
    const int64_t neutral = op == SHMT_OP_AND;
    size_t used = 0;

    for (size_t k = 0; k < count; k++) {
        const struct shmt_graph_node *node = &graph->nodes[kids[k]];

        if (node->op == SHMT_OP_CONST && node->low == neutral)
            continue;
        if (node->op == op && used + node->count < 4096) {
            memcpy(flat + used, graph->kids + node->first,
                   node->count * sizeof *flat);
            used += node->count;
        } else {
            flat[used++] = kids[k];
        }
        if (node->op == SHMT_OP_CONST || node->op == SHMT_GRAPH_FAULT)
            break;
    }
    return used;
}

uint32_t shmt_graph_logic(struct shmt_graph *graph, enum shmt_op op,
                          const uint32_t *kids, size_t count)
{
    uint32_t *flat = malloc((count + 4096) * sizeof *flat);
    bool fails = false, decided = false;
    size_t used, kept = 0;
    uint32_t id;

    if (flat == NULL || graph->failed) {
        free(flat);
        return out_of_memory(graph), 0;
    }
    used = flatten(graph, op, kids, count, flat);
    for (size_t k = 0; k < used; k++) {
        fails |= graph->nodes[flat[k]].fails;
        decided |= shmt_graph_is_constant(graph, flat[k]);
    }
    if (!fails && decided) {
        id = shmt_graph_int(graph, op == SHMT_OP_OR);
    } else {
        if (!fails && used > 1) {
            shmt_graph_sort(flat, used);
            for (size_t k = 0; k < used; k++)
                if (kept == 0 || flat[kept - 1] != flat[k])
                    flat[kept++] = flat[k];
            used = kept;
        }
        id = used == 0 ? shmt_graph_int(graph, op == SHMT_OP_AND)
             : used == 1 ? flat[0]
                         : shmt_graph_add_node(graph, op, SHMT_VALUE_INT,
                                               flat, used);
    }
    free(flat);
    return id;
}
