/* SPDX-License-Identifier: MIT */
/*
 * write_c: an expression as one of C.  Integers are 64 bits wide there too,
 * and their operators are calls of small functions, which the program that the
 * text is for has to have: they do what arith.c does, and note what has no
 * value.  Called by exchange/.
 */
#include "expr/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/tree.h"

enum { LONGEST = 32 << 10 };    /* bytes of one expression */

struct writer {
    const struct shmt_expr *expr;
    const struct shmt_expr_c *form;
    struct shmt_text *text;
    size_t start;
    bool failed;                /* C has no such expression */
};

static void write_integer(struct writer *writer, uint32_t number);
static void write_real(struct writer *writer, uint32_t number);

static const struct shmt_expr_node *node_at(const struct writer *writer,
                                            uint32_t number)
{
    return &writer->expr->nodes[number];
}

static uint32_t kid_of(const struct writer *writer,
                       const struct shmt_expr_node *node, size_t k)
{
    return writer->expr->kids[node->first + k];
}

static void add(struct writer *writer, const char *piece)
{
    if (writer->text->length - writer->start > LONGEST)
        writer->failed = true;
    else
        shmt_text_add(writer->text, piece);
}

/* As a number of its own type, which must be one of the two. */
static bool is_real(struct writer *writer, uint32_t number)
{
    const uint8_t types = node_at(writer, number)->types;

    writer->failed |= (types & SHMT_EXPR_WORD) != 0;
    return types != SHMT_EXPR_INT;
}

static void write_number(struct writer *writer, uint32_t number)
{
    if (is_real(writer, number))
        write_real(writer, number);
    else
        write_integer(writer, number);
}

static void write_truth(struct writer *writer, uint32_t number);

/* "(a && b)" of truths. */
static void write_logic(struct writer *writer,
                        const struct shmt_expr_node *node, const char *sign)
{
    for (size_t k = 0; k < node->count; k++) {
        add(writer, k == 0 ? "(" : sign);
        write_truth(writer, kid_of(writer, node, k));
    }
    add(writer, ")");
}

/* A symbol that is a word against a constant: their numbers. */
static void write_words(struct writer *writer, uint32_t a, uint32_t b,
                        const char *sign)
{
    const struct shmt_expr_node *left = node_at(writer, a);
    const struct shmt_expr_node *right = node_at(writer, b);
    char digits[32];
    long number;

    if (left->op != SHMT_OP_SYMBOL) {
        left = node_at(writer, b);
        right = node_at(writer, a);
    }
    if (left->op != SHMT_OP_SYMBOL || left->types != SHMT_EXPR_WORD ||
        right->op != SHMT_OP_CONST || right->types != SHMT_EXPR_WORD) {
        writer->failed = true;
        return;
    }
    number = writer->form->number(writer->form->context, left->symbol,
                                  right->constant.w);
    snprintf(digits, sizeof digits, "%ld", number);
    add(writer, "(");
    add(writer, writer->form->symbols[left->symbol]);
    add(writer, sign);
    add(writer, digits);
    add(writer, ")");
}

static void write_compared(struct writer *writer, uint32_t a, uint32_t b,
                           enum shmt_op op)
{
    const uint8_t any = node_at(writer, a)->types | node_at(writer, b)->types;
    char sign[8];

    snprintf(sign, sizeof sign, " %s ", shmt_arith_spelling(op));
    if ((any & SHMT_EXPR_WORD) != 0) {
        writer->failed |= op != SHMT_OP_EQ && op != SHMT_OP_NE;
        write_words(writer, a, b, sign);
        return;
    }
    add(writer, "(");
    if (any == SHMT_EXPR_INT) {
        write_integer(writer, a);
        add(writer, sign);
        write_integer(writer, b);
    } else {
        write_real(writer, a);
        add(writer, sign);
        write_real(writer, b);
    }
    add(writer, ")");
}

/* Is the first operand one of the others? */
static void write_in(struct writer *writer, const struct shmt_expr_node *node,
                     bool in)
{
    if (node->count < 2) {
        add(writer, in ? "0" : "1");
        return;
    }
    for (size_t k = 1; k < node->count; k++) {
        add(writer, k == 1 ? "(" : in ? " || " : " && ");
        write_compared(writer, kid_of(writer, node, 0),
                       kid_of(writer, node, k),
                       in ? SHMT_OP_EQ : SHMT_OP_NE);
    }
    add(writer, ")");
}

/* 0 or 1. */
static void write_truth(struct writer *writer, uint32_t number)
{
    const struct shmt_expr_node *const node = node_at(writer, number);

    if (writer->failed)
        return;
    switch (node->op) {
    case SHMT_OP_EQ: case SHMT_OP_NE: case SHMT_OP_LT: case SHMT_OP_LE:
    case SHMT_OP_GT: case SHMT_OP_GE:
        write_compared(writer, kid_of(writer, node, 0),
                       kid_of(writer, node, 1), node->op);
        return;
    case SHMT_OP_IN: case SHMT_OP_NOT_IN:
        write_in(writer, node, node->op == SHMT_OP_IN);
        return;
    case SHMT_OP_AND: case SHMT_OP_CHAIN:
        write_logic(writer, node, " && ");
        return;
    case SHMT_OP_OR:
        write_logic(writer, node, " || ");
        return;
    case SHMT_OP_NOT:
        add(writer, "!");
        write_truth(writer, kid_of(writer, node, 0));
        return;
    case SHMT_OP_IF:
        add(writer, "(");
        write_truth(writer, kid_of(writer, node, 0));
        add(writer, " ? ");
        write_truth(writer, kid_of(writer, node, 1));
        add(writer, " : ");
        write_truth(writer, kid_of(writer, node, 2));
        add(writer, ")");
        return;
    default:
        add(writer, "(");
        write_number(writer, number);
        add(writer, " != 0)");
    }
}

/* NAME(a, b, bad); of more than two, NAME(a, NAME(b, c, bad), bad). */
static void write_call(struct writer *writer, const char *name,
                       const struct shmt_expr_node *node,
                       void (*write)(struct writer *writer, uint32_t number))
{
    for (size_t k = 0; k < node->count; k++) {
        const bool last = k + 1 == node->count;

        if (!last || node->count == 1) {
            add(writer, name);
            add(writer, "(");
        }
        write(writer, kid_of(writer, node, k));
        add(writer, last ? "" : ", ");
    }
    for (size_t k = 0; k < node->count; k++)
        if (k > 0 || node->count == 1)
            add(writer, ", bad)");
}

static void write_if(struct writer *writer, const struct shmt_expr_node *node,
                     void (*write)(struct writer *writer, uint32_t number))
{
    add(writer, "(");
    write_truth(writer, kid_of(writer, node, 0));
    add(writer, " ? ");
    write(writer, kid_of(writer, node, 1));
    add(writer, " : ");
    write(writer, kid_of(writer, node, 2));
    add(writer, ")");
}

/* `and` and `or` of numbers give an operand: of `and` the first that is 0 or
 * the last, so 0 or the last. */
static void write_operand(struct writer *writer,
                          const struct shmt_expr_node *node,
                          void (*write)(struct writer *writer, uint32_t number))
{
    for (size_t k = 0; k + 1 < node->count; k++) {
        add(writer, "(");
        write_truth(writer, kid_of(writer, node, k));
        add(writer, " ? ");
        if (node->op == SHMT_OP_OR) {
            write(writer, kid_of(writer, node, k));
            add(writer, " : ");
        }
    }
    write(writer, kid_of(writer, node, node->count - 1));
    for (size_t k = 0; k + 1 < node->count; k++)
        add(writer, node->op == SHMT_OP_OR ? ")" : " : 0)");
}

static void write_derived(struct writer *writer,
                          const struct shmt_expr_node *node)
{
    char digits[24];

    writer->failed |= !writer->form->derived[node->derived];
    snprintf(digits, sizeof digits, "%zu", node->derived);
    add(writer, writer->form->calls);
    add(writer, digits);
    add(writer, writer->form->arguments);
}

static void write_constant(struct writer *writer, int64_t constant)
{
    char digits[40];

    snprintf(digits, sizeof digits,
             constant < 0 ? "(%" PRId64 "LL)" : "%" PRId64 "LL", constant);
    add(writer, constant == INT64_MIN ? "(-9223372036854775807LL - 1)"
                                      : digits);
}

/* The functions of two integers, and of one. */
static const char *function_of(enum shmt_op op)
{
    switch (op) {
    case SHMT_OP_ADD: return "shmtuned_add";
    case SHMT_OP_SUB: return "shmtuned_sub";
    case SHMT_OP_MUL: return "shmtuned_mul";
    case SHMT_OP_FLOOR: return "shmtuned_floor";
    case SHMT_OP_MOD: return "shmtuned_mod";
    case SHMT_OP_CEILDIV: return "shmtuned_ceildiv";
    case SHMT_OP_ROUNDUP: return "shmtuned_roundup";
    case SHMT_OP_POW: return "shmtuned_pow";
    case SHMT_OP_MIN: return "shmtuned_min";
    case SHMT_OP_MAX: return "shmtuned_max";
    case SHMT_OP_NEG: return "shmtuned_neg";
    case SHMT_OP_ABS: return "shmtuned_abs";
    default: return NULL;
    }
}

/* The node, of type integer alone. */
static void write_integer(struct writer *writer, uint32_t number)
{
    const struct shmt_expr_node *const node = node_at(writer, number);
    const char *const name = function_of((enum shmt_op)node->op);

    writer->failed |= node->types != SHMT_EXPR_INT;
    if (writer->failed)
        return;
    if (name != NULL) {
        write_call(writer, name, node, write_integer);
        return;
    }
    switch (node->op) {
    case SHMT_OP_CONST:
        write_constant(writer, node->constant.i);
        return;
    case SHMT_OP_SYMBOL:
        add(writer, writer->form->symbols[node->symbol]);
        return;
    case SHMT_EXPR_NODE_DERIVED:
        write_derived(writer, node);
        return;
    case SHMT_OP_POS:
        write_integer(writer, kid_of(writer, node, 0));
        return;
    case SHMT_OP_INT:
        if (!is_real(writer, kid_of(writer, node, 0))) {
            write_integer(writer, kid_of(writer, node, 0));
            return;
        }
        write_call(writer, "shmtuned_whole", node, write_real);
        return;
    case SHMT_OP_IF:
        write_if(writer, node, write_integer);
        return;
    case SHMT_OP_AND: case SHMT_OP_OR:
        write_operand(writer, node, write_integer);
        return;
    default:
        add(writer, "(long long)");
        write_truth(writer, number);
    }
}

static void write_real_constant(struct writer *writer, double constant)
{
    char digits[SHMT_TEXT_REAL];

    writer->failed |= !isfinite(constant);
    shmt_text_put_real(constant, 0, digits);
    add(writer, digits);
    add(writer, strpbrk(digits, ".e") == NULL ? ".0" : "");
}

/* "(a + b)" of reals. */
static void write_sum(struct writer *writer, const struct shmt_expr_node *node)
{
    add(writer, "(");
    write_real(writer, kid_of(writer, node, 0));
    add(writer, " ");
    add(writer, shmt_arith_spelling((enum shmt_op)node->op));
    add(writer, " ");
    write_real(writer, kid_of(writer, node, 1));
    add(writer, ")");
}

/* The node, an integer or a real, as a real. */
static void write_real(struct writer *writer, uint32_t number)
{
    const struct shmt_expr_node *const node = node_at(writer, number);

    writer->failed |= (node->types & SHMT_EXPR_WORD) != 0;
    if (writer->failed)
        return;
    if (node->types == SHMT_EXPR_INT) {
        add(writer, "(double)");
        write_integer(writer, number);
        return;
    }
    switch (node->op) {
    case SHMT_OP_CONST:
        write_real_constant(writer, node->constant.r);
        return;
    case SHMT_OP_SYMBOL:
        add(writer, writer->form->symbols[node->symbol]);
        return;
    case SHMT_EXPR_NODE_DERIVED:
        write_derived(writer, node);
        return;
    case SHMT_OP_ADD: case SHMT_OP_SUB: case SHMT_OP_MUL:
        write_sum(writer, node);
        return;
    case SHMT_OP_DIV:
        write_call(writer, "shmtuned_div", node, write_real);
        return;
    case SHMT_OP_MIN: case SHMT_OP_MAX:
        write_call(writer, node->op == SHMT_OP_MIN ? "shmtuned_min_real"
                                                   : "shmtuned_max_real",
                   node, write_real);
        return;
    case SHMT_OP_NEG:
        add(writer, "-(");
        write_real(writer, kid_of(writer, node, 0));
        add(writer, ")");
        return;
    case SHMT_OP_POS: case SHMT_OP_FLOAT:
        write_real(writer, kid_of(writer, node, 0));
        return;
    case SHMT_OP_IF:
        write_if(writer, node, write_real);
        return;
    case SHMT_OP_AND: case SHMT_OP_OR:
        write_operand(writer, node, write_real);
        return;
    default:                    /* // % ** abs of reals */
        writer->failed = true;
    }
}

bool shmt_expr_write_c(const struct shmt_expr *expr,
                       const struct shmt_expr_c *form, bool truth, bool *real,
                       struct shmt_text *text)
{
    struct writer writer = {.expr = expr, .form = form, .text = text,
                            .start = text->length};

    *real = !truth && is_real(&writer, expr->root);
    if (truth)
        write_truth(&writer, expr->root);
    else
        write_number(&writer, expr->root);
    return !writer.failed && !text->failed;
}
