/* SPDX-License-Identifier: MIT */
/*
 * middle: where a few repeated measurements of one thing lie: the median of
 * the averages of all pairs, each value with itself, too.  J. L. Hodges and
 * E. L. Lehmann, "Estimates of location based on rank tests", 1963.
 *
 * Where a measurement takes the one and the other of two values in turns, the
 * median is the one of which there is one more; this lies between them.  Up to
 * a quarter of the values may be anything.  Of three that is none, so of three
 * or fewer it is their median.
 */
#ifndef SHMT_BASE_MIDDLE_H
#define SHMT_BASE_MIDDLE_H

#include <stddef.h>

enum { SHMT_MIDDLE_MOST = 64 };

/* Of `count` values, 1 to SHMT_MIDDLE_MOST, none of them NAN. */
double shmt_middle(const double *values, size_t count);
/* The same of samples as they are kept. */
double shmt_middle_of_floats(const float *values, size_t count);

#endif
