/* SPDX-License-Identifier: MIT */
/*
 * surrogate: see surrogate.h.  The Cholesky factor is stored by rows, so
 * adding an observation appends a row, and removing the last ones is free.
 * Observations are stored by features, so that covariances with all of them
 * are one walk along each feature.
 * Sums use several partial sums (lanes), which compilers can vectorise without
 * reordering floating-point additions.  Rows begin where lanes do, so that what
 * works on the triangle may take whole vectors.
 */
#include "search/engine/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 8,
    PANEL = 4    /* rows of the factor at a time, while tuning */
};

/* Four numbers side by side, as every processor has them, wherever they lie. */
enum { QUAD = 4 };
typedef float vector
    __attribute__((vector_size(4 * QUAD), aligned(4), may_alias));

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
    float *factor;      /* [room][room], lower triangle; while tuning its
                           transpose, upper triangle */
    float *product;     /* [room][room], covariances while tuning, upper
                           triangle */
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
    s->room = room = (room + LANES - 1) / LANES * LANES;
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

static float root(float pivot)
{
    return sqrtf(pivot > LEAST_PIVOT ? pivot : LEAST_PIVOT);
}

void shmt_surrogate_add(struct shmt_surrogate *s, const uint8_t *row)
{
    const size_t i = s->count++;
    float *const own = s->factor + i * s->room;

    for (size_t p = 0; p < s->features; p++)
        s->columns[p * s->room + i] = row[p];
    s->alpha[i] = 0;
    covariances(s, row, i, own);
    for (size_t j = 0; j < i; j++) {
        const float *const other = s->factor + j * s->room;

        own[j] = (own[j] - dot(own, other, j)) / other[j];
    }
    own[i] = root(1 + (float)s->noise - dot(own, own, i));
}

static float mean_of(const float *targets, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += targets[i];
    return count > 0 ? (float)(sum / (double)count) : 0;
}

/* Sets the variance from half. */
static void set_variance(struct shmt_surrogate *s)
{
    double squares = 0;

    for (size_t i = 0; i < s->count; i++)
        squares += (double)s->half[i] * s->half[i];
    s->variance =
        s->count > 0 ? (float)(squares / (double)s->count) + 1e-12f : 1;
}

void shmt_surrogate_solve(struct shmt_surrogate *s, const float *targets)
{
    s->mean = mean_of(targets, s->count);
    for (size_t i = 0; i < s->count; i++) {
        const float *const row = s->factor + i * s->room;

        s->half[i] = (targets[i] - s->mean - dot(row, s->half, i)) / row[i];
    }
    set_variance(s);
    memcpy(s->alpha, s->half, s->count * sizeof *s->alpha);
    for (size_t i = s->count; i-- > 0;) {
        const float *const row = s->factor + i * s->room;
        const float value = s->alpha[i] / row[i];

        s->alpha[i] = value;
        for (size_t k = 0; k < i; k++)
            s->alpha[k] -= row[k] * value;
    }
}

static vector *vectors_of(float *row, size_t k)
{
    return (vector *)(row + k / QUAD * QUAD);
}

/* Takes what a row of the factor explains from row i of the covariances, from
 * the diagonal on, and from its target. */
static void take_row(struct shmt_surrogate *s, size_t j, size_t i)
{
    float *const row = s->factor + i * s->room;
    float *const other = s->factor + j * s->room;
    const float part = other[i];
    vector *to = vectors_of(row, i);

    for (const vector *from = vectors_of(other, i);
         (float *)to < row + s->count; to++, from++)
        *to -= part * *from;
    s->half[i] -= part * s->half[j];
}

/* The same with PANEL rows, in one walk. */
static void take_panel(struct shmt_surrogate *s, size_t first, size_t i)
{
    float *const row = s->factor + i * s->room;
    const size_t count = (s->count + QUAD - 1) / QUAD - i / QUAD;
    float part[PANEL];
    const vector *from[PANEL];
    vector *const to = vectors_of(row, i);

    for (size_t j = 0; j < PANEL; j++) {
        float *const other = s->factor + (first + j) * s->room;

        part[j] = other[i];
        from[j] = vectors_of(other, i);
        s->half[i] -= part[j] * s->half[first + j];
    }
    for (size_t k = 0; k < count; k++)
        to[k] -= part[0] * from[0][k] + part[1] * from[1][k] +
                 part[2] * from[2][k] + part[3] * from[3][k];
}

static void divide_row(struct shmt_surrogate *s, size_t i)
{
    float *const row = s->factor + i * s->room;
    const float pivot = root(row[i]);

    for (vector *to = vectors_of(row, i); (float *)to < row + s->count; to++)
        *to /= pivot;
    row[i] = pivot;
    s->half[i] /= pivot;
}

/* Sets what the covariances in the place of the factor have at and beside the
 * diagonal of a row, and on the right. */
static void set_rest(struct shmt_surrogate *s, size_t i)
{
    float *const row = s->factor + i * s->room;

    for (size_t k = i / QUAD * QUAD; k < i; k++)
        row[k] = 0;
    row[i] = 1 + (float)s->noise;
    for (size_t k = s->count; k % QUAD != 0; k++)
        row[k] = 0;
}

/* Factors the covariances that lie in its place, transposed, so that what a row
 * explains of those below lies side by side; half is ready with it.  Returns
 * the logarithm of the pivots' product. */
static double factor_all(struct shmt_surrogate *s, const float *targets)
{
    const size_t n = s->count;
    double logs = 0;

    s->mean = mean_of(targets, n);
    for (size_t i = 0; i < n; i++) {
        set_rest(s, i);
        s->half[i] = targets[i] - s->mean;
    }
    for (size_t first = 0; first < n; first += PANEL) {
        const size_t end = first + PANEL < n ? first + PANEL : n;

        for (size_t i = first; i < end; i++) {
            for (size_t j = first; j < i; j++)
                take_row(s, j, i);
            divide_row(s, i);
            logs += log(s->factor[i * s->room + i]);
        }
        for (size_t i = end; i < n; i++)
            take_panel(s, first, i);
    }
    return logs;
}

/* Of the covariances in the place of the factor. */
static double likelihood(struct shmt_surrogate *s, const float *targets)
{
    const double logs = factor_all(s, targets);
    double prior = 0;

    set_variance(s);
    for (size_t p = 0; p < s->features; p++) {
        const struct belief *const b = &s->beliefs[p];

        prior -= 0.5 * pow(log(b->weight / WEIGHT[0]) / WEIGHT[1], 2);
        if (s->shapes[p].divisible)
            prior -= 0.5 * pow((b->divisibility - GRAIN[0]) / GRAIN[1], 2);
    }
    return prior - 0.5 * (double)s->count * log(s->variance) - logs;
}

/* What a feature was before a step of tuning. */
struct before {
    struct belief belief;
    float table[SHMT_SURROGATE_LEVELS * SHMT_SURROGATE_LEVELS];
};

/* Sets `to`, which may be product, to the covariances after the table of one
 * feature has become another. */
static void multiply(const struct shmt_surrogate *s, size_t feature,
                     const struct before *before, float *to)
{
    const size_t levels = s->shapes[feature].levels;
    const float *const table = s->tables[feature];
    const uint8_t *const column = s->columns + feature * s->room;
    float ratios[SHMT_SURROGATE_LEVELS * SHMT_SURROGATE_LEVELS];

    for (size_t k = 0; k < levels * levels; k++)
        ratios[k] = table[k] / before->table[k];
    for (size_t i = 0; i < s->count; i++) {
        const float *const row = s->product + i * s->room;
        const float *const ratio = ratios + column[i] * levels;

        for (size_t j = i + 1; j < s->count; j++)
            to[i * s->room + j] = row[j] * ratio[column[j]];
    }
}

static size_t table_bytes(const struct shmt_surrogate *s, size_t feature)
{
    const size_t levels = s->shapes[feature].levels;

    return levels * levels * sizeof *s->tables[feature];
}

/* Sets the weight and divisibility of one feature. */
static void set_belief(struct shmt_surrogate *s, size_t feature,
                       struct belief belief, struct before *before)
{
    before->belief = s->beliefs[feature];
    memcpy(before->table, s->tables[feature], table_bytes(s, feature));
    s->beliefs[feature] = belief;
    make_table(s, feature);
}

static void restore(struct shmt_surrogate *s, size_t feature,
                    const struct before *before)
{
    s->beliefs[feature] = before->belief;
    memcpy(s->tables[feature], before->table, table_bytes(s, feature));
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

/* Sets the product of all pairs of observations. */
static void set_product(struct shmt_surrogate *s)
{
    uint8_t row[SHMT_SURROGATE_FEATURES];

    for (size_t i = 0; i < s->count; i++) {
        for (size_t p = 0; p < s->features; p++)
            row[p] = s->columns[p * s->room + i];
        covariances(s, row, i, s->base);
        for (size_t j = 0; j < i; j++)
            s->product[j * s->room + i] = s->base[j];
    }
}

/* One step of the walk for a feature, which is kept when the likelihood is
 * more than the best so far; returns the better of both. */
static double walk_feature(struct shmt_surrogate *s, size_t feature,
                           const float *targets, double best,
                           struct shmt_random *random)
{
    struct before before;
    double reached;

    set_belief(s, feature, step_from(s, feature, random), &before);
    multiply(s, feature, &before, s->factor);
    reached = likelihood(s, targets);
    if (reached > best)
        multiply(s, feature, &before, s->product);
    else
        restore(s, feature, &before);
    return fmax(best, reached);
}

static void copy_product(struct shmt_surrogate *s)
{
    memcpy(s->factor, s->product, s->count * s->room * sizeof *s->factor);
}

/* The same for the noise. */
static double walk_noise(struct shmt_surrogate *s, const float *targets,
                         double best, struct shmt_random *random)
{
    const double noise = s->noise;
    double reached;

    s->noise = within(noise * exp(shmt_random_normal(random)), LEAST_NOISE,
                      MOST_NOISE);
    copy_product(s);
    reached = likelihood(s, targets);
    if (!(reached > best))
        s->noise = noise;
    return fmax(best, reached);
}

void shmt_surrogate_tune(struct shmt_surrogate *s, const float *targets,
                         struct shmt_random *random)
{
    double best;

    set_product(s);
    copy_product(s);
    best = likelihood(s, targets);
    for (size_t step = 0; step < steps_of(s); step++) {
        const size_t p = shmt_random_below(random, s->features + 1);

        best = p < s->features ? walk_feature(s, p, targets, best, random)
                               : walk_noise(s, targets, best, random);
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
