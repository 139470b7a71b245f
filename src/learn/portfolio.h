/* SPDX-License-Identifier: MIT */
/*
 * portfolio: what a configuration loses at a size, and the few with which the
 * best of them loses least over all sizes.  Private to learn.
 */
#ifndef SHMT_LEARN_PORTFOLIO_H
#define SHMT_LEARN_PORTFOLIO_H

#include "learn/table.h"

enum { SHMT_LEARN_PORTFOLIO = 32 };   /* at most */

/* What a share of the best time loses; the worst counts more. */
double shmt_learn_loss(double share);

/* The share of the best time that the configuration reaches at a size: 0
 * where it may not run, little where nobody measured it. */
double shmt_learn_share(const struct shmt_learn_table *table,
                        const struct shmt_learn_size *size, size_t config);

/* Chooses at most `most` configurations, what brings most first.  A size at
 * which one was not measured says nothing about it.  False: there is no
 * memory. */
bool shmt_learn_portfolio(const struct shmt_learn_table *table,
                          const struct shmt_learn_size *const *sizes,
                          size_t count, size_t most, size_t *out,
                          size_t *out_count);

#endif
