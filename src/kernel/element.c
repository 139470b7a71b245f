/* SPDX-License-Identifier: MIT */
/*
 * element: what an argument's elements are: words, bytes, and which
 * numbers they can be.
 */
#include <math.h>

#include "kernel/kernel.h"

static const struct {
    const char *word;
    size_t bytes;
} elements[SHMT_ELEMENT_COUNT] = {
#define SHMT_ELEMENT_ROW(name, word, bytes) {word, bytes},
    SHMT_ELEMENT_LIST(SHMT_ELEMENT_ROW)
#undef SHMT_ELEMENT_ROW
};

size_t shmt_element_bytes(enum shmt_element element)
{
    return elements[element].bytes;
}

const char *shmt_element_word(enum shmt_element element)
{
    return elements[element].word;
}

bool shmt_element_is_real(enum shmt_element element)
{
    return element == SHMT_ELEMENT_F16 || element == SHMT_ELEMENT_F32 ||
           element == SHMT_ELEMENT_F64;
}

bool shmt_element_holds(enum shmt_element element, int64_t number)
{
    static const struct {
        int64_t low, high;
    } bounds[SHMT_ELEMENT_COUNT] = {
        [SHMT_ELEMENT_U8] = {0, UINT8_MAX},
        [SHMT_ELEMENT_I32] = {INT32_MIN, INT32_MAX},
        [SHMT_ELEMENT_U32] = {0, UINT32_MAX},
        [SHMT_ELEMENT_I64] = {INT64_MIN, INT64_MAX},
    };

    return number >= bounds[element].low && number <= bounds[element].high;
}

bool shmt_element_holds_real(enum shmt_element element, double number)
{
    /* from here on it rounds to infinity */
    static const double too_large[SHMT_ELEMENT_COUNT] = {
        [SHMT_ELEMENT_F16] = 65520, [SHMT_ELEMENT_F32] = 0x1.ffffffp127,
        [SHMT_ELEMENT_F64] = INFINITY,
    };

    return !isfinite(number) || fabs(number) < too_large[element];
}
