/* SPDX-License-Identifier: MIT */
/*
 * pattern: computes what buffers are filled with by the formulas in pattern.h,
 * bit for bit as bench/source.c does on the device.
 */
#include "data/pattern.h"

#include <math.h>

/* The device rounds each product before it adds; so must we, where the compiler
 * would rather fuse the two. */
static double pattern_mul(double a, double b)
{
    volatile double product = a * b;

    return product;
}

static double pattern_add(double a, double b)
{
    volatile double sum = a + b;

    return sum;
}

static double pattern_div(double a, double b)
{
    volatile double quotient = a / b;

    return quotient;
}

static uint64_t pattern_draw(uint64_t seed, uint64_t index)
{
    return shmt_random_at(seed, index);
}

SHMT_PATTERN_CODE(static)
SHMT_PATTERN_CODE_WHOLE(static)

static double real_of(struct shmt_value value)
{
    return value.type == SHMT_VALUE_REAL ? value.r : (double)value.i;
}

/* A real is whole where the values were checked for a whole type. */
static int64_t whole_of(struct shmt_value value)
{
    return value.type == SHMT_VALUE_REAL ? 0 : value.i;
}

struct shmt_pattern shmt_pattern_of(const struct shmt_fill_values *values,
                                    size_t number, uint64_t seed)
{
    return (struct shmt_pattern){
        .element = (int)values->element, .fill = (int)values->fill,
        .low = values->low, .high = values->high, .count = values->count,
        .first = real_of(values->numbers[0]),
        .second = real_of(values->numbers[1]),
        .from = whole_of(values->numbers[0]),
        .step = whole_of(values->numbers[1]),
        .seed = shmt_random_mix(seed + (number + 1) * 0xd1b54a32d192ed03u),
    };
}

struct shmt_pattern
shmt_pattern_complete(const struct shmt_pattern *pattern)
{
    const struct shmt_element_type *type =
        shmt_element_type((enum shmt_element)pattern->element);
    struct shmt_pattern out = *pattern;

    out.mask = type->ramp;
    out.real = type->is_real;
    return out;
}

union shmt_element_scalar shmt_pattern_value(const struct shmt_pattern *pattern,
                                             uint64_t index)
{
    const struct shmt_pattern whole = shmt_pattern_complete(pattern);
    union shmt_element_number number;

    if (whole.real)
        number.real = pattern_real(&whole, index);
    else
        number.whole = pattern_whole(&whole, index);
    return shmt_element_store((enum shmt_element)pattern->element, number);
}
