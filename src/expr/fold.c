/* SPDX-License-Identifier: MIT */
/*
 * fold: the expression that is left when what bounds decide of it has been
 * put in (bounds.c).  Called by runtime/, when a tuning is opened.
 */
#include <string.h>

#include "expr/tree.h"

enum { MOST_NODES = 96, MOST_KIDS = 192 };

struct fold {
    struct shmt_expr_bounding *state;
    struct shmt_expr_node nodes[MOST_NODES];
    uint32_t kids[MOST_KIDS];
    size_t node_count, kid_count;
    bool full;
};

static uint32_t fold_node(struct fold *fold, const struct shmt_expr *expr,
                          uint32_t number);

static uint32_t put(struct fold *fold, const struct shmt_expr_node *node)
{
    if (fold->node_count == MOST_NODES) {
        fold->full = true;
        return 0;
    }
    fold->nodes[fold->node_count] = *node;
    return (uint32_t)fold->node_count++;
}

static bool is_logic(const struct shmt_expr_node *node)
{
    return node->op == SHMT_OP_AND || node->op == SHMT_OP_OR;
}

/* Whether an operand of `and` or `or`, or a comparison of a chain, decides
 * nothing: what stands behind it does. */
static bool is_idle(struct fold *fold, const struct shmt_expr *expr,
                    const struct shmt_expr_node *node, size_t k)
{
    struct shmt_expr_bound one;

    if (!is_logic(node) || k + 1 == node->count)
        return false;
    one = shmt_expr_bound_node(expr, expr->kids[node->first + k],
                               fold->state);
    return shmt_expr_bound_truth(&one) == (node->op == SHMT_OP_AND);
}

static uint32_t fold_operands(struct fold *fold, const struct shmt_expr *expr,
                              const struct shmt_expr_node *node)
{
    struct shmt_expr_node out = *node;
    uint32_t made[16];
    uint32_t count = 0;

    for (size_t k = 0; k < node->count && !fold->full; k++) {
        if (is_idle(fold, expr, node, k))
            continue;
        if (count == sizeof made / sizeof made[0]) {
            fold->full = true;
            break;
        }
        made[count++] = fold_node(fold, expr, expr->kids[node->first + k]);
    }
    if (is_logic(node) && count == 1)
        return made[0];
    if (fold->kid_count + count > MOST_KIDS)
        fold->full = true;
    if (fold->full)
        return 0;
    out.first = (uint32_t)fold->kid_count;
    out.count = count;
    memcpy(fold->kids + fold->kid_count, made, count * sizeof *made);
    fold->kid_count += count;
    return put(fold, &out);
}

static uint32_t fold_node(struct fold *fold, const struct shmt_expr *expr,
                          uint32_t number)
{
    const struct shmt_expr_node *const node = &expr->nodes[number];
    const struct shmt_expr_bound bound =
        shmt_expr_bound_node(expr, number, fold->state);
    struct shmt_expr_node leaf = *node;

    if (fold->full)
        return 0;
    if (bound.kind == SHMT_EXPR_EXACT) {
        leaf.op = SHMT_OP_CONST;
        leaf.first = leaf.count = 0;
        leaf.constant = bound.value;
        return put(fold, &leaf);
    }
    if (node->op == SHMT_OP_SYMBOL)
        return put(fold, &leaf);
    if (node->op == SHMT_EXPR_NODE_DERIVED) {
        const struct shmt_expr *const of = expr->derived[node->derived].expr;

        return fold_node(fold, of, of->root);
    }
    if (node->op == SHMT_OP_IF) {
        const struct shmt_expr_bound condition = shmt_expr_bound_node(
            expr, expr->kids[node->first], fold->state);
        const int truth = shmt_expr_bound_truth(&condition);

        if (truth >= 0)
            return fold_node(fold, expr,
                             expr->kids[node->first + (truth ? 1 : 2)]);
    }
    return fold_operands(fold, expr, node);
}

/* At most: every node is a step and a constant. */
static size_t bytes_of(const struct fold *fold, size_t symbols)
{
    return sizeof(struct shmt_expr) + (symbols / 64 + 1) * sizeof(uint64_t) +
           (fold->node_count + 1) * (2 * sizeof(struct shmt_expr_step) +
                                     sizeof(struct shmt_value));
}

/* One bit a symbol that is left. */
static uint64_t *used_by(const struct fold *fold, struct shmt_arena *arena,
                         size_t symbols)
{
    uint64_t *const out = shmt_arena_alloc(arena, symbols / 64 + 1,
                                           sizeof *out);

    for (size_t k = 0; out != NULL && k < fold->node_count; k++)
        if (fold->nodes[k].op == SHMT_OP_SYMBOL)
            out[fold->nodes[k].symbol / 64] |=
                UINT64_C(1) << fold->nodes[k].symbol % 64;
    return out;
}

bool shmt_expr_fold(struct shmt_arena *arena, const struct shmt_expr *expr,
                    struct shmt_expr_bounding *state, size_t *room,
                    const struct shmt_expr **out)
{
    struct fold fold = {.state = state};
    const uint32_t root = fold_node(&fold, expr, expr->root);
    const size_t bytes = bytes_of(&fold, expr->symbol_count);
    struct shmt_expr *folded;
    enum shmtune_status status;

    *out = NULL;
    if (fold.full || state->visits >= SHMT_EXPR_VISITS || bytes > *room)
        return true;
    folded = shmt_arena_alloc(arena, 1, sizeof *folded);
    if (folded == NULL ||
        (folded->used = used_by(&fold, arena, expr->symbol_count)) == NULL)
        return false;
    folded->text = expr->text;
    folded->place = expr->place;
    folded->symbol_count = expr->symbol_count;
    folded->root = root;
    folded->node_count = fold.node_count;
    folded->nodes = fold.nodes;
    folded->kids = fold.kids;
    status = shmt_expr_compile_tree(arena, folded, NULL);
    folded->node_count = 0;
    folded->nodes = NULL;
    folded->kids = NULL;
    *room -= bytes;
    if (status == SHMTUNE_OK)
        *out = folded;
    return status != SHMTUNE_NO_MEMORY;
}
