/* SPDX-License-Identifier: MIT */
/*
 * arith: what Python's operators do, on 64-bit integers, doubles and words.
 * Used by the expression language and by the space builder
 * (space/), so that both mean the same.  No allocation, no messages.
 */
#ifndef SHMT_EXPR_ARITH_H
#define SHMT_EXPR_ARITH_H

#include "expr/expr.h"

/* X(name, spelling, arguments): 0 arguments is a leaf, 9 any number. */
#define SHMT_OP_LIST(X)                                                      \
    X(CONST, "constant", 0)                                                  \
    X(SYMBOL, "name", 0)                                                     \
    X(ADD, "+", 2)                                                           \
    X(SUB, "-", 2)                                                           \
    X(MUL, "*", 2)                                                           \
    X(DIV, "/", 2)                                                           \
    X(FLOOR, "//", 2)                                                        \
    X(MOD, "%", 2)                                                           \
    X(POW, "**", 2)                                                          \
    X(EQ, "==", 2)                                                           \
    X(NE, "!=", 2)                                                           \
    X(LT, "<", 2)                                                            \
    X(LE, "<=", 2)                                                           \
    X(GT, ">", 2)                                                            \
    X(GE, ">=", 2)                                                           \
    X(MIN, "min", 9)                                                         \
    X(MAX, "max", 9)                                                         \
    X(CEILDIV, "ceildiv", 2)                                                 \
    X(ROUNDUP, "roundup", 2)                                                 \
    X(NEG, "-", 1)                                                           \
    X(POS, "+", 1)                                                           \
    X(ABS, "abs", 1)                                                         \
    X(INT, "int", 1)                                                         \
    X(FLOAT, "float", 1)                                                     \
    X(NOT, "not", 1)                                                         \
    X(AND, "and", 9)                                                         \
    X(OR, "or", 9)                                                           \
    X(CHAIN, "comparison", 9)                                                \
    X(IF, "if", 3)                                                           \
    X(IN, "in", 9)                                                           \
    X(NOT_IN, "not in", 9)

enum shmt_op {
#define SHMT_OP_ENUM(name, spelling, arguments) SHMT_OP_##name,
    SHMT_OP_LIST(SHMT_OP_ENUM)
#undef SHMT_OP_ENUM
    SHMT_OP_COUNT
};
const char *shmt_arith_spelling(enum shmt_op op);

/* Why an operator has no value for its operands. */
enum shmt_arith_fault {
    SHMT_ARITH_FAULT_NONE,
    SHMT_ARITH_FAULT_ZERO, /* division by zero */
    SHMT_ARITH_FAULT_OVERFLOW, /* beyond 64-bit integers, or a double's range */
    SHMT_ARITH_FAULT_WORD, /* a word where a number is needed */
    SHMT_ARITH_FAULT_COMPLEX /* a negative number to a fractional power */
};
const char *shmt_arith_fault_text(enum shmt_arith_fault fault);

/* Python's truth: not 0, not "". */
bool shmt_arith_truth(const struct shmt_value *value);

/* ADD .. ROUNDUP with two operands (MIN and MAX too).  `out` may be one of
 * the operands and is written only when there is no fault. */
enum shmt_arith_fault shmt_arith_binary(enum shmt_op op,
                                        const struct shmt_value *a,
                                        const struct shmt_value *b,
                                        struct shmt_value *out);

/* NEG .. NOT. */
enum shmt_arith_fault shmt_arith_unary(enum shmt_op op,
                                       const struct shmt_value *a,
                                       struct shmt_value *out);

/* The same for operands whose types are known already. */
enum shmt_arith_fault shmt_arith_int(enum shmt_op op, int64_t a, int64_t b,
                                     int64_t *out); /* not DIV; POW: b >= 0 */
enum shmt_arith_fault shmt_arith_real(enum shmt_op op, double a, double b,
                                      double *out); /* not comparisons */

/* b is neither 0 nor, when a is the smallest integer, -1. */
static inline int64_t shmt_arith_floor(int64_t a, int64_t b)
{
    const int64_t q = a / b;

    return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t shmt_arith_mod(int64_t a, int64_t b)
{
    const int64_t r = a % b;

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#endif
