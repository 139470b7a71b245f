/* SPDX-License-Identifier: MIT */
/*
 * estimate: about how long a configuration takes at a size, as a sum of a few
 * terms: sizes and their products, tiles, and rounds of tiles over the
 * multiprocessors.  Private to learn.
 */
#ifndef SHMT_LEARN_ESTIMATE_H
#define SHMT_LEARN_ESTIMATE_H

#include "learn/table.h"
#include "record/record.h"

enum { SHMT_LEARN_TERMS = 4 };     /* of an estimate, at most */

struct shmt_learn_estimate {
    double start_us;
    size_t count;
    struct shmt_dispatch_term terms[SHMT_DISPATCH_TERMS_OF_ONE];
    double each_us[SHMT_DISPATCH_TERMS_OF_ONE];
};

/* Fits an estimate to what was measured of each of `configs` configurations,
 * which the table has at the places `column`, at `sizes`: up to a factor of
 * each size that all share.  Its count is 0 where that is too little.  False:
 * there is no memory. */
bool shmt_learn_estimates_fit(const struct shmt_learn_table *table,
                              const struct shmt_learn_size *const *sizes,
                              size_t count, const size_t *column,
                              size_t configs,
                              struct shmt_learn_estimate *out);

/* Microseconds, but for a factor that all configurations share at a size;
 * INFINITY: nothing is known. */
double shmt_learn_estimate_us(const struct shmt_learn_estimate *estimate,
                              const int64_t *problem, size_t dimensions);

#endif
