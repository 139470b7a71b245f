/* SPDX-License-Identifier: MIT */
/*
 * lanes: computes the columns of values.  Operators that cannot fail run in
 * simple loops that a compiler vectorises; all others call expr/arith for each
 * lane.
 */
#include "space/lanes.h"

#include <stdlib.h>
#include <string.h>

typedef union shmt_graph_cell cell;

enum { COLUMNS = SHMT_LANES_COLUMNS };

bool shmt_lanes_open(struct shmt_lanes *lanes, const struct shmt_plan *plan)
{
    const struct shmt_graph *const graph = plan->graph;
    const struct shmt_space_definition *const d = graph->definition;
    const size_t symbols = d->fixed_count + d->parameter_count;

    *lanes = (struct shmt_lanes){.plan = plan};
    lanes->cells = malloc((plan->column_count + 1) * COLUMNS * SHMT_LANES *
                          sizeof *lanes->cells);
    lanes->fixed_ready =
        calloc(plan->column_count + 1, sizeof *lanes->fixed_ready);
    lanes->symbols = calloc(symbols + 1, sizeof *lanes->symbols);
    if (lanes->cells == NULL || lanes->fixed_ready == NULL ||
        lanes->symbols == NULL) {
        shmt_lanes_close(lanes);
        return false;
    }
    for (size_t k = 0; k < d->fixed_count; k++)
        lanes->symbols[k] = d->fixed[k];
    for (size_t p = 0; p < d->parameter_count; p++)
        lanes->symbols[d->fixed_count + p] = d->parameters[p].values[0];
    for (size_t c = 0; c < plan->column_count; c++) {
        const struct shmt_graph_node *node = &graph->nodes[plan->columns[c]];

        if (node->level == 0)
            for (size_t i = 0; i < SHMT_LANES; i++)
                lanes->cells[c * COLUMNS * SHMT_LANES + i] = node->constant;
    }
    return true;
}

void shmt_lanes_close(struct shmt_lanes *lanes)
{
    free(lanes->cells);
    free(lanes->fixed_ready);
    free(lanes->symbols);
    *lanes = (struct shmt_lanes){0};
}

static const struct shmt_graph_node *node_at(const struct shmt_lanes *lanes,
                                             uint32_t id)
{
    return &lanes->plan->graph->nodes[id];
}

static uint32_t kid_of(const struct shmt_lanes *lanes,
                       const struct shmt_graph_node *node, size_t k)
{
    return lanes->plan->graph->kids[node->first + k];
}

cell *shmt_lanes_column(const struct shmt_lanes *lanes, uint32_t id,
                        size_t which)
{
    return lanes->cells + (node_at(lanes, id)->column * COLUMNS + which) *
                              SHMT_LANES;
}

cell *shmt_lanes_value(const struct shmt_lanes *lanes, uint32_t id)
{
    return shmt_lanes_column(lanes, id, SHMT_LANES_VALUE);
}

static bool is_missing(cell value, uint8_t type)
{
    return type == SHMT_VALUE_REAL ? value.bits == SHMT_GRAPH_NO_REAL
                             : value.i == SHMT_GRAPH_NO_INT;
}

static cell missing(uint8_t type)
{
    cell out;

    if (type == SHMT_VALUE_REAL)
        out.bits = SHMT_GRAPH_NO_REAL;
    else
        out.i = SHMT_GRAPH_NO_INT;
    return out;
}

/* A cell as a value; ranks of words are the numbers they are. */
static struct shmt_value number(const struct shmt_lanes *lanes, uint32_t id,
                                cell from)
{
    const uint8_t type = node_at(lanes, id)->type;

    if (type == SHMT_VALUE_REAL)
        return (struct shmt_value){.type = SHMT_VALUE_REAL, .r = from.r};
    return (struct shmt_value){.type = SHMT_VALUE_INT, .i = from.i};
}

/* One operator on one lane, with everything checked. */
static cell compute_checked_one(const struct shmt_lanes *lanes,
                                const struct shmt_graph_node *node,
                                const cell operands[2])
{
    struct shmt_value values[2];
    enum shmt_arith_fault fault;
    cell out;

    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = kid_of(lanes, node, k);

        if (is_missing(operands[k], node_at(lanes, kid)->type))
            return missing(node->type);
        values[k] = number(lanes, kid, operands[k]);
    }
    fault = node->count == 2
                ? shmt_arith_binary(node->op, &values[0], &values[1],
                                    &values[0])
                : shmt_arith_unary(node->op, &values[0], &values[0]);
    if (fault != SHMT_ARITH_FAULT_NONE)
        return missing(node->type);
    out.i = values[0].i;
    if (values[0].type == SHMT_VALUE_REAL)
        out.r = values[0].r;
    return out;
}

static void compute_checked(struct shmt_lanes *lanes,
                            const struct shmt_graph_node *node, cell *out,
                            size_t count)
{
    const cell *a = shmt_lanes_value(lanes, kid_of(lanes, node, 0));
    const cell *b = node->count < 2
                        ? a : shmt_lanes_value(lanes, kid_of(lanes, node, 1));

    for (size_t i = 0; i < count; i++) {
        const cell operands[2] = {a[i], b[i]};

        out[i] = compute_checked_one(lanes, node, operands);
    }
}

/* and, or, if: an operand that is not needed may be missing. */
static void compute_short_circuit(struct shmt_lanes *lanes,
                                  const struct shmt_graph_node *node, cell *out,
                                  size_t count)
{
    const cell *kids[3];

    for (size_t k = 0; k < node->count; k++)
        kids[k] = shmt_lanes_value(lanes, kid_of(lanes, node, k));
    for (size_t i = 0; i < count; i++) {
        const cell first = kids[0][i];

        if (first.i == SHMT_GRAPH_NO_INT)
            out[i] = missing(node->type);
        else if (node->op == SHMT_OP_IF)
            out[i] = first.i != 0 ? kids[1][i] : kids[2][i];
        else
            out[i] = (first.i != 0) == (node->op == SHMT_OP_OR)
                         ? first : kids[1][i];
    }
}

static void compute_opaque(struct shmt_lanes *lanes,
                           const struct shmt_graph_node *node, cell *out,
                           size_t count)
{
    const struct shmt_graph *const graph = lanes->plan->graph;
    const size_t fixed = graph->definition->fixed_count;
    bool truth;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < node->count; k++) {
            const uint32_t id = kid_of(lanes, node, k);
            const struct shmt_graph_node *kid = node_at(lanes, id);

            if (kid->op == SHMT_OP_SYMBOL)
                lanes->symbols[fixed + kid->parameter] = shmt_graph_box(
                    graph, kid->type, shmt_lanes_value(lanes, id)[i]);
        }
        if (shmt_expr_eval_bool(node->expr, lanes->symbols, &truth, NULL) ==
            SHMTUNE_OK)
            out[i].i = truth;
        else
            out[i].i = SHMT_GRAPH_NO_INT;
    }
}

#define LOOP(expression)                                                     \
    for (size_t i = 0; i < count; i++)                                       \
        expression

/* Integers that cannot fail; false when there is no loop for the operator. */
static bool compute_unchecked_int(unsigned op, const cell *const in[2],
                                  cell *restrict out, size_t count)
{
    const cell *const a = in[0], *const b = in[1];

    switch (op) {
    case SHMT_OP_ADD: LOOP(out[i].i = a[i].i + b[i].i); break;
    case SHMT_OP_SUB: LOOP(out[i].i = a[i].i - b[i].i); break;
    case SHMT_OP_MUL: LOOP(out[i].i = a[i].i * b[i].i); break;
    case SHMT_OP_LE: LOOP(out[i].i = a[i].i <= b[i].i); break;
    case SHMT_OP_LT: LOOP(out[i].i = a[i].i < b[i].i); break;
    case SHMT_OP_EQ: LOOP(out[i].i = a[i].i == b[i].i); break;
    case SHMT_OP_NE: LOOP(out[i].i = a[i].i != b[i].i); break;
    case SHMT_OP_AND: LOOP(out[i].i = a[i].i & b[i].i); break;
    case SHMT_OP_OR: LOOP(out[i].i = a[i].i | b[i].i); break;
    case SHMT_OP_NOT: LOOP(out[i].i = a[i].i == 0); break;
    case SHMT_OP_FLOOR: LOOP(out[i].i = shmt_arith_floor(a[i].i, b[i].i));
        break;
    case SHMT_OP_MOD: LOOP(out[i].i = shmt_arith_mod(a[i].i, b[i].i)); break;
    case SHMT_OP_MIN: LOOP(out[i].i = a[i].i < b[i].i ? a[i].i : b[i].i);
        break;
    case SHMT_OP_MAX: LOOP(out[i].i = a[i].i > b[i].i ? a[i].i : b[i].i);
        break;
    case SHMT_OP_FLOAT: LOOP(out[i].r = (double)a[i].i); break;
    default:
        return false;
    }
    return true;
}

static bool compute_unchecked_real(unsigned op, const cell *const in[2],
                                   cell *restrict out, size_t count)
{
    const cell *const a = in[0], *const b = in[1];

    switch (op) {
    case SHMT_OP_ADD: LOOP(out[i].r = a[i].r + b[i].r); break;
    case SHMT_OP_SUB: LOOP(out[i].r = a[i].r - b[i].r); break;
    case SHMT_OP_MUL: LOOP(out[i].r = a[i].r * b[i].r); break;
    case SHMT_OP_DIV: LOOP(out[i].r = a[i].r / b[i].r); break;
    case SHMT_OP_LE: LOOP(out[i].i = a[i].r <= b[i].r); break;
    case SHMT_OP_LT: LOOP(out[i].i = a[i].r < b[i].r); break;
    case SHMT_OP_EQ: LOOP(out[i].i = a[i].r == b[i].r); break;
    case SHMT_OP_NE: LOOP(out[i].i = a[i].r != b[i].r); break;
    default:
        return false;
    }
    return true;
}

static bool compute_unchecked(struct shmt_lanes *lanes,
                              const struct shmt_graph_node *node, cell *out,
                              size_t count)
{
    const cell *in[2];
    size_t reals = 0;

    if (node->fails || node->count > 2)
        return false;
    for (size_t k = 0; k < node->count; k++) {
        const uint32_t kid = kid_of(lanes, node, k);

        in[k] = shmt_lanes_value(lanes, kid);
        reals += node_at(lanes, kid)->type == SHMT_VALUE_REAL;
    }
    if (node->count == 1)
        in[1] = in[0];
    if (reals == 0)
        return compute_unchecked_int(node->op, in, out, count);
    return reals == node->count &&
        compute_unchecked_real(node->op, in, out, count);
}

void shmt_lanes_compute(struct shmt_lanes *lanes, uint32_t id, size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    cell *out = shmt_lanes_value(lanes, id);

    if (node->op == SHMT_OP_SYMBOL)     /* filled by the builder */
        return;
    if (node->op == SHMT_GRAPH_OPAQUE)
        compute_opaque(lanes, node, out, count);
    else if (node->op == SHMT_OP_IF ||
             (node->fails &&
              (node->op == SHMT_OP_AND || node->op == SHMT_OP_OR)))
        compute_short_circuit(lanes, node, out, count);
    else if (!compute_unchecked(lanes, node, out, count))
        compute_checked(lanes, node, out, count);
}
