/* SPDX-License-Identifier: MIT */
/*
 * value: compares values as Python does: 1 == 1.0, and a word equals only
 * itself.
 */
#include "expr/value.h"

#include "base/base.h"
#include "expr/arith.h"

bool shmt_value_equal_any(const struct shmt_value *a,
                          const struct shmt_value *b)
{
    if (a->type == SHMT_VALUE_WORD || b->type == SHMT_VALUE_WORD)
        return a->type == b->type && shmt_text_equal(a->w, b->w);
    if (a->type == b->type)
        return a->type == SHMT_VALUE_INT ? a->i == b->i : a->r == b->r;
    if (a->type == SHMT_VALUE_INT)
        return shmt_arith_compare_mixed(a->i, b->r) == 0;
    return shmt_arith_compare_mixed(b->i, a->r) == 0;
}
