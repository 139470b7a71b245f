/* SPDX-License-Identifier: MIT */
/*
 * options: parses "name:option=value,option=value" by the table of the
 * strategy that it names.  For search/ only.
 */
#ifndef SHMT_SEARCH_OPTIONS_H
#define SHMT_SEARCH_OPTIONS_H

#include "search/search.h"

/* Most options one strategy may have. */
enum { SHMT_STRATEGY_OPTIONS = 24 };

/* SHMTUNE_INVALID_ARGUMENT: no such strategy or option, a value that is no
 * number, outside of its range, or given twice.  `values` holds the options
 * in the order of the table, SHMT_STRATEGY_OPTIONS of them. */
enum shmtune_status
shmt_strategy_parse_options(const char *text,
                            const struct shmt_strategy **strategy,
                            double *values, struct shmt_error *err);

#endif
