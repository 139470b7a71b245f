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
#include "kernel/small_real.h"

/* X(NAME, word, type here, type on the device (bench/source.c),
 *   real or whole, lowest number, highest number,
 *   the mask of ramps: up to it the type has every whole number,
 *   digits after which two numbers that differ look different,
 *   conversion from double (real) or int64_t (whole), conversion to double) */
#define SHMT_ELEMENT_LIST(X)                                                 \
    X(F16, f16, uint16_t, f16_bits, real, -65504, 65504, 0x7ff, 5,           \
      f16_from, f16_to)                                                      \
    X(BF16, bf16, uint16_t, bf16_bits, real, -0x1.fep127, 0x1.fep127, 0xff,  \
      4, bf16_from, bf16_to)                                                 \
    X(F8E4M3, f8e4m3, uint8_t, f8e4m3_bits, real, -448, 448, 0xf, 3,         \
      f8e4m3_from, f8e4m3_to)                                                \
    X(F8E5M2, f8e5m2, uint8_t, f8e5m2_bits, real, -57344, 57344, 0x7, 3,     \
      f8e5m2_from, f8e5m2_to)                                                \
    X(F32, f32, float, float, real, -(double)FLT_MAX, (double)FLT_MAX,       \
      0xffffff, 9, (float), (double))                                        \
    X(F64, f64, double, double, real, -DBL_MAX, DBL_MAX,                     \
      0x1fffffffffffff, 17, (double), (double))                              \
    X(I8, i8, int8_t, signed char, whole, INT8_MIN, INT8_MAX,                \
      INT8_MAX, 17, (int8_t), (double))                                      \
    X(U8, u8, uint8_t, unsigned char, whole, 0, UINT8_MAX,                   \
      UINT8_MAX, 17, (uint8_t), (double))                                    \
    X(I16, i16, int16_t, short, whole, INT16_MIN, INT16_MAX,                 \
      INT16_MAX, 17, (int16_t), (double))                                    \
    X(U16, u16, uint16_t, unsigned short, whole, 0, UINT16_MAX,              \
      UINT16_MAX, 17, (uint16_t), (double))                                  \
    X(I32, i32, int32_t, int, whole, INT32_MIN, INT32_MAX,                   \
      INT32_MAX, 17, (int32_t), (double))                                    \
    X(U32, u32, uint32_t, unsigned, whole, 0, UINT32_MAX,                    \
      UINT32_MAX, 17, (uint32_t), (double))                                  \
    X(I64, i64, int64_t, long long, whole, INT64_MIN, INT64_MAX,             \
      INT64_MAX, 17, (int64_t), (double))                                    \
    X(U64, u64, uint64_t, unsigned long long, whole, 0, INT64_MAX,           \
      INT64_MAX, 17, (uint64_t), (double))                                   \
    X(BOOL, bool, uint8_t, unsigned char, whole, 0, 1,                       \
      1, 17, (uint8_t), (double))                                            \
    X(BYTES, bytes, uint8_t, unsigned char, whole, 0, UINT8_MAX,             \
      UINT8_MAX, 17, (uint8_t), (double))

enum shmt_element {
#define SHMT_ELEMENT_ENUM(name, ...) SHMT_ELEMENT_##name,
    SHMT_ELEMENT_LIST(SHMT_ELEMENT_ENUM)
#undef SHMT_ELEMENT_ENUM
    SHMT_ELEMENT_COUNT
};

/* An element as the device holds it; the members are named after the words,
 * of which some are C's own. */
union shmt_element_scalar {
#define SHMT_ELEMENT_MEMBER(name, word, type, ...) type as_##word;
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
/* A relative tolerance above the distance of two neighbours of a real type, as
 * a spec has it. */
const char *shmt_element_tolerance(enum shmt_element element);

/* Whether whole numbers of this type have it among them. */
bool shmt_element_holds(enum shmt_element element, int64_t number);
/* Whether a real of this type can be it: NaN, infinity where the type has it,
 * and numbers that do not become infinity or another number by being too
 * large. */
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
/* One element in memory as a double (64-bit ones round beyond 2^53). */
double shmt_element_real(enum shmt_element element, const void *data);

#endif
