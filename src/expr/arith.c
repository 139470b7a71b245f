/* SPDX-License-Identifier: MIT */
/*
 * arith: Python's arithmetic on integers, reals and words: one function for
 * each combination of types.  Overflow of 64-bit integers is a fault.  Called
 * by expr.c and the files of space/.
 */
#include "expr/arith.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

const char *shmt_arith_spelling(enum shmt_op op)
{
    static const char *const spellings[] = {
#define SHMT_OP_SPELLING(name, spelling, arguments) spelling,
        SHMT_OP_LIST(SHMT_OP_SPELLING)
#undef SHMT_OP_SPELLING
    };

    return spellings[op];
}

const char *shmt_arith_fault_text(enum shmt_arith_fault fault)
{
    static const char *const texts[] = {
        [SHMT_ARITH_FAULT_NONE] = "no fault",
        [SHMT_ARITH_FAULT_ZERO] = "division by zero",
        [SHMT_ARITH_FAULT_OVERFLOW] = "overflow",
        [SHMT_ARITH_FAULT_WORD] = "a word where a number is needed",
        [SHMT_ARITH_FAULT_COMPLEX] = "a negative number to a fractional power",
    };

    return texts[fault];
}

bool shmt_arith_truth(const struct shmt_value *value)
{
    switch (value->type) {
    case SHMT_VALUE_INT:
        return value->i != 0;
    case SHMT_VALUE_REAL:
        return value->r != 0.0;
    default:
        return value->w[0] != '\0';
    }
}

static int bits(uint64_t x)
{
    return x == 0 ? 0 : 64 - __builtin_clzll(x);
}

/* a / b, rounded once; b is not 0. */
static double quotient_of(int64_t a, int64_t b)
{
    const int64_t exact = INT64_C(1) << 53;
    const bool negative = (a < 0) != (b < 0);
    const uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a;
    const uint64_t y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    double quotient;
    wide shifted, whole;
    int shift;

    if (x <= (uint64_t)exact && y <= (uint64_t)exact)
        return (double)a / (double)b;
    if (x == 0)
        return negative ? -0.0 : 0.0;
    /* Computes the quotient to 64 or 65 bits.  A remainder sets its last bit
     * ("sticky bit"), so that the only rounding, to 53 bits, is correct. */
    shift = 64 + bits(y) - bits(x);
    shifted = (wide)x << shift;
    whole = shifted / y;
    whole |= shifted % y != 0;
    quotient = ldexp((double)whole, -shift);
    return negative ? -quotient : quotient;
}

/* Negative, 0 or positive, as strcmp; 2 when `b` is not a number. */
static int compare_mixed(int64_t a, double b)
{
    int64_t whole;

    if (isnan(b))
        return 2;
    if (b >= 0x1p63)
        return -1;
    if (b < -0x1p63)
        return 1;
    whole = (int64_t)b;
    if (a != whole)
        return a < whole ? -1 : 1;
    return b > (double)whole ? -1 : b < (double)whole;
}

static enum shmt_arith_fault power(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t result = 1;

    for (;;) {
        if ((exponent & 1) != 0 &&
            __builtin_mul_overflow(result, base, &result))
            return SHMT_ARITH_FAULT_OVERFLOW;
        exponent >>= 1;
        if (exponent == 0)
            break;
        if (__builtin_mul_overflow(base, base, &base))
            return SHMT_ARITH_FAULT_OVERFLOW;
    }
    *out = result;
    return SHMT_ARITH_FAULT_NONE;
}

static enum shmt_arith_fault divide(enum shmt_op op, int64_t a, int64_t b,
                                    int64_t *out)
{
    int64_t up;

    if (b == 0)
        return SHMT_ARITH_FAULT_ZERO;
    if (op == SHMT_OP_MOD) {
        *out = b == -1 ? 0 : shmt_arith_mod(a, b);
        return SHMT_ARITH_FAULT_NONE;
    }
    if (a == INT64_MIN && b == -1)
        return SHMT_ARITH_FAULT_OVERFLOW;
    if (op == SHMT_OP_FLOOR) {
        *out = shmt_arith_floor(a, b);
        return SHMT_ARITH_FAULT_NONE;
    }
    up = a / b + (a % b != 0 && (a < 0) == (b < 0));
    if (op == SHMT_OP_ROUNDUP && __builtin_mul_overflow(up, b, &up))
        return SHMT_ARITH_FAULT_OVERFLOW;
    *out = up;
    return SHMT_ARITH_FAULT_NONE;
}

enum shmt_arith_fault shmt_arith_int(enum shmt_op op, int64_t a, int64_t b,
                                     int64_t *out)
{
    bool over = false;

    switch (op) {
    case SHMT_OP_ADD:
        over = __builtin_add_overflow(a, b, &a);
        break;
    case SHMT_OP_SUB:
        over = __builtin_sub_overflow(a, b, &a);
        break;
    case SHMT_OP_MUL:
        over = __builtin_mul_overflow(a, b, &a);
        break;
    case SHMT_OP_FLOOR:
    case SHMT_OP_MOD:
    case SHMT_OP_CEILDIV:
    case SHMT_OP_ROUNDUP:
        return divide(op, a, b, out);
    case SHMT_OP_POW:
        return power(a, b, out);
    case SHMT_OP_EQ: a = a == b; break;
    case SHMT_OP_NE: a = a != b; break;
    case SHMT_OP_LT: a = a < b; break;
    case SHMT_OP_LE: a = a <= b; break;
    case SHMT_OP_GT: a = a > b; break;
    case SHMT_OP_GE: a = a >= b; break;
    case SHMT_OP_MIN: a = b < a ? b : a; break;
    case SHMT_OP_MAX: a = b > a ? b : a; break;
    default:
        return SHMT_ARITH_FAULT_WORD;
    }
    if (over)
        return SHMT_ARITH_FAULT_OVERFLOW;
    *out = a;
    return SHMT_ARITH_FAULT_NONE;
}

/* Floor division and remainder as Python defines them for floats: the
 * remainder has the sign of the divisor, and the quotient is the whole number
 * nearest to (dividend - remainder) / divisor. */
static void floor_real(double a, double b, double *quotient,
                       double *remainder)
{
    double mod = fmod(a, b);
    double div = (a - mod) / b;

    if (mod != 0.0) {
        if ((b < 0.0) != (mod < 0.0)) {
            mod += b;
            div -= 1.0;
        }
    } else {
        mod = copysign(0.0, b);
    }
    if (div != 0.0) {
        *quotient = floor(div);
        if (div - *quotient > 0.5)
            *quotient += 1.0;
    } else {
        *quotient = copysign(0.0, a / b);
    }
    *remainder = mod;
}

static enum shmt_arith_fault power_real(double a, double b, double *out)
{
    double result;

    if (a == 0.0 && b < 0.0)
        return SHMT_ARITH_FAULT_ZERO;
    if (isfinite(a) && a < 0.0 && isfinite(b) && b != floor(b))
        return SHMT_ARITH_FAULT_COMPLEX;
    result = pow(a, b);
    if (isinf(result) && isfinite(a) && isfinite(b))
        return SHMT_ARITH_FAULT_OVERFLOW;
    *out = result;
    return SHMT_ARITH_FAULT_NONE;
}

static enum shmt_arith_fault divide_real(enum shmt_op op, double a, double b,
                                         double *out)
{
    double quotient, remainder;

    if (b == 0.0)
        return SHMT_ARITH_FAULT_ZERO;
    switch (op) {
    case SHMT_OP_DIV:
        *out = a / b;
        return SHMT_ARITH_FAULT_NONE;
    case SHMT_OP_FLOOR:
        floor_real(a, b, out, &remainder);
        return SHMT_ARITH_FAULT_NONE;
    case SHMT_OP_MOD:
        floor_real(a, b, &quotient, out);
        return SHMT_ARITH_FAULT_NONE;
    default:   /* ceildiv(a, b) is -(-a // b), and no zero is negative */
        floor_real(-a, b, &quotient, &remainder);
        *out = (op == SHMT_OP_CEILDIV ? -quotient : -quotient * b) + 0.0;
        return SHMT_ARITH_FAULT_NONE;
    }
}

enum shmt_arith_fault shmt_arith_real(enum shmt_op op, double a, double b,
                                      double *out)
{
    switch (op) {
    case SHMT_OP_ADD: *out = a + b; break;
    case SHMT_OP_SUB: *out = a - b; break;
    case SHMT_OP_MUL: *out = a * b; break;
    case SHMT_OP_MIN: *out = b < a ? b : a; break;
    case SHMT_OP_MAX: *out = b > a ? b : a; break;
    case SHMT_OP_POW:
        return power_real(a, b, out);
    default:
        return divide_real(op, a, b, out);
    }
    return SHMT_ARITH_FAULT_NONE;
}

static struct shmt_value of_int(int64_t i)
{
    return (struct shmt_value){.type = SHMT_VALUE_INT, .i = i};
}

static double as_real(const struct shmt_value *value)
{
    return value->type == SHMT_VALUE_INT ? (double)value->i : value->r;
}

/* -1, 0, 1, or 2 when they have no order. */
static enum shmt_arith_fault compare(const struct shmt_value *a,
                                     const struct shmt_value *b, int *order)
{
    if (a->type == SHMT_VALUE_WORD || b->type == SHMT_VALUE_WORD) {
        if (a->type != b->type)
            return SHMT_ARITH_FAULT_WORD;
        *order = strcmp(a->w, b->w);
        *order = (*order > 0) - (*order < 0);
    } else if (a->type == SHMT_VALUE_INT && b->type == SHMT_VALUE_INT) {
        *order = (a->i > b->i) - (a->i < b->i);
    } else if (a->type == SHMT_VALUE_INT) {
        *order = compare_mixed(a->i, b->r);
    } else if (b->type == SHMT_VALUE_INT) {
        *order = compare_mixed(b->i, a->r);
        *order = *order == 2 ? 2 : -*order;
    } else {
        *order = isnan(a->r) || isnan(b->r)
                     ? 2 : (a->r > b->r) - (a->r < b->r);
    }
    return SHMT_ARITH_FAULT_NONE;
}

static enum shmt_arith_fault relate(enum shmt_op op, const struct shmt_value *a,
                                    const struct shmt_value *b,
                                    struct shmt_value *out)
{
    enum shmt_arith_fault fault;
    int order;

    fault = compare(a, b, &order);
    if (fault != SHMT_ARITH_FAULT_NONE) {
        if (op != SHMT_OP_EQ && op != SHMT_OP_NE)
            return fault;
        order = 2;
    }
    switch (op) {
    case SHMT_OP_EQ: *out = of_int(order == 0); break;
    case SHMT_OP_NE: *out = of_int(order != 0); break;
    case SHMT_OP_LT: *out = of_int(order == -1); break;
    case SHMT_OP_LE: *out = of_int(order <= 0); break;
    case SHMT_OP_GT: *out = of_int(order == 1); break;
    case SHMT_OP_GE: *out = of_int(order == 0 || order == 1); break;
    case SHMT_OP_MIN:   /* the first of equals, as in Python */
        *out = order == 1 ? *b : *a;
        break;
    default:
        *out = order == -1 ? *b : *a;
        break;
    }
    return SHMT_ARITH_FAULT_NONE;
}

enum shmt_arith_fault shmt_arith_binary(enum shmt_op op,
                                        const struct shmt_value *a,
                                        const struct shmt_value *b,
                                        struct shmt_value *out)
{
    enum shmt_arith_fault fault;
    int64_t whole;
    double real;
    bool integers;

    if (op >= SHMT_OP_EQ && op <= SHMT_OP_MAX)
        return relate(op, a, b, out);
    if (a->type == SHMT_VALUE_WORD || b->type == SHMT_VALUE_WORD)
        return SHMT_ARITH_FAULT_WORD;
    integers = a->type == SHMT_VALUE_INT && b->type == SHMT_VALUE_INT;
    if (integers && op != SHMT_OP_DIV && (op != SHMT_OP_POW || b->i >= 0)) {
        fault = shmt_arith_int(op, a->i, b->i, &whole);
        if (fault == SHMT_ARITH_FAULT_NONE)
            *out = of_int(whole);
        return fault;
    }
    if (op == SHMT_OP_DIV && integers) {
        if (b->i == 0)
            return SHMT_ARITH_FAULT_ZERO;
        real = quotient_of(a->i, b->i);
    } else {
        fault = shmt_arith_real(op, as_real(a), as_real(b), &real);
        if (fault != SHMT_ARITH_FAULT_NONE)
            return fault;
    }
    *out = (struct shmt_value){.type = SHMT_VALUE_REAL, .r = real};
    return SHMT_ARITH_FAULT_NONE;
}

static enum shmt_arith_fault unary_int(enum shmt_op op, int64_t a,
                                       struct shmt_value *out)
{
    switch (op) {
    case SHMT_OP_NEG:
    case SHMT_OP_ABS:
        if (op == SHMT_OP_NEG || a < 0) {
            if (a == INT64_MIN)
                return SHMT_ARITH_FAULT_OVERFLOW;
            a = -a;
        }
        break;
    case SHMT_OP_FLOAT:
        *out = (struct shmt_value){.type = SHMT_VALUE_REAL, .r = (double)a};
        return SHMT_ARITH_FAULT_NONE;
    default:
        break;
    }
    *out = of_int(a);
    return SHMT_ARITH_FAULT_NONE;
}

static enum shmt_arith_fault unary_real(enum shmt_op op, double a,
                                        struct shmt_value *out)
{
    switch (op) {
    case SHMT_OP_NEG: a = -a; break;
    case SHMT_OP_ABS: a = fabs(a); break;
    case SHMT_OP_INT:
        if (!(a >= -0x1p63 && a < 0x1p63))
            return SHMT_ARITH_FAULT_OVERFLOW;
        *out = of_int((int64_t)a);
        return SHMT_ARITH_FAULT_NONE;
    default:
        break;
    }
    *out = (struct shmt_value){.type = SHMT_VALUE_REAL, .r = a};
    return SHMT_ARITH_FAULT_NONE;
}

enum shmt_arith_fault shmt_arith_unary(enum shmt_op op,
                                       const struct shmt_value *a,
                                       struct shmt_value *out)
{
    if (op == SHMT_OP_NOT) {
        *out = of_int(!shmt_arith_truth(a));
        return SHMT_ARITH_FAULT_NONE;
    }
    switch (a->type) {
    case SHMT_VALUE_INT:
        return unary_int(op, a->i, out);
    case SHMT_VALUE_REAL:
        return unary_real(op, a->r, out);
    default:
        return SHMT_ARITH_FAULT_WORD;
    }
}

bool shmt_value_equal_any(const struct shmt_value *a,
                          const struct shmt_value *b)
{
    if (a->type == SHMT_VALUE_WORD || b->type == SHMT_VALUE_WORD)
        return a->type == b->type && shmt_text_equal(a->w, b->w);
    if (a->type == b->type)
        return a->type == SHMT_VALUE_INT ? a->i == b->i : a->r == b->r;
    if (a->type == SHMT_VALUE_INT)
        return compare_mixed(a->i, b->r) == 0;
    return compare_mixed(b->i, a->r) == 0;
}
