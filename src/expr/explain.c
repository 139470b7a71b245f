/* SPDX-License-Identifier: MIT */
/*
 * explain: why an expression is false: the comparison that fails, with
 * the values of its sides.  For messages; each side is a program of its own.
 */
#include "expr/expr.h"

#include "expr/tree.h"

enum { SHOWN = 4 };     /* of several comparisons or elements */

struct explanation {
    struct shmt_arena *arena;
    const struct shmt_expr *expr;
    const struct shmt_value *values;
    struct shmt_text *out;
};

static const struct shmt_expr_node *
node_at(const struct explanation *explanation, uint32_t number)
{
    return &explanation->expr->nodes[number];
}

static uint32_t kid_of(const struct explanation *explanation,
                       const struct shmt_expr_node *node, size_t k)
{
    return explanation->expr->kids[node->first + k];
}

/* The same in the tree of a derived name. */
static struct explanation within(const struct explanation *explanation,
                                 const struct shmt_expr_node *mention)
{
    struct explanation inner = *explanation;

    inner.expr = explanation->expr->derived[mention->derived].expr;
    return inner;
}

/* The whole expression was evaluated before without a fault, so its parts have
 * values. */
static bool value_of(const struct explanation *explanation, uint32_t number,
                     struct shmt_value *out)
{
    struct shmt_expr part = *explanation->expr;

    part.root = number;
    return shmt_expr_compile_tree(explanation->arena, &part, NULL) ==
        SHMTUNE_OK &&
           shmt_expr_eval(&part, explanation->values, out, NULL) ==
               SHMTUNE_OK;
}

static bool is_true(const struct explanation *explanation, uint32_t number)
{
    struct shmt_value value;

    return value_of(explanation, number, &value) && shmt_arith_truth(&value);
}

static void add_value(const struct explanation *explanation, uint32_t number)
{
    struct shmt_value value;
    char text[SHMT_EXPR_SHOWN];

    if (value_of(explanation, number, &value)) {
        shmt_expr_put_value(value, text);
        shmt_text_add(explanation->out, text);
    } else {
        shmt_text_add(explanation->out, "?");
    }
}

static bool compares(const struct shmt_expr_node *node)
{
    return (node->op >= SHMT_OP_EQ && node->op <= SHMT_OP_GE) ||
           node->op == SHMT_OP_IN || node->op == SHMT_OP_NOT_IN;
}

static void add_comparison(const struct explanation *explanation,
                           const struct shmt_expr_node *node)
{
    const bool list = node->op == SHMT_OP_IN || node->op == SHMT_OP_NOT_IN;

    add_value(explanation, kid_of(explanation, node, 0));
    shmt_text_addf(explanation->out, " %s %s", shmt_arith_spelling(node->op),
                   list ? "[" : "");
    for (size_t k = 1; k < node->count; k++) {
        shmt_text_add(explanation->out, k == 1 ? "" : ", ");
        if (k > SHOWN) {
            shmt_text_add(explanation->out, "...");
            break;
        }
        add_value(explanation, kid_of(explanation, node, k));
    }
    shmt_text_add(explanation->out, list ? "]" : "");
}

static void add_false(const struct explanation *explanation, uint32_t number);

/* None of them holds. */
static void add_each(const struct explanation *explanation,
                     const struct shmt_expr_node *node)
{
    for (size_t k = 0; k < node->count; k++) {
        shmt_text_add(explanation->out, k == 0 ? "" : " or ");
        if (k == SHOWN) {
            shmt_text_add(explanation->out, "...");
            return;
        }
        add_false(explanation, kid_of(explanation, node, k));
    }
}

/* Explains the first operand that is false: the later ones were not
 * evaluated. */
static void add_first(const struct explanation *explanation,
                      const struct shmt_expr_node *node)
{
    size_t k = 0;

    while (k + 1 < node->count &&
           is_true(explanation, kid_of(explanation, node, k)))
        k++;
    add_false(explanation, kid_of(explanation, node, k));
}

static void add_not(const struct explanation *explanation, uint32_t operand)
{
    const struct shmt_expr_node *const node = node_at(explanation, operand);

    if (node->op == SHMT_EXPR_NODE_DERIVED) {
        const struct explanation inner = within(explanation, node);

        add_not(&inner, inner.expr->root);
        return;
    }
    shmt_text_add(explanation->out, "not ");
    if (!compares(node)) {
        add_value(explanation, operand);
        return;
    }
    shmt_text_add(explanation->out, "(");
    add_comparison(explanation, node);
    shmt_text_add(explanation->out, ")");
}

/* `number` is false. */
static void add_false(const struct explanation *explanation, uint32_t number)
{
    const struct shmt_expr_node *const node = node_at(explanation, number);

    if (node->op == SHMT_EXPR_NODE_DERIVED) {
        const struct explanation inner = within(explanation, node);

        add_false(&inner, inner.expr->root);
    } else if (compares(node))
        add_comparison(explanation, node);
    else if (node->op == SHMT_OP_OR)
        add_each(explanation, node);
    else if (node->op == SHMT_OP_AND || node->op == SHMT_OP_CHAIN)
        add_first(explanation, node);
    else if (node->op == SHMT_OP_IF)
        add_false(explanation,
                  kid_of(explanation, node,
                         is_true(explanation, kid_of(explanation, node, 0))
                             ? 1 : 2));
    else if (node->op == SHMT_OP_NOT)
        add_not(explanation, kid_of(explanation, node, 0));
    else
        add_value(explanation, number);
}

void shmt_expr_explain(const struct shmt_expr *expr,
                       const struct shmt_value *values,
                       struct shmt_text *out)
{
    const struct explanation explanation = {shmt_arena_new(), expr, values,
                                            out};
    char named[SHMT_EXPR_NAMED];

    if (explanation.arena == NULL) {
        out->failed = true;
        return;
    }
    add_false(&explanation, expr->root);
    shmt_expr_put_values(expr, values, named);
    shmt_text_addf(out, " is false%s", named);
    shmt_arena_free(explanation.arena);
}
