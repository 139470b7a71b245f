/* SPDX-License-Identifier: MIT */
/*
 * features: the numbers of a problem that a tree may compare: sizes, their
 * products and ratios, what they leave when divided by powers of two, and how
 * many tiles they have; and those of a configuration, for forests alone.
 * Called by learn.c.
 */
#include "learn/forest.h"

#include <math.h>

struct list {
    struct shmt_dispatch_feature *out;
    size_t count;
};

static void add(struct list *list, struct shmt_dispatch_feature feature)
{
    if (list->count < SHMT_LEARN_FEATURES)
        list->out[list->count++] = feature;
}

/* Whether the sizes differ in the dimension. */
static bool varies(const struct shmt_learn_table *table, size_t d)
{
    for (size_t k = 1; k < table->size_count; k++)
        if (table->sizes[k].problem[d] != table->sizes[0].problem[d])
            return true;
    return false;
}

static void add_products(struct list *list, const size_t *dims, size_t count)
{
    struct shmt_dispatch_feature all = {.modulo = 0};

    for (size_t i = 0; i < count; i++) {
        struct shmt_dispatch_feature one = {.modulo = 0};

        one.of[dims[i]] = all.of[dims[i]] = 1;
        add(list, one);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            struct shmt_dispatch_feature two = {.modulo = 0}, ratio = two;

            two.of[dims[i]] = two.of[dims[j]] = 1;
            add(list, two);
            ratio.of[dims[i]] = ratio.per[dims[j]] = 1;
            add(list, ratio);
            ratio = (struct shmt_dispatch_feature){.modulo = 0};
            ratio.of[dims[j]] = ratio.per[dims[i]] = 1;
            add(list, ratio);
        }
    if (count > 2)
        add(list, all);
}

static void add_remainders(struct list *list, const size_t *dims,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int64_t modulo = 2; modulo <= 128; modulo *= 2) {
            struct shmt_dispatch_feature one = {.modulo = modulo};

            one.of[dims[i]] = 1;
            add(list, one);
        }
}

/* Tiles of one dimension, and of two with what of them is in a last round over
 * the multiprocessors. */
static void add_tiles(struct list *list, const struct shmt_learn_table *table,
                      const size_t *dims, size_t count)
{
    static const int64_t units[] = {32, 64, 96, 128, 192, 256};
    enum { UNITS = 4, UNITS_OF_ONE = sizeof units / sizeof units[0] };

    for (size_t i = 0; i < count; i++)
        for (size_t u = 0; u < UNITS_OF_ONE; u++) {
            struct shmt_dispatch_feature one = {.modulo = 0};

            one.of[dims[i]] = units[u];
            add(list, one);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            for (size_t u = 0; u < (size_t)UNITS * UNITS; u++) {
                struct shmt_dispatch_feature two = {.modulo = 0};

                two.of[dims[i]] = units[u / UNITS];
                two.of[dims[j]] = units[u % UNITS];
                add(list, two);
                two.modulo = table->multiprocessors;
                if (two.modulo > 1)
                    add(list, two);
            }
}

size_t shmt_learn_features(const struct shmt_learn_table *table,
                           struct shmt_dispatch_feature *out)
{
    const struct shmt_kernel *const kernel = table->kernel;
    struct list list = {out, 0};
    size_t all[SHMT_KERNEL_DIMENSIONS], free_ones[SHMT_KERNEL_DIMENSIONS];
    size_t count = 0, free_count = 0;

    for (size_t d = 0; d < kernel->dimension_count; d++) {
        if (!varies(table, d))
            continue;
        all[count++] = d;
        if (!kernel->dimensions[d].defined)
            free_ones[free_count++] = d;
    }
    add_products(&list, all, count);
    add_remainders(&list, free_ones, free_count);
    add_tiles(&list, table, free_ones, free_count);
    return list.count;
}

/* The blocks of all launches; how much of the multiprocessors they fill, in
 * thousandths, over all rounds; and the points of the problem for each thread,
 * in hundredths. */
void shmt_learn_own(const struct shmt_learn_table *table,
                    const int64_t *problem, size_t config, int64_t *out)
{
    const struct shmt_kernel *const kernel = table->kernel;
    const int64_t many = table->multiprocessors > 0 ? table->multiprocessors
                                                    : 1;
    struct shmt_kernel_evaluated evaluated;
    double blocks = 0, threads = 0, points = 100;

    out[0] = out[1] = out[2] = 0;
    shmt_kernel_evaluate(kernel, problem, table->configs[config], &evaluated);
    if (shmt_kernel_evaluate_launches(&evaluated, NULL) != SHMTUNE_OK)
        return;
    for (size_t k = 0; k < evaluated.launch_count; k++) {
        const struct shmt_geometry *const one = &evaluated.geometry[k];
        const double here =
            (double)one->grid[0] * one->grid[1] * one->grid[2];

        if (!one->used || one->host)
            continue;
        blocks += here;
        threads += here * (double)shmt_geometry_threads(one);
    }
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (!kernel->dimensions[d].defined && problem[d] > 1)
            points *= (double)problem[d];
    if (blocks < 1 || blocks > 1e15)
        return;
    out[0] = (int64_t)blocks;
    out[1] = 1000 * out[0] / (many * ((out[0] + many - 1) / many));
    out[2] = (int64_t)fmin(1e15, points / threads);
}
