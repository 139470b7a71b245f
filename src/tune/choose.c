/* SPDX-License-Identifier: MIT */
#include "tune/choose.h"

#include <stdlib.h>
#include <string.h>

/* Closer than this is the same for anybody's purposes; farther than that is
 * not, however noisy. */
static const double same = 1.01, noise = 1.05;
/* Events are stamped in steps of 32 ns: three of them. */
static const double steps_us = 0.1;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double shmt_choose_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 == 1
               ? values[count / 2]
               : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Slower in all passes but at most one of seven. */
static bool told_apart(const struct shmt_finalist *one,
                       const struct shmt_finalist *best, size_t passes)
{
    size_t slower = 0;
    for (size_t p = 0; p < passes; p++)
        slower += one->pass_us[p] > best->pass_us[p];
    return slower + passes / 7 >= passes;
}

static bool is_tied(const struct shmt_finalist *one,
                    const struct shmt_finalist *best, size_t passes)
{
    if (one == best || one->median_us <= best->median_us * same ||
        one->median_us - best->median_us < steps_us)
        return true;
    return one->median_us <= best->median_us * noise &&
           !told_apart(one, best, passes);
}

/* Among equals. */
static bool preferred(const struct shmt_finalist *a,
                      const struct shmt_finalist *b)
{
    if (a->is_default != b->is_default)
        return a->is_default;
    if (a->spill_bytes != b->spill_bytes)
        return a->spill_bytes < b->spill_bytes;
    if (a->shared_bytes != b->shared_bytes)
        return a->shared_bytes < b->shared_bytes;
    return a->index < b->index;
}

size_t shmt_choose(struct shmt_finalist *finalists, size_t count,
                   size_t passes)
{
    const struct shmt_finalist *best = &finalists[0];
    size_t winner = 0;

    for (size_t k = 0; k < count; k++) {
        double sorted[SHMT_CHOOSE_PASSES];
        memcpy(sorted, finalists[k].pass_us, passes * sizeof *sorted);
        finalists[k].median_us = shmt_choose_median(sorted, passes);
        if (finalists[k].median_us < best->median_us)
            best = &finalists[k];
    }
    for (size_t k = 0; k < count; k++)
        finalists[k].tied = is_tied(&finalists[k], best, passes);
    winner = (size_t)(best - finalists);
    for (size_t k = 0; k < count; k++)
        if (finalists[k].tied && preferred(&finalists[k], &finalists[winner]))
            winner = k;
    return winner;
}
