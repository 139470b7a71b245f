/* SPDX-License-Identifier: MIT */
/*
 * lower: from the tree of an expression to the graph of a space.
 *
 * What has no one type (a power that may be integer or real, `x or 'word'`)
 * makes the whole constraint opaque: it is then evaluated by expr/expr.c as
 * soon as all its parameters are known.
 */
#include <stdlib.h>
#include <string.h>

#include "space/graph.h"

#define NONE SHMT_GRAPH_NONE
#define UNKNOWN (UINT32_MAX - 1)

struct lower {
    struct shmt_graph *graph;
    const struct shmt_expr *expr;
    uint32_t *values;     /* tree node -> graph node, NONE or UNKNOWN */
    uint32_t *truths;
};

static uint32_t value_of(struct lower *lower, uint32_t tree);
static uint32_t truth_of(struct lower *lower, uint32_t tree);
static uint32_t lower_expr(struct shmt_graph *graph,
                           const struct shmt_expr *expr, bool truth);

static const struct shmt_graph_node *node_at(const struct lower *lower,
                                             uint32_t id)
{
    return &lower->graph->nodes[id];
}

static uint32_t kid_of(const struct lower *lower, uint32_t tree, size_t k)
{
    return lower->expr->kids[lower->expr->nodes[tree].first + k];
}

/* The type of the node, unless it is the mark for "no value". */
static uint32_t typed(const struct lower *lower, uint32_t id)
{
    const struct shmt_graph_node *node;

    if (lower->graph->failed)
        return id;      /* of a node that may not be there */
    node = node_at(lower, id);
    return node->type == SHMT_VALUE_INT && node->low <= SHMT_GRAPH_NO_INT &&
                   node->high >= SHMT_GRAPH_NO_INT ? NONE : id;
}

static uint32_t value_of_symbol(struct lower *lower, size_t symbol)
{
    const struct shmt_space_definition *const d = lower->graph->definition;
    const struct shmt_parameter *parameter;

    if (symbol < d->fixed_count)
        return shmt_graph_value(lower->graph, d->fixed[symbol]);
    parameter = &d->parameters[symbol - d->fixed_count];
    if (parameter->count == 1)
        return shmt_graph_value(lower->graph, parameter->values[0]);
    return shmt_graph_parameter(lower->graph,
                                (uint32_t)(symbol - d->fixed_count));
}

/* Operands converted to reals, as an operator with one real does. */
static uint32_t real_operator(struct lower *lower, enum shmt_op op,
                              uint32_t *kids, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (node_at(lower, kids[k])->type == SHMT_VALUE_INT)
            kids[k] = shmt_graph_add_node(lower->graph, SHMT_OP_FLOAT,
                                          SHMT_VALUE_REAL, &kids[k], 1);
    return shmt_graph_add_node(lower->graph, op, SHMT_VALUE_REAL, kids, count);
}

static uint32_t power(struct lower *lower, const uint32_t *kids)
{
    const struct shmt_graph_node *exponent = node_at(lower, kids[1]);

    if (exponent->low >= 0)
        return shmt_graph_add_node(lower->graph, SHMT_OP_POW, SHMT_VALUE_INT,
                                   kids, 2);
    if (exponent->high < 0)
        return shmt_graph_add_node(lower->graph, SHMT_OP_POW, SHMT_VALUE_REAL,
                                   kids, 2);
    return NONE;
}

static uint32_t int_operator(struct lower *lower, enum shmt_op op,
                             uint32_t *kids)
{
    struct shmt_graph *const graph = lower->graph;
    const uint32_t given[2] = {kids[0], kids[1]};
    uint32_t minus[2], id = NONE;

    switch (op) {
    case SHMT_OP_SUB:
        minus[0] = shmt_graph_int(graph, -1);
        minus[1] = kids[1];
        kids[1] = shmt_graph_product(graph, minus, 2);
        if (kids[1] == NONE)
            break;
        id = shmt_graph_sum(graph, kids, 2);
        break;
    case SHMT_OP_ADD:
        id = shmt_graph_sum(graph, kids, 2);
        break;
    case SHMT_OP_MUL:
        return shmt_graph_multiply(graph, kids[0], kids[1]);
    case SHMT_OP_POW:
        return power(lower, kids);
    case SHMT_OP_DIV:
        return shmt_graph_add_node(graph, op, SHMT_VALUE_REAL, kids, 2);
    default:
        break;
    }
    return id != NONE ? id :
        shmt_graph_add_node(graph, op, SHMT_VALUE_INT, given, 2);
}

static uint32_t binary(struct lower *lower, uint32_t tree)
{
    const enum shmt_op op = lower->expr->nodes[tree].op;
    uint32_t kids[2];
    int reals = 0;

    for (size_t k = 0; k < 2; k++) {
        kids[k] = value_of(lower, kid_of(lower, tree, k));
        if (kids[k] == NONE || node_at(lower, kids[k])->type == SHMT_VALUE_WORD)
            return NONE;
        reals += node_at(lower, kids[k])->type == SHMT_VALUE_REAL;
    }
    return reals > 0 ? real_operator(lower, op, kids, 2)
                     : int_operator(lower, op, kids);
}

static uint32_t unary(struct lower *lower, uint32_t tree)
{
    const enum shmt_op op = lower->expr->nodes[tree].op;
    struct shmt_graph *const graph = lower->graph;
    uint32_t kid = value_of(lower, kid_of(lower, tree, 0));
    enum shmt_value_type type;

    if (kid == NONE || node_at(lower, kid)->type == SHMT_VALUE_WORD)
        return NONE;
    type = node_at(lower, kid)->type;
    if (op == SHMT_OP_POS || (op == SHMT_OP_INT && type == SHMT_VALUE_INT) ||
        (op == SHMT_OP_FLOAT && type == SHMT_VALUE_REAL))
        return kid;
    if (op == SHMT_OP_NEG && type == SHMT_VALUE_INT)
        return shmt_graph_multiply(graph, shmt_graph_int(graph, -1), kid);
    if (op == SHMT_OP_INT || op == SHMT_OP_FLOAT)
        type = op == SHMT_OP_INT ? SHMT_VALUE_INT : SHMT_VALUE_REAL;
    return shmt_graph_add_node(graph, op, type, &kid, 1);
}

/* Values of all operands; their common type, or false. */
static bool values_of(struct lower *lower, uint32_t tree, uint32_t *kids,
                      enum shmt_value_type *type)
{
    const size_t count = lower->expr->nodes[tree].count;

    for (size_t k = 0; k < count; k++) {
        kids[k] = value_of(lower, kid_of(lower, tree, k));
        if (kids[k] == NONE)
            return false;
        if (k > 0 && node_at(lower, kids[k])->type != *type)
            return false;
        *type = node_at(lower, kids[k])->type;
    }
    return true;
}

static uint32_t extreme(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];
    uint32_t kids[256];
    enum shmt_value_type type = SHMT_VALUE_INT;

    if (node->count > 255 || !values_of(lower, tree, kids, &type))
        return NONE;
    if (type != SHMT_VALUE_REAL) {
        shmt_graph_sort(kids, node->count);
        return shmt_graph_add_node(lower->graph, node->op, type, kids,
                                   node->count);
    }
    for (size_t k = 1; k < node->count; k++) {
        kids[1] = kids[k];
        kids[0] = shmt_graph_add_node(lower->graph, node->op, type, kids, 2);
    }
    return kids[0];
}

static uint32_t make_conditional(struct lower *lower, const uint32_t kids[3])
{
    const struct shmt_graph_node *condition = node_at(lower, kids[0]);
    const enum shmt_value_type type = node_at(lower, kids[1])->type;

    if (condition->op == SHMT_OP_CONST)
        return kids[condition->low != 0 ? 1 : 2];
    if (node_at(lower, kids[2])->type != type)
        return NONE;
    if (kids[1] == kids[2] && !condition->fails)
        return kids[1];
    return shmt_graph_add_node(lower->graph, SHMT_OP_IF, type, kids, 3);
}

static uint32_t lower_conditional(struct lower *lower, uint32_t tree,
                                  bool truth)
{
    uint32_t kids[3] = {truth_of(lower, kid_of(lower, tree, 0))};

    for (size_t k = 1; k < 3; k++) {
        const uint32_t kid = kid_of(lower, tree, k);

        kids[k] = truth ? truth_of(lower, kid) : value_of(lower, kid);
    }
    if (kids[0] == NONE || kids[1] == NONE || kids[2] == NONE)
        return NONE;
    return make_conditional(lower, kids);
}

/* `and` and `or` whose value counts: the operand that decides. */
static uint32_t logic_value(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];
    uint32_t *kids = malloc(node->count * sizeof *kids);
    enum shmt_value_type type = SHMT_VALUE_INT;
    uint32_t id = NONE;
    bool truths = true;

    if (kids == NULL) {
        lower->graph->failed = true;
        return NONE;
    }
    if (values_of(lower, tree, kids, &type)) {
        for (size_t k = 0; k < node->count; k++)
            truths &= type == SHMT_VALUE_INT &&
                      node_at(lower, kids[k])->low >= 0 &&
                      node_at(lower, kids[k])->high <= 1;
        id = kids[node->count - 1];
        if (truths)
            id = shmt_graph_logic(lower->graph, node->op, kids, node->count);
        for (size_t k = node->count - 1; !truths && id != NONE && k-- > 0;) {
            const bool both = node->op == SHMT_OP_AND;
            const uint32_t three[3] = {
                shmt_graph_truth(lower->graph, kids[k]),
                both ? id : kids[k], both ? kids[k] : id};

            id = make_conditional(lower, three);
        }
    }
    free(kids);
    return id;
}

static uint32_t member(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];
    const uint32_t sought = value_of(lower, kid_of(lower, tree, 0));
    uint32_t *tests = malloc(node->count * sizeof *tests);
    uint32_t id = NONE;
    size_t k;

    if (tests == NULL)
        lower->graph->failed = true;
    if (tests == NULL || sought == NONE ||
        (node->count == 1 && node_at(lower, sought)->fails)) {
        free(tests);
        return NONE;
    }
    for (k = 1; k < node->count; k++) {
        const uint32_t element = value_of(lower, kid_of(lower, tree, k));

        if (element == NONE || node_at(lower, element)->fails)
            break;
        tests[k - 1] = shmt_graph_compare(lower->graph, SHMT_OP_EQ, sought,
                                          element);
        if (tests[k - 1] == NONE)
            break;
    }
    if (k == node->count)
        id = shmt_graph_logic(lower->graph, SHMT_OP_OR, tests,
                              node->count - 1);
    free(tests);
    if (id != NONE && node->op == SHMT_OP_NOT_IN)
        id = shmt_graph_negate(lower->graph, id);
    return id;
}

static uint32_t relation(struct lower *lower, uint32_t tree)
{
    const uint32_t a = value_of(lower, kid_of(lower, tree, 0));
    const uint32_t b = value_of(lower, kid_of(lower, tree, 1));

    if (a == NONE || b == NONE)
        return NONE;
    return shmt_graph_compare(lower->graph, lower->expr->nodes[tree].op, a,
                              b);
}

static uint32_t derived(struct lower *lower, uint32_t tree, bool truth)
{
    const size_t k = lower->expr->nodes[tree].derived;

    return lower_expr(lower->graph, lower->expr->derived[k].expr, truth);
}

static uint32_t make_value(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];

    switch (node->op) {
    case SHMT_OP_CONST:
        return typed(lower, shmt_graph_value(lower->graph, node->constant));
    case SHMT_OP_SYMBOL:
        return typed(lower, value_of_symbol(lower, node->symbol));
    case SHMT_OP_NEG: case SHMT_OP_POS: case SHMT_OP_ABS:
    case SHMT_OP_INT: case SHMT_OP_FLOAT:
        return unary(lower, tree);
    case SHMT_OP_MIN: case SHMT_OP_MAX:
        return extreme(lower, tree);
    case SHMT_OP_EQ: case SHMT_OP_NE: case SHMT_OP_LT: case SHMT_OP_LE:
    case SHMT_OP_GT: case SHMT_OP_GE:
        return relation(lower, tree);
    case SHMT_OP_IN: case SHMT_OP_NOT_IN:
        return member(lower, tree);
    case SHMT_OP_IF:
        return lower_conditional(lower, tree, false);
    case SHMT_OP_AND: case SHMT_OP_OR:
        return logic_value(lower, tree);
    case SHMT_OP_NOT: case SHMT_OP_CHAIN:
        return truth_of(lower, tree);
    case SHMT_EXPR_NODE_DERIVED:
        return derived(lower, tree, false);
    default:
        return binary(lower, tree);
    }
}

static uint32_t value_of(struct lower *lower, uint32_t tree)
{
    if (lower->values[tree] == UNKNOWN)
        lower->values[tree] =
            lower->graph->failed ? NONE : make_value(lower, tree);
    return lower->graph->failed ? NONE : lower->values[tree];
}

/* The truths of all operands, together. */
static uint32_t logic_truth(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];
    const enum shmt_op op =
        node->op == SHMT_OP_OR ? SHMT_OP_OR : SHMT_OP_AND;
    uint32_t *kids = malloc(node->count * sizeof *kids);
    uint32_t id = NONE;
    size_t k;

    if (kids == NULL) {
        lower->graph->failed = true;
        return NONE;
    }
    for (k = 0; k < node->count; k++) {
        kids[k] = truth_of(lower, kid_of(lower, tree, k));
        if (kids[k] == NONE)
            break;
    }
    if (k == node->count)
        id = shmt_graph_logic(lower->graph, op, kids, node->count);
    free(kids);
    return id;
}

static uint32_t make_truth(struct lower *lower, uint32_t tree)
{
    const struct shmt_expr_node *node = &lower->expr->nodes[tree];
    uint32_t id;

    switch (node->op) {
    case SHMT_OP_AND: case SHMT_OP_OR: case SHMT_OP_CHAIN:
        return logic_truth(lower, tree);
    case SHMT_OP_IF:
        return lower_conditional(lower, tree, true);
    case SHMT_OP_NOT:
        id = truth_of(lower, kid_of(lower, tree, 0));
        return id == NONE ? NONE : shmt_graph_negate(lower->graph, id);
    case SHMT_EXPR_NODE_DERIVED:
        return derived(lower, tree, true);
    default:
        id = value_of(lower, tree);
        return id == NONE ? NONE : shmt_graph_truth(lower->graph, id);
    }
}

static uint32_t truth_of(struct lower *lower, uint32_t tree)
{
    if (lower->truths[tree] == UNKNOWN)
        lower->truths[tree] =
            lower->graph->failed ? NONE : make_truth(lower, tree);
    return lower->graph->failed ? NONE : lower->truths[tree];
}

static void add_conjunct(struct shmt_graph *graph, uint32_t id)
{
    if (graph->failed)
        return;
    if (shmt_graph_is_constant(graph, id)) {
        graph->never |= graph->nodes[id].low == 0;
        return;
    }
    for (size_t k = 0; k < graph->conjunct_count; k++)
        if (graph->conjuncts[k] == id)
            return;
    if (!shmt_array_reserve(&graph->conjuncts, &graph->conjunct_room,
                            graph->conjunct_count + 1,
                            sizeof *graph->conjuncts) ||
        !shmt_array_reserve(&graph->sources, &graph->source_room,
                            graph->conjunct_count + 1,
                            sizeof *graph->sources)) {
        graph->failed = true;
        return;
    }
    graph->sources[graph->conjunct_count] = graph->source;
    graph->conjuncts[graph->conjunct_count++] = id;
}

/* Splits an `and` into conjuncts, up to the first operand that can have no
 * value: the later ones count only if that one has a value. */
static void split(struct shmt_graph *graph, uint32_t id)
{
    const size_t count = graph->nodes[id].count;
    uint32_t *kids;
    size_t k;

    if (graph->nodes[id].op != SHMT_OP_AND) {
        add_conjunct(graph, id);
        return;
    }
    kids = malloc(count * sizeof *kids);
    if (kids == NULL) {
        graph->failed = true;
        return;
    }
    memcpy(kids, graph->kids + graph->nodes[id].first, count * sizeof *kids);
    for (k = 0; k < count && !graph->nodes[kids[k]].fails; k++)
        add_conjunct(graph, kids[k]);
    if (k < count && !graph->failed)
        add_conjunct(graph, shmt_graph_logic(graph, SHMT_OP_AND, kids + k,
                                             count - k));
    free(kids);
}

/* The value of an expression, or its truth. */
static uint32_t lower_expr(struct shmt_graph *graph,
                           const struct shmt_expr *expr, bool truth)
{
    struct lower lower = {.graph = graph, .expr = expr};
    uint32_t id;

    lower.values = malloc(2 * expr->node_count * sizeof *lower.values);
    if (lower.values == NULL) {
        graph->failed = true;
        return NONE;
    }
    lower.truths = lower.values + expr->node_count;
    for (size_t k = 0; k < 2 * expr->node_count; k++)
        lower.values[k] = UNKNOWN;
    id = truth ? truth_of(&lower, expr->root) : value_of(&lower, expr->root);
    free(lower.values);
    return id;
}

void shmt_graph_add_constraint(struct shmt_graph *graph,
                               const struct shmt_expr *expr)
{
    uint32_t id = lower_expr(graph, expr, true);

    if (graph->failed)
        return;
    if (id == NONE)
        id = shmt_graph_opaque(graph, expr);
    split(graph, id);
}
