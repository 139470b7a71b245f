/* SPDX-License-Identifier: MIT */
/*
 * test_element: each row of the table of element types, and numbers as a device
 * holds them.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "tests/support/check.h"

static struct shmt_value whole(int64_t number)
{
    return (struct shmt_value){.type = SHMT_VALUE_INT, .i = number};
}

static struct shmt_value real(double number)
{
    return (struct shmt_value){.type = SHMT_VALUE_REAL, .r = number};
}

/* What the formats say of the reals of few bits (IEEE 754; OCP 8-bit floating
 * point, table 2): not taken from the table that is tested. */
static const struct few {
    enum shmt_element element;
    int exponent_bits, fraction_bits;
    double largest;
    uint32_t largest_bits, over_bits;
} few[] = {
    {SHMT_ELEMENT_F16, 5, 10, 65504, 0x7bff, 0x7c00},
    {SHMT_ELEMENT_BF16, 8, 7, 0x1.fep127, 0x7f7f, 0x7f80},
    {SHMT_ELEMENT_F8E4M3, 4, 3, 448, 0x7e, 0x7e},
    {SHMT_ELEMENT_F8E5M2, 5, 2, 57344, 0x7b, 0x7b},
};
enum { FEW = sizeof few / sizeof few[0] };

static uint32_t bits_of(const struct few *type, double number)
{
    const union shmt_element_scalar scalar = shmt_element_store(
        type->element, (union shmt_element_number){.real = number});

    return shmt_element_bytes(type->element) == 1 ? scalar.as_u8
                                                  : scalar.as_u16;
}

static double real_of(const struct few *type, uint32_t bits)
{
    return shmt_element_real(type->element, &bits);
}

static uint32_t sign_of(const struct few *type)
{
    return 1u << (type->exponent_bits + type->fraction_bits);
}

/* Every pattern of bits is the number that the format's formula gives. */
static void few_bits_mean_what_the_format_says(void)
{
    for (size_t k = 0; k < FEW; k++) {
        const struct few *const type = &few[k];
        const int bias = (1 << (type->exponent_bits - 1)) - 1;
        int failed = 0;

        for (uint32_t bits = 0; bits < sign_of(type); bits++) {
            const int exponent = (int)(bits >> type->fraction_bits);
            const int fraction =
                (int)(bits & ((1u << type->fraction_bits) - 1));
            const double expected =
                exponent == 0
                    ? ldexp(fraction, 1 - bias - type->fraction_bits)
                    : ldexp(fraction + (1 << type->fraction_bits),
                            exponent - bias - type->fraction_bits);

            if (bits <= type->largest_bits)
                failed += real_of(type, bits) != expected ||
                          real_of(type, bits | sign_of(type)) != -expected ||
                          signbit(real_of(type, bits | sign_of(type))) == 0;
            else if (bits == type->largest_bits + 1 && fraction == 0)
                failed += !isinf(real_of(type, bits));
            else
                failed += !isnan(real_of(type, bits));
        }
        CHECK_INT(failed, 0);
        CHECK(real_of(type, type->largest_bits) == type->largest);
        CHECK(shmt_element_type(type->element)->high.real == type->largest);
    }
}

static void few_bits_come_back(void)
{
    for (size_t k = 0; k < FEW; k++) {
        const struct few *const type = &few[k];
        int failed = 0;

        for (uint32_t bits = 0; bits < 2 * sign_of(type); bits++) {
            const double value = real_of(type, bits);

            if (isnan(value))
                failed += !isnan(real_of(type, bits_of(type, value)));
            else if (!isinf(value))
                failed += bits_of(type, value) != bits;
        }
        CHECK_INT(failed, 0);
    }
}

/* Between each number and the next: to the nearer, and to even in the middle,
 * on both sides of zero. */
static void few_bits_round_to_even(void)
{
    for (size_t k = 0; k < FEW; k++) {
        const struct few *const type = &few[k];
        const uint32_t sign = sign_of(type);
        int failed = 0;

        for (uint32_t bits = 0; bits < type->largest_bits; bits++) {
            const double low = real_of(type, bits);
            const double high = real_of(type, bits + 1);
            const double middle = (low + high) / 2;

            failed += bits_of(type, nextafter(middle, low)) != bits;
            failed += bits_of(type, nextafter(middle, high)) != bits + 1;
            failed += bits_of(type, middle) != bits + (bits & 1);
            failed += bits_of(type, -middle) != (bits + (bits & 1)) + sign;
        }
        CHECK_INT(failed, 0);
        CHECK_INT(bits_of(type, -0.0), sign);
        CHECK_INT(bits_of(type, 0x1p-1074), 0);
        CHECK_INT(bits_of(type, -0x1p-1000), sign);
    }
}

/* To infinity, or to the largest where eight bits are converted. */
static void few_bits_overflow_as_the_hardware_does(void)
{
    for (size_t k = 0; k < FEW; k++) {
        const struct few *const type = &few[k];
        const double last = real_of(type, type->largest_bits) -
                            real_of(type, type->largest_bits - 1);

        CHECK_INT(bits_of(type, type->largest + last * 0.4999),
                  type->largest_bits);
        CHECK_INT(bits_of(type, type->largest + last / 2), type->over_bits);
        CHECK_INT(bits_of(type, 4 * type->largest), type->over_bits);
        CHECK_INT(bits_of(type, DBL_MAX), type->over_bits);
        CHECK_INT(bits_of(type, (double)INFINITY), type->over_bits);
        CHECK_INT(bits_of(type, -(double)INFINITY),
                  type->over_bits | sign_of(type));
        CHECK(isnan(real_of(type, bits_of(type, (double)NAN))));
        CHECK(shmt_element_holds_real(type->element, type->largest));
        CHECK(!shmt_element_holds_real(type->element, 2 * type->largest));
        CHECK(shmt_element_holds_real(type->element, (double)INFINITY) ==
              (type->over_bits != type->largest_bits));
    }
}

static void integers_must_fit(void)
{
    union shmt_element_scalar scalar = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I32, whole(INT32_MIN),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.as_i32, INT32_MIN);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I32, whole(2147483648),
                                   &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "2147483648");
    CHECK_HAS(err.text, "i32");
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_U32, whole(-1), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_U8, whole(256), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I64, real(3), &scalar, &err),
              SHMTUNE_OK);
    CHECK_INT(scalar.as_i64, 3);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I64, real(3.5), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I64, real((double)NAN),
                                   &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(
                  SHMT_ELEMENT_F32,
                  (struct shmt_value){.type = SHMT_VALUE_WORD, .w = "static"},
                  &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "static");
}

static void reals_are_rounded(void)
{
    union shmt_element_scalar scalar = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(0.1), &scalar,
                                   NULL), SHMTUNE_OK);
    CHECK(scalar.as_f32 == 0.1f);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, whole(7), &scalar,
                                   NULL), SHMTUNE_OK);
    CHECK(scalar.as_f64 == 7.0);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028235e38),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK(scalar.as_f32 == FLT_MAX);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028236e38),
                                   &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "does not fit the type f32");
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65519), &scalar,
                                   &err), SHMTUNE_OK);
    CHECK_INT(scalar.as_f16, 0xfbff);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65520), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real((double)INFINITY),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.as_f16, 0x7c00);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, real(7), &scalar, &err),
              SHMTUNE_OK);
    CHECK(shmt_element_real(SHMT_ELEMENT_F64, &scalar) == 7.0);
}

/* As bench/source.c defines them: the device's types that C lacks. */
#define BITS(word, type, ...) typedef struct { type bits; } word##_bits;
SHMT_ELEMENT_SMALL_LIST(BITS)
#undef BITS

static void rows_have_the_devices_sizes(void)
{
    static const struct {
        const char *word;
        size_t here, device;
    } sizes[] = {
#define ROW(name, word, type, device, ...)                                   \
    {#word, sizeof(type), sizeof(device)},
        SHMT_ELEMENT_LIST(ROW)
#undef ROW
    };

    for (size_t e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const struct shmt_element_type *type =
            shmt_element_type((enum shmt_element)e);

        CHECK_TEXT(type->word, sizes[e].word);
        CHECK_TEXT(shmt_element_word((enum shmt_element)e), sizes[e].word);
        CHECK_INT(type->bytes, sizes[e].here);
        CHECK_INT(shmt_element_bytes((enum shmt_element)e), sizes[e].device);
    }
}

/* A number that a type holds comes back; i64's bounds are no doubles. */
static void check_number(enum shmt_element element,
                         union shmt_element_number number)
{
    const union shmt_element_scalar scalar =
        shmt_element_store(element, number);
    const struct shmt_value value = shmt_element_is_real(element)
                                        ? real(number.real)
                                        : whole(number.whole);
    union shmt_element_scalar converted;

    if (shmt_element_is_real(element))
        CHECK(shmt_element_real(element, &scalar) == number.real);
    else
        CHECK(shmt_element_real(element, &scalar) == (double)number.whole);
    CHECK_INT(shmt_element_convert(element, value, &converted, NULL),
              SHMTUNE_OK);
    CHECK(memcmp(&converted, &scalar, shmt_element_bytes(element)) == 0);
}

static void bounds_come_back(void)
{
    for (size_t e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const enum shmt_element element = (enum shmt_element)e;
        const struct shmt_element_type *type = shmt_element_type(element);
        union shmt_element_number ramp = {.whole = (int64_t)type->ramp};

        check_number(element, type->low);
        check_number(element, type->high);
        if (type->is_real) {
            CHECK(shmt_element_holds_real(element, type->low.real));
            CHECK(shmt_element_holds_real(element, type->high.real));
            CHECK(shmt_element_holds_real(element, (double)NAN));
            ramp.real = (double)type->ramp;
        } else {
            CHECK(shmt_element_holds(element, type->low.whole));
            CHECK(shmt_element_holds(element, type->high.whole));
            CHECK(type->high.whole == INT64_MAX ||
                  !shmt_element_holds(element, type->high.whole + 1));
            CHECK(type->low.whole == INT64_MIN ||
                  !shmt_element_holds(element, type->low.whole - 1));
        }
        check_number(element, ramp);
        /* A mask: all bits below the highest. */
        CHECK((type->ramp & (type->ramp + 1)) == 0);
    }
}

/* Behind the last number of a ramp a real type has no longer every one. */
static void ramps_end_where_reals_have_gaps(void)
{
    for (size_t e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const enum shmt_element element = (enum shmt_element)e;
        const struct shmt_element_type *type = shmt_element_type(element);
        union shmt_element_scalar a, b;

        if (!type->is_real || type->bytes == sizeof(double))
            continue;
        a = shmt_element_store(element, (union shmt_element_number){
                                   .real = (double)(type->ramp + 1)});
        b = shmt_element_store(element, (union shmt_element_number){
                                   .real = (double)(type->ramp + 2)});
        CHECK(memcmp(&a, &b, type->bytes) == 0);
    }
}

/* A result that was rounded the other way is within what is proposed. */
static void tolerances_are_above_a_step(void)
{
    for (int k = 0; k < FEW; k++) {
        const double tolerance =
            strtod(shmt_element_tolerance(few[k].element), NULL);

        CHECK(tolerance >= ldexp(1, -few[k].fraction_bits));
        CHECK(tolerance <= ldexp(4, -few[k].fraction_bits));
    }
    CHECK_TEXT(shmt_element_tolerance(SHMT_ELEMENT_F32), "1.0e-6");
}

int main(void)
{
    CHECK_RUN(few_bits_mean_what_the_format_says);
    CHECK_RUN(few_bits_come_back);
    CHECK_RUN(few_bits_round_to_even);
    CHECK_RUN(few_bits_overflow_as_the_hardware_does);
    CHECK_RUN(integers_must_fit);
    CHECK_RUN(reals_are_rounded);
    CHECK_RUN(rows_have_the_devices_sizes);
    CHECK_RUN(bounds_come_back);
    CHECK_RUN(tolerances_are_above_a_step);
    CHECK_RUN(ramps_end_where_reals_have_gaps);
    return CHECK_END();
}
