/* SPDX-License-Identifier: MIT */
/*
 * middle: the Hodges-Lehmann estimate; see middle.h.
 */
#include "base/middle.h"

#include <stdlib.h>

#include "base/array.h"

/* Of three, two of three pairs have the one that is disturbed. */
enum { LEAST_TO_PAIR = 4 };

double shmt_middle(const double *values, size_t count)
{
    double averages[SHMT_MIDDLE_MOST * (SHMT_MIDDLE_MOST + 1) / 2];
    size_t n = 0;

    for (size_t j = 0; j < count; j++)
        for (size_t k = count < LEAST_TO_PAIR ? j : 0; k <= j; k++)
            averages[n++] = (values[j] + values[k]) / 2;
    qsort(averages, n, sizeof *averages, shmt_array_compare_doubles);
    return (averages[(n - 1) / 2] + averages[n / 2]) / 2;
}

double shmt_middle_of_floats(const float *values, size_t count)
{
    double wide[SHMT_MIDDLE_MOST];

    for (size_t k = 0; k < count; k++)
        wide[k] = (double)values[k];
    return shmt_middle(wide, count);
}
