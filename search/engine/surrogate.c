/* SPDX-License-Identifier: MIT */
/*
 * surrogate: see surrogate.h.  The Cholesky factor is stored by rows, so
 * adding an observation appends a row, and removing the last ones is free.
 * Observations are stored by features, so that covariances with all of them
 * are one walk along each feature.
 * Sums use several partial sums (lanes), which compilers can vectorise without
 * reordering floating-point additions.
 */
#include "search/engine/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 8,
    ROWS = 4    /* of the factor at a time, so that their sums overlap */
};

static const float STEP = 0.3f, SLOPE = 1.4f, SIZE = 0.25f, FOLLOWS = 8;
static const float LEAST_PIVOT = 1e-5f;
static const double LEAST_NOISE = 1e-3, MOST_NOISE = 0.3;
static const double LEAST_WEIGHT = 0.02, MOST_WEIGHT = 8;

/* Priors, as mean and deviation: of the logarithm of a weight, and of the
 * share of divisibility. */
static const double WEIGHT[] = {0.5, 1.5};
static const double GRAIN[] = {0.25, 0.3};
static const double MOST_GRAIN = 0.9;

/* What is learned of a feature. */
struct belief {
    double weight;
    double divisibility;     /* the grain's share of the distance */
};

struct shmt_surrogate {
    size_t features, room, count;
    const struct shmt_surrogate_feature *shapes;
    struct belief *beliefs;
    double noise;
    float **tables;     /* [features][levels][levels] */
    float *table_room;
    uint8_t *columns;   /* [features][room] levels of the observations */
    float *factor;      /* [room][room], lower triangle */
    float *product;     /* [room][room], covariances while tuning */
    float *half;        /* factor^-1 targets */
    float *alpha;       /* covariance^-1 targets */
    float *batch;       /* [room][SHMT_SURROGATE_BATCH] */
    float *batch_tables;    /* [levels of all features][SHMT_SURROGATE_BATCH],
                               the entries of each row of a batch */
    float *base;        /* [room] alpha times covariance with base_row */
    float *changed;     /* [room] the same with another row */
    uint8_t *base_row;
    float mean, variance;
};

void shmt_surrogate_free(struct shmt_surrogate *s)
{
    if (s == NULL)
        return;
    free(s->beliefs);
    free(s->tables);
    free(s->table_room);
    free(s->columns);
    free(s->factor);
    free(s->product);
    free(s->half);
    free(s->alpha);
    free(s->batch);
    free(s->batch_tables);
    free(s->base);
    free(s->changed);
    free(s->base_row);
    free(s);
}

static float distance(const struct shmt_surrogate_feature *shape,
                      const struct belief *belief, size_t a, size_t b)
{
    const float divisibility = (float)belief->divisibility;
    float far = 1;

    if (shape->follows)
        far = FOLLOWS * fabsf(shape->along[a] - shape->along[b]);
    else if (shape->ordered)
        far = STEP + SLOPE * fabsf(shape->along[a] - shape->along[b]);
    if (shape->size)
        far *= SIZE;
    if (shape->divisible)
        far = (1 - divisibility) * far
              + divisibility * 2 * fabsf(shape->divisibility[a] -
                                         shape->divisibility[b]);
    return far;
}

static void make_table(struct shmt_surrogate *s, size_t feature)
{
    const struct shmt_surrogate_feature *const shape = &s->shapes[feature];
    const struct belief *const belief = &s->beliefs[feature];
    const size_t levels = shape->levels;
    float *const table = s->tables[feature];

    for (size_t a = 0; a < levels; a++) {
        table[a * levels + a] = 1;
        for (size_t b = 0; b < a; b++)
            table[a * levels + b] = table[b * levels + a] = expf(
                -(float)belief->weight * distance(shape, belief, a, b));
    }
}

static bool make_tables(struct shmt_surrogate *s)
{
    size_t size = 0, levels = 0;

    s->tables = calloc(s->features + 1, sizeof *s->tables);
    s->beliefs = calloc(s->features + 1, sizeof *s->beliefs);
    for (size_t p = 0; p < s->features; p++) {
        size += (size_t)s->shapes[p].levels * s->shapes[p].levels;
        levels += s->shapes[p].levels;
    }
    s->table_room = calloc(size + 1, sizeof *s->table_room);
    s->batch_tables = calloc(levels + 1, SHMT_SURROGATE_BATCH *
                                             sizeof *s->batch_tables);
    if (s->tables == NULL || s->beliefs == NULL || s->table_room == NULL
        || s->batch_tables == NULL)
        return false;
    size = 0;
    for (size_t p = 0; p < s->features; p++) {
        s->tables[p] = s->table_room + size;
        size += (size_t)s->shapes[p].levels * s->shapes[p].levels;
        s->beliefs[p] = (struct belief){0.7, GRAIN[0]};
        make_table(s, p);
    }
    return true;
}

struct shmt_surrogate *
shmt_surrogate_new(size_t count, const struct shmt_surrogate_feature *features,
                   size_t room)
{
    struct shmt_surrogate *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->features = count;
    s->shapes = features;
    s->room = room;
    s->noise = 0.01;
    s->columns = calloc(room, count + 1);
    s->factor = calloc(room, room * sizeof *s->factor);
    s->product = calloc(room, room * sizeof *s->product);
    s->half = calloc(room, sizeof *s->half);
    s->alpha = calloc(room, sizeof *s->alpha);
    s->batch = calloc(room, SHMT_SURROGATE_BATCH * sizeof *s->batch);
    s->base = calloc(room, sizeof *s->base);
    s->changed = calloc(room, sizeof *s->changed);
    s->base_row = calloc(count + 1, sizeof *s->base_row);
    if (count > SHMT_SURROGATE_FEATURES || s->columns == NULL
        || s->factor == NULL || s->product == NULL || s->half == NULL
        || s->alpha == NULL || s->batch == NULL || s->base == NULL
        || s->changed == NULL || s->base_row == NULL || !make_tables(s)) {
        shmt_surrogate_free(s);
        return NULL;
    }
    return s;
}

void shmt_surrogate_keep(struct shmt_surrogate *s, size_t count)
{
    if (count < s->count)
        s->count = count;
}

/* Covariances of a candidate with the first `count` observations: products of
 * the entries of the tables.  Four features in one walk, in their order. */
static void covariances(const struct shmt_surrogate *s, const uint8_t *row,
                        size_t count, float *restrict out)
{
    const float *at[SHMT_SURROGATE_FEATURES];
    size_t p = 0;

    for (size_t k = 0; k < s->features; k++)
        at[k] = s->tables[k] + (size_t)row[k] * s->shapes[k].levels;
    for (size_t i = 0; i < count; i++)
        out[i] = 1;
    for (; p + 4 <= s->features; p += 4) {
        const uint8_t *const c0 = s->columns + p * s->room;
        const uint8_t *const c1 = c0 + s->room;
        const uint8_t *const c2 = c1 + s->room, *const c3 = c2 + s->room;
        const float *const a0 = at[p], *const a1 = at[p + 1];
        const float *const a2 = at[p + 2], *const a3 = at[p + 3];

        for (size_t i = 0; i < count; i++)
            out[i] = out[i] * a0[c0[i]] * a1[c1[i]] * a2[c2[i]] * a3[c3[i]];
    }
    for (; p < s->features; p++) {
        const uint8_t *const column = s->columns + p * s->room;

        for (size_t i = 0; i < count; i++)
            out[i] *= at[p][column[i]];
    }
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

static void set_pivot(struct shmt_surrogate *s, size_t i)
{
    float *const row = s->factor + i * s->room;
    const float pivot = 1 + (float)s->noise - dot(row, row, i);

    row[i] = sqrtf(pivot > LEAST_PIVOT ? pivot : LEAST_PIVOT);
}

/* Rows first <= i < end of the factor, from those before them and their own
 * `covariances`, which may stand in their place. */
static void factor_rows(struct shmt_surrogate *s, size_t first, size_t end,
                        const float *covariances)
{
    for (size_t j = 0; j < end; j++) {
        const float *const other = s->factor + j * s->room;

        if (j >= first)
            set_pivot(s, j);
        for (size_t i = j < first ? first : j + 1; i < end; i++) {
            float *const row = s->factor + i * s->room;

            row[j] = (covariances[i * s->room + j] - dot(row, other, j)) /
                     other[j];
        }
    }
}

void shmt_surrogate_add(struct shmt_surrogate *s, const uint8_t *row)
{
    const size_t i = s->count++;

    for (size_t p = 0; p < s->features; p++)
        s->columns[p * s->room + i] = row[p];
    s->alpha[i] = 0;
    covariances(s, row, i, s->factor + i * s->room);
    factor_rows(s, i, i + 1, s->factor);
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

    for (size_t i = 0; i < s->count; i += ROWS)
        factor_rows(s, i, i + ROWS < s->count ? i + ROWS : s->count,
                    s->product);
    for (size_t p = 0; p < s->features; p++) {
        const struct belief *const b = &s->beliefs[p];

        prior -= 0.5 * pow(log(b->weight / WEIGHT[0]) / WEIGHT[1], 2);
        if (s->shapes[p].divisible)
            prior -= 0.5 * pow((b->divisibility - GRAIN[0]) / GRAIN[1], 2);
    }
    return solve_half(s, targets) + prior;
}

/* The covariances after the table of one feature has become another. */
static void multiply(struct shmt_surrogate *s, size_t feature,
                     const float *ratios)
{
    const size_t levels = s->shapes[feature].levels;
    const uint8_t *const column = s->columns + feature * s->room;

    for (size_t i = 0; i < s->count; i++) {
        float *const restrict row = s->product + i * s->room;
        const float *const ratio = ratios + column[i] * levels;

        for (size_t j = 0; j < i; j++)
            row[j] *= ratio[column[j]];
    }
}

/* Sets the weight and divisibility of one feature. */
static void set_belief(struct shmt_surrogate *s, size_t feature,
                       struct belief belief)
{
    const size_t size = (size_t)s->shapes[feature].levels
                        * s->shapes[feature].levels;
    float ratios[SHMT_SURROGATE_LEVELS * SHMT_SURROGATE_LEVELS];

    memcpy(ratios, s->tables[feature], size * sizeof *ratios);
    s->beliefs[feature] = belief;
    make_table(s, feature);
    for (size_t k = 0; k < size; k++)
        ratios[k] = s->tables[feature][k] / ratios[k];
    multiply(s, feature, ratios);
}

static double within(double value, double least, double most)
{
    return fmin(most, fmax(least, value));
}

/* One step of the walk from what is believed of a feature. */
static struct belief step_from(const struct shmt_surrogate *s, size_t feature,
                               struct shmt_random *random)
{
    const struct shmt_surrogate_feature *const shape = &s->shapes[feature];
    const double normal = shmt_random_normal(random);
    struct belief belief = s->beliefs[feature];

    if (shape->divisible && shmt_random_unit(random) < 0.25)
        belief.divisibility =
            within(belief.divisibility + 0.3 * normal, 0, MOST_GRAIN);
    else
        belief.weight = within(belief.weight * exp(normal), LEAST_WEIGHT,
                               MOST_WEIGHT);
    return belief;
}

/* Fewer steps where each costs more. */
static size_t steps_of(const struct shmt_surrogate *s)
{
    return (s->count < 48 ? 8 : s->count < 100 ? 5 : 3) * s->features + 4;
}

void shmt_surrogate_tune(struct shmt_surrogate *s, const float *targets,
                         struct shmt_random *random)
{
    uint8_t row[SHMT_SURROGATE_FEATURES];
    double best, reached;

    for (size_t i = 0; i < s->count; i++) {
        for (size_t p = 0; p < s->features; p++)
            row[p] = s->columns[p * s->room + i];
        covariances(s, row, i, s->product + i * s->room);
    }
    best = likelihood(s, targets);
    for (size_t step = 0; step < steps_of(s); step++) {
        const size_t p = shmt_random_below(random, s->features + 1);
        const double noise = s->noise;
        struct belief before;

        if (p < s->features) {
            before = s->beliefs[p];
            set_belief(s, p, step_from(s, p, random));
        } else {
            s->noise = within(noise * exp(shmt_random_normal(random)),
                              LEAST_NOISE, MOST_NOISE);
        }
        reached = likelihood(s, targets);
        if (reached > best)
            best = reached;
        else if (p < s->features)
            set_belief(s, p, before);
        else
            s->noise = noise;
    }
}

void shmt_surrogate_set_base(struct shmt_surrogate *s, const uint8_t *row)
{
    memcpy(s->base_row, row, s->features);
    covariances(s, row, s->count, s->base);
    for (size_t i = 0; i < s->count; i++)
        s->base[i] *= s->alpha[i];
}

float shmt_surrogate_mean_changed(struct shmt_surrogate *s, const uint8_t *row)
{
    float *const product = s->changed, sum = s->mean;
    float ratio[SHMT_SURROGATE_LEVELS];

    memcpy(product, s->base, s->count * sizeof *product);
    for (size_t p = 0; p < s->features; p++) {
        const size_t levels = s->shapes[p].levels;
        const float *const there = s->tables[p] + row[p] * levels;
        const float *const here = s->tables[p] + s->base_row[p] * levels;
        const uint8_t *const column = s->columns + p * s->room;

        if (row[p] == s->base_row[p])
            continue;
        for (size_t k = 0; k < levels; k++)
            ratio[k] = there[k] / here[k];
        for (size_t i = 0; i < s->count; i++)
            product[i] *= ratio[column[i]];
    }
    for (size_t i = 0; i < s->count; i++)
        sum += product[i];
    return sum;
}

/* Sets `batch` to the covariances of up to SHMT_SURROGATE_BATCH rows with all
 * observations.  The tables' entries of all rows at a level lie side by side,
 * so that one multiplication serves all of them. */
static void batch_covariances(struct shmt_surrogate *s,
                              const uint8_t *const *rows, size_t count)
{
    float (*const v)[SHMT_SURROGATE_BATCH] = (void *)s->batch;
    float (*entry)[SHMT_SURROGATE_BATCH] = (void *)s->batch_tables;
    const float *at[SHMT_SURROGATE_FEATURES];

    for (size_t p = 0; p < s->features; p++) {
        at[p] = *entry;
        for (size_t level = 0; level < s->shapes[p].levels; level++, entry++)
            for (size_t c = 0; c < count; c++)
                (*entry)[c] = s->tables[p][rows[c][p] * s->shapes[p].levels
                                           + level];
    }
    for (size_t i = 0; i < s->count; i++) {
        float product[SHMT_SURROGATE_BATCH] = {1, 1, 1, 1, 1, 1, 1, 1};

        for (size_t p = 0; p < s->features; p++) {
            const float *const factor =
                at[p] + s->columns[p * s->room + i] * SHMT_SURROGATE_BATCH;

            for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++)
                product[c] *= factor[c];
        }
        memcpy(v[i], product, sizeof product);
    }
}

void shmt_surrogate_means(struct shmt_surrogate *s, const uint8_t *const *rows,
                          size_t count, float *mean)
{
    float (*const v)[SHMT_SURROGATE_BATCH] = (void *)s->batch;
    float sum[SHMT_SURROGATE_BATCH];

    batch_covariances(s, rows, count);
    for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++)
        sum[c] = s->mean;
    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++)
            sum[c] += v[i][c] * s->alpha[i];
    memcpy(mean, sum, count * sizeof *mean);
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

    batch_covariances(s, rows, count);
    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < SHMT_SURROGATE_BATCH; c++)
            sum[c] += v[i][c] * s->alpha[i];
    for (size_t c = 0; c < count; c++)
        mean[c] = sum[c] + s->mean;
    predict_deviation(s, count, deviation);
}
