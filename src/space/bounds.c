/* SPDX-License-Identifier: MIT */
/*
 * bounds: interval arithmetic.  Computes the bounds of a sub-expression while
 * some of its parameters are decided and the others may still have any value.
 * If the bounds of a constraint already decide it, its prefixes are pruned, or
 * the constraint is dropped, at that level.
 */
#include <string.h>

#include "space/lanes.h"

typedef union shmt_graph_cell cell;

static const struct shmt_graph_node *node_at(const struct shmt_lanes *lanes,
                                             uint32_t id)
{
    return &lanes->plan->graph->nodes[id];
}

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
    cell *low = shmt_lanes_column(lanes, id, SHMT_LANES_FIXED_LOW);
    cell *high = shmt_lanes_column(lanes, id, SHMT_LANES_FIXED_HIGH);
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

struct shmt_lanes_bounds shmt_lanes_get_bounds(const struct shmt_lanes *lanes,
                                               uint32_t id)
{
    return (struct shmt_lanes_bounds){
        shmt_lanes_column(lanes, id, SHMT_LANES_LOW),
        shmt_lanes_column(lanes, id, SHMT_LANES_HIGH)};
}

/* The bounds of an operand: its value when it is known.  A truth value that
 * may have no value counts as known only when it has one. */
static struct shmt_lanes_bounds of_operand(struct shmt_lanes *lanes,
                                           uint32_t id,
                                           uint8_t at, size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);
    const cell *value = shmt_lanes_value(lanes, id);
    uint64_t known = 0;
    cell *low, *high;

    for (size_t l = 1; l <= at; l++)
        known |= UINT64_C(1) << lanes->plan->levels[l].parameter;
    if (node->level > at)
        return (node->support & known) != 0 ? shmt_lanes_get_bounds(lanes, id)
                                            : fixed(lanes, id);
    if (!is_unsure(node))
        return (struct shmt_lanes_bounds){value, value};
    low = shmt_lanes_column(lanes, id, SHMT_LANES_LOW);
    high = shmt_lanes_column(lanes, id, SHMT_LANES_HIGH);
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
    cell *restrict low = shmt_lanes_column(lanes, id, SHMT_LANES_LOW);
    cell *restrict high = shmt_lanes_column(lanes, id, SHMT_LANES_HIGH);

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
    cell *low = shmt_lanes_column(lanes, id, SHMT_LANES_LOW);
    cell *high = shmt_lanes_column(lanes, id, SHMT_LANES_HIGH);
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
    cell *low = shmt_lanes_column(lanes, id, SHMT_LANES_LOW);
    cell *high = shmt_lanes_column(lanes, id, SHMT_LANES_HIGH);

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

    memcpy(shmt_lanes_column(lanes, id, SHMT_LANES_LOW), bounds.low,
           count * sizeof *bounds.low);
    memcpy(shmt_lanes_column(lanes, id, SHMT_LANES_HIGH), bounds.high,
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
                               uint8_t at,
                               size_t count)
{
    const struct shmt_graph_node *node = node_at(lanes, id);

    if (node->op == SHMT_OP_IF && node->type != SHMT_VALUE_REAL && !node->fails)
        bound_conditional(lanes, id, at, count);
    else if (node->count == 0 || node->count > 2 ||
             !bound_two(lanes, id, at, count))
        give_up(lanes, id, count);
}
