/* SPDX-License-Identifier: MIT */
/*
 * value: what a parameter, a problem dimension or an expression can be.
 */
#ifndef SHMT_EXPR_VALUE_H
#define SHMT_EXPR_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum shmt_value_type { SHMT_VALUE_INT, SHMT_VALUE_REAL, SHMT_VALUE_WORD };

/* A word is owned by whoever made the value (a kernel's arena) and compared
 * by its characters. */
struct shmt_value {
    enum shmt_value_type type;
    union {
        int64_t i;
        double r;
        const char *w;
    };
};

/* 1 == 1.0 as in Python; a word equals only the same word. */
bool shmt_value_equal_any(const struct shmt_value *a,
                          const struct shmt_value *b);
/* The same, at once for integers, which most are. */
static inline bool shmt_value_equal(struct shmt_value a, struct shmt_value b)
{
    return a.type == SHMT_VALUE_INT && b.type == SHMT_VALUE_INT
               ? a.i == b.i : shmt_value_equal_any(&a, &b);
}

#endif
