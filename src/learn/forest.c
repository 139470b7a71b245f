/* SPDX-License-Identifier: MIT */
/*
 * forest: what each configuration loses, or what its estimate leaves of that,
 * at sizes where it was not measured: for each the mean over many trees whose
 * comparisons are drawn at random, of each node the best of a few (extremely
 * randomised trees, after Geurts, Ernst and Wehenkel), which are grown on the
 * sizes where it was.  A tree is not kept: the sizes that are asked for go down
 * with those that it is grown on.  Called by learn.c.
 */
#include "learn/forest.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAST = 2,                   /* sizes of a leaf */
    DRAWN = 8, DRAWN_OF = 3      /* comparisons of a node: these, and one of so
                                    many of the features */
};

struct growing {
    const struct shmt_learn_field *field;
    struct shmt_random random;
    size_t config;
    size_t trees;
    double *out;
};

struct comparison {
    size_t feature;
    int64_t below;
    double gain;
};

/* A feature of the problem, or, after them, of the configuration. */
static const int64_t *values_of(const struct growing *growing, size_t feature)
{
    const struct shmt_learn_field *const field = growing->field;

    if (feature >= field->feature_count)
        feature += growing->config * SHMT_LEARN_OWN;
    return field->values + feature * field->count;
}

static double rest_of(const struct growing *growing, size_t size)
{
    return growing->field->rest[size * growing->field->configs +
                                growing->config];
}

static double sum_of(const struct growing *growing, const size_t *sizes,
                     size_t count)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += rest_of(growing, sizes[k]);
    return sum;
}

static void put_mean(struct growing *growing, double mean,
                     const size_t *asked, size_t asked_count)
{
    for (size_t k = 0; k < asked_count; k++)
        growing->out[asked[k] * growing->field->configs + growing->config] +=
            mean / (double)growing->trees;
}

/* Draws a number between the least and the greatest value of the feature, by
 * the logarithm; false: they are the same. */
static bool draw_below(struct growing *growing, size_t feature,
                       const size_t *known, size_t count, int64_t *below)
{
    const int64_t *const values = values_of(growing, feature);
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
 * the mean of all, but for what all comparisons share; -1: a side has too
 * few. */
static double gain_of(const struct growing *growing,
                      const struct comparison *one, const size_t *known,
                      size_t count, double total)
{
    const int64_t *const values = values_of(growing, one->feature);
    double left = 0;
    size_t n = 0;

    for (size_t k = 0; k < count; k++) {
        if (values[known[k]] >= one->below)
            continue;
        n++;
        left += rest_of(growing, known[k]);
    }
    if (n < LEAST || count - n < LEAST)
        return -1;
    return left * left / (double)n +
           (total - left) * (total - left) / (double)(count - n);
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
    const size_t features = growing->field->feature_count + SHMT_LEARN_OWN;
    const size_t drawn = DRAWN + features / DRAWN_OF;
    const double total = sum_of(growing, known, count);
    struct comparison best = {.gain = -1};
    size_t front, asked_front;

    if (asked_count == 0)
        return;
    for (size_t k = 0; count >= 2 * LEAST && k < drawn; k++) {
        struct comparison one = {.feature = (size_t)shmt_random_below(
            &growing->random, features)};

        if (!draw_below(growing, one.feature, known, count, &one.below))
            continue;
        one.gain = gain_of(growing, &one, known, count, total);
        if (one.gain > best.gain)
            best = one;
    }
    if (best.gain < 0) {
        put_mean(growing, total / (double)count, asked, asked_count);
        return;
    }
    front = part(values_of(growing, best.feature), best.below, known, count);
    asked_front = part(values_of(growing, best.feature), best.below, asked,
                       asked_count);
    grow(growing, known, front, asked, asked_front);
    grow(growing, known + front, count - front, asked + asked_front,
         asked_count - asked_front);
}

/* The trees of one configuration, on those of the sizes where it was
 * measured. */
static void grow_trees(struct growing *growing, const size_t *sizes,
                       size_t count, size_t *known, size_t *asked,
                       size_t asked_count)
{
    const struct shmt_learn_field *const field = growing->field;

    for (size_t tree = 0; tree < growing->trees; tree++) {
        size_t n = 0;

        for (size_t k = 0; k < count; k++)
            if (field->measured[sizes[k] * field->configs + growing->config])
                known[n++] = sizes[k];
        for (size_t k = 0; k < asked_count; k++)
            asked[k] = k;
        if (n > 0)
            grow(growing, known, n, asked, asked_count);
    }
}

bool shmt_learn_forest(const struct shmt_learn_field *field,
                       const size_t *known, size_t count, size_t asked,
                       size_t trees, uint64_t seed, double *out)
{
    struct growing growing = {.field = field, .trees = trees, .out = out};
    size_t *const sizes = calloc(count + asked + 1, sizeof *sizes);

    if (sizes != NULL && field->feature_count > 0) {
        shmt_random_seed(&growing.random, seed);
        for (size_t k = 0; k < asked * field->configs; k++)
            out[k] = 0;
        for (; growing.config < field->configs; growing.config++)
            grow_trees(&growing, known, count, sizes, sizes + count, asked);
    }
    free(sizes);
    return sizes != NULL;
}
