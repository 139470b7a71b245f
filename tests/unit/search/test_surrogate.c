/* SPDX-License-Identifier: MIT */
/*
 * surrogate: its predictions are those of a Gaussian process that is solved
 * densely in double precision.  Nothing is known here of how it weighs
 * features: after one observation its deviations say what its covariances are.
 */
#include <math.h>

#include "search/engine/surrogate.h"
#include "tests/support/check.h"

enum { FEATURES = 6, MOST = 60 };

static struct shmt_surrogate_feature features[FEATURES];
static struct shmt_random numbers;

/* Ordered, unordered and divisible ones, of two to nine levels. */
static void make_features(void)
{
    static const uint16_t levels[FEATURES] = {5, 2, 9, 4, 3, 6};

    shmt_random_seed(&numbers, 5);
    for (size_t p = 0; p < FEATURES; p++) {
        features[p].levels = levels[p];
        features[p].ordered = p != 1 && p != 3;
        features[p].divisible = p == 2 || p == 3;
        for (size_t k = 0; k < levels[p]; k++) {
            features[p].along[k] = (float)k / (float)(levels[p] - 1);
            features[p].divisibility[k] = (float)(k * 5 % 3) / 2;
        }
    }
}

static void draw_row(uint8_t *row)
{
    for (size_t p = 0; p < FEATURES; p++)
        row[p] = (uint8_t)shmt_random_below(&numbers, features[p].levels);
}

/* What one observation leaves unknown of a row: 1 - k^2 / (1 + noise), times a
 * variance that is the same for all. */
static double left_of(struct shmt_surrogate *s, const uint8_t *seen,
                      const uint8_t *row)
{
    const float target = 3;
    float mean = 0, deviation = 0;

    shmt_surrogate_keep(s, 0);
    shmt_surrogate_add(s, seen);
    shmt_surrogate_solve(s, &target);
    shmt_surrogate_predict(s, &row, 1, &mean, &deviation);
    CHECK(fabs(mean - 3) < 1e-6);
    return (double)deviation * deviation / 1e-12;
}

struct process {
    size_t count;
    uint8_t rows[MOST][FEATURES];
    float targets[MOST];
    double noise, mean, variance, likelihood;
    double factor[MOST][MOST], half[MOST];
};

static double noise_of(struct shmt_surrogate *s)
{
    const uint8_t row[FEATURES] = {0};
    const double left = left_of(s, row, row);

    return left / (1 - left);
}

static double covariance(struct shmt_surrogate *s, double noise,
                         const uint8_t *a, const uint8_t *b)
{
    return sqrt(fmax(0, 1 - left_of(s, a, b)) * (1 + noise));
}

/* half = factor^-1 of `right`. */
static void solve(const struct process *process, const double *right,
                  double *half)
{
    for (size_t i = 0; i < process->count; i++) {
        half[i] = right[i];
        for (size_t k = 0; k < i; k++)
            half[i] -= process->factor[i][k] * half[k];
        half[i] /= process->factor[i][i];
    }
}

/* The process of these rows and targets, with the surrogate's covariances;
 * afterwards the surrogate has the observations too. */
static void make_process(struct shmt_surrogate *s, struct process *process)
{
    double right[MOST] = {0}, sum = 0, logs = 0;

    process->noise = noise_of(s);
    for (size_t i = 0; i < process->count; i++)
        for (size_t j = 0; j <= i; j++) {
            double value = i == j ? 1 + process->noise
                                  : covariance(s, process->noise,
                                               process->rows[i],
                                               process->rows[j]);

            for (size_t k = 0; k < j; k++)
                value -= process->factor[i][k] * process->factor[j][k];
            process->factor[i][j] =
                i == j ? sqrt(value) : value / process->factor[j][j];
            logs += i == j ? log(process->factor[i][i]) : 0;
        }
    for (size_t i = 0; i < process->count; i++)
        sum += process->targets[i];
    process->mean = sum / (double)process->count;
    for (size_t i = 0; i < process->count; i++)
        right[i] = process->targets[i] - process->mean;
    solve(process, right, process->half);
    process->variance = 0;
    for (size_t i = 0; i < process->count; i++)
        process->variance += process->half[i] * process->half[i] /
                             (double)process->count;
    process->likelihood =
        -0.5 * (double)process->count * log(process->variance) - logs;
    shmt_surrogate_keep(s, 0);
    for (size_t i = 0; i < process->count; i++)
        shmt_surrogate_add(s, process->rows[i]);
    shmt_surrogate_solve(s, process->targets);
}

static void draw_observations(struct process *process, size_t count,
                              double noise)
{
    process->count = count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *const row = process->rows[i];

        draw_row(row);
        process->targets[i] =
            (float)(3 * sin(row[2] * 0.7) + row[0] + 0.2 * row[4] +
                    noise * shmt_random_normal(&numbers));
    }
}

static void check_rows(struct shmt_surrogate *s, struct process *process)
{
    uint8_t rows[SHMT_SURROGATE_BATCH][FEATURES];
    const uint8_t *list[SHMT_SURROGATE_BATCH];
    float mean[SHMT_SURROGATE_BATCH], again[SHMT_SURROGATE_BATCH],
        deviation[SHMT_SURROGATE_BATCH];
    const size_t count = 1 + shmt_random_below(&numbers, 8);

    for (size_t c = 0; c < count; c++) {
        draw_row(rows[c]);
        list[c] = rows[c];
    }
    shmt_surrogate_predict(s, list, count, mean, deviation);
    shmt_surrogate_means(s, list, count, again);
    for (size_t c = 0; c < count; c++) {
        const size_t p = shmt_random_below(&numbers, FEATURES);
        uint8_t base[FEATURES];

        memcpy(base, rows[c], sizeof base);
        base[p] = (uint8_t)shmt_random_below(&numbers, features[p].levels);
        for (size_t k = 0; k < c % 3; k++)
            base[(p + k) % FEATURES] = rows[(c + 1) % count][(p + k) % FEATURES];
        CHECK(fabsf(mean[c] - again[c]) < 1e-4F);
        shmt_surrogate_set_base(s, base);
        CHECK(fabsf(shmt_surrogate_mean_changed(s, rows[c]) - mean[c]) <
              1e-3F);
    }
    for (size_t c = 0; c < count; c++) {
        double right[MOST] = {0}, half[MOST], expected = process->mean, left = 1;

        for (size_t i = 0; i < process->count; i++)
            right[i] = covariance(s, process->noise, process->rows[i],
                                  rows[c]);
        solve(process, right, half);
        for (size_t i = 0; i < process->count; i++) {
            expected += half[i] * process->half[i];
            left -= half[i] * half[i];
        }
        CHECK(fabs(mean[c] - expected) < 0.02);
        CHECK(fabs(deviation[c] - sqrt(fmax(left, 0) * process->variance)) <
              0.02);
        if (check_failed)
            printf("# mean %g, expected %g; deviation %g, expected %g\n",
                   mean[c], expected, deviation[c],
                   sqrt(fmax(left, 0) * process->variance));
    }
}

/* Of each number of observations. */
static void predictions_are_a_gaussian_process(void)
{
    static struct process process;
    struct shmt_surrogate *const s =
        shmt_surrogate_new(FEATURES, features, MOST);

    CHECK(s != NULL);
    for (size_t count = 1; s != NULL && count <= MOST && !check_failed;
         count += count < 12 ? 1 : 16) {
        draw_observations(&process, count, 0.3);
        make_process(s, &process);
        if (count > 20)
            shmt_surrogate_tune(s, process.targets, &numbers);
        make_process(s, &process);
        check_rows(s, &process);
    }
    shmt_surrogate_free(s);
}

/* One feature changed after the other. */
static void covariances_are_products_of_features(void)
{
    struct shmt_surrogate *const s =
        shmt_surrogate_new(FEATURES, features, MOST);
    const double noise = noise_of(s);
    uint8_t a[FEATURES], b[FEATURES], c[FEATURES];

    for (int round = 0; round < 100; round++) {
        double product = 1;

        draw_row(a);
        draw_row(b);
        for (size_t p = 0; p < FEATURES; p++) {
            memcpy(c, a, sizeof c);
            c[p] = b[p];
            product *= covariance(s, noise, a, c);
            CHECK(a[p] == b[p] || covariance(s, noise, a, c) < 0.95);
        }
        CHECK(fabs(covariance(s, noise, a, b) - product) < 0.01);
        CHECK(fabs(covariance(s, noise, b, a) - product) < 0.01);
    }
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (uint8_t level = 2; level < features[0].levels; level++) {
        a[0] = level;
        c[0] = (uint8_t)(level - 1);
        memset(c + 1, 0, sizeof c - 1);
        CHECK(covariance(s, noise, b, a) < covariance(s, noise, b, c));
    }
    shmt_surrogate_free(s);
}

/* The second feature is told to matter little, and the first much. */
static void what_matters_is_learned(void)
{
    static struct process process;
    struct shmt_surrogate *const s =
        shmt_surrogate_new(FEATURES, features, MOST);
    const uint8_t base[FEATURES] = {0};
    double before;

    draw_observations(&process, MOST, 0.01);
    make_process(s, &process);
    before = process.likelihood;
    for (int k = 0; k < 4; k++) {
        shmt_surrogate_tune(s, process.targets, &numbers);
        make_process(s, &process);
    }
    CHECK(process.likelihood > before + 5);
    for (size_t p = 1; p < FEATURES; p++) {
        uint8_t one[FEATURES] = {0}, other[FEATURES] = {0};

        if (p == 2)
            continue;
        one[2] = 3;
        other[p] = 1;
        CHECK(covariance(s, process.noise, base, one) <
              covariance(s, process.noise, base, other));
    }
    CHECK(process.noise < 0.05);
    for (size_t i = 0; i < MOST; i++)
        process.targets[i] = (float)shmt_random_normal(&numbers);
    for (int k = 0; k < 6; k++) {
        make_process(s, &process);
        shmt_surrogate_tune(s, process.targets, &numbers);
    }
    CHECK(noise_of(s) > 0.05);
    shmt_surrogate_free(s);
}

/* Of the third feature: how far levels of other divisibility are apart,
 * compared with others of the same. */
static double grain(struct shmt_surrogate *s)
{
    const uint8_t base[FEATURES] = {0}, same[FEATURES] = {0, 0, 3},
                  other[FEATURES] = {0, 0, 1};
    const double noise = noise_of(s);

    return log(covariance(s, noise, base, other)) /
           log(covariance(s, noise, base, same));
}

/* Divisibility decides everything; then nothing is known any more. */
static void what_is_unknown_is_believed_as_before(void)
{
    static struct process process;
    struct shmt_surrogate *const s =
        shmt_surrogate_new(FEATURES, features, MOST);
    const double before = grain(s);
    double learned;

    draw_observations(&process, MOST, 0.01);
    for (size_t i = 0; i < MOST; i++)
        process.targets[i] = features[2].divisibility[process.rows[i][2]];
    for (int k = 0; k < 6; k++) {
        make_process(s, &process);
        shmt_surrogate_tune(s, process.targets, &numbers);
    }
    learned = grain(s);
    CHECK(learned > 1.2 * before);
    process.count = 1;
    for (int k = 0; k < 20; k++) {
        make_process(s, &process);
        shmt_surrogate_tune(s, process.targets, &numbers);
    }
    CHECK(fabs(grain(s) - before) < 0.4 * (learned - before));
    if (check_failed)
        printf("# %g, %g, %g\n", before, learned, grain(s));
    shmt_surrogate_free(s);
}

int main(void)
{
    make_features();
    CHECK_RUN(predictions_are_a_gaussian_process);
    CHECK_RUN(covariances_are_products_of_features);
    CHECK_RUN(what_matters_is_learned);
    CHECK_RUN(what_is_unknown_is_believed_as_before);
    return CHECK_END();
}
