/* SPDX-License-Identifier: MIT */
/*
 * export_code: the fixed parts of a header (export_header.c).  Private to
 * exchange/.
 */
#ifndef SHMT_EXCHANGE_EXPORT_CODE_H
#define SHMT_EXCHANGE_EXPORT_CODE_H

#include "base/base.h"

/* What stands for @, $P, $A and $B in a piece of code. */
struct shmt_export_names {
    const char *kernel;
    const char *parameters;    /* ", long long d_m, long long d_n" */
    const char *arguments;     /* ", d_m, d_n" */
    const char *sizes;         /* "d_m, d_n" */
};

enum shmt_export_part {
    SHMT_EXPORT_COMMON, SHMT_EXPORT_NEAREST, SHMT_EXPORT_RANKED,
    SHMT_EXPORT_CHOOSE, SHMT_EXPORT_WITH_NEAREST, SHMT_EXPORT_EXACT_ALONE
};

void shmt_export_add_code(const struct shmt_export_names *names,
                          const char *code, struct shmt_text *text);
void shmt_export_add_part(const struct shmt_export_names *names,
                          enum shmt_export_part part, struct shmt_text *text);

#endif
