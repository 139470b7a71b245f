/* SPDX-License-Identifier: MIT */
/*
 * pattern: computes what buffers are filled with by the formulas in pattern.h,
 * bit for bit as source.c does on the device.
 */
#include "bench/pattern.h"

struct shmt_pattern shmt_pattern_of(const struct shmt_argument *argument,
                                    size_t number, uint64_t seed)
{
    return (struct shmt_pattern){
        .element = argument->element, .fill = argument->fill,
        .low = argument->low, .high = argument->high,
        .seed = shmt_random_mix(seed + (number + 1) * 0xd1b54a32d192ed03u),
    };
}

/* The draw as a number of a uniform fill.  The device rounds the product before
 * it adds; so must we, where the compiler would rather fuse the two. */
static double real(const struct shmt_pattern *pattern, uint64_t draw)
{
    const double unit = (double)(draw >> 11) * 0x1p-53;
    volatile double part = (pattern->high - pattern->low) * unit;

    return pattern->low + part;
}

static int64_t whole(const struct shmt_pattern *pattern, uint64_t draw)
{
    const int64_t low = (int64_t)pattern->low;
    const uint64_t span = (uint64_t)((int64_t)pattern->high - low);

    return low + (int64_t)(span > 0 ? draw % span : 0);
}

union shmt_element_scalar shmt_pattern_value(const struct shmt_pattern *pattern,
                                             uint64_t index)
{
    const struct shmt_element_type *type = shmt_element_type(pattern->element);
    const uint64_t draw = shmt_random_at(pattern->seed, index);
    const uint64_t step =
        pattern->fill == SHMT_FILL_RAMP ? index & type->ramp : 0;
    union shmt_element_number number;

    if (type->is_real)
        number.real = pattern->fill == SHMT_FILL_UNIFORM
                          ? real(pattern, draw) : (double)step;
    else
        number.whole = pattern->fill == SHMT_FILL_UNIFORM
                           ? whole(pattern, draw) : (int64_t)step;
    return shmt_element_store(pattern->element, number);
}
