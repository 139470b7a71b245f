/* SPDX-License-Identifier: MIT */
/*
 * bounds: what an expression can come to while its symbols stay within bounds
 * (interval arithmetic, after Moore; of remainders, which of them there are).
 * Called by runtime/, which proves once, when a tuning is opened, what it then
 * need not check at each selection, and by fold.c.
 *
 * Sound, not exact: a range may be wider than what is reached, and what cannot
 * be told is ANY, which may also fail.
 */
#include <string.h>

#include "expr/tree.h"

/* Divisors whose remainders are told apart, one bit each. */
enum { MOST_DIVISOR = 64 };

struct visit {
    const struct shmt_expr *expr;
    struct shmt_expr_bounding *state;
};

static const struct shmt_expr_bound any = {.kind = SHMT_EXPR_ANY};

static struct shmt_expr_bound bound_of(const struct visit *visit,
                                       uint32_t number);

struct shmt_expr_bound shmt_expr_bound_value(struct shmt_value value)
{
    struct shmt_expr_bound out = {.kind = SHMT_EXPR_EXACT, .value = value};

    if (value.type == SHMT_VALUE_INT)
        out.low = out.high = value.i;
    return out;
}

struct shmt_expr_bound shmt_expr_bound_range(int64_t low, int64_t high)
{
    const struct shmt_value value = {.type = SHMT_VALUE_INT, .i = low};

    return low == high
               ? shmt_expr_bound_value(value)
               : (struct shmt_expr_bound){.kind = SHMT_EXPR_RANGE,
                                          .low = low, .high = high};
}

static bool is_int(const struct shmt_expr_bound *bound)
{
    return bound->kind == SHMT_EXPR_RANGE ||
           (bound->kind == SHMT_EXPR_EXACT &&
            bound->value.type == SHMT_VALUE_INT);
}

/* 1, 0, or -1: it depends. */
static int truth_of(const struct shmt_expr_bound *bound)
{
    if (bound->kind == SHMT_EXPR_EXACT)
        return shmt_arith_truth(&bound->value);
    return bound->kind == SHMT_EXPR_RANGE &&
                   (bound->low > 0 || bound->high < 0)
               ? 1 : -1;
}

static struct shmt_expr_bound hull(const struct shmt_expr_bound *a,
                                   const struct shmt_expr_bound *b)
{
    if (!is_int(a) || !is_int(b))
        return any;
    return shmt_expr_bound_range(a->low < b->low ? a->low : b->low,
                                 a->high > b->high ? a->high : b->high);
}

/* The hull of what an operator that is monotonic in each operand gives at
 * their four corners. */
static struct shmt_expr_bound corners(enum shmt_op op,
                                      const struct shmt_expr_bound *a,
                                      const struct shmt_expr_bound *b)
{
    const int64_t x[2] = {a->low, a->high}, y[2] = {b->low, b->high};
    int64_t low = INT64_MAX, high = INT64_MIN, one;

    for (int k = 0; k < 4; k++) {
        if (shmt_arith_int(op, x[k / 2], y[k % 2], &one) !=
            SHMT_ARITH_FAULT_NONE)
            return any;
        low = one < low ? one : low;
        high = one > high ? one : high;
    }
    return shmt_expr_bound_range(low, high);
}

static struct shmt_expr_bound modulo(const struct shmt_expr_bound *a,
                                     const struct shmt_expr_bound *b)
{
    if (b->low <= 0)
        return any;
    if (a->low >= 0 && a->high < b->low)
        return *a;
    return shmt_expr_bound_range(
        0, a->low >= 0 && a->high < b->high - 1 ? a->high : b->high - 1);
}

/* From a.low up to the next multiple of the largest. */
static struct shmt_expr_bound round_up(const struct shmt_expr_bound *a,
                                       const struct shmt_expr_bound *b)
{
    int64_t high;

    if (b->low <= 0 || __builtin_add_overflow(a->high, b->high - 1, &high))
        return any;
    return b->low == b->high ? corners(SHMT_OP_ROUNDUP, a, b)
                             : shmt_expr_bound_range(a->low, high);
}

static struct shmt_expr_bound compare(enum shmt_op op,
                                      const struct shmt_expr_bound *a,
                                      const struct shmt_expr_bound *b)
{
    const bool less = a->high < b->low, more = a->low > b->high;
    const bool not_more = a->high <= b->low, not_less = a->low >= b->high;
    bool yes = false, no = false;

    switch (op) {
    case SHMT_OP_LT: yes = less; no = not_less; break;
    case SHMT_OP_LE: yes = not_more; no = more; break;
    case SHMT_OP_GT: yes = more; no = not_more; break;
    case SHMT_OP_GE: yes = not_less; no = less; break;
    case SHMT_OP_EQ: no = less || more; break;
    default: yes = less || more; break;
    }
    return shmt_expr_bound_range(yes, !no);
}

static struct shmt_expr_bound binary(enum shmt_op op,
                                     const struct shmt_expr_bound *a,
                                     const struct shmt_expr_bound *b)
{
    struct shmt_value value;

    if (a->kind == SHMT_EXPR_EXACT && b->kind == SHMT_EXPR_EXACT)
        return shmt_arith_binary(op, &a->value, &b->value, &value) ==
                       SHMT_ARITH_FAULT_NONE
                   ? shmt_expr_bound_value(value) : any;
    if (!is_int(a) || !is_int(b))
        return any;
    switch (op) {
    case SHMT_OP_ADD:
    case SHMT_OP_SUB:
    case SHMT_OP_MUL:
    case SHMT_OP_MIN:
    case SHMT_OP_MAX:
        return corners(op, a, b);
    case SHMT_OP_FLOOR:
    case SHMT_OP_CEILDIV:
        return b->low > 0 ? corners(op, a, b) : any;
    case SHMT_OP_MOD:
        return modulo(a, b);
    case SHMT_OP_ROUNDUP:
        return round_up(a, b);
    case SHMT_OP_EQ: case SHMT_OP_NE: case SHMT_OP_LT: case SHMT_OP_LE:
    case SHMT_OP_GT: case SHMT_OP_GE:
        return compare(op, a, b);
    default:
        return any;
    }
}

static struct shmt_expr_bound unary(enum shmt_op op,
                                    const struct shmt_expr_bound *a)
{
    struct shmt_value value;
    const int truth = truth_of(a);

    if (a->kind == SHMT_EXPR_EXACT)
        return shmt_arith_unary(op, &a->value, &value) ==
                       SHMT_ARITH_FAULT_NONE
                   ? shmt_expr_bound_value(value) : any;
    if (op == SHMT_OP_NOT && a->kind == SHMT_EXPR_RANGE)
        return shmt_expr_bound_range(truth == 0, truth != 1);
    if (a->kind != SHMT_EXPR_RANGE ||
        (op != SHMT_OP_POS && op != SHMT_OP_INT &&
         !(op == SHMT_OP_ABS && a->low >= 0)))
        return any;
    return *a;
}

static struct shmt_expr_bound kid(const struct visit *visit,
                                  const struct shmt_expr_node *node, size_t k)
{
    return bound_of(visit, visit->expr->kids[node->first + k]);
}

/* `and` gives the first operand that is false, `or` the first that is true,
 * else the last. */
static struct shmt_expr_bound logic(const struct visit *visit,
                                    const struct shmt_expr_node *node)
{
    const int ends = node->op == SHMT_OP_OR;
    struct shmt_expr_bound out = any, one;
    bool begun = false;

    for (size_t k = 0; k < node->count; k++) {
        const bool last = k + 1 == node->count;
        int truth;

        one = kid(visit, node, k);
        truth = truth_of(&one);
        if (one.kind == SHMT_EXPR_ANY)
            return any;
        if (truth == !ends && !last)
            continue;
        if (truth < 0 && !last) {
            if (!ends)
                one = shmt_expr_bound_range(0, 0);
            else if (one.low == 0)
                one.low = 1;
            else if (one.high == 0)
                one.high = -1;
        }
        out = begun ? hull(&out, &one) : one;
        begun = true;
        if (truth == ends)
            break;
    }
    return out;
}

static struct shmt_expr_bound chain(const struct visit *visit,
                                    const struct shmt_expr_node *node)
{
    int all = 1;

    for (size_t k = 0; k < node->count; k++) {
        const struct shmt_expr_bound one = kid(visit, node, k);
        const int truth = truth_of(&one);

        if (one.kind == SHMT_EXPR_ANY)
            return any;
        if (truth == 0)
            return shmt_expr_bound_range(0, 0);
        if (truth < 0)
            all = -1;
    }
    return shmt_expr_bound_range(all == 1, 1);
}

static struct shmt_expr_bound conditional(const struct visit *visit,
                                          const struct shmt_expr_node *node)
{
    const struct shmt_expr_bound condition = kid(visit, node, 0);
    const int truth = truth_of(&condition);
    struct shmt_expr_bound yes, no;

    if (condition.kind == SHMT_EXPR_ANY)
        return any;
    if (truth >= 0)
        return kid(visit, node, truth ? 1 : 2);
    yes = kid(visit, node, 1);
    no = kid(visit, node, 2);
    return hull(&yes, &no);
}

static struct shmt_expr_bound member(const struct visit *visit,
                                     const struct shmt_expr_node *node)
{
    const bool is = node->op == SHMT_OP_IN;
    const struct shmt_expr_bound sought = kid(visit, node, 0);
    int found = 0;

    for (size_t k = 1; k < node->count; k++) {
        const struct shmt_expr_bound one = kid(visit, node, k);
        const struct shmt_expr_bound same =
            binary(SHMT_OP_EQ, &sought, &one);
        const int truth = truth_of(&same);

        if (same.kind == SHMT_EXPR_ANY)
            return any;
        if (found != 1 && truth != 0)
            found = truth;
    }
    return found < 0 ? shmt_expr_bound_range(0, 1)
                     : shmt_expr_bound_range(found == is, found == is);
}

static struct shmt_expr_bound derived(const struct visit *visit, size_t k)
{
    struct shmt_expr_bounding *const state = visit->state;
    const struct visit in = {visit->expr->derived[k].expr, state};

    if ((state->known >> k & 1) == 0)
        state->derived[k] = bound_of(&in, in.expr->root);
    state->known |= UINT64_C(1) << k;
    return state->derived[k];
}

/* -- remainders ----------------------------------------------------------- */

/* Which remainders by `divisor` what is in the bounds can leave: bit r for the
 * remainder r. */
static uint64_t remainders_between(const struct shmt_expr_bound *bound,
                                   int64_t divisor)
{
    const uint64_t all = UINT64_MAX >> (MOST_DIVISOR - divisor);
    int64_t last;
    uint64_t out = 0;

    if (!is_int(bound) ||
        __builtin_add_overflow(bound->low, divisor - 1, &last) ||
        last <= bound->high)
        return all;
    for (int64_t k = bound->low; k <= bound->high; k++)
        out |= UINT64_C(1) << shmt_arith_mod(k, divisor);
    return out;
}

/* The remainders of sums, differences or products of what leaves the
 * remainders `a` and `b`. */
static uint64_t combine(enum shmt_op op, uint64_t a, uint64_t b,
                        int64_t divisor)
{
    uint64_t out = 0;

    for (int64_t x = 0; x < divisor; x++)
        for (int64_t y = 0; (a >> x & 1) != 0 && y < divisor; y++) {
            const int64_t value = op == SHMT_OP_ADD   ? x + y
                                  : op == SHMT_OP_SUB ? x - y : x * y;

            if ((b >> y & 1) != 0)
                out |= UINT64_C(1) << shmt_arith_mod(value, divisor);
        }
    return out;
}

static uint64_t remainders(const struct visit *visit, uint32_t number,
                           int64_t divisor);

/* Of a node whose bounds are a range, so that no operand fails. */
static uint64_t remainders_of(const struct visit *visit,
                              const struct shmt_expr_node *node,
                              int64_t divisor)
{
    const uint32_t *const kids = visit->expr->kids + node->first;
    uint64_t out = 0;
    uint64_t one;

    if (node->op == SHMT_OP_IF) {
        const struct shmt_expr_bound condition = kid(visit, node, 0);
        const int truth = truth_of(&condition);

        if (truth != 0)
            out = remainders(visit, kids[1], divisor);
        return truth == 1 ? out : out | remainders(visit, kids[2], divisor);
    }
    out = remainders(visit, kids[0], divisor);
    for (size_t k = 1; k < node->count; k++) {
        one = remainders(visit, kids[k], divisor);
        out = node->op == SHMT_OP_MIN || node->op == SHMT_OP_MAX
                  ? out | one
                  : combine((enum shmt_op)node->op, out, one, divisor);
    }
    return out;
}

/* What is told by the bounds, and by what the node is made of. */
static uint64_t remainders(const struct visit *visit, uint32_t number,
                           int64_t divisor)
{
    const struct shmt_expr_node *const node = &visit->expr->nodes[number];
    const struct shmt_expr_bound bound = bound_of(visit, number);
    const uint64_t between = remainders_between(&bound, divisor);
    struct visit in;

    if (bound.kind != SHMT_EXPR_RANGE)
        return between;
    switch (node->op) {
    case SHMT_EXPR_NODE_DERIVED:
        in = (struct visit){visit->expr->derived[node->derived].expr,
                            visit->state};
        return between & remainders(&in, in.expr->root, divisor);
    case SHMT_OP_ADD: case SHMT_OP_SUB: case SHMT_OP_MUL:
    case SHMT_OP_MIN: case SHMT_OP_MAX: case SHMT_OP_IF:
        return between & remainders_of(visit, node, divisor);
    default:
        return between;
    }
}

/* What is known of a remainder by an interval, and by what it is of: the last
 * digit of 10 * x + 3 is 3. */
static struct shmt_expr_bound narrow_modulo(const struct visit *visit,
                                            const struct shmt_expr_node *node,
                                            const struct shmt_expr_bound *by,
                                            struct shmt_expr_bound bound)
{
    uint64_t left;

    if (bound.kind != SHMT_EXPR_RANGE || by->kind != SHMT_EXPR_EXACT ||
        by->low < 2 || by->low > MOST_DIVISOR)
        return bound;
    left = remainders(visit, visit->expr->kids[node->first], by->low);
    if (visit->state->visits >= SHMT_EXPR_VISITS || left == 0)
        return bound;
    return shmt_expr_bound_range(__builtin_ctzll(left),
                                 63 - __builtin_clzll(left));
}

static struct shmt_expr_bound bound_of(const struct visit *visit,
                                       uint32_t number)
{
    const struct shmt_expr_node *const node = &visit->expr->nodes[number];
    struct shmt_expr_bound out, next;

    if (visit->state->visits++ >= SHMT_EXPR_VISITS)
        return any;
    switch (node->op) {
    case SHMT_OP_CONST:
        return shmt_expr_bound_value(node->constant);
    case SHMT_OP_SYMBOL:
        return visit->state->symbols[node->symbol];
    case SHMT_EXPR_NODE_DERIVED:
        return derived(visit, node->derived);
    case SHMT_OP_AND:
    case SHMT_OP_OR:
        return logic(visit, node);
    case SHMT_OP_CHAIN:
        return chain(visit, node);
    case SHMT_OP_IF:
        return conditional(visit, node);
    case SHMT_OP_IN:
    case SHMT_OP_NOT_IN:
        return member(visit, node);
    default:
        break;
    }
    out = kid(visit, node, 0);
    if (node->count == 1)
        return unary((enum shmt_op)node->op, &out);
    for (size_t k = 1; k < node->count; k++) {
        next = kid(visit, node, k);
        out = binary((enum shmt_op)node->op, &out, &next);
    }
    return node->op == SHMT_OP_MOD ? narrow_modulo(visit, node, &next, out)
                                   : out;
}

void shmt_expr_bounding_begin(struct shmt_expr_bounding *state,
                              const struct shmt_expr_bound *symbols)
{
    state->symbols = symbols;
    state->known = 0;
    state->visits = 0;
}

struct shmt_expr_bound shmt_expr_bounds(const struct shmt_expr *expr,
                                        struct shmt_expr_bounding *state)
{
    const struct visit visit = {expr, state};

    return bound_of(&visit, expr->root);
}

struct shmt_expr_bound shmt_expr_bound_node(const struct shmt_expr *expr,
                                            uint32_t number,
                                            struct shmt_expr_bounding *state)
{
    const struct visit visit = {expr, state};

    return bound_of(&visit, number);
}

int shmt_expr_bound_truth(const struct shmt_expr_bound *bound)
{
    return truth_of(bound);
}

/* Narrows a range by `is op number`; false: nothing is left of it. */
static bool narrow(enum shmt_op op, int64_t number,
                   struct shmt_expr_bound *range)
{
    int64_t low = range->low, high = range->high;

    if ((op == SHMT_OP_GT && number == INT64_MAX) ||
        (op == SHMT_OP_LT && number == INT64_MIN))
        return false;
    if (op == SHMT_OP_GT || op == SHMT_OP_GE || op == SHMT_OP_EQ) {
        const int64_t least = number + (op == SHMT_OP_GT);

        low = least > low ? least : low;
    }
    if (op == SHMT_OP_LT || op == SHMT_OP_LE || op == SHMT_OP_EQ) {
        const int64_t most = number - (op == SHMT_OP_LT);

        high = most < high ? most : high;
    }
    if (low > high)
        return false;
    *range = shmt_expr_bound_range(low, high);
    return true;
}

int shmt_expr_assume(const struct shmt_expr *expr, size_t k,
                     struct shmt_expr_bounding *state)
{
    const struct visit visit = {expr, state};
    const struct shmt_expr_node *node = &expr->nodes[expr->root];
    const struct shmt_expr_node *left;
    struct shmt_expr_bound whole, right;

    if (k >= (node->op == SHMT_OP_OR ? node->count : 1))
        return -1;
    if (node->op == SHMT_OP_OR)
        node = &expr->nodes[expr->kids[node->first + k]];
    if (node->op == SHMT_OP_CHAIN && node->count == 1)
        node = &expr->nodes[expr->kids[node->first]];
    whole = bound_of(&visit, (uint32_t)(node - expr->nodes));
    if (truth_of(&whole) == 0)
        return 0;
    if (node->op < SHMT_OP_EQ || node->op > SHMT_OP_GE)
        return 1;
    left = &expr->nodes[expr->kids[node->first]];
    right = kid(&visit, node, 1);
    if (left->op != SHMT_EXPR_NODE_DERIVED ||
        right.kind != SHMT_EXPR_EXACT || !is_int(&right))
        return 1;
    whole = derived(&visit, left->derived);
    if (whole.kind != SHMT_EXPR_RANGE)
        return 1;
    return narrow((enum shmt_op)node->op, right.low,
                  &state->derived[left->derived]);
}
