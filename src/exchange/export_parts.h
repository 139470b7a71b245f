/* SPDX-License-Identifier: MIT */
/*
 * export_parts: a header while it is written, and what its files share.
 * Private to exchange/.
 */
#ifndef SHMT_EXCHANGE_EXPORT_PARTS_H
#define SHMT_EXCHANGE_EXPORT_PARTS_H

#include "exchange/export_code.h"
#include "exchange/export_rows.h"

struct shmt_export_header {
    const struct shmt_export_rows *rows;
    const struct shmt_kernel *kernel;
    struct shmt_text kernel_name, parameters, arguments, sizes, calls, values;
    struct shmt_text constant;    /* "(settings, d_m, bad)" */
    struct shmt_export_names names;
    const char *symbols[SHMT_KERNEL_SYMBOLS];
    bool derived[SHMT_EXPR_DERIVED];
    const struct shmt_expr *missing;   /* C has it not; NULL: all are there */
    struct shmt_text *text;
};

/* A piece of code, as in export_code.h. */
void shmt_export_add(struct shmt_export_header *header, const char *code);
/* As a piece of a comment, on its line. */
void shmt_export_add_comment(struct shmt_text *text, const char *string);

/* -- export_data.c -------------------------------------------------------- */

void shmt_export_add_settings(struct shmt_export_header *header);
void shmt_export_add_limits(struct shmt_export_header *header);
void shmt_export_add_devices(struct shmt_export_header *header);
void shmt_export_add_rows(struct shmt_export_header *header);
void shmt_export_add_tries(struct shmt_export_header *header);
void shmt_export_add_comparisons(struct shmt_export_header *header);
void shmt_export_add_tables(struct shmt_export_header *header);
void shmt_export_add_macros(struct shmt_export_header *header);

#endif
