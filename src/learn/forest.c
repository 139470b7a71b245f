/* SPDX-License-Identifier: MIT */
/*
 * forest: what each configuration loses, or what its estimate leaves of that,
 * at sizes that were not measured: the mean over many trees whose comparisons
 * are drawn at random, of each node the best of a few (extremely randomised
 * trees, after Geurts, Ernst and Wehenkel).  A tree is not kept: the sizes that
 * are asked for go down with those that it is grown on.  Called by learn.c.
 */
#include "learn/forest.h"

#include <math.h>
#include <stdlib.h>

enum {
    TREES = 60,
    DRAWN = 8, DRAWN_OF = 3      /* comparisons of a node: these, and one of so
                                    many of the features */
};

struct growing {
    const struct shmt_learn_field *field;
    struct shmt_random random;
    size_t *known, *asked;
    size_t first;                /* of those asked, whose row of out is 0 */
    double *out;
    double *total, *left;        /* [configs] */
};

struct comparison {
    size_t feature;
    int64_t below;
    double gain;
};

static const int64_t *values_of(const struct shmt_learn_field *field,
                                size_t feature)
{
    return field->values + feature * field->count;
}

static void sum_up(const struct shmt_learn_field *field, const size_t *sizes,
                   size_t count, double *sums)
{
    for (size_t c = 0; c < field->configs; c++)
        sums[c] = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < field->configs; c++)
            sums[c] += field->rest[sizes[k] * field->configs + c];
}

static void put_mean(struct growing *growing, const size_t *known,
                     size_t count, const size_t *asked, size_t asked_count)
{
    const size_t configs = growing->field->configs;

    sum_up(growing->field, known, count, growing->total);
    for (size_t k = 0; k < asked_count; k++)
        for (size_t c = 0; c < configs; c++)
            growing->out[(asked[k] - growing->first) * configs + c] +=
                growing->total[c] / (double)count / TREES;
}

/* Draws a number between the least and the greatest value of the feature, by
 * the logarithm; false: they are the same. */
static bool draw_below(struct growing *growing, size_t feature,
                       const size_t *known, size_t count, int64_t *below)
{
    const int64_t *const values = values_of(growing->field, feature);
    const double place = shmt_random_unit(&growing->random);
    int64_t low = INT64_MAX, high = 0;

    for (size_t k = 0; k < count; k++) {
        const int64_t value = values[known[k]];

        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (low >= high)
        return false;
    *below = (int64_t)exp2(log2((double)low + 1) * (1 - place) +
                           log2((double)high + 1) * place);
    *below = *below <= low ? low + 1 : *below > high ? high : *below;
    return true;
}

/* How much less the squares are around the means of both sides than around
 * the mean of all, but for what all comparisons share. */
static double gain_of(struct growing *growing, size_t feature, int64_t below,
                      const size_t *known, size_t count)
{
    const struct shmt_learn_field *const field = growing->field;
    const int64_t *const values = values_of(field, feature);
    double left = 0, right = 0;
    size_t n = 0;

    for (size_t c = 0; c < field->configs; c++)
        growing->left[c] = 0;
    for (size_t k = 0; k < count; k++) {
        if (values[known[k]] >= below)
            continue;
        n++;
        for (size_t c = 0; c < field->configs; c++)
            growing->left[c] += field->rest[known[k] * field->configs + c];
    }
    for (size_t c = 0; c < field->configs; c++) {
        const double other = growing->total[c] - growing->left[c];

        left += growing->left[c] * growing->left[c];
        right += other * other;
    }
    return left / (double)n + right / (double)(count - n);
}

/* Moves the sizes that are below to the front; returns how many they are. */
static size_t part(const int64_t *values, int64_t below, size_t *sizes,
                   size_t count)
{
    size_t front = 0;

    for (size_t k = 0; k < count; k++) {
        const size_t one = sizes[k];

        if (values[one] >= below)
            continue;
        sizes[k] = sizes[front];
        sizes[front++] = one;
    }
    return front;
}

static void grow(struct growing *growing, size_t *known, size_t count,
                 size_t *asked, size_t asked_count)
{
    const struct shmt_learn_field *const field = growing->field;
    const size_t features = field->feature_count + field->own_count;
    const size_t drawn = DRAWN + features / DRAWN_OF;
    struct comparison best = {.gain = -1};
    size_t front, asked_front;

    if (asked_count == 0)
        return;
    sum_up(field, known, count, growing->total);
    for (size_t k = 0; count > 1 && k < drawn; k++) {
        struct comparison one = {.feature = (size_t)shmt_random_below(
            &growing->random, features)};

        if (!draw_below(growing, one.feature, known, count, &one.below))
            continue;
        one.gain = gain_of(growing, one.feature, one.below, known, count);
        if (one.gain > best.gain)
            best = one;
    }
    if (best.gain < 0) {
        put_mean(growing, known, count, asked, asked_count);
        return;
    }
    front = part(values_of(field, best.feature), best.below, known, count);
    asked_front = part(values_of(field, best.feature), best.below, asked,
                       asked_count);
    grow(growing, known, front, asked, asked_front);
    grow(growing, known + front, count - front, asked + asked_front,
         asked_count - asked_front);
}

bool shmt_learn_forest(const struct shmt_learn_field *field,
                       const size_t *known, size_t count, size_t first,
                       size_t asked, uint64_t seed, double *out)
{
    struct growing growing = {.field = field, .first = first, .out = out};
    size_t *const sizes = calloc(count + asked + 1, sizeof *sizes);
    double *const sums = calloc(2 * field->configs + 1, sizeof *sums);

    if (sizes != NULL && sums != NULL && field->feature_count > 0) {
        shmt_random_seed(&growing.random, seed);
        growing.total = sums;
        growing.left = sums + field->configs;
        for (size_t k = 0; k < asked * field->configs; k++)
            out[k] = 0;
        for (int tree = 0; tree < TREES; tree++) {
            for (size_t k = 0; k < count; k++)
                sizes[k] = known[k];
            for (size_t k = 0; k < asked; k++)
                sizes[count + k] = first + k;
            grow(&growing, sizes, count, sizes + count, asked);
        }
    }
    free(sizes);
    free(sums);
    return sizes != NULL && sums != NULL;
}
