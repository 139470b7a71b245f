/* SPDX-License-Identifier: MIT */
/*
 * estimate: see estimate.h.  Of each pair of tile edges, and each number of
 * blocks that may run at once, the weights of the terms are fitted, none of
 * them negative, to the relative errors (least squares, by coordinate descent);
 * the tile that fits best is the configuration's.  Then the terms that bring
 * least go, until few are left.  Sizes at which the configuration is far from
 * the best count less: there it is not chosen.  What all take longer at a size
 * than their estimates say decides nothing between them, so it is taken out of
 * the times, and all are fitted again, a few times.  Called by learn.c.
 */
#include "learn/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 32,                 /* terms that are tried, and the start */
    WIDE = 4,                     /* dimensions that make products, at most */
    LEAST = 30,                   /* sizes to fit to */
    SWEEPS = 60, LAST_SWEEPS = 400,
    ROUNDS = 4                    /* of fitting all, with what they share */
};
_Static_assert((int)SHMT_LEARN_TERMS <= (int)SHMT_DISPATCH_TERMS_OF_ONE,
               "an estimate has room for them");

/* A loss of so much counts for half. */
static const double half_weight = 0.15;

static const int64_t edges[] = {16, 32, 64, 96, 128, 192, 256};
static const int64_t lengths[] = {32, 64, 128, 256, 512, 1024, 2048};
static const int64_t residents[] = {1, 2, 3, 4, 5, 6, 8};
enum { EDGES = sizeof edges / sizeof edges[0] };

struct fitting {
    const struct shmt_learn_table *table;
    size_t wide_count, free_count;
    size_t wide[WIDE];            /* dimensions that differ, */
    size_t free_ones[WIDE];       /* and those of them that are not compiled */
    size_t count;                 /* sizes */
    const int64_t **problems;
    double *weight_by_time, *weight;
    /* What is tried: */
    size_t columns;
    struct shmt_dispatch_term terms[COLUMNS];
    double norm[COLUMNS];
    double gram[COLUMNS][COLUMNS], wanted[COLUMNS];
    double squares;               /* of what is wanted */
    double x[COLUMNS];
    double *values;               /* [COLUMNS][count] */
};

static void find_dimensions(struct fitting *fitting)
{
    const struct shmt_kernel *const kernel = fitting->table->kernel;

    for (size_t d = 0; d < kernel->dimension_count; d++) {
        bool varies = false;

        for (size_t k = 1; k < fitting->count; k++)
            varies = varies ||
                     fitting->problems[k][d] != fitting->problems[0][d];
        if (!varies || fitting->wide_count == WIDE)
            continue;
        fitting->wide[fitting->wide_count++] = d;
        if (!kernel->dimensions[d].defined)
            fitting->free_ones[fitting->free_count++] = d;
    }
}

static void add(struct fitting *fitting, const struct shmt_dispatch_term *term)
{
    if (fitting->columns < COLUMNS)
        fitting->terms[fitting->columns++] = *term;
}

/* The start, and all products of sizes. */
static void add_products(struct fitting *fitting)
{
    for (size_t set = 0; set < (size_t)1 << fitting->wide_count; set++) {
        struct shmt_dispatch_term term = {.rounds = 0};

        for (size_t k = 0; k < fitting->wide_count; k++)
            term.of[fitting->wide[k]] = (int64_t)(set >> k & 1);
        add(fitting, &term);
    }
}

/* Tiles of one or two dimensions, in rounds, times the other sizes; of a
 * kernel with one dimension, times that. */
static void add_tiles(struct fitting *fitting,
                      const struct shmt_dispatch_term *tile, int64_t rounds)
{
    size_t rest[WIDE], count = 0;

    for (size_t k = 0; k < fitting->wide_count; k++)
        if (tile->of[fitting->wide[k]] == 0 || fitting->free_count == 1)
            rest[count++] = fitting->wide[k];
    for (size_t set = 0; set < (size_t)1 << count; set++) {
        struct shmt_dispatch_term term = *tile;

        term.rounds = rounds;
        for (size_t k = 0; k < count; k++)
            term.by[rest[k]] = (set >> k & 1) != 0;
        add(fitting, &term);
    }
}

static void fill_column(struct fitting *fitting, size_t column)
{
    const size_t dimensions = fitting->table->kernel->dimension_count;
    double *const values = fitting->values + column * fitting->count;
    double sum = 0;

    for (size_t k = 0; k < fitting->count; k++) {
        values[k] = fitting->weight_by_time[k] *
                    (double)shmt_dispatch_term_value(
                        &fitting->terms[column], fitting->problems[k],
                        dimensions);
        sum += values[k] * values[k];
    }
    fitting->norm[column] = sqrt(sum);
    for (size_t k = 0; k < fitting->count && sum > 0; k++)
        values[k] /= fitting->norm[column];
}

/* From `first` on; those before are as they were. */
static void fill_columns(struct fitting *fitting, size_t first)
{
    for (size_t c = first; c < fitting->columns; c++) {
        const double *const values = fitting->values + c * fitting->count;

        fill_column(fitting, c);
        fitting->wanted[c] = 0;
        for (size_t k = 0; k < fitting->count; k++)
            fitting->wanted[c] += values[k] * fitting->weight[k];
        for (size_t o = 0; o <= c; o++) {
            const double *const other = fitting->values + o * fitting->count;
            double sum = 0;

            for (size_t k = 0; k < fitting->count; k++)
                sum += values[k] * other[k];
            fitting->gram[c][o] = fitting->gram[o][c] = sum;
        }
    }
}

/* Returns the sum of the squares of what is left. */
static double solve(struct fitting *fitting, const bool *used, int sweeps)
{
    double left = fitting->squares;

    for (int sweep = 0; sweep < sweeps; sweep++)
        for (size_t c = 0; c < fitting->columns; c++) {
            double slope = fitting->wanted[c];

            if (!used[c])
                continue;
            for (size_t o = 0; o < fitting->columns; o++)
                slope -= fitting->gram[c][o] * fitting->x[o];
            fitting->x[c] = fmax(0, fitting->x[c] + slope);
        }
    for (size_t c = 0; c < fitting->columns; c++) {
        double product = -2 * fitting->wanted[c];

        for (size_t o = 0; o < fitting->columns; o++)
            product += fitting->gram[c][o] * fitting->x[o];
        left += fitting->x[c] * product;
    }
    return left;
}

/* Puts a tile in the place of the last. */
static double try_tile(struct fitting *fitting, size_t products,
                       const struct shmt_dispatch_term *tile, int64_t resident,
                       int sweeps)
{
    const int64_t many = fitting->table->multiprocessors;
    bool used[COLUMNS];

    fitting->columns = products;
    add_tiles(fitting, tile, 0);
    if (many > 1)
        add_tiles(fitting, tile, many);
    if (many > 1 && resident > 1)
        add_tiles(fitting, tile, many * resident);
    fill_columns(fitting, products);
    for (size_t c = 0; c < COLUMNS; c++) {
        used[c] = true;
        fitting->x[c] = 0;
    }
    return solve(fitting, used, sweeps);
}

static struct shmt_dispatch_term tile_of(const struct fitting *fitting,
                                         size_t i, size_t j, size_t number)
{
    struct shmt_dispatch_term out = {.rounds = 0};

    if (i == j) {
        out.of[fitting->free_ones[i]] = lengths[number % EDGES];
    } else {
        out.of[fitting->free_ones[i]] = edges[number / EDGES];
        out.of[fitting->free_ones[j]] = edges[number % EDGES];
    }
    return out;
}

static void find_tile(struct fitting *fitting, size_t products)
{
    const bool alone = fitting->free_count == 1;
    struct shmt_dispatch_term best = {.rounds = 0};
    int64_t resident = 1;
    double least = INFINITY;

    for (size_t i = 0; i < fitting->free_count; i++)
        for (size_t j = alone ? i : i + 1; j < fitting->free_count; j++)
            for (size_t n = 0; n < (size_t)(alone ? EDGES : EDGES * EDGES);
                 n++) {
                const struct shmt_dispatch_term tile =
                    tile_of(fitting, i, j, n);
                const double left =
                    try_tile(fitting, products, &tile, 1, SWEEPS);

                if (left < least) {
                    least = left;
                    best = tile;
                }
            }
    for (size_t k = 1; k < sizeof residents / sizeof residents[0]; k++) {
        const double left =
            try_tile(fitting, products, &best, residents[k], SWEEPS);

        if (left < least) {
            least = left;
            resident = residents[k];
        }
    }
    try_tile(fitting, products, &best, resident, LAST_SWEEPS);
}

/* Of the terms that are left, the start is the first column. */
static void put(struct fitting *fitting, struct shmt_learn_estimate *out)
{
    bool used[COLUMNS];
    size_t count;

    for (size_t c = 0; c < COLUMNS; c++)
        used[c] = true;
    for (;;) {
        size_t least = 0;

        count = 0;
        for (size_t c = 1; c < fitting->columns; c++) {
            used[c] = used[c] && fitting->x[c] > 1e-6;
            count += used[c];
            if (!used[c])
                fitting->x[c] = 0;
            else if (least == 0 || fitting->x[c] < fitting->x[least])
                least = c;
        }
        if (count <= SHMT_LEARN_TERMS)
            break;
        used[least] = false;
        fitting->x[least] = 0;
        solve(fitting, used, LAST_SWEEPS);
    }
    out->start_us = fitting->x[0] / fitting->norm[0];   /* of ones: not 0 */
    for (size_t c = 1; c < fitting->columns; c++)
        if (used[c] && out->count < SHMT_DISPATCH_TERMS_OF_ONE) {
            out->terms[out->count] = fitting->terms[c];
            out->each_us[out->count++] = fitting->x[c] / fitting->norm[c];
        }
}

static double weight_of(double time, double best)
{
    return 1 / (1 + (time / best - 1) / half_weight);
}

static void read_times(struct fitting *fitting,
                       const struct shmt_learn_size *const *sizes,
                       const double *shared, size_t count, size_t config)
{
    for (size_t k = 0; k < count; k++) {
        const double time = shmt_learn_time(&sizes[k]->cells[config]);
        const double best = shmt_learn_best(fitting->table, sizes[k]);
        const double weight = weight_of(time, best);

        if (!isfinite(time) || !(best > 0))
            continue;
        fitting->problems[fitting->count] = sizes[k]->problem;
        fitting->weight[fitting->count] = weight;
        fitting->weight_by_time[fitting->count++] =
            weight * shared[k] / time;
        fitting->squares += weight * weight;
    }
}

/* Fits one; `shared` is a factor of each size.  False: there is no memory. */
static bool fit_one(const struct shmt_learn_table *table,
                    const struct shmt_learn_size *const *sizes,
                    const double *shared, size_t count, size_t config,
                    struct shmt_learn_estimate *out)
{
    struct fitting *const fitting = calloc(1, sizeof *fitting);
    double *const numbers = calloc((COLUMNS + 2) * (count + 1),
                                   sizeof *numbers);
    const int64_t **const problems = calloc(count + 1, sizeof *problems);
    const bool made = fitting != NULL && numbers != NULL && problems != NULL;

    *out = (struct shmt_learn_estimate){.count = 0};
    if (made) {
        fitting->table = table;
        fitting->problems = problems;
        fitting->weight = numbers;
        fitting->weight_by_time = numbers + count;
        fitting->values = numbers + 2 * count;
        read_times(fitting, sizes, shared, count, config);
    }
    if (made && fitting->count >= LEAST) {
        find_dimensions(fitting);
        add_products(fitting);
        fill_columns(fitting, 0);
        if (fitting->free_count > 0) {
            find_tile(fitting, fitting->columns);
            put(fitting, out);
        }
    }
    free(fitting);
    free(numbers);
    free(problems);
    return made;
}

/* What all configurations that are near the best take longer at a size than
 * their estimates say, as a factor. */
static double shared_at(const struct shmt_learn_table *table,
                        const struct shmt_learn_size *size,
                        const size_t *column, size_t configs,
                        const struct shmt_learn_estimate *estimates)
{
    const double best = shmt_learn_best(table, size);
    double sum = 0, weights = 0;

    for (size_t c = 0; c < configs; c++) {
        const double time = shmt_learn_time(&size->cells[column[c]]);
        const double estimate = shmt_learn_estimate_us(
            &estimates[c], size->problem, table->kernel->dimension_count);
        const double root = weight_of(time, best);

        if (!isfinite(time) || !isfinite(estimate) || !(estimate > 0))
            continue;
        sum += root * root * log(time / estimate);
        weights += root * root;
    }
    return weights > 0 ? exp(sum / weights) : 1;
}

bool shmt_learn_estimates_fit(const struct shmt_learn_table *table,
                              const struct shmt_learn_size *const *sizes,
                              size_t count, const size_t *column,
                              size_t configs, struct shmt_learn_estimate *out)
{
    double *const shared = calloc(count + 1, sizeof *shared);
    bool made = shared != NULL;

    for (size_t k = 0; made && k < count; k++)
        shared[k] = 1;
    for (int round = 0; made && round < ROUNDS; round++) {
        for (size_t k = 0; round > 0 && k < count; k++)
            shared[k] = shared_at(table, sizes[k], column, configs, out);
        for (size_t c = 0; made && c < configs; c++)
            made = fit_one(table, sizes, shared, count, column[c], &out[c]);
    }
    free(shared);
    return made;
}

double shmt_learn_estimate_us(const struct shmt_learn_estimate *estimate,
                              const int64_t *problem, size_t dimensions)
{
    double sum = estimate->start_us;

    if (estimate->count == 0)
        return INFINITY;
    for (size_t k = 0; k < estimate->count; k++)
        sum += estimate->each_us[k] *
               (double)shmt_dispatch_term_value(&estimate->terms[k], problem,
                                                dimensions);
    return sum;
}
