/* SPDX-License-Identifier: MIT */
/*
 * table: keeps what was measured, by size and configuration.  Called by
 * measure.c, and by command/ for its figures.
 */
#include "learn/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool shmt_learn_table_config(struct shmt_learn_table *table,
                             const shmt_config *config, size_t *k)
{
    const size_t bytes = table->kernel->parameter_count * sizeof *config;

    if (table->configs == NULL)
        table->configs = calloc(SHMT_LEARN_CONFIGS, sizeof *table->configs);
    if (table->configs == NULL)
        return false;
    for (*k = 0; *k < table->config_count; ++*k)
        if (memcmp(table->configs[*k], config, bytes) == 0)
            return true;
    if (table->config_count == SHMT_LEARN_CONFIGS || table->size_count > 0) {
        *k = SHMT_LEARN_CONFIGS;
        return true;
    }
    memcpy(table->configs[table->config_count++], config, bytes);
    return true;
}

struct shmt_learn_size *
shmt_learn_table_size(struct shmt_learn_table *table, const int64_t *problem)
{
    const size_t bytes = table->kernel->dimension_count * sizeof *problem;
    struct shmt_learn_size *size;

    for (size_t k = 0; k < table->size_count; k++)
        if (memcmp(table->sizes[k].problem, problem, bytes) == 0)
            return &table->sizes[k];
    if (!shmt_array_reserve(&table->sizes, &table->size_room,
                            table->size_count + 1, sizeof *table->sizes))
        return NULL;
    size = &table->sizes[table->size_count];
    *size = (struct shmt_learn_size){.nearest = SHMT_LEARN_CONFIGS};
    memcpy(size->problem, problem, bytes);
    size->cells = calloc(table->config_count + 1, sizeof *size->cells);
    if (size->cells == NULL)
        return NULL;
    shmt_learn_table_forget(table, size);
    table->size_count++;
    return size;
}

void shmt_learn_table_forget(const struct shmt_learn_table *table,
                             struct shmt_learn_size *size)
{
    for (size_t k = 0; k < table->config_count; k++)
        size->cells[k] = (struct shmt_learn_cell){
            .failed = !shmt_learn_may_run(table, size->problem, k)};
}

void shmt_learn_table_clear(struct shmt_learn_table *table)
{
    for (size_t k = 0; k < table->size_count; k++)
        free(table->sizes[k].cells);
    free(table->sizes);
    table->sizes = NULL;
    table->size_count = table->size_room = 0;
}

void shmt_learn_table_free(struct shmt_learn_table *table)
{
    shmt_learn_table_clear(table);
    free(table->configs);
    table->configs = NULL;
    table->config_count = 0;
}

_Static_assert((int)SHMT_LEARN_SAMPLES <= (int)SHMT_MIDDLE_MOST,
               "all samples have a middle");

void shmt_learn_keep(struct shmt_learn_cell *cell, const float *samples_us,
                     size_t count)
{
    if (cell->passes == SHMT_LEARN_PASSES)
        return;
    for (size_t s = 0; s < count && cell->count < SHMT_LEARN_SAMPLES; s++)
        cell->samples_us[cell->count++] = samples_us[s];
    cell->ends[cell->passes++] = cell->count;
    if (cell->count > 0)
        cell->time_us = shmt_middle_of_floats(cell->samples_us, cell->count);
}

/* Of the passes from `first` to before `end`. */
static double time_of(const struct shmt_learn_cell *cell, unsigned first,
                      unsigned end)
{
    const size_t from = first == 0 ? 0 : cell->ends[first - 1];
    const size_t n = end == 0 ? 0 : cell->ends[end - 1] - from;

    return cell->failed ? INFINITY
           : n == 0     ? NAN
                        : shmt_middle_of_floats(cell->samples_us + from, n);
}

double shmt_learn_time(const struct shmt_learn_cell *cell)
{
    return cell->failed ? INFINITY : cell->count == 0 ? NAN : cell->time_us;
}

bool shmt_learn_may_run(const struct shmt_learn_table *table,
                        const int64_t *problem, size_t config)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(table->kernel, problem, table->configs[config],
                         &evaluated);
    return shmt_kernel_allows(&evaluated);
}

double shmt_learn_distance(const struct shmt_kernel *kernel, const int64_t *a,
                           const int64_t *b)
{
    double sum = 0;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        sum += fabs(log2((double)(a[d] > 1 ? a[d] : 1)) -
                    log2((double)(b[d] > 1 ? b[d] : 1)));
    return sum;
}

size_t shmt_learn_around(const struct shmt_learn_table *table,
                         const int64_t *problem, size_t most,
                         const struct shmt_learn_size **out)
{
    size_t count = 0;

    for (size_t k = 0; k < table->size_count; k++) {
        const struct shmt_learn_size *const one = &table->sizes[k];
        const double distance =
            shmt_learn_distance(table->kernel, one->problem, problem);
        size_t at = count;

        if (!one->done)
            continue;
        while (at > 0 && shmt_learn_distance(table->kernel,
                                             out[at - 1]->problem,
                                             problem) > distance)
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(out + at + 1, out + at, (count - at - 1) * sizeof *out);
        out[at] = one;
    }
    return count;
}

double shmt_learn_typical_s(const struct shmt_learn_table *table, size_t least)
{
    double *const took = calloc(table->size_count + 1, sizeof *took);
    double out = INFINITY;
    size_t count = 0;

    for (size_t k = 0; took != NULL && k < table->size_count; k++)
        if (table->sizes[k].done)
            took[count++] = table->sizes[k].took_s;
    if (count > 0 && count >= least) {
        qsort(took, count, sizeof *took, shmt_array_compare_doubles);
        out = took[count / 2];
    }
    free(took);
    return out;
}

double shmt_learn_best(const struct shmt_learn_table *table,
                       const struct shmt_learn_size *size)
{
    double best = INFINITY;

    for (size_t k = 0; k < table->config_count; k++)
        best = fmin(best, shmt_learn_time(&size->cells[k]));
    return best;
}

/* How long the later passes took; where that is so much more than the earlier
 * ones did, something else was in their way, and those tell. */
static double later_time(const struct shmt_learn_cell *cell, unsigned half,
                         unsigned all)
{
    static const double disturbed = 1.2;
    const double earlier = time_of(cell, 0, half);
    const double later = time_of(cell, half, all);

    return later > disturbed * earlier ? earlier : later;
}

struct shmt_learn_judged shmt_learn_judge(const struct shmt_learn_size *size,
                                          size_t count, size_t chosen)
{
    const struct shmt_learn_cell *const cells = size->cells;
    struct shmt_learn_judged out = {.best = chosen, .best_us = INFINITY};
    unsigned all = cells[chosen].passes, half;

    for (size_t k = 0; k < count; k++)
        all = !cells[k].failed && cells[k].passes > all ? cells[k].passes
                                                        : all;
    half = (all + 1) / 2;
    for (size_t k = 0; k < count; k++) {
        const double time = cells[k].passes == all
                                ? time_of(&cells[k], 0, half) : INFINITY;

        if (time < out.best_us) {
            out.best = k;
            out.best_us = time;
        }
    }
    if (all > half && isfinite(out.best_us))
        out.best_us = later_time(&cells[out.best], half, all);
    out.chosen_us = cells[chosen].passes == all && all > half
                        ? later_time(&cells[chosen], half, all)
                        : shmt_learn_time(&cells[chosen]);
    return out;
}
