/* SPDX-License-Identifier: MIT */
/*
 * build: the tree of an expression as the parser makes it: nodes are
 * checked, typed, and computed where they are constant.  Used by
 * parse.c alone.
 */
#include <stdlib.h>
#include <string.h>

#include "expr/tree.h"

#define REFUSE(build, offset, ...)                                           \
    ((build)->status = shmt_expr_refuse((build)->expr, offset,               \
                                        (build)->err, __VA_ARGS__),          \
     false)

static bool no_memory(struct shmt_expr_build *build)
{
    build->status = shmt_error_memory(build->err);
    return false;
}

bool shmt_expr_build_push(struct shmt_expr_build *build, uint32_t node)
{
    if (!shmt_array_reserve(&build->stack, &build->stack_room,
                            build->height + 1, sizeof *build->stack))
        return no_memory(build);
    build->stack[build->height++] = node;
    return true;
}

/* Adds a node that counts as `weight` nodes: a mention of a derived name
 * counts as the nodes of its tree. */
static bool add_weighted(struct shmt_expr_build *build,
                         struct shmt_expr_node node, size_t weight)
{
    if (weight > SHMT_EXPR_NODES - build->weight)
        return REFUSE(build, node.offset,
                      "more than %d operators and operands",
                      SHMT_EXPR_NODES);
    build->weight += weight;
    if (!shmt_array_reserve(&build->nodes, &build->node_room,
                            build->node_count + 1, sizeof *build->nodes))
        return no_memory(build);
    build->nodes[build->node_count] = node;
    return shmt_expr_build_push(build, (uint32_t)build->node_count++);
}

static bool add(struct shmt_expr_build *build, struct shmt_expr_node node)
{
    return add_weighted(build, node, 1);
}

bool shmt_expr_build_constant(struct shmt_expr_build *build,
                              struct shmt_value value, size_t offset)
{
    return add(build, (struct shmt_expr_node){
        .op = SHMT_OP_CONST, .types = (uint8_t)(1 << value.type),
        .depth = 1, .offset = (uint32_t)offset, .constant = value});
}

bool shmt_expr_build_symbol(struct shmt_expr_build *build, size_t symbol,
                            size_t offset)
{
    const enum shmt_value_type type = build->expr->scope.symbols[symbol].type;

    build->expr->used[symbol / 64] |= UINT64_C(1) << symbol % 64;
    return add(build, (struct shmt_expr_node){
        .op = SHMT_OP_SYMBOL, .types = (uint8_t)(1 << type), .depth = 1,
        .offset = (uint32_t)offset, .symbol = symbol,
        .name = build->expr->text + offset});
}

bool shmt_expr_build_derived(struct shmt_expr_build *build, size_t k,
                             size_t offset)
{
    const struct shmt_expr *derived = build->expr->derived[k].expr;
    struct shmt_expr_node node = derived->nodes[derived->root];
    const bool leaf = node.op == SHMT_OP_CONST || node.op == SHMT_OP_SYMBOL;

    for (size_t n = 0; n < derived->symbol_count / 64 + 1; n++)
        build->expr->used[n] |= derived->used[n];
    if (!leaf)
        node = (struct shmt_expr_node){.op = SHMT_EXPR_NODE_DERIVED,
                                       .types = node.types,
                                       .depth = node.depth, .derived = k};
    node.offset = (uint32_t)offset;
    return add_weighted(build, node, leaf ? 1 : derived->weight);
}

/* A power of two integers is real when the exponent is negative. */
static uint8_t types_of_power(const struct shmt_expr_node *base,
                              const struct shmt_expr_node *exponent)
{
    if (base->types != SHMT_EXPR_INT || exponent->types != SHMT_EXPR_INT)
        return (base->types | exponent->types) == SHMT_EXPR_REAL ||
                       base->types == SHMT_EXPR_REAL ||
                       exponent->types == SHMT_EXPR_REAL
                   ? SHMT_EXPR_REAL : SHMT_EXPR_NUMBER;
    if (exponent->op != SHMT_OP_CONST)
        return SHMT_EXPR_NUMBER;
    return exponent->constant.i < 0 ? SHMT_EXPR_REAL : SHMT_EXPR_INT;
}

/* The types of op's values, from its operands'. */
static uint8_t types_of(const struct shmt_expr_node *nodes, enum shmt_op op,
                        const uint32_t *kids, size_t count)
{
    bool real = false;
    uint8_t any = 0;

    for (size_t k = op == SHMT_OP_IF ? 1 : 0; k < count; k++) {
        any |= nodes[kids[k]].types;
        real |= nodes[kids[k]].types == SHMT_EXPR_REAL;
    }
    switch (op) {
    case SHMT_OP_AND: case SHMT_OP_OR: case SHMT_OP_IF:
    case SHMT_OP_MIN: case SHMT_OP_MAX:
        return any;
    case SHMT_OP_DIV: case SHMT_OP_FLOAT:
        return SHMT_EXPR_REAL;
    case SHMT_OP_POW:
        return types_of_power(&nodes[kids[0]], &nodes[kids[1]]);
    case SHMT_OP_ADD: case SHMT_OP_SUB: case SHMT_OP_MUL:
    case SHMT_OP_FLOOR: case SHMT_OP_MOD: case SHMT_OP_CEILDIV:
    case SHMT_OP_ROUNDUP:
        return real ? SHMT_EXPR_REAL : any & SHMT_EXPR_NUMBER;
    case SHMT_OP_NEG: case SHMT_OP_POS: case SHMT_OP_ABS:
        return any & SHMT_EXPR_NUMBER;
    default:
        return SHMT_EXPR_INT;
    }
}

/* Refuse operands that can only be words where numbers are needed. */
static bool check_types(struct shmt_expr_build *build,
                        const struct shmt_expr_node *node,
                        const uint32_t *kids)
{
    const enum shmt_op op = node->op;
    const bool arithmetic =
        (op >= SHMT_OP_ADD && op <= SHMT_OP_POW) ||
        (op >= SHMT_OP_CEILDIV && op <= SHMT_OP_FLOAT);
    const bool order = op >= SHMT_OP_LT && op <= SHMT_OP_MAX;
    bool words = false, numbers = false;

    for (size_t k = 0; k < node->count; k++) {
        words |= build->nodes[kids[k]].types == SHMT_EXPR_WORD;
        numbers |= (build->nodes[kids[k]].types & SHMT_EXPR_WORD) == 0;
    }
    if (arithmetic && words)
        return REFUSE(build, node->offset,
                      "'%s' has a word for an operand, expected a number",
                      shmt_arith_spelling(op));
    if (order && words && numbers)
        return REFUSE(build, node->offset,
                      "'%s' of a word and a number, which have no order",
                      shmt_arith_spelling(op));
    return true;
}

/* Compute what has constant operands; false when it has not, or no value. */
static bool fold(const struct shmt_expr_node *nodes,
                 const struct shmt_expr_node *node, const uint32_t *kids,
                 struct shmt_value *out)
{
    const enum shmt_op op = node->op;
    struct shmt_value value;

    for (size_t k = 0; k < node->count; k++)
        if (nodes[kids[k]].op != SHMT_OP_CONST)
            return false;
    if (op >= SHMT_OP_NEG && op <= SHMT_OP_NOT)
        return shmt_arith_unary(op, &nodes[kids[0]].constant, out) ==
               SHMT_ARITH_FAULT_NONE;
    if (op < SHMT_OP_ADD || op > SHMT_OP_ROUNDUP)
        return false;
    value = nodes[kids[0]].constant;
    for (size_t k = 1; k < node->count; k++)
        if (shmt_arith_binary(op, &value, &nodes[kids[k]].constant,
                              &value) != SHMT_ARITH_FAULT_NONE)
            return false;
    *out = value;
    return true;
}

bool shmt_expr_build_node(struct shmt_expr_build *build, enum shmt_op op,
                          size_t count, size_t offset)
{
    const uint32_t *kids = build->stack + build->height - count;
    struct shmt_expr_node node = {.op = (uint8_t)op,
                                  .offset = (uint32_t)offset,
                                  .count = (uint32_t)count};
    struct shmt_value value;

    if (!check_types(build, &node, kids))
        return false;
    build->height -= count;
    if (fold(build->nodes, &node, kids, &value))
        return shmt_expr_build_constant(build, value, offset);
    node.types = types_of(build->nodes, op, kids, count);
    for (size_t k = 0; k < count; k++)
        if (build->nodes[kids[k]].depth > node.depth)
            node.depth = build->nodes[kids[k]].depth;
    if (++node.depth > SHMT_EXPR_DEPTH)
        return REFUSE(build, offset, "more than %d operators one in another",
                      SHMT_EXPR_DEPTH);
    node.first = (uint32_t)build->kid_count;
    if (!shmt_array_reserve(&build->kids, &build->kid_room,
                            build->kid_count + count, sizeof *build->kids))
        return no_memory(build);
    for (size_t k = 0; k < count; k++)
        build->kids[build->kid_count++] = kids[k];
    return add(build, node);
}

bool shmt_expr_build_keep(struct shmt_expr_build *build)
{
    struct shmt_expr *expr = build->expr;
    struct shmt_expr_node *nodes =
        shmt_arena_alloc_raw(build->arena, build->node_count * sizeof *nodes);
    uint32_t *kids =
        shmt_arena_alloc_raw(build->arena, build->kid_count * sizeof *kids);

    if (nodes == NULL || kids == NULL)
        return no_memory(build);
    memcpy(nodes, build->nodes, build->node_count * sizeof *nodes);
    if (build->kid_count > 0)
        memcpy(kids, build->kids, build->kid_count * sizeof *kids);
    expr->nodes = nodes;
    expr->node_count = build->node_count;
    expr->weight = build->weight;
    expr->kid_count = build->kid_count;
    expr->kids = kids;
    expr->root = build->stack[0];
    return true;
}

void shmt_expr_build_free(struct shmt_expr_build *build)
{
    free(build->nodes);
    free(build->kids);
    free(build->stack);
}
