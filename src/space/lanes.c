/* SPDX-License-Identifier: MIT */
/*
 * lanes: computes the columns of values, and of bounds.  Called by build.c.
 *
 * Operators that cannot fail run in simple loops that a compiler vectorises;
 * all others call expr/arith for each lane.
 *
 * The bounds are those of a sub-expression while some of its parameters are
 * decided and the others may still have any value (interval arithmetic, Moore
 * 1966).  If the bounds of a constraint already decide it, its prefixes are
 * pruned, or the constraint is dropped, at that level.
 */
#include "space/lanes.h"

#include <stdlib.h>
#include <string.h>

typedef union shmt_graph_cell cell;

/* The columns of a node: its value, its bounds at this level, and its bounds
 * from the domains alone (fixed). */
enum { VALUE, LOW, HIGH, FIXED_LOW, FIXED_HIGH, COLUMNS };

bool shmt_lanes_open(struct shmt_lanes *lanes, const struct shmt_plan *plan)
{
    const struct shmt_graph *const graph = plan->graph;

    *lanes = (struct shmt_lanes){.plan = plan};
    lanes->cells = malloc((plan->column_count + 1) * COLUMNS * SHMT_LANES *
                          sizeof *lanes->cells);
    lanes->fixed_ready =
        calloc(plan->column_count + 1, sizeof *lanes->fixed_ready);
    lanes->symbols = shmt_graph_first_values(graph->definition);
    if (lanes->cells == NULL || lanes->fixed_ready == NULL ||
        lanes->symbols == NULL) {
        shmt_lanes_close(lanes);
        return false;
    }
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

static cell *column(const struct shmt_lanes *lanes, uint32_t id, size_t which)
{
    return lanes->cells + (node_at(lanes, id)->column * COLUMNS + which) *
                              SHMT_LANES;
}

cell *shmt_lanes_value(const struct shmt_lanes *lanes, uint32_t id)
{
    return column(lanes, id, VALUE);
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

#undef LOOP

/* 0 or 1, or no value at all. */
static bool is_unsure(const struct shmt_graph_node *node)
{
    return node->fails && node->type != SHMT_VALUE_REAL && node->low >= 0 &&
           node->high <= 1;
}

/* The bounds from the domains alone. */
static struct shmt_lanes_bounds fixed(struct shmt_lanes *lanes, uint32_t id)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    cell *low = column(lanes, id, FIXED_LOW);
    cell *high = column(lanes, id, FIXED_HIGH);
    cell least, most;

    if (!lanes->fixed_ready[node->column]) {
        lanes->fixed_ready[node->column] = true;
        least.i = node->low;
        most.i = node->high;
        if (node->type == SHMT_VALUE_REAL) {
            least.r = node->real_low;
            most.r = node->real_high;
        } else if (is_unsure(node)) {
            least.i = 0;
            most.i = 1;
        }
        for (size_t i = 0; i < SHMT_LANES; i++) {
            low[i] = least;
            high[i] = most;
        }
    }
    return (struct shmt_lanes_bounds){low, high};
}

void shmt_lanes_set_bounds(const struct shmt_lanes *lanes, uint32_t id,
                           size_t lane, cell low, cell high)
{
    column(lanes, id, LOW)[lane] = low;
    column(lanes, id, HIGH)[lane] = high;
}

struct shmt_lanes_bounds shmt_lanes_get_bounds(const struct shmt_lanes *lanes,
                                               uint32_t id)
{
    return (struct shmt_lanes_bounds){
        column(lanes, id, LOW),
        column(lanes, id, HIGH)};
}

/* The bounds of an operand: its value when it is known.  A truth value that
 * may have no value counts as known only when it has one. */
static struct shmt_lanes_bounds of_operand(struct shmt_lanes *lanes,
                                           uint32_t id,
                                           uint8_t at, size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    const cell *value = shmt_lanes_value(lanes, id);
    uint64_t known = lanes->parted;
    cell *low, *high;

    for (size_t l = 1; l <= at; l++)
        known |= UINT64_C(1) << lanes->plan->levels[l].parameter;
    if (node->level > at)
        return (node->support & known) != 0 ? shmt_lanes_get_bounds(lanes, id)
                                            : fixed(lanes, id);
    if (!is_unsure(node))
        return (struct shmt_lanes_bounds){value, value};
    low = column(lanes, id, LOW);
    high = column(lanes, id, HIGH);
    for (size_t i = 0; i < count; i++) {
        low[i].i = value[i].i == 1;
        high[i].i = value[i].i != 0;
    }
    return (struct shmt_lanes_bounds){low, high};
}

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct pair {
    struct shmt_lanes_bounds a, b;
    bool positive;          /* neither operand is ever negative */
};

static void multiply(struct pair in, cell *low, cell *high, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t p = in.a.low[i].i * in.b.low[i].i;
        const int64_t q = in.a.high[i].i * in.b.high[i].i;
        int64_t r, s;

        if (in.positive) {
            low[i].i = p;
            high[i].i = q;
            continue;
        }
        r = in.a.low[i].i * in.b.high[i].i;
        s = in.a.high[i].i * in.b.low[i].i;
        low[i].i = least(least(p, q), least(r, s));
        high[i].i = most(most(p, q), most(r, s));
    }
}

#define LOOP(first, second)                                                  \
    for (size_t i = 0; i < count; i++) {                                     \
        low[i].i = first;                                                    \
        high[i].i = second;                                                  \
    }
#define AL in.a.low[i].i
#define AH in.a.high[i].i
#define BL in.b.low[i].i
#define BH in.b.high[i].i

static bool bound_ints(unsigned op, struct pair in, struct shmt_lanes *lanes,
                       uint32_t id, size_t count)
{
    cell *restrict low = column(lanes, id, LOW);
    cell *restrict high = column(lanes, id, HIGH);

    switch (op) {
    case SHMT_OP_ADD: LOOP(AL + BL, AH + BH) break;
    case SHMT_OP_SUB: LOOP(AL - BH, AH - BL) break;
    case SHMT_OP_MUL: multiply(in, low, high, count); break;
    case SHMT_OP_LE: LOOP(AH <= BL, AL <= BH) break;
    case SHMT_OP_LT: LOOP(AH < BL, AL < BH) break;
    case SHMT_OP_EQ:
        LOOP(AL == AH && BL == BH && AL == BL, AL <= BH && BL <= AH) break;
    case SHMT_OP_NE:
        LOOP(AL > BH || BL > AH, !(AL == AH && BL == BH && AL == BL)) break;
    case SHMT_OP_AND: LOOP(AL & BL, AH & BH) break;
    case SHMT_OP_OR: LOOP(AL | BL, AH | BH) break;
    case SHMT_OP_NOT: LOOP(AH == 0, AL == 0) break;
    case SHMT_OP_MIN: LOOP(least(AL, BL), least(AH, BH)) break;
    case SHMT_OP_MAX: LOOP(most(AL, BL), most(AH, BH)) break;
    case SHMT_OP_ABS:
        LOOP(AL >= 0 ? AL : AH <= 0 ? -AH : 0, most(-AL, AH)) break;
    case SHMT_OP_FLOOR: case SHMT_OP_MOD: case SHMT_OP_CEILDIV:
    case SHMT_OP_ROUNDUP: case SHMT_OP_POW:
        for (size_t i = 0; i < count; i++) {
            const int64_t a[2] = {AL, AH}, b[2] = {BL, BH};
            int64_t out[2];

            shmt_graph_range_of_two(op, a, b, out);
            low[i].i = out[0];
            high[i].i = out[1];
        }
        break;
    default:
        return false;
    }
    return true;
}

#undef LOOP

/* The first operand may have no value.  The result is certain only if the
 * first operand decides it, or has a value and leaves it to the second. */
static void bound_short_circuit(unsigned op, struct pair in,
                                struct shmt_lanes *lanes,
                                uint32_t id, size_t count)
{
    cell *low = column(lanes, id, LOW);
    cell *high = column(lanes, id, HIGH);
    const int64_t stop = op == SHMT_OP_OR;

    for (size_t i = 0; i < count; i++) {
        const bool sure = AL == AH;

        low[i].i = !sure ? 0 : AL == stop ? AL : BL;
        high[i].i = !sure ? 1 : AL == stop ? AH : BH;
    }
}

#undef AL
#undef AH
#undef BL
#undef BH

static void bound_conditional(struct shmt_lanes *lanes, uint32_t id, uint8_t at,
                              size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    const uint32_t *kids = lanes->plan->graph->kids + node->first;
    const struct shmt_lanes_bounds c = of_operand(lanes, kids[0], at, count);
    const struct shmt_lanes_bounds a = of_operand(lanes, kids[1], at, count);
    const struct shmt_lanes_bounds b = of_operand(lanes, kids[2], at, count);
    cell *low = column(lanes, id, LOW);
    cell *high = column(lanes, id, HIGH);

    for (size_t i = 0; i < count; i++) {
        if (c.low[i].i != 0) {
            low[i] = a.low[i];
            high[i] = a.high[i];
        } else if (c.high[i].i == 0) {
            low[i] = b.low[i];
            high[i] = b.high[i];
        } else {
            low[i].i = least(a.low[i].i, b.low[i].i);
            high[i].i = most(a.high[i].i, b.high[i].i);
        }
    }
}

/* Uses the bounds that follow from the domains alone. */
static void give_up(struct shmt_lanes *lanes, uint32_t id, size_t count)
{
    const struct shmt_lanes_bounds bounds = fixed(lanes, id);

    memcpy(column(lanes, id, LOW), bounds.low,
           count * sizeof *bounds.low);
    memcpy(column(lanes, id, HIGH), bounds.high,
           count * sizeof *bounds.high);
}

static bool bound_two(struct shmt_lanes *lanes, uint32_t id, uint8_t at,
                      size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    const uint32_t *kids = lanes->plan->graph->kids + node->first;
    const struct shmt_graph_node *a = node_at(lanes, kids[0]);
    const struct shmt_graph_node *b =
        node_at(lanes, kids[node->count - 1]);
    const bool logic = node->op == SHMT_OP_AND || node->op == SHMT_OP_OR;
    struct pair in = {.positive = a->low >= 0 && b->low >= 0};

    if (node->type == SHMT_VALUE_REAL || a->type == SHMT_VALUE_REAL ||
        b->type == SHMT_VALUE_REAL || (node->fails && !logic))
        return false;
    in.a = of_operand(lanes, kids[0], at, count);
    in.b = node->count < 2 ? in.a
                           : of_operand(lanes, kids[1], at, count);
    if (logic && a->fails) {
        bound_short_circuit(node->op, in, lanes, id, count);
        return true;
    }
    return bound_ints(node->op, in, lanes, id, count);
}

void shmt_lanes_compute_bounds(struct shmt_lanes *lanes, uint32_t id,
                               uint8_t at, size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);

    if (node->op == SHMT_OP_IF && node->type != SHMT_VALUE_REAL && !node->fails)
        bound_conditional(lanes, id, at, count);
    else if (node->count == 0 || node->count > 2 ||
             !bound_two(lanes, id, at, count))
        give_up(lanes, id, count);
}
