/* SPDX-License-Identifier: MIT */
/*
 * test_compare: the measuring kernels that compare, in the text that NVRTC
 * gets, held against what source.h promises of right and wrong.
 */
#include <float.h>
#include <math.h>

#include "tests/support/check.h"
#include "tests/support/device_text.h"

/* Whether one element passes. */
static bool passes(const struct shmt_probe_rule *how, const void *found,
                   const void *expected)
{
    const void *const pair[2] = {found, expected};
    const struct shmt_probe_finding out = device_text_compare(how, &grids[0], pair, 1);

    CHECK(out.mismatches <= 1);
    CHECK(out.first == (out.mismatches == 0 ? UINT64_MAX : 0));
    CHECK(out.worst_at == out.first);
    return out.mismatches == 0;
}

/* -- comparing ------------------------------------------------------------ */

/* Small different numbers, which each type has. */
static void set_numbers(enum shmt_element element, struct elements *out)
{
    const bool real = shmt_element_is_real(element);
    const size_t size = shmt_element_bytes(element);

    for (size_t i = 0; i < COUNT; i++) {
        const union shmt_element_number number =
            real ? (union shmt_element_number){.real = (double)i + 1}
                 : (union shmt_element_number){.whole = (int64_t)i + 1};
        const union shmt_element_scalar value =
            shmt_element_store(element, number);

        memcpy(out->bytes + i * size, &value, size);
    }
}

/* An element wrong in each place, then two; of each type, on each grid. */
static void one_wrong_element_is_found(void)
{
    static struct elements a, b;
    const void *const pair[2] = {a.bytes, b.bytes};

    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const struct shmt_probe_rule how = {.element = e,
                                       .poison = SHMT_PATTERN_POISON_A};
        const size_t size = shmt_element_bytes(e);

        set_numbers(e, &a);
        set_numbers(e, &b);
        for (size_t g = 0; g < GRIDS; g++) {
            struct shmt_probe_finding out =
                device_text_compare(&how, &grids[g], pair, COUNT);

            CHECK(out.mismatches == 0 && out.first == UINT64_MAX &&
                  out.unwritten == 0);
            for (size_t i = 0; i < COUNT; i++) {
                a.bytes[i * size] ^= 0x40;
                out = device_text_compare(&how, &grids[g], pair, COUNT);
                CHECK(out.mismatches == 1 && out.first == i &&
                      out.unwritten == 0);
                /* Those behind the last are not compared. */
                out = device_text_compare(&how, &grids[g], pair, i);
                CHECK(out.mismatches == 0);
                a.bytes[(COUNT - 1) * size] ^= 0x20;
                out = device_text_compare(&how, &grids[g], pair, COUNT);
                CHECK(out.mismatches == (i == COUNT - 1 ? 1 : 2) &&
                      out.first == i);
                a.bytes[(COUNT - 1) * size] ^= 0x20;
                a.bytes[i * size] ^= 0x40;
            }
        }
    }
}

/* The bits of a number of either kind. */
static uint64_t scalar_bits(enum shmt_element element, double number)
{
    const union shmt_element_scalar scalar = shmt_element_store(
        element, shmt_element_is_real(element)
                     ? (union shmt_element_number){.real = number}
                     : (union shmt_element_number){.whole = (int64_t)number});
    uint64_t out = 0;

    memcpy(&out, &scalar, shmt_element_bytes(element));
    return out;
}

static bool reals_pass(enum shmt_element element, double found,
                       const double expected[3])
{
    const struct shmt_probe_rule how = {.element = (int)element,
                                        .absolute = expected[1],
                                        .relative = expected[2]};
    const union shmt_element_scalar a = shmt_element_store(
        element, (union shmt_element_number){.real = found});
    const union shmt_element_scalar b = shmt_element_store(
        element, (union shmt_element_number){.real = expected[0]});

    return passes(&how, &a, &b);
}

#define REAL_PASSES(element, found, ...)                                     \
    reals_pass(element, found, (const double[3]){__VA_ARGS__})

/* Nothing knows such a type, so nothing is right. */
static void a_type_that_is_not_there_is_no_match(void)
{
    static struct elements a, b;
    const void *const pair[2] = {a.bytes, b.bytes};
    const struct shmt_probe_rule how = {.element = SHMT_ELEMENT_COUNT};

    CHECK(device_text_compare(&how, &grids[0], pair, COUNT).mismatches > 0);
}

static void nan_and_infinity(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        if (!shmt_element_is_real(e))
            continue;
        CHECK(!REAL_PASSES(e, NAN, NAN, 1e300, 1));
        CHECK(!REAL_PASSES(e, NAN, 1, 1e300, 1));
        CHECK(!REAL_PASSES(e, 1, NAN, 1e300, 1));
        CHECK(!REAL_PASSES(e, NAN, INFINITY, INFINITY, 0));
        CHECK(REAL_PASSES(e, 0.0, -0.0, 0, 0));
        CHECK(REAL_PASSES(e, -0.0, 0.0, 0, 0));
        CHECK(REAL_PASSES(e, INFINITY, INFINITY, 0, 0));
        CHECK(REAL_PASSES(e, -INFINITY, -INFINITY, 0, 0));
        if (!shmt_element_holds_real(e, INFINITY))
            continue;
        CHECK(!REAL_PASSES(e, INFINITY, -INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, -INFINITY, INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, INFINITY, 1, 1e300, 1));
        CHECK(!REAL_PASSES(e, 1, INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, 1, -INFINITY, 1, 1));
    }
    /* The largest number is one. */
    CHECK(REAL_PASSES(SHMT_ELEMENT_F64, DBL_MAX / 2, DBL_MAX, 0, 0.5));
    CHECK(REAL_PASSES(SHMT_ELEMENT_F64, -DBL_MAX / 2, -DBL_MAX, 0, 0.5));
}

/* Just what is allowed passes, and nothing more. */
static void tolerances_of_reals_are_exact(void)
{
    static const struct { enum shmt_element element; double last; } rows[] = {
        {SHMT_ELEMENT_F16, 0x1p-10}, {SHMT_ELEMENT_BF16, 0x1p-7},
        {SHMT_ELEMENT_F32, 0x1p-23}, {SHMT_ELEMENT_F64, 0x1p-52}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const enum shmt_element e = rows[k].element;
        const double ulp = rows[k].last;

        /* nothing allowed */
        CHECK(!REAL_PASSES(e, 1 + ulp, 1, 0, 0));
        CHECK(!REAL_PASSES(e, -1, 1, 0, 0));
        /* absolute: in both directions, once and not twice */
        CHECK(REAL_PASSES(e, 1.5, 1, 0.5, 0));
        CHECK(REAL_PASSES(e, 1, 1.5, 0.5, 0));
        CHECK(!REAL_PASSES(e, 1.5 + ulp, 1, 0.5, 0));
        CHECK(!REAL_PASSES(e, 0.5 - ulp / 2, 1, 0.5, 0));
        /* relative to what is expected, without its sign */
        CHECK(REAL_PASSES(e, 3, 2, 0, 0.5));
        CHECK(REAL_PASSES(e, -3, -2, 0, 0.5));
        CHECK(REAL_PASSES(e, 1, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, 2, 1, 0, 0.5));
        CHECK(!REAL_PASSES(e, 3 + 2 * ulp, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, 1 - ulp, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, ulp, 0, 0, 0.5));
        /* their sum */
        CHECK(REAL_PASSES(e, 3.25, 2, 0.25, 0.5));
        CHECK(!REAL_PASSES(e, 3.25 + 2 * ulp, 2, 0.25, 0.5));
    }
}

/* The device's conversions are the host's: on each pattern of bits it sees the
 * number that the host sees, or NaN. */
static void small_reals_are_the_same_on_the_device(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const size_t size = shmt_element_bytes(e);
        const struct shmt_probe_rule how = {.element = e};
        int failed = 0;

        if (!shmt_element_is_real(e) || size > 2)
            continue;
        for (uint32_t bits = 0; bits < 1u << (8 * size); bits++) {
            const double number = shmt_element_real(e, &bits);
            /* another pattern only where the type has no infinity to store */
            const union shmt_element_scalar again = shmt_element_store(
                e, (union shmt_element_number){.real = number});

            failed += passes(&how, &bits, &again) !=
                      (shmt_element_real(e, &again) == number);
        }
        CHECK_INT(failed, 0);
    }
}

static bool wholes_pass(enum shmt_element element, const int64_t numbers[2],
                        const double allowed[2])
{
    const struct shmt_probe_rule how = {.element = (int)element,
                                        .absolute = allowed[0],
                                        .relative = allowed[1]};
    const union shmt_element_scalar a = shmt_element_store(
        element, (union shmt_element_number){.whole = numbers[0]});
    const union shmt_element_scalar b = shmt_element_store(
        element, (union shmt_element_number){.whole = numbers[1]});

    return passes(&how, &a, &b);
}

#define WHOLE_PASSES(element, found, expected, ...)                          \
    wholes_pass(element, (const int64_t[2]){found, expected},                \
                (const double[2]){__VA_ARGS__})

static void tolerances_of_whole_numbers_are_exact(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        if (shmt_element_is_real(e))
            continue;
        CHECK(WHOLE_PASSES(e, 7, 7, 0, 0));
        CHECK(!WHOLE_PASSES(e, 8, 7, 0, 0));
        CHECK(!WHOLE_PASSES(e, 6, 7, 0.5, 0));
        CHECK(WHOLE_PASSES(e, 12, 10, 2, 0));
        CHECK(WHOLE_PASSES(e, 8, 10, 2, 0));
        CHECK(!WHOLE_PASSES(e, 13, 10, 2, 0));
        CHECK(!WHOLE_PASSES(e, 7, 10, 2, 0));
        CHECK(WHOLE_PASSES(e, 15, 10, 0, 0.5));
        CHECK(!WHOLE_PASSES(e, 16, 10, 0, 0.5));
        CHECK(WHOLE_PASSES(e, 17, 10, 2, 0.5));
        CHECK(!WHOLE_PASSES(e, 18, 10, 2, 0.5));
    }
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I32, -15, -10, 0, 0.5));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I32, -1, 1, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I32, INT32_MIN, INT32_MAX, 4294967294.0,
                        0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I32, INT32_MIN, INT32_MAX, 4294967295.0,
                       0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U32, UINT32_MAX, 0, 4294967294.0, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U32, 0, UINT32_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U8, 0, 255, 254, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U8, 0, 255, 255, 0));
    /* No double tells these neighbours apart. */
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MAX - 1, 0, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MAX - 1, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MIN, INT64_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX, INT64_MAX - 1, 0, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX - 1, INT64_MAX, 0, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX - 1, INT64_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, -1, 0, 0x1p63, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, 0, -1, 0x1p63, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U64, -1, -2, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I8, -128, 127, 254, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I16, INT16_MIN, INT16_MAX, 65535, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MIN, 0x1p63, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MIN, INT64_MAX, 0x1p64, 0));
}

/* -- other tolerances ----------------------------------------------------- */

/* Elements by their bits, of which the first bytes count. */
static bool bits_pass(enum shmt_element element, uint64_t ulp, uint64_t found,
                      uint64_t expected)
{
    const struct shmt_probe_rule how = {.element = (int)element, .ulp = ulp};

    return passes(&how, &found, &expected);
}

/* Neighbours among the numbers of a type are neighbours among their bits, and
 * both zeros are one. */
static void ulps_are_counted(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const uint64_t sign = UINT64_C(1) << (8 * shmt_element_bytes(e) - 1);
        const uint64_t two = scalar_bits(e, 2);

        if (!shmt_element_is_real(e))
            continue;
        CHECK(bits_pass(e, 3, two + 3, two) && bits_pass(e, 3, two - 3, two));
        CHECK(!bits_pass(e, 3, two + 4, two) &&
              !bits_pass(e, 3, two - 4, two));
        CHECK(bits_pass(e, 3, sign | (two + 3), sign | two));
        CHECK(!bits_pass(e, 3, sign | (two + 4), sign | two));
        CHECK(!bits_pass(e, 3, two, sign | two));
        /* across zero, through numbers below the normal ones */
        CHECK(bits_pass(e, 3, 1, sign | 2) && bits_pass(e, 3, sign | 2, 1));
        CHECK(!bits_pass(e, 3, 2, sign | 2));
        CHECK(bits_pass(e, 1, 0, sign | 1) && bits_pass(e, 1, sign, 1));
        /* nothing comes near what is not finite */
        if (shmt_element_holds_real(e, INFINITY)) {
            const uint64_t infinite = scalar_bits(e, INFINITY);

            CHECK(!bits_pass(e, 9, infinite - 1, infinite));
            CHECK(!bits_pass(e, 9, infinite, infinite - 1));
            CHECK(!bits_pass(e, UINT64_MAX, infinite + 1, infinite));
            CHECK(bits_pass(e, 9, infinite - 1, infinite - 2));
        }
    }
}

static double excess_of(struct shmt_probe_rule how, double found,
                        double expected)
{
    const enum shmt_element e = (enum shmt_element)how.element;
    const uint64_t a = scalar_bits(e, found), b = scalar_bits(e, expected);
    const void *const pair[2] = {&a, &b};
    const struct shmt_probe_finding out = device_text_compare(&how, &grids[0], pair, 1);
    double excess;

    CHECK(out.mismatches == 1);
    memcpy(&excess, &out.worst, sizeof excess);
    return excess;
}

#define EXCESS(e, found, expected, ...)                                      \
    excess_of((struct shmt_probe_rule){.element = (int)e, __VA_ARGS__},      \
              found, expected)

static void the_excess_is_in_tolerances(void)
{
    const enum shmt_element e = SHMT_ELEMENT_F32, whole = SHMT_ELEMENT_I32;

    CHECK(EXCESS(e, 3, 2, .absolute = 0.25) == 4);
    CHECK(EXCESS(e, 3, 2, .relative = 0.125) == 4);
    CHECK(EXCESS(e, 3, 2, .scale = 0.5) == 2);
    CHECK(EXCESS(e, 3, -2, .absolute = 0.5, .relative = 0.25, .scale = 1) ==
          2.5);
    CHECK(EXCESS(e, 2 + 0x1p-20, 2, .ulp = 2) == 2);
    /* the milder of the two */
    CHECK(EXCESS(e, 2 + 0x1p-20, 2, .ulp = 2, .absolute = 0x1p-30) == 2);
    CHECK(EXCESS(e, 2 + 0x1p-20, 2, .ulp = 1, .absolute = 0x1p-21) == 2);
    /* nothing is allowed */
    CHECK(EXCESS(e, 3, 2, .poison = 1) == 0.5);
    CHECK(isinf(EXCESS(e, 3, 0, .poison = 1)));
    CHECK(isinf(EXCESS(e, 3, 0, .relative = 1)));
    CHECK(EXCESS(whole, 12, 2, .poison = 1) == 10);
    CHECK(EXCESS(whole, 12, 2, .absolute = 2.5) == 4);
    CHECK(isinf(EXCESS(e, NAN, 2, .absolute = 1)));
    CHECK(isinf(EXCESS(e, 2, INFINITY, .absolute = 1)));
}

/* How near to its tolerance a right one is. */
static void right_ones_have_an_excess(void)
{
    static const float found[] = {2, 2.125f, 1.75f, 2}, expected = 2;
    const struct shmt_probe_rule how = {.element = SHMT_ELEMENT_F32,
                                        .absolute = 0.5};

    for (size_t g = 0; g < GRIDS; g++)
        for (size_t count = 0; count <= 4; count++) {
            float b[4] = {expected, expected, expected, expected};
            const void *const pair[2] = {found, b};
            const struct shmt_probe_finding out =
                device_text_compare(&how, &grids[g], pair, count);
            double excess;

            memcpy(&excess, &out.worst, sizeof excess);
            CHECK(out.mismatches == 0 && out.first == UINT64_MAX &&
                  excess == (count < 2 ? 0 : count < 3 ? 0.25 : 0.5));
        }
}

/* The worst of several, and the first where two are as bad. */
static void the_worst_is_found(void)
{
    static float a[COUNT], b[COUNT];
    const void *const pair[2] = {a, b};
    const struct shmt_probe_rule how = {.element = SHMT_ELEMENT_F32,
                                        .absolute = 1};

    for (size_t i = 0; i < COUNT; i++)
        a[i] = b[i] = (float)i;
    for (size_t g = 0; g < GRIDS; g++)
        for (size_t i = 0; i < COUNT; i++) {
            const size_t other = (i * 7 + 3) % COUNT;
            const bool same = other == i;
            struct shmt_probe_finding out;
            double excess;

            a[other] += 2;
            a[i] += 5;
            out = device_text_compare(&how, &grids[g], pair, COUNT);
            memcpy(&excess, &out.worst, sizeof excess);
            CHECK(out.mismatches == (same ? 1 : 2) && out.worst_at == i &&
                  excess == (same ? 7 : 5));
            a[other] = (float)other + 5;
            a[i] = (float)i - 5;
            out = device_text_compare(&how, &grids[g], pair, COUNT);
            CHECK(out.worst_at == (i < other ? i : other));
            a[other] = (float)other;
            a[i] = (float)i;
        }
}

/* -- regions -------------------------------------------------------------- */

/* 2 planes of 3 rows of 4 columns, 5 and 20 apart, behind 7 elements. */
static const struct shmt_probe_rule padded = {
    .element = SHMT_ELEMENT_I32, .columns = 4, .rows = 3, .planes = 2,
    .pitch = 5, .plane_pitch = 20, .offset = 7, .outside = 0};

static bool is_inside(uint64_t i)
{
    const uint64_t j = i - 7;

    return i >= 7 && j / 20 < 2 && j % 20 / 5 < 3 && j % 5 < 4;
}

/* A wrong element counts within the region alone, and a changed one outside of
 * it alone: against a word, and against what is kept. */
static void only_the_region_is_compared(void)
{
    static int32_t a[COUNT], b[COUNT], kept[COUNT];
    struct shmt_probe_rule how = padded;

    for (uint64_t i = 0; i < COUNT; i++) {
        a[i] = is_inside(i) ? (int32_t)i : 0x11111111;
        kept[i] = 0x11111111;
        b[i] = is_inside(i) ? (int32_t)i : -1;
    }
    how.outside = 0x11111111;
    for (size_t run = 0; run < 2 * GRIDS; run++)
        for (uint64_t i = 0; i < COUNT; i++) {
            const void *const three[] = {a, b, run % 2 == 0 ? kept : NULL};
            struct shmt_probe_finding out;

            a[i] ^= 0x100;
            out = device_text_compare_kept(&how, &grids[run / 2], three,
                                           COUNT);
            CHECK(out.mismatches == is_inside(i) &&
                  out.outside == !is_inside(i));
            CHECK(out.first == (is_inside(i) ? i : UINT64_MAX) &&
                  out.worst_at == out.first);
            CHECK(out.outside_first == (is_inside(i) ? UINT64_MAX : i));
            a[i] ^= 0x100;
        }
}

/* -- unwritten ------------------------------------------------------------ */

/* An element is unwritten when every byte of it is, in each place. */
static void partly_written_is_not_unwritten(void)
{
    static const uint32_t poisons[] = {SHMT_PATTERN_POISON_A,
                                       SHMT_PATTERN_POISON_B};
    static struct elements a, b;
    const void *const pair[2] = {a.bytes, b.bytes};

    for (int run = 0; run < 2 * SHMT_ELEMENT_COUNT; run++) {
        const enum shmt_element e = run / 2;
        const size_t size = shmt_element_bytes(e);
        const struct shmt_probe_rule how = {.element = e,
                                       .poison = poisons[run % 2]};
        struct shmt_probe_finding out;

        set_numbers(e, &b);
        memcpy(&a, &b, sizeof a);
        device_text_poison(a.bytes + 2 * size, 3 * size, how.poison);
        out = device_text_compare(&how, &grids[1], pair, COUNT);
        CHECK(out.mismatches == 3 && out.unwritten == 3 && out.first == 2);
        for (size_t k = 2 * size; k < 5 * size; k++) {
            a.bytes[k] ^= 1;
            out = device_text_compare(&how, &grids[2], pair, COUNT);
            CHECK(out.mismatches == 3 && out.unwritten == 2);
            a.bytes[k] ^= 1;
        }
        /* nothing written at all, on each grid */
        device_text_poison(a.bytes, COUNT * size, how.poison);
        for (size_t g = 0; g < GRIDS; g++) {
            out = device_text_compare(&how, &grids[g], pair, COUNT);
            /* As u8, one number each is the poison's own. */
            CHECK(out.mismatches >= COUNT - 1 && out.first == 0);
            CHECK(out.unwritten == out.mismatches);
        }
        /* the other poison is a wrong result */
        device_text_poison(a.bytes, COUNT * size, poisons[1 - run % 2]);
        out = device_text_compare(&how, &grids[3], pair, COUNT);
        CHECK(out.mismatches >= COUNT - 1 && out.unwritten == 0);
    }
}

int main(void)
{
    if (!device_text_can_compile())
        return EXIT_SUCCESS;
    device_text_compile();
    CHECK_RUN(one_wrong_element_is_found);
    CHECK_RUN(a_type_that_is_not_there_is_no_match);
    CHECK_RUN(nan_and_infinity);
    CHECK_RUN(tolerances_of_reals_are_exact);
    CHECK_RUN(small_reals_are_the_same_on_the_device);
    CHECK_RUN(tolerances_of_whole_numbers_are_exact);
    CHECK_RUN(ulps_are_counted);
    CHECK_RUN(the_excess_is_in_tolerances);
    CHECK_RUN(right_ones_have_an_excess);
    CHECK_RUN(the_worst_is_found);
    CHECK_RUN(only_the_region_is_compared);
    CHECK_RUN(partly_written_is_not_unwritten);
    return CHECK_END();
}
