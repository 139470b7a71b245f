/* SPDX-License-Identifier: MIT */
/*
 * test_element: numbers as a device holds them, against the compiler's own
 * half precision where it has one, and what buffers are filled with.
 */
#include <float.h>
#include <math.h>

#include "bench/pattern.h"
#include "tests/support/check.h"

static struct shmt_value whole(int64_t number)
{
    return (struct shmt_value){.type = SHMT_VALUE_INT, .i = number};
}

static struct shmt_value real(double number)
{
    return (struct shmt_value){.type = SHMT_VALUE_REAL, .r = number};
}

static void halves_come_back(void)
{
    int failed = 0;

    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        const double value = shmt_element_from_half((uint16_t)bits);

        if (isnan(value))
            failed += !isnan(shmt_element_from_half(
                shmt_element_half(value)));
        else
            failed += shmt_element_half(value) != bits;
    }
    CHECK_INT(failed, 0);
}

/* Between each half and the next: to the nearer, and to even in the middle. */
static void halves_round_to_even(void)
{
    int failed = 0;

    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        const double low = shmt_element_from_half((uint16_t)bits);
        const double high = shmt_element_from_half((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;

        failed += shmt_element_half(nextafter(middle, low)) != bits;
        failed += shmt_element_half(nextafter(middle, high)) != bits + 1;
        failed += shmt_element_half(middle) != bits + (bits & 1);
    }
    CHECK_INT(failed, 0);
    CHECK_INT(shmt_element_half(65519.9), 0x7bff);
    CHECK_INT(shmt_element_half(65520), 0x7c00);
    CHECK_INT(shmt_element_half((double)-INFINITY), 0xfc00);
    CHECK_INT(shmt_element_half(-0.0), 0x8000);
    CHECK_INT(shmt_element_half(1), 0x3c00);
}

static void integers_must_fit(void)
{
    union shmt_element_scalar scalar = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_I32, whole(INT32_MIN),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.i, INT32_MIN);
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
    CHECK_INT(scalar.l, 3);
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
    CHECK(scalar.f == 0.1f);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, whole(7), &scalar,
                                   NULL), SHMTUNE_OK);
    CHECK(scalar.d == 7.0);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028235e38),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK(scalar.f == FLT_MAX);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F32, real(3.4028236e38),
                                   &scalar, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "does not fit the type f32");
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65519), &scalar,
                                   &err), SHMTUNE_OK);
    CHECK_INT(scalar.h, 0xfbff);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real(-65520), &scalar,
                                   &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F16, real((double)INFINITY),
                                   &scalar, &err), SHMTUNE_OK);
    CHECK_INT(scalar.h, 0x7c00);
    CHECK_INT(shmt_element_convert(SHMT_ELEMENT_F64, real(7), &scalar, &err),
              SHMTUNE_OK);
    CHECK(shmt_element_real(SHMT_ELEMENT_F64, &scalar) == 7.0);
}

/* Known numbers: they may not change from one release to the next, or a
 * recording could not be repeated. */
static void patterns_stay(void)
{
    const struct shmt_argument argument = {
        .element = SHMT_ELEMENT_F64, .fill = SHMT_FILL_UNIFORM, .low = -1,
        .high = 1};
    const struct shmt_pattern first = shmt_pattern_of(&argument, 0, 0);
    const struct shmt_pattern second = shmt_pattern_of(&argument, 1, 0);

    struct shmt_pattern whole_one = first;

    /* by the formulas of pattern.h in Python */
    CHECK(first.seed == 0x8209b480faed1b10u);
    CHECK(shmt_pattern_value(&first, 0).d == -0x1.882881a2a1c9cp-1);
    CHECK(shmt_pattern_value(&first, 1).d == 0x1.d87475cc8ebe8p-2);
    CHECK(shmt_pattern_value(&first, 12345).d == -0x1.66af273a94970p-2);
    whole_one.element = SHMT_ELEMENT_I64;
    whole_one.low = -5;
    whole_one.high = 12;
    CHECK_INT(shmt_pattern_value(&whole_one, 0).l, 0);
    CHECK_INT(shmt_pattern_value(&whole_one, 1).l, -5);
    CHECK_INT(shmt_pattern_value(&whole_one, 12345).l, 4);
    CHECK(first.seed != second.seed);
    CHECK(first.seed != shmt_pattern_of(&argument, 0, 1).seed);
    for (uint64_t i = 0; i < 1000; i++) {
        const double value = shmt_pattern_value(&first, i).d;

        CHECK(value >= -1 && value < 1);
        CHECK(value != shmt_pattern_value(&second, i).d);
    }
}

/* Moments of a uniform distribution, far inside what chance allows. */
static void patterns_are_uniform(void)
{
    struct shmt_pattern pattern = {.element = SHMT_ELEMENT_F64, .low = 2,
                                   .high = 6, .seed = 5};
    double sum = 0, squares = 0;
    enum { COUNT = 100000 };

    for (uint64_t i = 0; i < COUNT; i++) {
        const double value = shmt_pattern_value(&pattern, i).d - 4;

        sum += value;
        squares += value * value;
    }
    CHECK(fabs(sum / COUNT) < 0.02);
    CHECK(fabs(squares / COUNT - 16.0 / 12) < 0.02);
}

static void whole_patterns_are_in_range(void)
{
    static const enum shmt_element elements[] = {
        SHMT_ELEMENT_U8, SHMT_ELEMENT_I32, SHMT_ELEMENT_U32, SHMT_ELEMENT_I64};
    int seen[8] = {0};

    for (size_t e = 0; e < 4; e++) {
        const struct shmt_pattern pattern = {.element = elements[e],
                                             .low = 3, .high = 10,
                                             .seed = 9};

        for (uint64_t i = 0; i < 500; i++) {
            const union shmt_element_scalar value =
                shmt_pattern_value(&pattern, i);
            const double number = shmt_element_real(elements[e], &value);

            CHECK(number >= 3 && number < 10 && number == floor(number));
            seen[(int)number % 8]++;
        }
    }
    CHECK(seen[3] > 0 && seen[1] > 0);   /* 3 and 9 */
}

static void ramps_and_zeros(void)
{
    struct shmt_pattern pattern = {.element = SHMT_ELEMENT_U8,
                                   .fill = SHMT_FILL_RAMP};

    CHECK_INT(shmt_pattern_value(&pattern, 257).b, 1);
    pattern.element = SHMT_ELEMENT_F16;
    CHECK(shmt_element_from_half(shmt_pattern_value(&pattern, 2047).h) ==
          2047);
    CHECK(shmt_element_from_half(shmt_pattern_value(&pattern, 2048).h) == 0);
    pattern.element = SHMT_ELEMENT_I32;
    CHECK_INT(shmt_pattern_value(&pattern, 123456).i, 123456);
    pattern.fill = SHMT_FILL_ZERO;
    CHECK_INT(shmt_pattern_value(&pattern, 5).i, 0);
}

int main(void)
{
    CHECK_RUN(halves_come_back);
    CHECK_RUN(halves_round_to_even);
    CHECK_RUN(integers_must_fit);
    CHECK_RUN(reals_are_rounded);
    CHECK_RUN(patterns_stay);
    CHECK_RUN(patterns_are_uniform);
    CHECK_RUN(whole_patterns_are_in_range);
    CHECK_RUN(ramps_and_zeros);
    return CHECK_END();
}
