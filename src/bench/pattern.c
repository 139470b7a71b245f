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

/* The device rounds the product before it adds; so must we, where the
 * compiler would rather fuse the two. */
static double uniform(const struct shmt_pattern *pattern, uint64_t draw)
{
    const double unit = (double)(draw >> 11) * 0x1p-53;
    volatile double part = (pattern->high - pattern->low) * unit;

    return pattern->low + part;
}

static int64_t whole(const struct shmt_pattern *pattern, uint64_t index,
                     uint64_t draw)
{
    static const uint64_t masks[SHMT_ELEMENT_COUNT] = {
        [SHMT_ELEMENT_U8] = UINT8_MAX, [SHMT_ELEMENT_I32] = INT32_MAX,
        [SHMT_ELEMENT_U32] = UINT32_MAX, [SHMT_ELEMENT_I64] = INT64_MAX,
    };
    const int64_t low = (int64_t)pattern->low;
    const uint64_t span = (uint64_t)((int64_t)pattern->high - low);

    if (pattern->fill == SHMT_FILL_ZERO)
        return 0;
    if (pattern->fill == SHMT_FILL_RAMP)
        return (int64_t)(index & masks[pattern->element]);
    return low + (int64_t)(span > 0 ? draw % span : 0);
}

static double real(const struct shmt_pattern *pattern, uint64_t index,
                   uint64_t draw)
{
    static const uint64_t masks[SHMT_ELEMENT_COUNT] = {
        [SHMT_ELEMENT_F16] = (1u << 11) - 1,
        [SHMT_ELEMENT_F32] = (1u << 24) - 1,
        [SHMT_ELEMENT_F64] = ((uint64_t)1 << 53) - 1,
    };

    if (pattern->fill == SHMT_FILL_ZERO)
        return 0.0;
    if (pattern->fill == SHMT_FILL_RAMP)
        return (double)(index & masks[pattern->element]);
    return uniform(pattern, draw);
}

union shmt_element_scalar shmt_pattern_value(const struct shmt_pattern *pattern,
                                             uint64_t index)
{
    const uint64_t draw = shmt_random_at(pattern->seed, index);
    union shmt_element_scalar out = {0};

    switch (pattern->element) {
    case SHMT_ELEMENT_F16:
        out.h = shmt_element_half(real(pattern, index, draw));
        break;
    case SHMT_ELEMENT_F32: out.f = (float)real(pattern, index, draw); break;
    case SHMT_ELEMENT_F64: out.d = real(pattern, index, draw); break;
    case SHMT_ELEMENT_U8: out.b = (uint8_t)whole(pattern, index, draw); break;
    case SHMT_ELEMENT_I32: out.i = (int32_t)whole(pattern, index, draw); break;
    case SHMT_ELEMENT_U32: out.u = (uint32_t)whole(pattern, index, draw); break;
    default: out.l = whole(pattern, index, draw);
    }
    return out;
}
