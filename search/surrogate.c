/* SPDX-License-Identifier: MIT */
/*
 * surrogate: see surrogate.h.  The Cholesky factor is kept row by row, so an
 * observation is added at its end and taken away again for nothing.  Sums run
 * over lanes side by side: compilers make vectors of them without being
 * allowed to reorder sums.
 */
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

static const float STEP = 0.3f, SLOPE = 1.4f;
static const float LEAST_PIVOT = 1e-5f;
static const double LEAST_WEIGHT = 0.02, MOST_WEIGHT = 8;
static const double LEAST_NOISE = 1e-3, MOST_NOISE = 0.3;
/* Weights are believed to be about 0.5, give or take a factor of 4.5. */
static const double PRIOR_WEIGHT = 0.5, PRIOR_WIDTH = 1.5;

struct shmt_surrogate {
    size_t features, room, count;
    uint16_t *levels;
    bool *ordered;
    double *weights;
    double noise;
    float *tables;      /* [features][SHMT_SURROGATE_LEVELS] by difference */
    uint8_t *rows;      /* [room][features] */
    float *factor;      /* [room][room], lower triangle */
    float *half;        /* factor^-1 targets */
    float *alpha;       /* covariance^-1 targets */
    float *batch;       /* [room][SHMT_SURROGATE_BATCH] */
    float *base;        /* [room] alpha times covariance with base_row */
    uint8_t *base_row;
    float mean, variance;
};

void shmt_surrogate_free(struct shmt_surrogate *s)
{
    if (s == NULL)
        return;
    free(s->levels);
    free(s->ordered);
    free(s->weights);
    free(s->tables);
    free(s->rows);
    free(s->factor);
    free(s->half);
    free(s->alpha);
    free(s->batch);
    free(s->base);
    free(s->base_row);
    free(s);
}

static void make_table(struct shmt_surrogate *s, size_t feature)
{
    float *const table = s->tables + feature * SHMT_SURROGATE_LEVELS;
    const float weight = (float)s->weights[feature];

    for (size_t k = 0; k < s->levels[feature]; k++) {
        float distance = k == 0 ? 0 : 1;

        if (k > 0 && s->ordered[feature])
            distance = STEP + SLOPE * (float)k
                                  / (float)(s->levels[feature] - 1);
        table[k] = expf(-weight * distance);
    }
}

struct shmt_surrogate *
shmt_surrogate_new(const struct shmt_surrogate_shape *shape)
{
    const size_t features = shape->features, room = shape->room;
    struct shmt_surrogate *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->features = features;
    s->room = room;
    s->noise = 0.01;
    s->levels = calloc(features + 1, sizeof *s->levels);
    s->ordered = calloc(features + 1, sizeof *s->ordered);
    s->weights = calloc(features + 1, sizeof *s->weights);
    s->tables = calloc(features + 1,
                       SHMT_SURROGATE_LEVELS * sizeof *s->tables);
    s->rows = calloc(room, features + 1);
    s->factor = calloc(room, room * sizeof *s->factor);
    s->half = calloc(room, sizeof *s->half);
    s->alpha = calloc(room, sizeof *s->alpha);
    s->batch = calloc(room, SHMT_SURROGATE_BATCH * sizeof *s->batch);
    s->base = calloc(room, sizeof *s->base);
    s->base_row = calloc(features + 1, sizeof *s->base_row);
    if (s->levels == NULL || s->ordered == NULL || s->weights == NULL
        || s->tables == NULL || s->rows == NULL || s->factor == NULL
        || s->half == NULL || s->alpha == NULL || s->batch == NULL
        || s->base == NULL || s->base_row == NULL) {
        shmt_surrogate_free(s);
        return NULL;
    }
    memcpy(s->levels, shape->levels, features * sizeof *s->levels);
    memcpy(s->ordered, shape->ordered, features * sizeof *s->ordered);
    for (size_t p = 0; p < features; p++) {
        s->weights[p] = 0.7;
        make_table(s, p);
    }
    return s;
}

void shmt_surrogate_keep(struct shmt_surrogate *s, size_t count)
{
    if (count < s->count)
        s->count = count;
}

size_t shmt_surrogate_count(const struct shmt_surrogate *s)
{
    return s->count;
}

static float covariance(const struct shmt_surrogate *s, const uint8_t *a,
                        const uint8_t *b)
{
    const float *table = s->tables;
    float product = 1;

    for (size_t p = 0; p < s->features; p++) {
        product *= table[abs((int)a[p] - (int)b[p])];
        table += SHMT_SURROGATE_LEVELS;
    }
    return product;
}

static float dot(const float *a, const float *b, size_t count)
{
    float lanes[LANES] = {0}, sum = 0;
    size_t k = 0;

    for (; k + LANES <= count; k += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += a[k + lane] * b[k + lane];
    for (; k < count; k++)
        sum += a[k] * b[k];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* The last row of the factor from rows before it. */
static void factor_row(struct shmt_surrogate *s, size_t i)
{
    float *const row = s->factor + i * s->room;
    const uint8_t *const mine = s->rows + i * s->features;
    float pivot;

    for (size_t j = 0; j < i; j++) {
        const float *const other = s->factor + j * s->room;

        row[j] = (covariance(s, mine, s->rows + j * s->features)
                  - dot(row, other, j)) / other[j];
    }
    pivot = 1 + (float)s->noise - dot(row, row, i);
    row[i] = sqrtf(pivot > LEAST_PIVOT ? pivot : LEAST_PIVOT);
}

void shmt_surrogate_add(struct shmt_surrogate *s, const uint8_t *row)
{
    memcpy(s->rows + s->count * s->features, row, s->features);
    s->alpha[s->count] = 0;
    factor_row(s, s->count++);
}

/* Sets half, mean and variance; returns the log likelihood. */
static double solve_half(struct shmt_surrogate *s, const float *targets)
{
    const size_t n = s->count;
    double sum = 0, squares = 0, logs = 0;

    for (size_t i = 0; i < n; i++)
        sum += targets[i];
    s->mean = n > 0 ? (float)(sum / (double)n) : 0;
    for (size_t i = 0; i < n; i++) {
        const float *const row = s->factor + i * s->room;

        s->half[i] = (targets[i] - s->mean - dot(row, s->half, i)) / row[i];
        squares += (double)s->half[i] * s->half[i];
        logs += log(row[i]);
    }
    s->variance = n > 0 ? (float)(squares / (double)n) + 1e-12f : 1;
    return -0.5 * (double)n * log(s->variance) - logs;
}

void shmt_surrogate_solve(struct shmt_surrogate *s, const float *targets)
{
    solve_half(s, targets);
    memcpy(s->alpha, s->half, s->count * sizeof *s->alpha);
    for (size_t i = s->count; i-- > 0;) {
        const float *const row = s->factor + i * s->room;
        const float value = s->alpha[i] / row[i];

        s->alpha[i] = value;
        for (size_t k = 0; k < i; k++)
            s->alpha[k] -= row[k] * value;
    }
}

static double likelihood(struct shmt_surrogate *s, const float *targets)
{
    double prior = 0;

    for (size_t i = 0; i < s->count; i++)
        factor_row(s, i);
    for (size_t p = 0; p < s->features; p++) {
        const double off = log(s->weights[p] / PRIOR_WEIGHT) / PRIOR_WIDTH;

        prior -= 0.5 * off * off;
    }
    return solve_half(s, targets) + prior;
}

void shmt_surrogate_tune(struct shmt_surrogate *s, const float *targets,
                         struct shmt_random *random)
{
    double best = likelihood(s, targets);

    for (size_t step = 0; step < 2 * s->features + 4; step++) {
        const size_t p = shmt_random_below(random, s->features + 1);
        const double factor = exp(shmt_random_normal(random));
        double *const value = p < s->features ? &s->weights[p] : &s->noise;
        const double before = *value;
        double now;

        *value = p < s->features
                     ? fmin(MOST_WEIGHT, fmax(LEAST_WEIGHT, before * factor))
                     : fmin(MOST_NOISE, fmax(LEAST_NOISE, before * factor));
        if (p < s->features)
            make_table(s, p);
        now = likelihood(s, targets);
        if (now > best) {
            best = now;
            continue;
        }
        *value = before;
        if (p < s->features)
            make_table(s, p);
    }
}

float shmt_surrogate_mean(struct shmt_surrogate *s, const uint8_t *row)
{
    float sum = s->mean;

    memcpy(s->base_row, row, s->features);
    for (size_t i = 0; i < s->count; i++) {
        s->base[i] = s->alpha[i]
                     * covariance(s, s->rows + i * s->features, row);
        sum += s->base[i];
    }
    return sum;
}

float shmt_surrogate_mean_beside(struct shmt_surrogate *s, size_t feature,
                                 uint8_t level)
{
    const float *const table = s->tables + feature * SHMT_SURROGATE_LEVELS;
    const int from = s->base_row[feature];
    const uint8_t *column = s->rows + feature;
    float ratio[SHMT_SURROGATE_LEVELS], sum = s->mean;

    for (int k = 0; k < s->levels[feature]; k++)
        ratio[k] = table[abs(k - level)] / table[abs(k - from)];
    for (size_t i = 0; i < s->count; i++, column += s->features)
        sum += s->base[i] * ratio[*column];
    return sum;
}

static void predict_deviation(struct shmt_surrogate *s, size_t count,
                              float *deviation)
{
    float (*const v)[SHMT_SURROGATE_BATCH] = (void *)s->batch;
    float squares[SHMT_SURROGATE_BATCH] = {0};

    for (size_t i = 0; i < s->count; i++) {
        const float *const row = s->factor + i * s->room;
        float t[SHMT_SURROGATE_BATCH];

        memcpy(t, v[i], sizeof t);
        for (size_t k = 0; k < i; k++)
            for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++)
                t[c] -= row[k] * v[k][c];
        for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++) {
            t[c] /= row[i];
            squares[c] += t[c] * t[c];
        }
        memcpy(v[i], t, sizeof t);
    }
    for (size_t c = 0; c < count; c++) {
        const float left = 1 - squares[c];

        deviation[c] = sqrtf((left > 1e-6f ? left : 1e-6f) * s->variance);
    }
}

void shmt_surrogate_predict(struct shmt_surrogate *s,
                            const uint8_t *const *rows, size_t count,
                            float *mean, float *deviation)
{
    float (*const v)[SHMT_SURROGATE_BATCH] = (void *)s->batch;
    float sum[SHMT_SURROGATE_BATCH] = {0};

    for (size_t i = 0; i < s->count; i++) {
        const uint8_t *const mine = s->rows + i * s->features;

        for (size_t c = 0; c < count; c++) {
            v[i][c] = covariance(s, mine, rows[c]);
            sum[c] += v[i][c] * s->alpha[i];
        }
        for (size_t c = count; c < SHMT_SURROGATE_BATCH; c++)
            v[i][c] = 0;
    }
    for (size_t c = 0; c < count; c++)
        mean[c] = sum[c] + s->mean;
    predict_deviation(s, count, deviation);
}
