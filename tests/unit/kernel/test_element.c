/* SPDX-License-Identifier: MIT */
/*
 * test_element: each row of the table of element types, and numbers as a device
 * holds them.
 */
#include <float.h>
#include <math.h>
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

static uint16_t half(double number)
{
    return shmt_element_store(SHMT_ELEMENT_F16, (union shmt_element_number){
                                  .real = number}).f16;
}

static double from_half(uint16_t bits)
{
    return shmt_element_real(SHMT_ELEMENT_F16, &bits);
}

static void halves_come_back(void)
{
    int failed = 0;

    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        const double value = from_half((uint16_t)bits);

        if (isnan(value))
            failed += !isnan(from_half(half(value)));
        else
            failed += half(value) != bits;
    }
    CHECK_INT(failed, 0);
}

/* Between each half and the next: to the nearer, and to even in the middle. */
static void halves_round_to_even(void)
{
    int failed = 0;

    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        const double low = from_half((uint16_t)bits);
        const double high = from_half((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;

        failed += half(nextafter(middle, low)) != bits;
        failed += half(nextafter(middle, high)) != bits + 1;
        failed += half(middle) != bits + (bits & 1);
    }
    CHECK_INT(failed, 0);
    CHECK_INT(half(65519.9), 0x7bff);
    CHECK_INT(half(65520), 0x7c00);
    CHECK_INT(half((double)-INFINITY), 0xfc00);
    CHECK_INT(half(-0.0), 0x8000);
    CHECK_INT(half(1), 0x3c00);
}

static void integers_must_fit(void)
{
    union shmt_element_scalar scalar = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I32, whole(INT32_MIN),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.i32, INT32_MIN);
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
    CHECK_INT(scalar.i64, 3);
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
    CHECK(scalar.f32 == 0.1f);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, whole(7), &scalar,
                                   NULL), SHMTUNE_OK);
    CHECK(scalar.f64 == 7.0);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028235e38),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK(scalar.f32 == FLT_MAX);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028236e38),
                                   &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "does not fit the type f32");
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65519), &scalar,
                                   &err), SHMTUNE_OK);
    CHECK_INT(scalar.f16, 0xfbff);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65520), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real((double)INFINITY),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.f16, 0x7c00);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, real(7), &scalar, &err),
              SHMTUNE_OK);
    CHECK(shmt_element_real(SHMT_ELEMENT_F64, &scalar) == 7.0);
}

/* As bench/source.c defines it: the device's type that C lacks. */
typedef struct {
    uint16_t bits;
} half_bits;

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
            CHECK(shmt_element_holds_real(element, (double)INFINITY));
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

int main(void)
{
    CHECK_RUN(halves_come_back);
    CHECK_RUN(halves_round_to_even);
    CHECK_RUN(integers_must_fit);
    CHECK_RUN(reals_are_rounded);
    CHECK_RUN(rows_have_the_devices_sizes);
    CHECK_RUN(bounds_come_back);
    CHECK_RUN(ramps_end_where_reals_have_gaps);
    return CHECK_END();
}
