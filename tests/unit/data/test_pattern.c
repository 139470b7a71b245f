/* SPDX-License-Identifier: MIT */
/*
 * test_pattern: what buffers are filled with.
 */
#include <math.h>
#include <stdlib.h>

#include "data/data.h"
#include "tests/support/check.h"

/* Known numbers: they may not change from one release to the next, or a
 * recording could not be repeated. */
static void patterns_stay(void)
{
    const struct shmt_fill_values values = {
        .element = SHMT_ELEMENT_F64, .fill = SHMT_FILL_UNIFORM, .low = -1,
        .high = 1};
    const struct shmt_pattern first = shmt_pattern_of(&values, 0, 0);
    const struct shmt_pattern second = shmt_pattern_of(&values, 1, 0);

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
    CHECK(first.seed != shmt_pattern_of(&values, 0, 1).seed);
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

/* Of the first argument with the data seed 0. */
static struct shmt_pattern pattern_of(enum shmt_element element,
                                      enum shmt_fill fill, uint64_t count)
{
    const struct shmt_fill_values values = {.element = element, .fill = fill,
                                            .count = count};

    return shmt_pattern_of(&values, 0, 0);
}

/* By the formulas of pattern.h in Python, as above. */
static void other_fills_stay(void)
{
    struct shmt_pattern p =
        pattern_of(SHMT_ELEMENT_F64, SHMT_FILL_NORMAL, 20000);
    static const int rows[] = {0, 2, 4, 6, 9, 12, 14, 17, 20};
    static const int places[] = {10, 1, 6, 5, 8, 7, 0, 11, 4, 3, 2, 9};

    p.first = 1.5;
    p.second = 0.25;
    p.low = -10;
    p.high = 10;
    CHECK(shmt_pattern_value(&p, 0).as_f64 == 0x1.da94c61654d60p-1);
    CHECK(shmt_pattern_value(&p, 1).as_f64 == 0x1.99bb072d9baafp+0);
    CHECK(shmt_pattern_value(&p, 12345).as_f64 == 0x1.8984c2162d327p+0);
    p.element = SHMT_ELEMENT_I32;
    p.first = 100;
    p.second = 10;
    p.low = 0;
    p.high = 200;
    CHECK_INT(shmt_pattern_value(&p, 0).as_i32, 77);
    CHECK_INT(shmt_pattern_value(&p, 1).as_i32, 104);
    CHECK_INT(shmt_pattern_value(&p, 12345).as_i32, 101);
    p = pattern_of(SHMT_ELEMENT_F64, SHMT_FILL_SORTED, 20000);
    p.low = -1;
    p.high = 1;
    CHECK(shmt_pattern_value(&p, 0).as_f64 == -0x1.fffe774d6f71ep-1);
    CHECK(shmt_pattern_value(&p, 1).as_f64 == -0x1.ffe950c3daa56p-1);
    CHECK(shmt_pattern_value(&p, 12345).as_f64 == 0x1.e052916dff520p-3);
    p.element = SHMT_ELEMENT_U16;
    p.low = 0;
    p.high = 1000;
    CHECK_INT(shmt_pattern_value(&p, 12345).as_u16, 617);
    p = pattern_of(SHMT_ELEMENT_I64, SHMT_FILL_PERMUTATION, 20000);
    CHECK_INT(shmt_pattern_value(&p, 0).as_i64, 18410);
    CHECK_INT(shmt_pattern_value(&p, 12345).as_i64, 2582);
    p = pattern_of(SHMT_ELEMENT_F32, SHMT_FILL_PERMUTATION, 12);
    for (uint64_t i = 0; i < 12; i++)
        CHECK(shmt_pattern_value(&p, i).as_f32 == (float)places[i]);
    p = pattern_of(SHMT_ELEMENT_I32, SHMT_FILL_ROW_POINTERS, 9);
    p.first = 2.5;
    p.second = 2;
    for (uint64_t i = 0; i < 9; i++)
        CHECK_INT(shmt_pattern_value(&p, i).as_i32, rows[i]);
    p = pattern_of(SHMT_ELEMENT_U32, SHMT_FILL_ROW_POINTERS, 20000);
    p.first = 16;
    p.second = 12;
    CHECK_INT(shmt_pattern_value(&p, 12345).as_u32, 197517);
    CHECK_INT(shmt_pattern_value(&p, 19999).as_u32, 319984);
}

/* Mean, deviation and reach of a normal fill; a range moves what is outside
 * to its ends. */
static void normal_is_normal(void)
{
    struct shmt_pattern p =
        pattern_of(SHMT_ELEMENT_F64, SHMT_FILL_NORMAL, 100000);
    double sum = 0, squares = 0;
    int near = 0, ends[2] = {0, 0};

    p.first = 7;
    p.second = 2;
    p.low = -1000;
    p.high = 1000;
    for (uint64_t i = 0; i < 100000; i++) {
        const double value = shmt_pattern_value(&p, i).as_f64 - 7;

        sum += value;
        squares += value * value;
        near += fabs(value) < 2;
        CHECK(fabs(value) <= 12);
    }
    CHECK(fabs(sum / 100000) < 0.03);
    CHECK(fabs(squares / 100000 - 4) < 0.06);
    CHECK(abs(near - 68269) < 800);
    p.element = SHMT_ELEMENT_U8;
    p.low = 5;
    p.high = 10;
    for (uint64_t i = 0; i < 1000; i++) {
        const int value = shmt_pattern_value(&p, i).as_u8;

        CHECK(value >= 5 && value < 10);
        ends[0] += value == 5;
        ends[1] += value == 9;
    }
    CHECK(ends[0] > 100 && ends[1] > 100);
}

static void sorted_is_sorted(void)
{
    static const uint64_t counts[] = {1, 2, 1000, (uint64_t)1 << 40};
    struct shmt_pattern real = {.element = SHMT_ELEMENT_F32, .low = -3,
                                .high = 3, .fill = SHMT_FILL_SORTED};
    struct shmt_pattern whole = {.element = SHMT_ELEMENT_I16, .low = -7,
                                 .high = 13, .fill = SHMT_FILL_SORTED};

    for (size_t k = 0; k < 4; k++) {
        const uint64_t count = counts[k];
        float last = -3;
        int last_whole = -7;

        real.count = whole.count = count;
        real.seed = whole.seed = k;
        for (uint64_t n = 0; n < 1000 && n < count; n++) {
            const uint64_t i = count <= 1000 ? n : count - 1000 + n;
            const float value = shmt_pattern_value(&real, i).as_f32;
            const int number = shmt_pattern_value(&whole, i).as_i16;

            CHECK(value >= last && value <= 3);
            CHECK(number >= last_whole && number < 13);
            last = value;
            last_whole = number;
        }
        CHECK(count < 1000 || (last > 2.9f && last_whole == 12));
    }
}

/* The last place of a long array is rounded to the end of the range, with one
 * seed in thousands: which is not in it. */
static void sorted_keeps_its_end_out(void)
{
    struct shmt_pattern p = {.element = SHMT_ELEMENT_I16, .low = -7,
                             .high = 13, .fill = SHMT_FILL_SORTED,
                             .count = (uint64_t)1 << 40};
    int wrong = 0;

    for (p.seed = 0; p.seed < 100000; p.seed++)
        wrong += shmt_pattern_value(&p, p.count - 1).as_i16 != 12;
    CHECK_INT(wrong, 0);
}

static void permutations_have_each_number_once(void)
{
    enum { MOST = 4099 };
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4096, MOST};
    static unsigned char seen[MOST];

    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const struct shmt_pattern p = {.element = SHMT_ELEMENT_I32,
                                       .fill = SHMT_FILL_PERMUTATION,
                                       .seed = k, .count = counts[k]};
        uint64_t moved = 0;

        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < counts[k]; i++) {
            const int value = shmt_pattern_value(&p, i).as_i32;

            CHECK(value >= 0 && (uint64_t)value < counts[k] && !seen[value]);
            seen[value % MOST] = 1;
            moved += (uint64_t)value != i;
        }
        CHECK(counts[k] < 1000 || moved > counts[k] * 9 / 10);
    }
}

/* From 0 to the total, never down, each row within its spread. */
static void row_pointers_count_up(void)
{
    static const struct { double mean, spread; } rows[] = {
        {0, 0}, {0.25, 0.25}, {1, 0}, {1, 1}, {3.5, 3.5}, {16, 12}, {1e9, 1e9}};
    enum { COUNT = 2001 };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const struct shmt_pattern p = {
            .element = SHMT_ELEMENT_I64, .fill = SHMT_FILL_ROW_POINTERS,
            .seed = k, .count = COUNT, .first = rows[k].mean,
            .second = rows[k].spread};
        int64_t last = 0, least = INT64_MAX, most = 0;

        CHECK_INT(shmt_pattern_value(&p, 0).as_i64, 0);
        for (uint64_t i = 1; i < COUNT; i++) {
            const int64_t at = shmt_pattern_value(&p, i).as_i64;
            const double off = (double)(at - last) - rows[k].mean;

            CHECK(at >= last && fabs(off) <= rows[k].spread + 1);
            least = at - last < least ? at - last : least;
            most = at - last > most ? at - last : most;
            last = at;
        }
        CHECK_INT(last, (int64_t)((COUNT - 1) * rows[k].mean));
        CHECK(rows[k].mean < 16 || most - least > (int64_t)rows[k].spread);
    }
}

static void constants_and_steps(void)
{
    struct shmt_pattern p = {.element = SHMT_ELEMENT_I64, .count = 9,
                             .fill = SHMT_FILL_CONSTANT, .from = INT64_MIN};

    CHECK(shmt_pattern_value(&p, 5).as_i64 == INT64_MIN);
    p.fill = SHMT_FILL_STEPS;
    p.from = 1000;
    p.step = -3;
    CHECK_INT(shmt_pattern_value(&p, 0).as_i64, 1000);
    CHECK_INT(shmt_pattern_value(&p, 8).as_i64, 976);
    p.element = SHMT_ELEMENT_F32;
    p.first = 0.5;
    p.second = 0.25;
    CHECK(shmt_pattern_value(&p, 3).as_f32 == 1.25f);
    p.fill = SHMT_FILL_CONSTANT;
    CHECK(shmt_pattern_value(&p, 3).as_f32 == 0.5f);
}

int main(void)
{
    CHECK_RUN(patterns_stay);
    CHECK_RUN(patterns_are_uniform);
    CHECK_RUN(whole_patterns_are_in_range);
    CHECK_RUN(ramps_and_zeros);
    CHECK_RUN(other_fills_stay);
    CHECK_RUN(normal_is_normal);
    CHECK_RUN(sorted_is_sorted);
    CHECK_RUN(sorted_keeps_its_end_out);
    CHECK_RUN(permutations_have_each_number_once);
    CHECK_RUN(row_pointers_count_up);
    CHECK_RUN(constants_and_steps);
    return CHECK_END();
}
