/* SPDX-License-Identifier: MIT */
/*
 * page: the page of a report: the summary, the table of all problems, and a
 * section a kernel.  problem.c writes what is inside of a problem, charts.c the
 * charts.  Called by commands.
 *
 * The page loads nothing.  Its policy allows the one style and the one script
 * that it holds, by their hashes, and forbids the rest; so what a file of
 * somebody else's may name cannot do anything, even if it were not escaped.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"
#include "report/charts.h"
#include "report/page.h"

/* -- cells ----------------------------------------------------------------- */

void shmt_report_add_number(struct shmt_text *out, double number,
                            int decimals)
{
    if (decimals == 0)
        shmt_text_add_rounded(out, number);
    else if (number >= 1e5 && number < 1e15)
        shmt_text_add_count(out, (uint64_t)(number + 0.5));
    else
        shmt_text_addf(out, number < 1e15 ? "%.*f" : "%.*e", decimals,
                       number);
}

void shmt_report_add_cell(struct shmt_text *out, double number, int decimals,
                          const char *unit)
{
    if (!isfinite(number) || number < 0) {
        shmt_text_add(out, "<td class=\"x\" data-v=\"\">-</td>");
        return;
    }
    shmt_text_addf(out, "<td class=\"x\" data-v=\"%.9g\">", number);
    shmt_report_add_number(out, number, decimals);
    shmt_text_addf(out, "%s</td>", unit != NULL ? unit : "");
}

void shmt_report_add_word(struct shmt_text *out, const char *word)
{
    shmt_text_add(out, "<td>");
    shmt_plot_add_escaped(out, word);
    shmt_text_add(out, "</td>");
}

/* -- the head -------------------------------------------------------------- */

/* "transpose, tuned", "12 kernels, tuned"; journals alone are no tuning. */
static void add_title(const struct shmt_report *report, struct shmt_text *out)
{
    bool tuned = false;

    for (size_t k = 0; k < report->count; k++)
        tuned |= report->runs[k].tuned != NULL;
    if (report->counts.kernels == 1)
        shmt_plot_add_escaped(out, report->runs[0].kernel);
    else
        shmt_text_addf(out, "%zu kernels", report->counts.kernels);
    shmt_text_add(out, report->refresh_s > 0 ? ", being tuned"
                       : tuned               ? ", tuned" : ", searched");
}

static void add_head(const struct shmt_report *report, struct shmt_text *out)
{
    struct shmt_text style = {0}, script = {0};

    shmt_report_add_style(&style);
    shmt_report_add_script(&script);
    shmt_text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                       "<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" "
                       "content=\"default-src 'none'; style-src ");
    shmt_report_add_hash(out, &style);
    shmt_text_add(out, "; script-src ");
    shmt_report_add_hash(out, &script);
    shmt_text_add(out, "; base-uri 'none'; form-action 'none'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, "
                       "initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n"
                       "<meta name=\"generator\" content=\"shmtune "
                       PACKAGE_VERSION "\">\n");
    if (report->refresh_s > 0)
        shmt_text_addf(out, "<meta http-equiv=\"refresh\" content=\"%d\">\n",
                       report->refresh_s);
    shmt_text_add(out, "<title>");
    add_title(report, out);
    shmt_text_add(out, "</title>\n<style>");
    shmt_text_add(out, shmt_text_string(&style));
    shmt_text_add(out, "</style>\n</head>\n<body>\n");
    out->failed |= style.failed || script.failed;
    shmt_text_free(&style);
    shmt_text_free(&script);
}

static void add_counted(struct shmt_text *out, size_t count, const char *word)
{
    shmt_text_add_count(out, count);
    shmt_text_addf(out, " %s%s", word, shmt_text_plural(count));
}

static void add_header(const struct shmt_report *report, const char *made,
                       struct shmt_text *out)
{
    size_t number = 0;

    shmt_text_add(out, "<header>\n<h1>");
    add_title(report, out);
    shmt_text_add(out, "</h1>\n<p class=\"s\">");
    add_counted(out, report->counts.kernels, "kernel");
    shmt_text_add(out, ", ");
    add_counted(out, report->counts.problems, "problem");
    shmt_text_add(out, ", ");
    add_counted(out, report->counts.devices, "device");
    shmt_text_add(out, ", from ");
    add_counted(out, report->counts.files, "file");
    shmt_text_add(out, ". Made ");
    shmt_plot_add_escaped(out, made);
    shmt_text_add(out, " by shmtune " PACKAGE_VERSION ".");
    if (report->refresh_s > 0)
        shmt_text_add(out, " The run goes on, and this page with it.");
    shmt_text_add(out, "</p>\n</header>\n"
                       "<nav aria-label=\"Kernels\">\n");
    for (size_t k = 0; k < report->count;
         k += shmt_report_kernel_runs(&report->runs[k], report->count - k)) {
        shmt_text_addf(out, "<a href=\"#k%zu\">", ++number);
        shmt_plot_add_escaped(out, report->runs[k].kernel);
        shmt_text_add(out, "</a>\n");
    }
    shmt_text_add(out, "</nav>\n");
}

/* -- the summary ----------------------------------------------------------- */

static void add_figure(struct shmt_text *out, const char *title,
                       bool ratio, double number)
{
    shmt_text_addf(out, "<div><dt>%s</dt><dd>", title);
    if (ratio)
        shmt_text_addf(out, "%.2f\xc3\x97", number);
    else
        shmt_text_add_count(out, (uint64_t)(number + 0.5));
    shmt_text_add(out, "</dd></div>\n");
}

struct sums {
    double logs, best, tried, not_recorded, seconds;
    size_t gains, faster;
};

static struct sums sum_up(const struct shmt_report *report)
{
    struct sums sums = {0};

    for (size_t k = 0; k < report->count; k++) {
        const struct shmt_report_run *const run = &report->runs[k];
        const double gain = shmt_report_gain(run);

        sums.tried += (double)run->tried;
        sums.not_recorded += (double)run->not_recorded;
        if (run->tuned != NULL)
            sums.seconds += fmax(0, run->tuned->elapsed_s);
        if (gain <= 0)
            continue;
        sums.logs += log(gain);
        sums.gains++;
        sums.faster += gain > 1;
        sums.best = fmax(sums.best, gain);
    }
    return sums;
}

static void add_summary(const struct shmt_report *report,
                        struct shmt_text *out)
{
    const struct sums sums = sum_up(report);

    shmt_text_add(out, "<section>\n<dl>\n");
    if (sums.gains > 0) {
        add_figure(out, "faster than the default, mean", true,
                   exp(sums.logs / (double)sums.gains));
        add_figure(out, "at most", true, sums.best);
        shmt_text_addf(out, "<div><dt>won over the default</dt><dd>%zu "
                            "<span class=\"s\">of %zu</span></dd></div>\n",
                       sums.faster, sums.gains);
    }
    add_figure(out, "candidates tried", false, sums.tried);
    if (sums.not_recorded > 0)
        add_figure(out, "candidates not recorded", false, sums.not_recorded);
    if (sums.seconds > 0) {
        shmt_text_add(out, "<div><dt>time of the searches</dt><dd>");
        shmt_text_addf(out, sums.seconds < 600 ? "%.0f s" : "%.0f min",
                       sums.seconds < 600 ? sums.seconds
                                          : sums.seconds / 60);
        shmt_text_add(out, "</dd></div>\n");
    }
    shmt_text_add(out, "</dl>\n<div class=\"f\">\n");
    shmt_report_add_overviews(report, out);
    shmt_text_add(out, "</div>\n</section>\n");
}

/* -- all problems ---------------------------------------------------------- */

/* What a column of the table shows of a run. */
enum column {
    TIME, DEFAULT, GAIN, BANDWIDTH, ARITHMETIC, FLOOR, REGISTERS, SPILL,
    STATIC, DYNAMIC, OCCUPANCY, TRIED, TIES, COLUMNS
};
static const struct {
    const char *title, *unit;
    int decimals;
} columns[COLUMNS] = {
    [TIME] = {"time, \xc2\xb5s", NULL, 2},
    [DEFAULT] = {"default, \xc2\xb5s", NULL, 2},
    [GAIN] = {"gain", "\xc3\x97", 2},
    [BANDWIDTH] = {"GB/s", NULL, 0},
    [ARITHMETIC] = {"GFLOP/s", NULL, 0},
    [FLOOR] = {"of floor, %", NULL, 0},
    [REGISTERS] = {"registers", NULL, 0},
    [SPILL] = {"spill, B", NULL, 0},
    [STATIC] = {"static, B", NULL, 0},
    [DYNAMIC] = {"dynamic, B", NULL, 0},
    [OCCUPANCY] = {"occupancy, %", NULL, 0},
    [TRIED] = {"tried", NULL, 0},
    [TIES] = {"ties", NULL, 0},
};

static double of_best(const struct shmt_result *best, enum column column)
{
    switch (best == NULL ? COLUMNS : column) {
    case REGISTERS: return best->resources.registers;
    case SPILL: return best->resources.spill_store_bytes;
    case STATIC: return (double)best->resources.shared_static_bytes;
    case DYNAMIC: return (double)best->shared_dynamic_bytes;
    case OCCUPANCY: return best->occupancy_percent;
    default: return -1;
    }
}

static double number_of(const struct shmt_report_run *run, enum column column)
{
    const double share = shmt_report_floor_share(run);

    switch (column) {
    case TIME: return run->time_us;
    case DEFAULT: return run->default_us;
    case GAIN: return shmt_report_gain(run);
    case BANDWIDTH: return shmt_report_bandwidth(run);
    case ARITHMETIC: return shmt_report_arithmetic(run);
    case FLOOR: return share < 0 ? -1 : 100 * share;
    case TRIED: return (double)run->tried;
    case TIES: return run->tuned != NULL ? (double)run->tuned->tie_count : -1;
    default: return of_best(run->best, column);
    }
}

static void add_row(const struct shmt_report_run *run, size_t problem,
                    const bool *shown, struct shmt_text *out)
{
    shmt_text_addf(out, "<tr><th scope=\"row\"><a href=\"#p%zu\">", problem);
    shmt_plot_add_escaped(out, run->kernel);
    shmt_text_add(out, "</a></th>");
    shmt_report_add_word(out, run->problem);
    shmt_report_add_word(out, run->device->name);
    for (enum column column = TIME; column < COLUMNS; column++)
        if (shown[column])
            shmt_report_add_cell(out, number_of(run, column),
                                 columns[column].decimals,
                                 columns[column].unit);
    shmt_text_add(out, "</tr>\n");
}

/* Of which nothing is known is left out. */
static void begin_table(const struct shmt_report *report, bool *shown,
                        struct shmt_text *out)
{
    shmt_text_add(out, "<section>\n<h2 id=\"problems\">All problems</h2>\n"
                       "<div class=\"k\" hidden><label>Filter <input "
                       "id=\"find\" type=\"search\" placeholder=\""
                       "such as matmul h200\"></label>"
                       "<span class=\"s\" id=\"said\" role=\"status\">"
                       "</span></div>\n"
                       "<div class=\"w y\" tabindex=\"0\"><table id=\"all\">"
                       "<thead><tr><th scope=\"col\">kernel</th>"
                       "<th scope=\"col\">problem</th>"
                       "<th scope=\"col\">device</th>");
    for (enum column column = TIME; column < COLUMNS; column++) {
        shown[column] = false;
        for (size_t k = 0; k < report->count; k++)
            shown[column] |= number_of(&report->runs[k], column) >= 0;
        if (shown[column])
            shmt_text_addf(out, "<th class=\"x\" scope=\"col\">%s</th>",
                           columns[column].title);
    }
    shmt_text_add(out, "</tr></thead>\n<tbody>\n");
}

static void add_table(const struct shmt_report *report,
                      struct shmt_text *out)
{
    bool shown[COLUMNS];
    size_t problem = 0;

    begin_table(report, shown, out);
    for (size_t k = 0; k < report->count;) {
        const size_t next = shmt_report_problem_runs(&report->runs[k],
                                                     report->count - k);

        problem++;
        for (size_t end = k + next; k < end; k++)
            add_row(&report->runs[k], problem, shown, out);
    }
    shmt_text_add(out, "</tbody></table></div>\n</section>\n");
}

/* -- a kernel -------------------------------------------------------------- */

/* The run of a problem on one device; NULL: there is none. */
static const struct shmt_report_run *
find_device(const struct shmt_report_run *runs, size_t count,
            const struct shmtune_device *device)
{
    for (size_t k = 0; k < count; k++)
        if (shmt_report_compare_devices(runs[k].device, device) == 0)
            return &runs[k];
    return NULL;
}

/* Whether arithmetic says more of the kernel than bytes do. */
static bool is_arithmetic(const struct shmt_report_run *runs, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (runs[k].work.flops > 0)
            return shmt_kernel_work_is_arithmetic(&runs[k].work);
    return false;
}

static void add_cells(const struct shmt_report_run *run, bool arithmetic,
                      struct shmt_text *out)
{
    const struct shmt_report_run none = {.time_us = -1, .default_us = -1,
                                         .floor_us = -1};
    const struct shmt_report_run *const at = run != NULL ? run : &none;
    const double share = shmt_report_floor_share(at);

    shmt_report_add_cell(out, at->time_us, 2, NULL);
    shmt_report_add_cell(out, shmt_report_gain(at), 2, "\xc3\x97");
    shmt_report_add_cell(out, arithmetic ? shmt_report_arithmetic(at)
                                         : shmt_report_bandwidth(at), 0,
                         NULL);
    shmt_report_add_cell(out, share < 0 ? -1 : 100 * share, 0, NULL);
}

/* Devices side by side. */
static void add_devices(const struct shmt_report_run *runs, size_t count,
                        const struct shmtune_device *const *devices,
                        size_t device_count, struct shmt_text *out)
{
    const bool arithmetic = is_arithmetic(runs, count);

    shmt_text_add(out, "<div class=\"w\" tabindex=\"0\"><table><thead><tr>"
                       "<td></td>");
    for (size_t d = 0; d < device_count; d++) {
        shmt_text_add(out, "<th class=\"x\" scope=\"colgroup\" "
                           "colspan=\"4\">");
        shmt_plot_add_escaped(out, devices[d]->name);
        shmt_text_add(out, "</th>");
    }
    shmt_text_add(out, "</tr>\n<tr><th scope=\"col\">problem</th>");
    for (size_t d = 0; d < device_count; d++)
        shmt_text_addf(out,
                       "<th class=\"x\" scope=\"col\">time, \xc2\xb5s</th>"
                       "<th class=\"x\" scope=\"col\">gain</th>"
                       "<th class=\"x\" scope=\"col\">%s</th>"
                       "<th class=\"x\" scope=\"col\">of floor, %%</th>",
                       arithmetic ? "GFLOP/s" : "GB/s");
    shmt_text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t k = 0; k < count;) {
        const size_t next = shmt_report_problem_runs(&runs[k], count - k);

        shmt_text_add(out, "<tr><th scope=\"row\">");
        shmt_plot_add_escaped(out, runs[k].problem);
        shmt_text_add(out, "</th>");
        for (size_t d = 0; d < device_count; d++)
            add_cells(find_device(&runs[k], next, devices[d]),
                      arithmetic, out);
        shmt_text_add(out, "</tr>\n");
        k += next;
    }
    shmt_text_add(out, "</tbody></table></div>\n");
}

static void add_kernel_heading(const struct shmt_report_run *runs,
                               size_t number, struct shmt_text *out)
{
    shmt_text_addf(out, "<section>\n<h2 id=\"k%zu\">", number);
    shmt_plot_add_escaped(out, runs[0].kernel);
    shmt_text_add(out, "</h2>\n");
    if (runs[0].spec != NULL && runs[0].spec->summary != NULL) {
        shmt_text_add(out, "<p class=\"s\">");
        shmt_plot_add_escaped(out, runs[0].spec->summary);
        shmt_text_add(out, "</p>\n");
    }
}

static enum shmtune_status add_kernels(const struct shmt_report *report,
                                       struct shmt_text *out,
                                       struct shmt_error *err)
{
    const struct shmtune_device **const devices = shmt_arena_alloc(
        report->arena, report->count + 1, sizeof *devices);
    enum shmtune_status status =
        devices == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
    size_t number = 0, problem = 0;

    for (size_t k = 0; status == SHMTUNE_OK && k < report->count;) {
        const struct shmt_report_run *const runs = &report->runs[k];
        const size_t count =
            shmt_report_kernel_runs(runs, report->count - k);
        const size_t device_count =
            shmt_report_devices(runs, count, devices);

        add_kernel_heading(runs, ++number, out);
        if (device_count > 1)
            add_devices(runs, count, devices, device_count, out);
        for (size_t i = 0; status == SHMTUNE_OK && i < count;) {
            const size_t next = shmt_report_problem_runs(&runs[i], count - i);

            status = shmt_report_add_problem(&runs[i], next, ++problem, out,
                                             err);
            i += next;
        }
        shmt_text_add(out, "</section>\n");
        k += count;
    }
    return status;
}

/* -- the end --------------------------------------------------------------- */

static void add_footer(const struct shmt_report *report,
                       struct shmt_text *out)
{
    shmt_text_add(
        out,
        "<footer>\n<h2>How to read it</h2>\n"
        "<p>A time is the middle of several samples. The gain is the time of "
        "the default configuration over that of the winner, both measured in "
        "the same finals. The floor is the time that the bytes alone need at "
        "the device's bandwidth; GB/s and GFLOP/s are the work that the spec "
        "states over the time. A dash: not known.</p>\n"
        "<p>Charts need a journal. The default's registers, shared memory and "
        "occupancy stand there too. Hardware counters are in neither kind of "
        "file: <code>shmtune explain KERNEL --json</code> reads them on a GPU, "
        "and its document may be among the files.</p>\n");
    if (report->left_out_count > 0)
        shmt_text_add(out, "<h2>Left out</h2>\n<ul>\n");
    for (size_t k = 0; k < report->left_out_count; k++) {
        shmt_text_add(out, "<li>");
        shmt_plot_add_escaped(out, report->left_out[k].why);
        shmt_text_add(out, "</li>\n");
    }
    if (report->left_out_count > 0)
        shmt_text_add(out, "</ul>\n");
    shmt_text_add(out, "</footer>\n<div id=\"tip\" role=\"status\" hidden>"
                       "</div>\n<script>");
    shmt_report_add_script(out);
    shmt_text_add(out, "</script>\n</body>\n</html>\n");
}

enum shmtune_status shmt_report_write_page(const struct shmt_report *report,
                                           const char *made,
                                           struct shmt_text *out,
                                           struct shmt_error *err)
{
    enum shmtune_status status;

    add_head(report, out);
    add_header(report, made, out);
    shmt_text_add(out, "<main>\n");
    add_summary(report, out);
    add_table(report, out);
    status = add_kernels(report, out, err);
    shmt_text_add(out, "</main>\n");
    add_footer(report, out);
    if (status == SHMTUNE_OK && out->failed)
        status = shmt_error_memory(err);
    return status;
}
