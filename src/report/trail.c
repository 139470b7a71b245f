/* SPDX-License-Identifier: MIT */
/*
 * trail: what a journal's results come to.  Called by report.c; charts.c draws
 * it.
 *
 * The bond of two parameters is what is left of the logarithms of the best
 * times when the means of rows and columns are taken out (as in an analysis of
 * variance with two ways): 0 says that each can be chosen without the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/trail.h"

/* Slower than that many times the best is all the same. */
static const double slowest = 4;

static bool is_timed(const struct shmt_result *result)
{
    return shmt_verdict_stage(result->verdict) == SHMT_STAGE_TIME &&
           result->time_us > 0;
}

static int compare_times(const void *a, const void *b)
{
    const struct shmt_journal_record *const left =
        *(const struct shmt_journal_record *const *)a;
    const struct shmt_journal_record *const right =
        *(const struct shmt_journal_record *const *)b;
    const double x = left->result->time_us, y = right->result->time_us;

    return x != y ? (x > y) - (x < y) : (left > right) - (left < right);
}

static int compare_moments(const void *a, const void *b)
{
    const struct shmt_journal_record *const left =
        *(const struct shmt_journal_record *const *)a;
    const struct shmt_journal_record *const right =
        *(const struct shmt_journal_record *const *)b;
    const double x = left->at_s, y = right->at_s;

    return x != y ? (x > y) - (x < y) : (left > right) - (left < right);
}

/* One record that is the last of its candidate. */
static void take(struct shmt_report_trail *trail,
                 const struct shmt_journal_record *record,
                 const shmt_config *usual)
{
    const struct shmt_result *const result = record->result;
    const struct shmt_journal_record **const example =
        &trail->examples[result->verdict];

    trail->count++;
    trail->verdicts[result->verdict]++;
    if (*example == NULL || ((*example)->result->reason[0] == '\0' &&
                             result->reason[0] != '\0'))
        *example = record;
    if (is_timed(result))
        trail->fastest[trail->timed_count++] = record;
    if (is_timed(result) &&
        memcmp(record->config, usual, trail->kernel->parameter_count *
                                          sizeof *usual) == 0)
        trail->usual = record;
}

/* Where they come by time, before they are sorted as they were made. */
static void find_fast(struct shmt_report_trail *trail)
{
    const size_t last = trail->try_count < SHMT_REPORT_FASTEST
                            ? trail->try_count : SHMT_REPORT_FASTEST;

    qsort(trail->tries, trail->try_count, sizeof *trail->tries,
          compare_times);
    if (last > 0)
        trail->fast_us = trail->tries[last - 1]->result->time_us;
}

static enum shmtune_status fill(struct shmt_report_trail *trail,
                                const struct shmt_journal *journal,
                                bool *latest, struct shmt_error *err)
{
    shmt_config usual[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status =
        shmt_journal_latest(trail->kernel, journal, latest, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_default(trail->kernel, usual);
    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_journal_record *const record = &journal->records[k];

        if (latest[k])
            take(trail, record, usual);
        if (record->kind == SHMT_JOURNAL_RESULT && is_timed(record->result))
            trail->tries[trail->try_count++] = record;
    }
    qsort(trail->fastest, trail->timed_count, sizeof *trail->fastest,
          compare_times);
    find_fast(trail);
    qsort(trail->tries, trail->try_count, sizeof *trail->tries,
          compare_moments);
    if (trail->timed_count > 0)
        trail->best = trail->fastest[0];
    return SHMTUNE_OK;
}

enum shmtune_status shmt_report_trail_new(const struct shmt_kernel *kernel,
                                          const struct shmt_journal *journal,
                                          struct shmt_report_trail **out,
                                          struct shmt_error *err)
{
    struct shmt_report_trail *trail = calloc(1, sizeof *trail);
    bool *const latest = calloc(journal->count + 1, sizeof *latest);
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    if (trail != NULL) {
        trail->kernel = kernel;
        trail->fastest = calloc(journal->count + 1, sizeof *trail->fastest);
        trail->tries = calloc(journal->count + 1, sizeof *trail->tries);
    }
    if (trail == NULL || trail->fastest == NULL || trail->tries == NULL ||
        latest == NULL)
        shmt_error_memory(err);
    else
        status = fill(trail, journal, latest, err);
    free(latest);
    if (status == SHMTUNE_OK)
        *out = trail;
    else
        shmt_report_trail_free(trail);
    return status;
}

void shmt_report_trail_free(struct shmt_report_trail *trail)
{
    if (trail == NULL)
        return;
    free(trail->fastest);
    free(trail->tries);
    free(trail);
}

/* -- one parameter --------------------------------------------------------- */

static size_t value_of(const struct shmt_journal_record *record,
                       size_t parameter)
{
    return record->config[parameter];
}

/* The values that candidates have, the one with the best time first; SIZE_MAX
 * ends them where they are fewer.  *all: how many there are. */
static size_t find_values(const struct shmt_report_trail *trail,
                          size_t parameter, size_t out[SHMT_REPORT_VALUES],
                          size_t *all)
{
    bool seen[UINT16_MAX + 1] = {false};
    size_t count = 0;

    *all = 0;
    for (size_t k = 0; k < trail->timed_count; k++) {
        const size_t value = value_of(trail->fastest[k], parameter);

        if (seen[value])
            continue;
        seen[value] = true;
        ++*all;
        if (count < SHMT_REPORT_VALUES)
            out[count++] = value;
    }
    return count;
}

static int compare_values(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return (left > right) - (left < right);
}

/* In the order of the parameter's list. */
static size_t choose_values(const struct shmt_report_trail *trail,
                            size_t parameter, size_t out[SHMT_REPORT_VALUES],
                            size_t *all)
{
    const size_t count = find_values(trail, parameter, out, all);

    qsort(out, count, sizeof *out, compare_values);
    return count;
}

static void spread_value(const struct shmt_report_trail *trail,
                         size_t parameter, double *times,
                         struct shmt_report_spread *out)
{
    size_t count = 0;

    /* They come sorted. */
    for (size_t k = 0; k < trail->timed_count; k++)
        if (value_of(trail->fastest[k], parameter) == out->value)
            times[count++] = trail->fastest[k]->result->time_us;
    out->count = count;
    out->low = times[0];
    out->first = times[count / 4];
    out->middle = times[count / 2];
    out->third = times[3 * count / 4];
    out->high = times[count - 1];
}

bool shmt_report_trail_spread(const struct shmt_report_trail *trail,
                              size_t parameter,
                              struct shmt_report_spread
                                  out[SHMT_REPORT_VALUES], size_t *count,
                              size_t *all)
{
    size_t values[SHMT_REPORT_VALUES];
    double *const times = calloc(trail->timed_count + 1, sizeof *times);

    if (times == NULL)
        return false;
    *count = choose_values(trail, parameter, values, all);
    for (size_t k = 0; k < *count; k++) {
        out[k].value = values[k];
        spread_value(trail, parameter, times, &out[k]);
    }
    free(times);
    return true;
}

/* -- pairs ----------------------------------------------------------------- */

/* Where each shown value of each parameter stands. */
struct axis {
    size_t count;
    size_t values[SHMT_REPORT_VALUES];
};

static size_t place_in(const struct axis *axis, size_t value)
{
    size_t k = 0;

    while (k < axis->count && axis->values[k] != value)
        k++;
    return k;
}

/* The fastest come first, so that the first in a cell is its best. */
static void fill_cells(const struct shmt_report_trail *trail,
                       const struct axis *rows, const struct axis *columns,
                       struct shmt_report_pair *pair)
{
    const double best = trail->best->result->time_us;
    size_t left = rows->count * columns->count;

    for (size_t k = 0; k < left; k++)
        pair->cells[k] = (double)NAN;
    for (size_t k = 0; k < trail->timed_count && left > 0; k++) {
        const struct shmt_journal_record *const record = trail->fastest[k];
        const size_t r = place_in(rows, value_of(record, pair->row));
        const size_t c = place_in(columns, value_of(record, pair->column));
        double *const cell = &pair->cells[r * columns->count + c];

        if (r == rows->count || c == columns->count || isfinite(*cell))
            continue;
        *cell = record->result->time_us / best;
        left--;
    }
}

/* Takes the mean out of each row, or of each column. */
static void take_means(double *left, size_t lines, size_t across,
                       size_t line_step, size_t across_step)
{
    for (size_t k = 0; k < lines; k++) {
        double sum = 0;
        size_t count = 0;

        for (size_t i = 0; i < across; i++) {
            const double one = left[k * line_step + i * across_step];

            sum += isfinite(one) ? one : 0;
            count += isfinite(one);
        }
        for (size_t i = 0; count > 0 && i < across; i++)
            left[k * line_step + i * across_step] -= sum / (double)count;
    }
}

static double bond_of(const struct shmt_report_pair *pair)
{
    enum { ROUNDS = 4 };
    const size_t count = pair->row_count * pair->column_count;
    double left[SHMT_REPORT_VALUES * SHMT_REPORT_VALUES], sum = 0;
    size_t known = 0;

    for (size_t k = 0; k < count; k++)
        left[k] = isfinite(pair->cells[k])
                      ? log(fmin(slowest, pair->cells[k])) : (double)NAN;
    for (int round = 0; round < ROUNDS; round++) {
        take_means(left, pair->row_count, pair->column_count,
                   pair->column_count, 1);
        take_means(left, pair->column_count, pair->row_count, 1,
                   pair->column_count);
    }
    for (size_t k = 0; k < count; k++)
        if (isfinite(left[k])) {
            sum += left[k] * left[k];
            known++;
        }
    return known > 0 ? sqrt(sum / (double)known) : 0;
}

/* Keeps the greatest, those that come first among equals. */
static void keep_pair(struct shmt_report_pair *out, size_t *count,
                      const struct shmt_report_pair *pair)
{
    size_t at = *count;

    while (at > 0 && out[at - 1].bond < pair->bond)
        at--;
    if (at == SHMT_REPORT_PAIRS)
        return;
    if (*count < SHMT_REPORT_PAIRS)
        ++*count;
    for (size_t k = *count - 1; k > at; k--)
        out[k] = out[k - 1];
    out[at] = *pair;
}

static void consider(const struct shmt_report_trail *trail,
                     const struct axis *axes, struct shmt_report_pair *pair,
                     struct shmt_report_pair *out, size_t *count)
{
    const struct axis *const rows = &axes[pair->row];
    const struct axis *const columns = &axes[pair->column];

    pair->row_count = rows->count;
    pair->column_count = columns->count;
    memcpy(pair->row_values, rows->values, sizeof pair->row_values);
    memcpy(pair->column_values, columns->values, sizeof pair->column_values);
    fill_cells(trail, rows, columns, pair);
    pair->bond = bond_of(pair);
    keep_pair(out, count, pair);
}

enum shmtune_status
shmt_report_trail_pairs(const struct shmt_report_trail *trail,
                        struct shmt_report_pair out[SHMT_REPORT_PAIRS],
                        size_t *count, size_t *all, struct shmt_error *err)
{
    const size_t parameters = trail->kernel->parameter_count;
    struct axis *const axes = calloc(parameters + 1, sizeof *axes);
    struct shmt_report_pair pair = {0};
    size_t ignored;

    if (axes == NULL)
        return shmt_error_memory(err);
    *count = *all = 0;
    for (size_t p = 0; p < parameters; p++)
        axes[p].count = choose_values(trail, p, axes[p].values, &ignored);
    for (size_t one = 0; one < parameters; one++)
        for (size_t other = one + 1; other < parameters; other++) {
            const bool turned = axes[other].count > axes[one].count;

            if (axes[one].count < 2 || axes[other].count < 2)
                continue;
            ++*all;
            pair.row = turned ? other : one;
            pair.column = turned ? one : other;
            consider(trail, axes, &pair, out, count);
        }
    free(axes);
    return SHMTUNE_OK;
}
