/* SPDX-License-Identifier: MIT */
/*
 * element: the types of an argument's elements, in one table: their words in a
 * spec, their bytes, which numbers they hold, their types in the measuring
 * kernels, and their conversions.
 */
#ifndef SHMT_KERNEL_ELEMENT_H
#define SHMT_KERNEL_ELEMENT_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "expr/expr.h"

/* X(NAME, word, type here, type on the device (bench/source.c),
 *   real or whole, lowest number, highest number,
 *   the mask of ramps: up to it the type has every whole number,
 *   digits after which two numbers that differ look different,
 *   conversion from double (real) or int64_t (whole), conversion to double) */
#define SHMT_ELEMENT_LIST(X)                                                 \
    X(F16, f16, uint16_t, half_bits, real, -65504, 65504, 0x7ff, 5,          \
      half, from_half)                                                       \
    X(F32, f32, float, float, real, -(double)FLT_MAX, (double)FLT_MAX,       \
      0xffffff, 9, (float), (double))                                        \
    X(F64, f64, double, double, real, -DBL_MAX, DBL_MAX,                     \
      0x1fffffffffffff, 17, (double), (double))                              \
    X(U8, u8, uint8_t, unsigned char, whole, 0, UINT8_MAX,                   \
      UINT8_MAX, 17, (uint8_t), (double))                                    \
    X(I32, i32, int32_t, int, whole, INT32_MIN, INT32_MAX,                   \
      INT32_MAX, 17, (int32_t), (double))                                    \
    X(U32, u32, uint32_t, unsigned, whole, 0, UINT32_MAX,                    \
      UINT32_MAX, 17, (uint32_t), (double))                                  \
    X(I64, i64, int64_t, long long, whole, INT64_MIN, INT64_MAX,             \
      INT64_MAX, 17, (int64_t), (double))

enum shmt_element {
#define SHMT_ELEMENT_ENUM(name, ...) SHMT_ELEMENT_##name,
    SHMT_ELEMENT_LIST(SHMT_ELEMENT_ENUM)
#undef SHMT_ELEMENT_ENUM
    SHMT_ELEMENT_COUNT
};

/* An element as the device holds it; the members are named like the words. */
union shmt_element_scalar {
#define SHMT_ELEMENT_MEMBER(name, word, type, ...) type word;
    SHMT_ELEMENT_LIST(SHMT_ELEMENT_MEMBER)
#undef SHMT_ELEMENT_MEMBER
};

/* A number that a type is made from: the member that its row names. */
union shmt_element_number {
    double real;
    int64_t whole;
};

struct shmt_element_type {
    const char *word;
    size_t bytes;
    bool is_real;
    union shmt_element_number low, high;
    uint64_t ramp;
    int digits;
};
const struct shmt_element_type *shmt_element_type(enum shmt_element element);

size_t shmt_element_bytes(enum shmt_element element);
const char *shmt_element_word(enum shmt_element element);
bool shmt_element_is_real(enum shmt_element element);

/* Whether whole numbers of this type have it among them. */
bool shmt_element_holds(enum shmt_element element, int64_t number);
/* Whether a real of this type can be it; infinity and NaN can, but no number
 * becomes infinity. */
bool shmt_element_holds_real(enum shmt_element element, double number);

/* The number, which the type holds, as an element. */
union shmt_element_scalar
shmt_element_store(enum shmt_element element, union shmt_element_number number);
/* The value as an element.  SHMTUNE_INVALID_ARGUMENT when it does not fit the
 * type, is not whole where the type is, or is a word. */
enum shmtune_status shmt_element_convert(enum shmt_element element,
                                         struct shmt_value value,
                                         union shmt_element_scalar *out,
                                         struct shmt_error *err);
/* One element in memory as a double (i64 rounds beyond 2^53). */
double shmt_element_real(enum shmt_element element, const void *data);

#endif
