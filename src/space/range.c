/* SPDX-License-Identifier: MIT */
/*
 * range: between what bounds the value of a sub-expression lies, and
 * whether it can have none.  Called by graph.c alone.
 */
#include <math.h>

#include "space/graph.h"

/* Integers up to here are doubles too. */
#define EXACT (INT64_C(1) << 53)

/* Bounds while they are computed: `over` when they left 64 bits. */
struct range {
    int64_t low, high;
    bool over;
};

static struct range of(const struct shmt_graph_node *node)
{
    return (struct range){node->low, node->high, false};
}

/* op on two numbers; what overflows sticks to the bound it passes. */
static int64_t clamped(enum shmt_op op, int64_t a, int64_t b, bool *over)
{
    const bool negative = op == SHMT_OP_MUL ? (a < 0) != (b < 0) : a < 0;
    int64_t out;

    if (op == SHMT_OP_ADD ? !__builtin_add_overflow(a, b, &out)
        : op == SHMT_OP_SUB ? !__builtin_sub_overflow(a, b, &out)
                            : !__builtin_mul_overflow(a, b, &out))
        return out;
    *over = true;
    return negative ? INT64_MIN : INT64_MAX;
}

static void widen(struct range *range, int64_t value)
{
    if (value < range->low)
        range->low = value;
    if (value > range->high)
        range->high = value;
}

static struct range corners(enum shmt_op op, struct range a, struct range b)
{
    bool over = false;
    const int64_t first = clamped(op, a.low, b.low, &over);
    struct range out = {first, first, false};

    widen(&out, clamped(op, a.low, b.high, &over));
    widen(&out, clamped(op, a.high, b.low, &over));
    widen(&out, clamped(op, a.high, b.high, &over));
    out.over = over;
    return out;
}

/* Quotients by the divisors of one sign in [low, high]. */
static void divide_by(enum shmt_op op, struct range a, int64_t low,
                      int64_t high, struct range *out)
{
    const int64_t as[2] = {a.low, a.high}, bs[2] = {low, high};
    int64_t quotient;

    if (low > high)
        return;
    for (int k = 0; k < 4; k++)
        if (shmt_arith_int(op, as[k / 2], bs[k % 2], &quotient) ==
            SHMT_ARITH_FAULT_NONE)
            widen(out, quotient);
}

static struct range quotient(enum shmt_op op, struct range a, struct range b)
{
    struct range out = {INT64_MAX, INT64_MIN, false};

    if (a.low == INT64_MIN)
        return (struct range){INT64_MIN, INT64_MAX, true};
    divide_by(op, a, b.low, b.high < -1 ? b.high : -1, &out);
    divide_by(op, a, b.low > 1 ? b.low : 1, b.high, &out);
    if (out.low > out.high)
        out = (struct range){0, 0, true};
    out.over |= b.low <= 0 && b.high >= 0;
    return out;
}

static struct range remainder_of(struct range a, struct range b)
{
    struct range out = {0, 0, b.low <= 0 && b.high >= 0};

    /* The smallest integer by -1 is more than the machine can do. */
    out.over |= a.low == INT64_MIN && b.low <= -1 && b.high >= -1;
    if (b.low > INT64_MIN && b.low < 0)
        out.low = b.low + 1;
    if (b.low == INT64_MIN)
        out.low = INT64_MIN + 1;
    if (b.high > 0)
        out.high = b.high - 1;
    /* Dividends that are smaller than every divisor stay as they are. */
    if (b.low > 0 && a.low >= 0) {
        out.high = a.high < out.high ? a.high : out.high;
        if (a.high < b.low)
            out.low = a.low;
    }
    return out;
}

/* The smallest multiple that is not smaller lies within one divisor. */
static struct range round_up(struct range a, struct range b)
{
    struct range up = {a.low, a.high, b.low <= 0 && b.high >= 0};
    bool over = false;

    if (b.high > 0)
        up.high = clamped(SHMT_OP_ADD, a.high, b.high, &over);
    if (b.low < 0)
        up.low = clamped(SHMT_OP_ADD, a.low, b.low, &over);
    up.over |= over;
    return up;
}

static struct range power_of(struct range a, struct range b)
{
    const struct range all = {INT64_MIN, INT64_MAX, true};
    int64_t most, least;

    if (b.low < 0)
        return all;
    if (a.low >= 0) {
        if (shmt_arith_int(SHMT_OP_POW, a.high, b.high, &most) !=
            SHMT_ARITH_FAULT_NONE)
            return (struct range){0, INT64_MAX, true};
        least = 0;
        if (a.low > 0)
            shmt_arith_int(SHMT_OP_POW, a.low, b.low, &least);
        return (struct range){least, most < 1 ? 1 : most, false};
    }
    if (a.low == INT64_MIN)
        return all;
    most = -a.low > a.high ? -a.low : a.high;
    if (shmt_arith_int(SHMT_OP_POW, most, b.high, &most) !=
        SHMT_ARITH_FAULT_NONE)
        return all;
    return (struct range){-most, most < 1 ? 1 : most, false};
}

static struct range absolute_of(struct range a)
{
    if (a.low >= 0)
        return a;
    if (a.low == INT64_MIN)
        return (struct range){0, INT64_MAX, true};
    if (a.high <= 0)
        return (struct range){-a.high, -a.low, false};
    return (struct range){0, -a.low > a.high ? -a.low : a.high, false};
}

static struct range of_two(unsigned op, struct range a, struct range b)
{
    switch (op) {
    case SHMT_OP_ADD:
    case SHMT_OP_SUB:
    case SHMT_OP_MUL:
        return corners(op, a, b);
    case SHMT_OP_FLOOR:
    case SHMT_OP_CEILDIV:
        return quotient(op, a, b);
    case SHMT_OP_MOD:
        return remainder_of(a, b);
    case SHMT_OP_ROUNDUP:
        return round_up(a, b);
    case SHMT_OP_POW:
        return power_of(a, b);
    case SHMT_OP_MIN:
        return (struct range){a.low < b.low ? a.low : b.low,
                              a.high < b.high ? a.high : b.high, false};
    case SHMT_OP_MAX:
        return (struct range){a.low > b.low ? a.low : b.low,
                              a.high > b.high ? a.high : b.high, false};
    case SHMT_OP_LE:
        return (struct range){a.high <= b.low, a.low <= b.high, false};
    case SHMT_OP_LT:
        return (struct range){a.high < b.low, a.low < b.high, false};
    case SHMT_OP_EQ:
        return (struct range){a.low == a.high && b.low == b.high &&
                                  a.low == b.low,
                              a.low <= b.high && b.low <= a.high, false};
    case SHMT_OP_NE:
        return (struct range){a.low > b.high || b.low > a.high,
                              !(a.low == a.high && b.low == b.high &&
                                a.low == b.low), false};
    default:
        return (struct range){0, 1, false};
    }
}

static struct range of_kids(const struct shmt_graph *graph,
                            const struct shmt_graph_node *node,
                            const uint32_t *kids)
{
    const struct shmt_graph_node *nodes = graph->nodes;
    struct range out = of(&nodes[kids[0]]);
    bool over = false;

    switch (node->op) {
    case SHMT_OP_NOT:
        return (struct range){!(out.high != 0), out.low == 0, false};
    case SHMT_OP_ABS:
        return absolute_of(out);
    case SHMT_OP_AND:
    case SHMT_OP_OR:
        return (struct range){0, 1, false};
    case SHMT_OP_IF:
        out = of(&nodes[kids[1]]);
        widen(&out, nodes[kids[2]].low);
        widen(&out, nodes[kids[2]].high);
        return out;
    default:
        break;
    }
    for (size_t k = 1; k < node->count; k++) {
        out = of_two(node->op, out, of(&nodes[kids[k]]));
        over |= out.over;
    }
    out.over = over;
    return out;
}

/* Reals: bounds by the corners where the operator is monotone; anything that
 * is not finite is wild. */
static void set_real(const struct shmt_graph *graph,
                     struct shmt_graph_node *node, const uint32_t *kids)
{
    double bounds[4], value;
    double a[2], b[2] = {0.0, 0.0};

    node->unbounded = true;
    for (size_t k = 0; k < node->count; k++) {
        const struct shmt_graph_node *kid = &graph->nodes[kids[k]];
        double *bound = k == 0 ? a : b;

        if (k > 1 || (kid->type == SHMT_VALUE_REAL && kid->unbounded))
            return;
        if (kid->type != SHMT_VALUE_REAL &&
            (kid->low < -EXACT || kid->high > EXACT))
            return;
        bound[0] = kid->type == SHMT_VALUE_REAL ? kid->real_low :
            (double)kid->low;
        bound[1] = kid->type == SHMT_VALUE_REAL ? kid->real_high
                                          : (double)kid->high;
    }
    if (node->op == SHMT_OP_FLOAT) {
        b[0] = b[1] = 0.0;
    } else if (node->op == SHMT_OP_DIV) {
        if (b[0] <= 0.0 && b[1] >= 0.0)
            return;
    } else if (node->op != SHMT_OP_ADD && node->op != SHMT_OP_SUB &&
               node->op != SHMT_OP_MUL) {
        return;
    }
    node->real_low = INFINITY;
    node->real_high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        if (node->op == SHMT_OP_FLOAT)
            value = a[k / 2];
        else if (shmt_arith_real(node->op, a[k / 2], b[k % 2], &value) !=
                     SHMT_ARITH_FAULT_NONE || !isfinite(value))
            return;
        bounds[k] = value;
        node->real_low = fmin(node->real_low, bounds[k]);
        node->real_high = fmax(node->real_high, bounds[k]);
    }
    node->unbounded = false;
}

/* Reals that fail of themselves: by a zero, or by leaving the range. */
static bool real_fails(const struct shmt_graph *graph,
                       const struct shmt_graph_node *node,
                       const uint32_t *kids)
{
    const struct shmt_graph_node *last = &graph->nodes[kids[node->count - 1]];

    switch (node->op) {
    case SHMT_OP_DIV:
    case SHMT_OP_FLOOR:
    case SHMT_OP_MOD:
    case SHMT_OP_CEILDIV:
    case SHMT_OP_ROUNDUP:
        if (last->type == SHMT_VALUE_REAL)
            return last->unbounded || (last->real_low <= 0.0 &&
                                       last->real_high >= 0.0);
        return last->low <= 0 && last->high >= 0;
    case SHMT_OP_POW:
        return true;
    default:
        return false;
    }
}

void shmt_graph_set_range(const struct shmt_graph *graph,
                          struct shmt_graph_node *node, const uint32_t *kids)
{
    struct range range = {INT64_MIN, INT64_MAX, false};
    bool reals = false;

    for (size_t k = 0; k < node->count; k++) {
        node->fails |= graph->nodes[kids[k]].fails;
        reals |= graph->nodes[kids[k]].type == SHMT_VALUE_REAL;
    }
    if (node->type == SHMT_VALUE_REAL) {
        set_real(graph, node, kids);
        node->fails |= real_fails(graph, node, kids);
        return;
    }
    if (node->op == SHMT_OP_INT) {
        node->fails = true;
    } else if (node->op == SHMT_GRAPH_OPAQUE) {
        range = (struct range){0, 1, true};
    } else if (reals && node->op != SHMT_OP_IF) {
        range = (struct range){0, 1, false};     /* comparisons */
    } else {
        range = of_kids(graph, node, kids);
    }
    node->overflows = range.over;
    node->fails |= range.over;
    node->low = range.low;
    node->high = range.high;
}

bool shmt_graph_range_of_two(unsigned op, const int64_t a[2],
                             const int64_t b[2],
                             int64_t out[2])
{
    const struct range range =
        of_two(op, (struct range){a[0], a[1], false},
               (struct range){b[0], b[1], false});

    out[0] = range.low;
    out[1] = range.high;
    return !range.over;
}
