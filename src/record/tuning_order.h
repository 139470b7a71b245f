/* SPDX-License-Identifier: MIT */
/*
 * tuning_order: an empty tuning, and how its entries compare: what
 * tuning_read.c shares with tuning.c.
 */
#ifndef SHMT_RECORD_TUNING_ORDER_H
#define SHMT_RECORD_TUNING_ORDER_H

#include "record/tuning.h"

/* An empty tuning in the caller's arena; NULL when there is no memory. */
struct shmt_tuning *shmt_tuning_new_in(struct shmt_arena *arena);

/* Below 0, 0, above 0 as with strcmp; sizes of the same names. */
int shmt_tuning_compare(const struct shmt_tuned *a, const struct shmt_tuned *b);

/* The same names in the same order. */
bool shmt_tuning_same_names(const struct shmt_setting *a, size_t a_count,
                            const struct shmt_setting *b, size_t b_count);

#endif
