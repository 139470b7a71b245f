/* SPDX-License-Identifier: MIT */
/*
 * turns: two ways of doing a thing, as tuned and as it was, that come in turn,
 * and how their times are compared.  The turns are a Walsh function of the
 * number: of two neighbours, or of eight, as many are tuned as not.  Called by
 * trial.c, where they are launches, and by joint.c, where they are stretches.
 */
#include "capture/library.h"

#include <stdlib.h>

enum { MOST = SHMT_CAPTURE_TURNS };

/* The first seven are orthogonal in a group of eight, and so are the others;
 * all of them are in sixteen. */
unsigned shmt_capture_turns_of(size_t number)
{
    static const unsigned char turns[SHMT_CAPTURE_APART] = {
        15, 13, 11, 14, 9, 10, 12, 7, 5, 3, 6, 1, 2, 4};

    return turns[number % SHMT_CAPTURE_APART];
}

bool shmt_capture_turn_is_tuned(unsigned turns, size_t number)
{
    return __builtin_parityl(number & turns);
}

double shmt_capture_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, shmt_array_compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double shmt_capture_turns_median(unsigned turns, const double *us,
                                 size_t first, size_t count, bool tuned)
{
    double mine[MOST];
    size_t found = 0;

    for (size_t k = first; k < first + count && found < MOST; k++)
        if (shmt_capture_turn_is_tuned(turns, k) == tuned)
            mine[found++] = us[k];
    return found == 0 ? 0 : shmt_capture_median(mine, found);
}

double shmt_capture_turns_lost(unsigned turns, const double *us, size_t first,
                               size_t count)
{
    double lost = 0;

    for (size_t k = first; k < first + count; k++)
        lost += shmt_capture_turn_is_tuned(turns, k) ? us[k] : -us[k];
    return lost;
}

static int by_amount(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    const double amount = a < 0 ? -a : a, than = b < 0 ? -b : b;

    return (amount > than) - (amount < than);
}

double shmt_capture_turns_losses(double *lost, size_t count)
{
    double ranks = 0;

    qsort(lost, count, sizeof *lost, by_amount);
    for (size_t k = 0; k < count; k++)
        ranks += lost[k] > 0 ? (double)(k + 1)
                 : lost[k] < 0 ? 0 : (double)(k + 1) / 2;
    return ranks / ((double)(count * (count + 1)) / 2);
}
