/* SPDX-License-Identifier: MIT */
/*
 * tuning_order: compares the entries of a tuning.  For tuning.c and
 * tuning_tree.c.
 */
#ifndef SHMT_RECORD_TUNING_ORDER_H
#define SHMT_RECORD_TUNING_ORDER_H

#include "record/tuning.h"

/* Below 0, 0, above 0 as with strcmp; sizes of the same names. */
int shmt_tuning_compare(const struct shmt_tuned *a, const struct shmt_tuned *b);

/* The same names in the same order. */
bool shmt_tuning_same_names(const struct shmt_setting *a, size_t a_count,
                            const struct shmt_setting *b, size_t b_count);

#endif
