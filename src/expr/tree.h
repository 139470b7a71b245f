/* SPDX-License-Identifier: MIT */
/*
 * tree: what an expression is made of, for the files of expr/ and for
 * the space builder (space/), which reads the tree.  Nobody else.
 */
#ifndef SHMT_EXPR_TREE_H
#define SHMT_EXPR_TREE_H

#include "expr/arith.h"
#include "expr/expr.h"

enum {
    SHMT_EXPR_TEXT = 16384,     /* longest source text */
    SHMT_EXPR_NESTING = 64,     /* of parentheses, signs, else, ** */
    SHMT_EXPR_DEPTH = 1024,     /* of the tree: a + b + c + ... */
    SHMT_EXPR_NODES = 10000,    /* with those of the derived names it uses,
                                   as often as it does */
    SHMT_EXPR_REGISTERS = 256
};

/* Sets of types a node's value can have, as bits. */
enum {
    SHMT_EXPR_INT = 1 << SHMT_VALUE_INT,
    SHMT_EXPR_REAL = 1 << SHMT_VALUE_REAL,
    SHMT_EXPR_WORD = 1 << SHMT_VALUE_WORD,
    SHMT_EXPR_NUMBER = SHMT_EXPR_INT | SHMT_EXPR_REAL
};

/* A kind of node that is no operator: a mention of a derived name.  It has no
 * operands here; its tree is that of the derived name.  A derived name that is
 * just a number, a word or a symbol is replaced by that. */
enum { SHMT_EXPR_NODE_DERIVED = SHMT_OP_COUNT };

/* Operands are kids[first .. first + count) of the expression and stand
 * before the node.  A node may have several parents: CHAIN's operands are
 * comparisons, and the right side of one is the left side of the next.  IN
 * has the value sought, then the elements; IF has condition, then, else. */
struct shmt_expr_node {
    uint8_t op;             /* enum shmt_op, or SHMT_EXPR_NODE_DERIVED */
    uint8_t types;
    uint16_t depth;
    uint32_t offset;        /* of its sign or name in the text */
    uint32_t first, count;
    union {
        struct shmt_value constant;
        struct {
            size_t symbol;
            const char *name;   /* in the text it was read from */
        };
        size_t derived;     /* of the expression's derived names */
    };
};

/* One step of the program.  Registers, constants, symbols and the values of
 * derived names are addressed by their kind and their number, which are one
 * number while a program is made: the kind in its two highest bits. */
struct shmt_expr_step {
    uint8_t op;
    uint8_t a_kind, b_kind;
    uint16_t to;            /* a register */
    uint16_t a, b;          /* operands, or b is a step to go to */
    uint16_t offset;
};

struct shmt_expr {
    const char *text;
    struct shmt_place place;
    struct shmt_expr_scope scope;   /* while it is parsed; then empty */
    size_t symbol_count;
    uint64_t *used;                 /* one bit a symbol */
    const struct shmt_expr_derived *derived;
    size_t weight;                  /* nodes, were derived names copied */
    size_t node_count;
    const struct shmt_expr_node *nodes;
    const uint32_t *kids;
    uint32_t root;
    const struct shmt_expr_step *steps;     /* the last is an END */
    const struct shmt_value *constants;
    uint16_t register_count;
};

/* scan.c: tokens. */
enum shmt_expr_token {
    SHMT_EXPR_TOKEN_END, SHMT_EXPR_TOKEN_NUMBER, SHMT_EXPR_TOKEN_WORD,
    SHMT_EXPR_TOKEN_NAME,
    SHMT_EXPR_TOKEN_SIGN
};

struct shmt_expr_scan {
    const char *text;
    size_t at;               /* where the next token begins */
    int brackets;            /* a newline is a blank inside them */
    /* the token */
    enum shmt_expr_token token;
    size_t start, length;
    struct shmt_value value;     /* of a number */
    bool lowest;             /* the number is 2^63: needs its minus */
    const char *problem;     /* why the token is none, or NULL */
};

/* False with `problem` set when what follows is no token. */
bool shmt_expr_scan_next(struct shmt_expr_scan *scan);
/* The token is this sign or this name. */
bool shmt_expr_scan_is(const struct shmt_expr_scan *scan, const char *text);

/* parse.c: from text to tree. */
enum shmtune_status shmt_expr_parse(struct shmt_arena *arena,
                                    struct shmt_expr *expr,
                                    struct shmt_error *err);

/* code.c: from tree to program. */
enum shmtune_status shmt_expr_compile_tree(struct shmt_arena *arena,
                                           struct shmt_expr *expr,
                                           struct shmt_error *err);

/* bounds.c: what a node can be; ANY when so many were looked at, as a spec that
 * takes more is not worth it. */
enum { SHMT_EXPR_VISITS = 20000 };
struct shmt_expr_bound shmt_expr_bound_node(const struct shmt_expr *expr,
                                            uint32_t number,
                                            struct shmt_expr_bounding *state);

/* expr.c: a value, and " where x = 0, y = 4": the symbols of an expression in
 * order of appearance, the first eight. */
enum { SHMT_EXPR_SHOWN = 80, SHMT_EXPR_NAMED = 512 };
void shmt_expr_put_value(struct shmt_value value, char out[SHMT_EXPR_SHOWN]);
void shmt_expr_put_values(const struct shmt_expr *expr,
                          const struct shmt_value *symbols,
                          char out[SHMT_EXPR_NAMED]);

/* expr.c: SHMTUNE_INVALID_FILE at an offset of the text. */
enum shmtune_status shmt_expr_refuse(const struct shmt_expr *expr,
                                     size_t offset, struct shmt_error *err,
                                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum {
    SHMT_EXPR_KIND_SHIFT = 14,
    SHMT_EXPR_INDEX = (1 << SHMT_EXPR_KIND_SHIFT) - 1,
    SHMT_EXPR_REGISTER = 0,
    SHMT_EXPR_CONSTANT = 1 << SHMT_EXPR_KIND_SHIFT,
    SHMT_EXPR_SYMBOL = 2 << SHMT_EXPR_KIND_SHIFT,
    SHMT_EXPR_DERIVED_VALUE = 3 << SHMT_EXPR_KIND_SHIFT /* of a derived name */
};

/* Steps beyond the operators. */
enum {
    SHMT_EXPR_STEP_MOVE = SHMT_OP_COUNT,
    SHMT_EXPR_STEP_END,        /* the value is a */
    SHMT_EXPR_STEP_FALSE,      /* the integer 0 */
    SHMT_EXPR_STEP_JUMP,       /* to step b */
    SHMT_EXPR_STEP_JUMP_FALSE, /* to step b when a is false */
    SHMT_EXPR_STEP_JUMP_TRUE,
    SHMT_EXPR_STEP_DERIVED     /* the value of derived name b; registers from
                                  `to` on are free */
};

#endif
