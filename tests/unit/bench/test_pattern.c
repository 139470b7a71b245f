/* SPDX-License-Identifier: MIT */
/*
 * test_pattern: what buffers are filled with.
 */
#include <math.h>

#include "bench/pattern.h"
#include "tests/support/check.h"

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
    CHECK(shmt_pattern_value(&first, 0).as_f64 == -0x1.882881a2a1c9cp-1);
    CHECK(shmt_pattern_value(&first, 1).as_f64 == 0x1.d87475cc8ebe8p-2);
    CHECK(shmt_pattern_value(&first, 12345).as_f64 == -0x1.66af273a94970p-2);
    whole_one.element = SHMT_ELEMENT_I64;
    whole_one.low = -5;
    whole_one.high = 12;
    CHECK_INT(shmt_pattern_value(&whole_one, 0).as_i64, 0);
    CHECK_INT(shmt_pattern_value(&whole_one, 1).as_i64, -5);
    CHECK_INT(shmt_pattern_value(&whole_one, 12345).as_i64, 4);
    CHECK(first.seed != second.seed);
    CHECK(first.seed != shmt_pattern_of(&argument, 0, 1).seed);
    for (uint64_t i = 0; i < 1000; i++) {
        const double value = shmt_pattern_value(&first, i).as_f64;

        CHECK(value >= -1 && value < 1);
        CHECK(value != shmt_pattern_value(&second, i).as_f64);
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
        const double value = shmt_pattern_value(&pattern, i).as_f64 - 4;

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
    union shmt_element_scalar value;

    CHECK_INT(shmt_pattern_value(&pattern, 257).as_u8, 1);
    pattern.element = SHMT_ELEMENT_F16;
    value = shmt_pattern_value(&pattern, 2047);
    CHECK(shmt_element_real(SHMT_ELEMENT_F16, &value) == 2047);
    value = shmt_pattern_value(&pattern, 2048);
    CHECK(shmt_element_real(SHMT_ELEMENT_F16, &value) == 0);
    pattern.element = SHMT_ELEMENT_I32;
    CHECK_INT(shmt_pattern_value(&pattern, 123456).as_i32, 123456);
    pattern.fill = SHMT_FILL_ZERO;
    CHECK_INT(shmt_pattern_value(&pattern, 5).as_i32, 0);
}

int main(void)
{
    CHECK_RUN(patterns_stay);
    CHECK_RUN(patterns_are_uniform);
    CHECK_RUN(whole_patterns_are_in_range);
    CHECK_RUN(ramps_and_zeros);
    return CHECK_END();
}
