/* SPDX-License-Identifier: MIT */
/*
 * report: collects what tunings, journals and counters say of the same kernel,
 * problem and device, and puts it in order.  page.c writes the page.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "report/charts.h"
#include "report/run.h"

struct shmt_report *shmt_report_new(void)
{
    struct shmt_report *report = calloc(1, sizeof *report);

    if (report == NULL)
        return NULL;
    report->arena = shmt_arena_new();
    if (report->arena == NULL) {
        free(report);
        return NULL;
    }
    return report;
}

void shmt_report_free(struct shmt_report *report)
{
    if (report == NULL)
        return;
    for (size_t k = 0; k < report->count; k++)
        shmt_report_trail_free(report->runs[k].trail);
    for (size_t k = 0; k < report->figure_count; k++)
        shmt_figures_free(report->figures[k]);
    free(report->figures);
    free(report->runs);
    free(report->left_out);
    free(report->refused);
    free(report->counters);
    shmt_arena_free(report->arena);
    free(report);
}

void shmt_report_ask(struct shmt_report *report,
                     const struct shmt_figure_ask *ask)
{
    report->ask = *ask;
}

void shmt_report_refresh(struct shmt_report *report, int seconds)
{
    report->refresh_s = seconds;
}

/* A kernel that has not what was asked for is shown without it. */
static enum shmtune_status refuse_figures(struct shmt_report *report,
                                          const struct shmt_kernel *kernel,
                                          struct shmt_error *err)
{
    struct shmt_report_refused *one;

    if (err->status != SHMTUNE_INVALID_ARGUMENT)
        return err->status;
    if (!shmt_array_reserve(&report->refused, &report->refused_room,
                            report->refused_count + 1,
                            sizeof *report->refused))
        return shmt_error_memory(err);
    one = &report->refused[report->refused_count++];
    *one = (struct shmt_report_refused){kernel, *err};
    return SHMTUNE_OK;
}

static bool is_refused(const struct shmt_report *report,
                       const struct shmt_kernel *kernel)
{
    for (size_t k = 0; k < report->refused_count; k++)
        if (report->refused[k].kernel == kernel)
            return true;
    return false;
}

/* What is asked for, of the kernel of a run; compiled once for each. */
static enum shmtune_status find_figures(struct shmt_report *report,
                                        struct shmt_report_run *run,
                                        struct shmt_error *err)
{
    enum shmtune_status status;

    if (run->spec == NULL || is_refused(report, run->spec) ||
        (report->ask.metric_count == 0 && report->ask.pareto == NULL))
        return SHMTUNE_OK;
    for (size_t k = 0; k < report->figure_count; k++)
        if (shmt_figures_kernel(report->figures[k]) == run->spec) {
            run->figures = report->figures[k];
            return SHMTUNE_OK;
        }
    if (!shmt_array_reserve(&report->figures, &report->figure_room,
                            report->figure_count + 1,
                            sizeof *report->figures))
        return shmt_error_memory(err);
    status = shmt_figures_new(run->spec, &report->ask,
                              &report->figures[report->figure_count], err);
    if (status != SHMTUNE_OK) {
        shmt_error_prefix(err, "%s", run->kernel);
        return refuse_figures(report, run->spec, err);
    }
    run->figures = report->figures[report->figure_count++];
    return SHMTUNE_OK;
}

/* -- numbers --------------------------------------------------------------- */

double shmt_report_gain(const struct shmt_report_run *run)
{
    return run->default_us > 0 && run->time_us > 0
               ? run->default_us / run->time_us : -1;
}

double shmt_report_floor_share(const struct shmt_report_run *run)
{
    return run->floor_us > 0 && run->time_us > 0
               ? run->floor_us / run->time_us : -1;
}

double shmt_report_bandwidth(const struct shmt_report_run *run)
{
    return shmt_kernel_work_rate(run->work.bytes, run->time_us);
}

double shmt_report_arithmetic(const struct shmt_report_run *run)
{
    return shmt_kernel_work_rate(run->work.flops, run->time_us);
}

/* -- what is added --------------------------------------------------------- */

static struct shmt_report_run *add_run(struct shmt_report *report)
{
    if (!shmt_array_reserve(&report->runs, &report->room, report->count + 1,
                            sizeof *report->runs))
        return NULL;
    report->runs[report->count] = (struct shmt_report_run){
        .time_us = -1, .default_us = -1, .floor_us = -1,
        .work = {-1, -1}, .protocol = "", .created = ""
    };
    return &report->runs[report->count++];
}

static enum shmtune_status name_problem(struct shmt_report *report,
                                        struct shmt_report_run *run,
                                        struct shmt_error *err)
{
    struct shmt_text text = {0};

    for (size_t d = 0; d < run->size_count; d++) {
        shmt_text_addf(&text, "%s%s=", d == 0 ? "" : " ", run->size[d].name);
        shmt_kernel_value_add(&text, run->size[d].value);
    }
    run->problem = shmt_text_keep(&text, report->arena);
    return run->problem == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* What a recording has no answer for was not tried. */
static void count_tried(struct shmt_report_run *run, uint64_t all,
                        const uint64_t *verdicts)
{
    const uint64_t missing = verdicts[SHMT_VERDICT_NOT_RECORDED];

    run->verdicts = verdicts;
    run->not_recorded = missing < all ? missing : all;
    run->tried = all - run->not_recorded;
}

static enum shmtune_status take_tuned(struct shmt_report *report,
                                      const struct shmt_tuning *tuning,
                                      const struct shmt_tuned *tuned,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_error *err)
{
    struct shmt_report_run *const run = add_run(report);
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    enum shmtune_status status;

    if (run == NULL)
        return shmt_error_memory(err);
    run->kernel = tuning->kernel;
    run->spec = kernel;
    run->digest = tuning->digest;
    run->device = &tuning->device;
    run->size_count = tuned->size_count;
    run->size = tuned->size;
    run->protocol = tuning->protocol != NULL ? tuning->protocol : "";
    run->created = tuning->created != NULL ? tuning->created : "";
    run->tuned = tuned;
    run->best = &tuned->result;
    run->time_us = tuned->result.time_us;
    run->default_us = tuned->default_us;
    run->floor_us = tuned->floor_us;
    run->space_count = tuned->space_count;
    count_tried(run, tuned->tried, tuned->verdicts);
    /* A tuning of other sources may have other dimensions. */
    if (kernel != NULL &&
        shmt_tuning_problem(kernel, tuned, problem, NULL) == SHMTUNE_OK)
        run->work = shmt_kernel_work_of(kernel, problem);
    status = find_figures(report, run, err);
    return status == SHMTUNE_OK ? name_problem(report, run, err) : status;
}

enum shmtune_status
shmt_report_add_tuning(struct shmt_report *report, const char *path,
                       const struct shmt_tuning *tuning,
                       const struct shmt_kernel *kernel,
                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    report->file_count++;
    for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count; k++) {
        status = take_tuned(report, tuning, tuning->tuned[k], kernel, err);
        if (status == SHMTUNE_OK)
            report->runs[report->count - 1].tuning_path = path;
    }
    return status;
}

enum shmtune_status
shmt_report_add_journal(struct shmt_report *report, const char *path,
                        const struct shmt_journal *journal,
                        const struct shmt_kernel *kernel,
                        struct shmt_error *err)
{
    const struct shmt_journal_header *const header = &journal->header;
    struct shmt_setting *const size = shmt_arena_alloc(
        report->arena, kernel->dimension_count + 1, sizeof *size);
    struct shmt_report_run *const run = size == NULL ? NULL : add_run(report);
    enum shmtune_status status;

    if (run == NULL)
        return shmt_error_memory(err);
    report->file_count++;
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        size[d].name = kernel->dimensions[d].name;
        size[d].value = (struct shmt_value){.type = SHMT_VALUE_INT,
                                            .i = header->problem[d]};
    }
    run->kernel = header->kernel;
    run->spec = kernel;
    run->digest = header->digest;
    run->device = &header->device;
    run->size_count = kernel->dimension_count;
    run->size = size;
    run->protocol = header->protocol;
    run->journal = journal;
    run->journal_path = path;
    run->work = shmt_kernel_work_of(kernel, header->problem);
    status = shmt_report_trail_new(kernel, journal, &run->trail, err);
    if (status != SHMTUNE_OK)
        return status;
    run->best = run->trail->best != NULL ? run->trail->best->result : NULL;
    run->usual = run->trail->usual != NULL ? run->trail->usual->result : NULL;
    run->time_us = run->best != NULL ? run->best->time_us : -1;
    run->default_us = run->usual != NULL ? run->usual->time_us : -1;
    run->space_count = header->space_count;
    count_tried(run, run->trail->count, run->trail->verdicts);
    status = find_figures(report, run, err);
    return status == SHMTUNE_OK ? name_problem(report, run, err) : status;
}

enum shmtune_status
shmt_report_add_counters(struct shmt_report *report,
                         const struct shmt_report_counters *counters,
                         struct shmt_error *err)
{
    if (!shmt_array_reserve(&report->counters, &report->counters_room,
                            report->counters_count + 1,
                            sizeof *report->counters))
        return shmt_error_memory(err);
    report->counters[report->counters_count++] = counters;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_report_leave_out(struct shmt_report *report,
                                          const char *path, const char *why,
                                          struct shmt_error *err)
{
    struct shmt_report_left_out *one;

    if (!shmt_array_reserve(&report->left_out, &report->left_out_room,
                            report->left_out_count + 1,
                            sizeof *report->left_out))
        return shmt_error_memory(err);
    one = &report->left_out[report->left_out_count];
    one->path = shmt_arena_copy(report->arena, path, strlen(path));
    one->why = shmt_arena_copy(report->arena, why, strlen(why));
    if (one->path == NULL || one->why == NULL)
        return shmt_error_memory(err);
    report->left_out_count++;
    return SHMTUNE_OK;
}

size_t shmt_report_list_left_out(const struct shmt_report *report,
                                 const struct shmt_report_left_out **out)
{
    *out = report->left_out;
    return report->left_out_count;
}

/* -- order ----------------------------------------------------------------- */

static int compare_sizes(const struct shmt_report_run *a,
                         const struct shmt_report_run *b)
{
    for (size_t d = 0; d < a->size_count && d < b->size_count; d++) {
        const int64_t left = a->size[d].value.i, right = b->size[d].value.i;

        if (left != right)
            return left < right ? -1 : 1;
    }
    return strcmp(a->problem, b->problem);
}

int shmt_report_compare_devices(const struct shmtune_device *a,
                                const struct shmtune_device *b)
{
    const int names = strcmp(a->name, b->name);

#define LIMIT(limit)                                                         \
    if (a->limit != b->limit)                                                \
        return a->limit < b->limit ? -1 : 1;
    if (names != 0)
        return names;
    LIMIT(compute_major)
    LIMIT(compute_minor)
    SHMT_DEVICE_LIMIT_LIST(LIMIT)
#undef LIMIT
    return 0;
}

/* Those with a tuning before those with a journal alone, so that a journal
 * finds the tuning that it belongs to; and in the order they were added. */
static int compare_runs(const void *left, const void *right)
{
    const struct shmt_report_run *const a = left, *const b = right;
    int order = strcmp(a->kernel, b->kernel);

    if (order == 0)
        order = compare_sizes(a, b);
    if (order == 0)
        order = shmt_report_compare_devices(a->device, b->device);
    if (order == 0)
        order = (a->tuned == NULL) - (b->tuned == NULL);
    if (order == 0)
        order = strcmp(a->created, b->created);
    return order;
}

static bool same_run(const struct shmt_report_run *a,
                     const struct shmt_report_run *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && compare_sizes(a, b) == 0 &&
           shmt_report_compare_devices(a->device, b->device) == 0;
}

/* Gives the first tuning without a journal the journal. */
static bool give(struct shmt_report_run *runs, size_t count,
                 const struct shmt_report_run *journal)
{
    for (size_t k = 0; k < count; k++) {
        struct shmt_report_run *const run = &runs[k];

        if (run->tuned == NULL || run->journal != NULL ||
            strcmp(run->digest, journal->digest) != 0 ||
            !same_run(run, journal))
            continue;
        run->journal = journal->journal;
        run->journal_path = journal->journal_path;
        run->trail = journal->trail;
        run->usual = journal->usual;
        if (run->spec == NULL)
            run->spec = journal->spec;
        if (run->figures == NULL)
            run->figures = journal->figures;
        return true;
    }
    return false;
}

static void join_journals(struct shmt_report *report)
{
    size_t kept = 0;

    for (size_t k = 0, first = 0; k < report->count; k++) {
        const struct shmt_report_run run = report->runs[k];

        if (kept == first || !same_run(&report->runs[first], &run))
            first = kept;
        if (run.tuned == NULL &&
            give(&report->runs[first], kept - first, &run))
            continue;
        report->runs[kept++] = run;
    }
    report->count = kept;
}

size_t shmt_report_kernel_runs(const struct shmt_report_run *runs,
                               size_t count)
{
    size_t k = 1;

    while (k < count && strcmp(runs[k].kernel, runs[0].kernel) == 0)
        k++;
    return k;
}

size_t shmt_report_problem_runs(const struct shmt_report_run *runs,
                                size_t count)
{
    size_t k = 1;

    while (k < count && strcmp(runs[k].kernel, runs[0].kernel) == 0 &&
           compare_sizes(&runs[k], &runs[0]) == 0)
        k++;
    return k;
}

size_t shmt_report_devices(const struct shmt_report_run *runs, size_t count,
                           const struct shmtune_device **out)
{
    size_t used = 0;

    for (size_t k = 0; k < count; k++) {
        size_t at = 0, end;
        int order = -1;

        while (at < used && (order = shmt_report_compare_devices(
                                 out[at], runs[k].device)) < 0)
            at++;
        if (at < used && order == 0)
            continue;
        for (end = used++; end > at; end--)
            out[end] = out[end - 1];
        out[at] = runs[k].device;
    }
    return used;
}

/* What no kernel has is an error; what some have not is missing there. */
static enum shmtune_status tell_refused(struct shmt_report *report,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (report->refused_count > 0 && report->figure_count == 0) {
        *err = report->refused[0].error;
        return err->status;
    }
    for (size_t k = 0; status == SHMTUNE_OK && k < report->refused_count; k++)
        status = shmt_report_leave_out(
            report, report->refused[k].kernel->path,
            report->refused[k].error.text, err);
    return status;
}

enum shmtune_status shmt_report_end(struct shmt_report *report,
                                    struct shmt_report_counts *counts,
                                    struct shmt_error *err)
{
    const struct shmtune_device **devices;
    enum shmtune_status status = tell_refused(report, err);

    if (status != SHMTUNE_OK)
        return status;
    if (report->count > 0)
        qsort(report->runs, report->count, sizeof *report->runs,
              compare_runs);
    join_journals(report);
    status = shmt_report_match_counters(report, err);
    if (status != SHMTUNE_OK)
        return status;
    devices = shmt_arena_alloc(report->arena, report->count + 1,
                               sizeof *devices);
    if (devices == NULL)
        return shmt_error_memory(err);
    *counts = (struct shmt_report_counts){
        .runs = report->count, .files = report->file_count,
        .left_out = report->left_out_count,
        .devices = shmt_report_devices(report->runs, report->count, devices)
    };
    for (size_t k = 0; k < report->count;
         k += shmt_report_kernel_runs(&report->runs[k], report->count - k))
        counts->kernels++;
    for (size_t k = 0; k < report->count;
         k += shmt_report_problem_runs(&report->runs[k], report->count - k))
        counts->problems++;
    for (size_t k = 0; k < report->count; k++) {
        counts->journals += report->runs[k].journal != NULL;
        counts->counted += report->runs[k].counters != NULL;
    }
    report->counts = *counts;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_report_write_plot(const struct shmt_report *report,
                                           struct shmt_text *out,
                                           struct shmt_error *err)
{
    for (size_t k = 0; k < report->count; k++)
        if (report->runs[k].trail != NULL)
            return shmt_report_add_plot(&report->runs[k], out, err);
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "no journal is given: a plot needs every result of "
                          "a run");
}
