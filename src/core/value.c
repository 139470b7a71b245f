/* SPDX-License-Identifier: MIT */
/*
 * value: equality as Python has it.
 */
#include "core/value.h"

#include <string.h>

#include "core/arith.h"

bool shmt_value_equal(struct shmt_value a, struct shmt_value b)
{
    if (a.type == SHMT_WORD || b.type == SHMT_WORD)
        return a.type == b.type && strcmp(a.w, b.w) == 0;
    if (a.type == b.type)
        return a.type == SHMT_INT ? a.i == b.i : a.r == b.r;
    if (a.type == SHMT_INT)
        return shmt_arith_compare_mixed(a.i, b.r) == 0;
    return shmt_arith_compare_mixed(b.i, a.r) == 0;
}
