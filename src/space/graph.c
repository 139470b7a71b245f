/* SPDX-License-Identifier: MIT */
/*
 * graph: nodes that are made once, constants that are computed, words that
 * become ranks; and for each node between what bounds its value lies, and
 * whether it can have none.  Called by space.c, lower.c and normal.c.
 */
#include "space/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (b.low > 0 && a.low >= 0 && a.high < out.high)
        out.high = a.high;
    /* Where all quotients are the same, the least of which is the first and the
     * greatest the last of these, so are the remainders. */
    if (b.low > 0) {
        const int64_t first = a.low < 0 ? b.low : b.high;
        const int64_t last = a.high < 0 ? b.high : b.low;

        if (shmt_arith_floor(a.low, first) == shmt_arith_floor(a.high, last)) {
            out.low = shmt_arith_mod(a.low, first);
            out.high = shmt_arith_mod(a.high, last);
        }
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
    bool may, must;         /* they be equal */

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
    case SHMT_OP_NE:
        may = a.low <= b.high && b.low <= a.high;
        must = may && a.low == b.high && b.low == a.high;
        return op == SHMT_OP_EQ ? (struct range){must, may, false}
                                : (struct range){!may, !must, false};
    default:
        return (struct range){0, 1, false};
    }
}

/* An operand's: those in `bounds`, by id, or the node's own. */
static struct range of_kid(const struct shmt_graph *graph,
                           const int64_t (*bounds)[2], uint32_t kid)
{
    return bounds == NULL
               ? of(&graph->nodes[kid])
               : (struct range){bounds[kid][0], bounds[kid][1], false};
}

static struct range of_kids(const struct shmt_graph *graph,
                            const struct shmt_graph_node *node,
                            const uint32_t *kids, const int64_t (*bounds)[2])
{
    struct range out = of_kid(graph, bounds, kids[0]), other;
    bool over = false;

    switch (node->op) {
    case SHMT_OP_NOT:
        return (struct range){!(out.high != 0), out.low == 0, false};
    case SHMT_OP_ABS:
        return absolute_of(out);
    case SHMT_OP_IF:
        out = of_kid(graph, bounds, kids[1]);
        other = of_kid(graph, bounds, kids[2]);
        widen(&out, other.low);
        widen(&out, other.high);
        return out;
    default:
        break;
    }
    for (size_t k = 1; k < node->count; k++) {
        out = of_two(node->op, out, of_kid(graph, bounds, kids[k]));
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
    double a[2], b[2] = {0.0, 0.0}, value;

    node->unbounded = true;
    for (size_t k = 0; k < node->count; k++) {
        const struct shmt_graph_node *kid = &graph->nodes[kids[k]];
        const bool real = kid->type == SHMT_VALUE_REAL;
        double *bound = k == 0 ? a : b;

        if (k > 1 || (real ? kid->unbounded
                           : kid->low < -EXACT || kid->high > EXACT))
            return;
        bound[0] = real ? kid->real_low : (double)kid->low;
        bound[1] = real ? kid->real_high : (double)kid->high;
    }
    if (node->op == SHMT_OP_DIV ? b[0] <= 0.0 && b[1] >= 0.0
        : node->op != SHMT_OP_FLOAT && node->op != SHMT_OP_ADD &&
              node->op != SHMT_OP_SUB && node->op != SHMT_OP_MUL)
        return;
    node->real_low = INFINITY;
    node->real_high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        if (node->op == SHMT_OP_FLOAT)
            value = a[k / 2];
        else if (shmt_arith_real(node->op, a[k / 2], b[k % 2], &value) !=
                     SHMT_ARITH_FAULT_NONE || !isfinite(value))
            return;
        node->real_low = fmin(node->real_low, value);
        node->real_high = fmax(node->real_high, value);
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

/* fails, unbounded and the range, from those of the operands. */
static void set_range(const struct shmt_graph *graph,
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
        range = of_kids(graph, node, kids, NULL);
    }
    node->overflows = range.over;
    node->fails |= range.over;
    node->low = range.low;
    node->high = range.high;
}

/* `and`, `or` of any number of truths. */
static struct range of_truths(const struct shmt_graph_node *node,
                              const uint32_t *kids,
                              const int64_t (*bounds)[2])
{
    const bool any = node->op == SHMT_OP_OR;
    struct range out = {!any, !any, false};

    for (size_t k = 0; k < node->count; k++) {
        const int64_t *kid = bounds[kids[k]];

        out.low = any ? out.low | (kid[0] != 0) : out.low & (kid[0] != 0);
        out.high = any ? out.high | (kid[1] != 0) : out.high & (kid[1] != 0);
    }
    return out;
}

/* False when some operand is not a point, or the node has no value. */
static bool compute_point(const struct shmt_graph_node *node,
                          const uint32_t *kids, const int64_t (*bounds)[2],
                          int64_t *out)
{
    *out = bounds[kids[0]][0];
    for (size_t k = 0; k < node->count; k++)
        if (bounds[kids[k]][0] != bounds[kids[k]][1])
            return false;
    for (size_t k = 1; k < node->count; k++)
        if (shmt_arith_int(node->op, *out, bounds[kids[k]][0], out) !=
            SHMT_ARITH_FAULT_NONE)
            return false;
    return true;
}

void shmt_graph_get_bounds(const struct shmt_graph *graph, uint32_t id,
                           const int64_t (*bounds)[2], int64_t out[2])
{
    const struct shmt_graph_node *const node = &graph->nodes[id];
    const uint32_t *const kids = graph->kids + node->first;
    struct range range = of(node);
    bool reals = node->type == SHMT_VALUE_REAL ||
                 node->op == SHMT_OP_INT || node->op == SHMT_GRAPH_OPAQUE;

    for (size_t k = 0; k < node->count; k++)
        reals |= graph->nodes[kids[k]].type == SHMT_VALUE_REAL;
    out[0] = node->low;
    out[1] = node->high;
    if (reals || node->count == 0)
        return;
    if (node->op == SHMT_OP_AND || node->op == SHMT_OP_OR)
        range = of_truths(node, kids, bounds);
    else if (node->op == SHMT_OP_IF && bounds[kids[0]][0] == bounds[kids[0]][1])
        range = of_kid(graph, bounds, kids[bounds[kids[0]][0] != 0 ? 1 : 2]);
    else if (((node->op >= SHMT_OP_ADD && node->op <= SHMT_OP_POW) ||
              node->op == SHMT_OP_CEILDIV || node->op == SHMT_OP_ROUNDUP) &&
             compute_point(node, kids, bounds, &range.low))
        range.high = range.low;
    else
        range = of_kids(graph, node, kids, bounds);
    if (range.over)
        return;
    out[0] = range.low > out[0] ? range.low : out[0];
    out[1] = range.high < out[1] ? range.high : out[1];
}

bool shmt_graph_range_of_two(unsigned op, const int64_t a[2],
                             const int64_t b[2], int64_t out[2])
{
    const struct range range =
        of_two(op, (struct range){a[0], a[1], false},
               (struct range){b[0], b[1], false});

    out[0] = range.low;
    out[1] = range.high;
    return !range.over;
}

static uint32_t fail(struct shmt_graph *graph)
{
    graph->failed = true;
    return 0;
}

static uint64_t hash_node(const struct shmt_graph_node *node,
                          const uint32_t *kids)
{
    uint64_t hash = shmt_map_hash(node->op, node->type);

    hash = shmt_map_hash(hash, node->constant.bits);
    hash = shmt_map_hash(hash, node->parameter);
    hash = shmt_map_hash(hash, (uintptr_t)node->expr);
    for (size_t k = 0; k < node->count; k++)
        hash = shmt_map_hash(hash, kids[k]);
    return hash;
}

static bool same_node(const struct shmt_graph *graph, uint32_t id,
                      const struct shmt_graph_node *node,
                      const uint32_t *kids)
{
    const struct shmt_graph_node *other = &graph->nodes[id];

    return other->op == node->op && other->type == node->type &&
           other->count == node->count &&
           other->constant.bits == node->constant.bits &&
           other->parameter == node->parameter &&
           other->expr == node->expr &&
           (node->count == 0 ||
            memcmp(graph->kids + other->first, kids,
                   node->count * sizeof *kids) == 0);
}

void shmt_graph_rewind(struct shmt_graph *graph, size_t count)
{
    while (graph->node_count > count) {
        const struct shmt_graph_node *node =
            &graph->nodes[--graph->node_count];

        shmt_map_remove(&graph->places,
                        hash_node(node, graph->kids + node->first),
                        (uint32_t)graph->node_count);
        if (node->count > 0)
            graph->kid_count = node->first;
    }
}

/* The node's id; `node` has everything but first, level and, when it has
 * operands, its range. */
static uint32_t intern(struct shmt_graph *graph, struct shmt_graph_node *node,
                       const uint32_t *kids)
{
    const uint64_t hash = hash_node(node, kids);
    uint32_t id;

    if (graph->failed)
        return 0;
    for (size_t probe = 0;
         (id = shmt_map_next(&graph->places, hash, &probe)) != SHMT_MAP_NONE;)
        if (same_node(graph, id, node, kids))
            return id;
    if (graph->node_count >= SHMT_GRAPH_NODES ||
        !shmt_array_reserve(&graph->nodes, &graph->node_room,
                            graph->node_count + 1, sizeof *graph->nodes) ||
        !shmt_array_reserve(&graph->kids, &graph->kid_room,
                            graph->kid_count + node->count,
                            sizeof *graph->kids) ||
        !shmt_map_add(&graph->places, hash, (uint32_t)graph->node_count))
        return fail(graph);
    node->first = (uint32_t)graph->kid_count;
    if (node->count > 0) {
        for (size_t k = 0; k < node->count; k++)
            node->support |= graph->nodes[kids[k]].support;
        set_range(graph, node, kids);
        memcpy(graph->kids + graph->kid_count, kids,
               node->count * sizeof *kids);
        graph->kid_count += node->count;
    }
    graph->nodes[graph->node_count] = *node;
    return (uint32_t)graph->node_count++;
}

uint32_t shmt_graph_int(struct shmt_graph *graph, int64_t value)
{
    struct shmt_graph_node node = {
        .op = SHMT_OP_CONST, .type = SHMT_VALUE_INT, .low = value,
        .high = value,
        .constant.i = value};

    return intern(graph, &node, NULL);
}

static uint32_t add_real(struct shmt_graph *graph, double value)
{
    struct shmt_graph_node node = {
        .op = SHMT_OP_CONST, .type = SHMT_VALUE_REAL, .real_low = value,
        .real_high = value, .constant.r = value,
        .unbounded = !(value - value == 0.0)};

    return intern(graph, &node, NULL);
}

static uint32_t add_fault(struct shmt_graph *graph, enum shmt_value_type type)
{
    struct shmt_graph_node node = {
        .op = SHMT_GRAPH_FAULT, .type = (uint8_t)type, .fails = true,
        .unbounded = true, .low = 0, .high = 1};

    if (type == SHMT_VALUE_REAL)
        node.constant.bits = SHMT_GRAPH_NO_REAL;
    else
        node.constant.i = SHMT_GRAPH_NO_INT;
    return intern(graph, &node, NULL);
}

uint32_t shmt_graph_value(struct shmt_graph *graph, struct shmt_value value)
{
    struct shmt_graph_node node =
        {.op = SHMT_OP_CONST, .type = SHMT_VALUE_WORD};

    if (value.type == SHMT_VALUE_INT)
        return shmt_graph_int(graph, value.i);
    if (value.type == SHMT_VALUE_REAL)
        return add_real(graph, value.r);
    node.low = node.high = node.constant.i =
        shmt_graph_rank(graph, value.w);
    return intern(graph, &node, NULL);
}

uint32_t shmt_graph_parameter(struct shmt_graph *graph, uint32_t parameter)
{
    const struct shmt_parameter *const p =
        &graph->definition->parameters[parameter];
    struct shmt_graph_node node = {
        .op = SHMT_OP_SYMBOL, .type = (uint8_t)p->type,
        .parameter = parameter, .support = UINT64_C(1) << parameter,
        .low = INT64_MAX, .high = INT64_MIN};

    for (size_t k = 0; k < p->count; k++) {
        const struct shmt_value value = p->values[k];

        if (p->type == SHMT_VALUE_REAL) {
            node.unbounded |= !(value.r - value.r == 0.0);
            if (k == 0 || value.r < node.real_low)
                node.real_low = value.r;
            if (k == 0 || value.r > node.real_high)
                node.real_high = value.r;
        } else {
            const int64_t i = p->type == SHMT_VALUE_INT
                                  ? value.i
                                  : shmt_graph_rank(graph, value.w);

            node.low = i < node.low ? i : node.low;
            node.high = i > node.high ? i : node.high;
        }
    }
    return intern(graph, &node, NULL);
}

struct shmt_value *
shmt_graph_first_values(const struct shmt_space_definition *definition)
{
    const size_t fixed = definition->fixed_count;
    struct shmt_value *values =
        malloc((fixed + definition->parameter_count + 1) * sizeof *values);

    if (values == NULL)
        return NULL;
    for (size_t k = 0; k < fixed; k++)
        values[k] = definition->fixed[k];
    for (size_t p = 0; p < definition->parameter_count; p++)
        values[fixed + p] = definition->parameters[p].values[0];
    return values;
}

/* A constraint that no parameter of several values occurs in. */
static uint32_t settle(struct shmt_graph *graph, const struct shmt_expr *expr)
{
    struct shmt_value *values = shmt_graph_first_values(graph->definition);
    enum shmtune_status status;
    bool truth = false;

    if (values == NULL)
        return fail(graph);
    status = shmt_expr_eval_bool(expr, values, &truth, NULL);
    free(values);
    return status == SHMTUNE_OK ? shmt_graph_int(graph, truth)
                                : add_fault(graph, SHMT_VALUE_INT);
}

uint32_t shmt_graph_opaque(struct shmt_graph *graph,
                           const struct shmt_expr *expr)
{
    const struct shmt_space_definition *const d = graph->definition;
    uint32_t kids[SHMT_SPACE_PARAMETERS];
    struct shmt_graph_node node = {.op = SHMT_GRAPH_OPAQUE,
                                   .type = SHMT_VALUE_INT, .expr = expr};

    for (size_t p = 0; p < d->parameter_count; p++)
        if (d->parameters[p].count > 1 &&
            shmt_expr_uses(expr, d->fixed_count + p))
            kids[node.count++] = shmt_graph_parameter(graph, (uint32_t)p);
    if (node.count == 0)
        return settle(graph, expr);
    return intern(graph, &node, kids);
}

bool shmt_graph_is_constant(const struct shmt_graph *graph, uint32_t node)
{
    return graph->nodes[node].op == SHMT_OP_CONST;
}

struct shmt_value shmt_graph_box(const struct shmt_graph *graph,
                                 enum shmt_value_type type,
                                 union shmt_graph_cell cell)
{
    struct shmt_value value = {.type = type, .i = cell.i};

    if (type == SHMT_VALUE_WORD)
        value.w = (uint64_t)cell.i < graph->word_count ? graph->words[cell.i]
                                                       : "";
    return value;
}

/* The value of an operator with constant operands. */
static uint32_t compute(struct shmt_graph *graph,
                        const struct shmt_graph_node *node,
                        const uint32_t *kids)
{
    const struct shmt_graph_node *const nodes = graph->nodes;
    struct shmt_value value =
        shmt_graph_box(graph, nodes[kids[0]].type, nodes[kids[0]].constant);
    enum shmt_arith_fault fault = SHMT_ARITH_FAULT_NONE;

    if (node->op >= SHMT_OP_NEG && node->op <= SHMT_OP_NOT)
        fault = shmt_arith_unary(node->op, &value, &value);
    for (size_t k = 1; k < node->count && fault == SHMT_ARITH_FAULT_NONE; k++) {
        const struct shmt_value other = shmt_graph_box(
            graph, nodes[kids[k]].type, nodes[kids[k]].constant);

        fault = shmt_arith_binary(node->op, &value, &other, &value);
    }
    if (fault != SHMT_ARITH_FAULT_NONE)
        return add_fault(graph, node->type);
    return shmt_graph_value(graph, value);
}

uint32_t shmt_graph_add_node(struct shmt_graph *graph, unsigned op,
                             enum shmt_value_type type, const uint32_t *kids,
                             size_t count)
{
    struct shmt_graph_node node = {.op = (uint8_t)op, .type = (uint8_t)type,
                                   .count = (uint32_t)count};
    const bool strict = op != SHMT_OP_AND && op != SHMT_OP_OR &&
                        op != SHMT_OP_IF;
    bool constant = strict && op < SHMT_OP_COUNT;
    uint32_t id;

    if (graph->failed)
        return 0;
    for (size_t k = 0; k < count; k++) {
        if ((strict || k == 0) &&
            graph->nodes[kids[k]].op == SHMT_GRAPH_FAULT)
            return add_fault(graph, type);
        constant &= shmt_graph_is_constant(graph, kids[k]);
    }
    if (constant)
        return compute(graph, &node, kids);
    id = intern(graph, &node, kids);
    if (graph->failed || graph->nodes[id].fails || type == SHMT_VALUE_REAL ||
        graph->nodes[id].low != graph->nodes[id].high)
        return id;
    if (type == SHMT_VALUE_INT)
        return shmt_graph_int(graph, graph->nodes[id].low);
    return id;
}

static int by_characters(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add_word(struct shmt_graph *graph, struct shmt_value value,
                     size_t *room)
{
    if (value.type != SHMT_VALUE_WORD)
        return true;
    if (!shmt_array_reserve(&graph->words, room, graph->word_count + 1,
                            sizeof *graph->words))
        return false;
    graph->words[graph->word_count++] = value.w;
    return true;
}

static bool add_words(struct shmt_graph *graph, const struct shmt_expr *expr,
                      size_t *room)
{
    bool done = true;

    for (size_t k = 0; done && k < expr->node_count; k++) {
        const struct shmt_expr_node *node = &expr->nodes[k];

        if (node->op == SHMT_OP_CONST)
            done = add_word(graph, node->constant, room);
        else if (node->op == SHMT_EXPR_NODE_DERIVED)
            done = add_words(graph, expr->derived[node->derived].expr, room);
    }
    return done;
}

static bool collect_words(struct shmt_graph *graph, size_t constraints)
{
    const struct shmt_space_definition *const d = graph->definition;
    const struct shmt_value empty = {.type = SHMT_VALUE_WORD, .w = ""};
    size_t room = 0, kept = 1;

    if (!add_word(graph, empty, &room))
        return false;
    for (size_t k = 0; k < d->fixed_count; k++)
        if (!add_word(graph, d->fixed[k], &room))
            return false;
    for (size_t p = 0; p < d->parameter_count; p++)
        for (size_t k = 0; k < d->parameters[p].count; k++)
            if (!add_word(graph, d->parameters[p].values[k], &room))
                return false;
    for (size_t c = 0; c < constraints; c++)
        if (!add_words(graph, d->constraints[c], &room))
            return false;
    qsort(graph->words, graph->word_count, sizeof *graph->words,
          by_characters);
    for (size_t k = 1; k < graph->word_count; k++)
        if (strcmp(graph->words[kept - 1], graph->words[k]) != 0)
            graph->words[kept++] = graph->words[k];
    graph->word_count = kept;
    return true;
}

uint32_t shmt_graph_rank(const struct shmt_graph *graph, const char *word)
{
    const char **const found =
        bsearch(&word, graph->words, graph->word_count, sizeof *graph->words,
                by_characters);

    return found == NULL ? UINT32_MAX : (uint32_t)(found - graph->words);
}

enum shmtune_status
shmt_graph_build(struct shmt_graph *graph,
                 const struct shmt_space_definition *definition,
                 size_t constraints, struct shmt_error *err)
{
    graph->definition = definition;
    if (!collect_words(graph, constraints)) {
        shmt_graph_free(graph);
        return shmt_error_memory(err);
    }
    for (size_t c = 0; c < constraints && !graph->failed; c++) {
        graph->source = (uint32_t)c;
        shmt_graph_add_constraint(graph, definition->constraints[c]);
    }
    if (!graph->failed)
        return SHMTUNE_OK;
    if (graph->node_count >= SHMT_GRAPH_NODES)
        shmt_error_set(err, SHMTUNE_INVALID_FILE,
                       "the constraints have more than %d different "
                       "sub-expressions", SHMT_GRAPH_NODES);
    else
        shmt_error_memory(err);
    shmt_graph_free(graph);
    return err == NULL ? SHMTUNE_NO_MEMORY : err->status;
}

void shmt_graph_free(struct shmt_graph *graph)
{
    free(graph->nodes);
    free(graph->kids);
    shmt_map_free(&graph->places);
    free(graph->words);
    free(graph->conjuncts);
    free(graph->sources);
    *graph = (struct shmt_graph){0};
}
