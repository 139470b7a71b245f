/* SPDX-License-Identifier: MIT */
/*
 * counters: what the hardware counted of the default and of the winner: which
 * run it belongs to, and how it is shown.  Called by report.c and problem.c.
 */
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "plot/plot.h"
#include "report/page.h"

/* -- whose they are -------------------------------------------------------- */

/* How far counters fit a run; the first that does not hold. */
enum fit {
    NO_KERNEL, NO_SIZE, NO_DEVICE, OTHER_SOURCES, OTHER_WINNER, GIVEN, FITS
};

static bool same_size(const struct shmt_report_run *run,
                      const struct shmt_report_counters *counters)
{
    if (run->size_count != counters->size_count)
        return false;
    for (size_t k = 0; k < run->size_count; k++) {
        bool found = false;

        for (size_t i = 0; i < counters->size_count && !found; i++)
            found = strcmp(counters->size[i].name, run->size[k].name) == 0 &&
                    shmt_value_equal(counters->size[i].value,
                                     run->size[k].value);
        if (!found)
            return false;
    }
    return true;
}

/* Names occur once on either side. */
static bool is_winner(const struct shmt_report_run *run,
                      const struct shmt_report_counted *counted)
{
    const size_t count = run->tuned != NULL ? run->tuned->setting_count
                                            : run->spec->parameter_count;
    struct shmt_value value;

    if (counted->setting_count != count)
        return false;
    for (size_t k = 0; k < count; k++)
        if (!shmt_report_winner_value(run, counted->settings[k].name,
                                      &value) ||
            !shmt_value_equal(value, counted->settings[k].value))
            return false;
    return true;
}

static const struct shmt_report_counted *
find_winner(const struct shmt_report_run *run,
            const struct shmt_report_counters *counters)
{
    for (size_t k = 1; k < counters->count; k++)
        if (is_winner(run, &counters->configurations[k]))
            return &counters->configurations[k];
    return NULL;
}

static enum fit fit_of(const struct shmt_report_run *run,
                       const struct shmt_report_counters *counters)
{
    if (strcmp(run->kernel, counters->kernel) != 0)
        return NO_KERNEL;
    if (!same_size(run, counters))
        return NO_SIZE;
    if (!shmt_device_matches(run->device, &counters->device))
        return NO_DEVICE;
    if (counters->digest != NULL &&
        strcmp(run->digest, counters->digest) != 0)
        return OTHER_SOURCES;
    if (find_winner(run, counters) == NULL)
        return OTHER_WINNER;
    return run->counters != NULL ? GIVEN : FITS;
}

/* "transpose, rows=64 cols=64, on NVIDIA H100" */
static void add_subject(const struct shmt_report_counters *counters,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "%s,", counters->kernel);
    for (size_t d = 0; d < counters->size_count; d++) {
        shmt_text_addf(text, " %s=", counters->size[d].name);
        shmt_kernel_value_add(text, counters->size[d].value);
    }
    shmt_text_addf(text, "%s on %s", counters->size_count > 0 ? "," : "",
                   counters->device.name);
}

static enum shmtune_status
leave_out(struct shmt_report *report,
          const struct shmt_report_counters *counters, enum fit fit,
          struct shmt_error *err)
{
    static const char *const why[] = {
        [NO_KERNEL] = "no tuning and no journal of this kernel is among the "
                      "files",
        [NO_SIZE] = "no tuning and no journal of this size is among the "
                    "files",
        [NO_DEVICE] = "no tuning and no journal of this device is among the "
                      "files",
        [OTHER_SOURCES] = "the sources are others than those that were tuned; "
                          "run `shmtune explain` again",
        [OTHER_WINNER] = "the winner is not among the configurations; run "
                         "`shmtune explain` again",
        [GIVEN] = "another file has the counters of this problem",
    };
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_text_addf(&text, "%s: counters of ", counters->path);
    add_subject(counters, &text);
    if (counters->missing != NULL)
        shmt_text_addf(&text, " are not there: %s", counters->missing);
    else
        shmt_text_addf(&text, ": %s", why[fit]);
    status = text.failed ? shmt_error_memory(err)
                         : shmt_report_leave_out(report, counters->path,
                                                 shmt_text_string(&text), err);
    shmt_text_free(&text);
    return status;
}

/* Several tunings may have the same problem and winner. */
static enum fit give(struct shmt_report *report,
                     const struct shmt_report_counters *counters)
{
    enum fit most = NO_KERNEL;

    for (size_t k = 0; counters->missing == NULL && k < report->count; k++) {
        struct shmt_report_run *const run = &report->runs[k];
        const enum fit fit = fit_of(run, counters);

        if (fit > most)
            most = fit;
        if (fit != FITS)
            continue;
        run->counters = counters;
        run->counted = find_winner(run, counters);
    }
    return most;
}

enum shmtune_status shmt_report_match_counters(struct shmt_report *report,
                                               struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < report->counters_count;
         k++) {
        const enum fit fit = give(report, report->counters[k]);

        if (fit == FITS)
            report->file_count++;
        else
            status = leave_out(report, report->counters[k], fit, err);
    }
    return status;
}

/* -- how they are shown ---------------------------------------------------- */

static void add_title(const struct shmt_report_counter *row,
                      struct shmt_text *out)
{
    const size_t indent = strspn(row->title, " ");

    shmt_text_add(out, "<tr><th scope=\"row\">");
    for (size_t k = 0; k < indent; k++)
        shmt_text_add(out, "\xc2\xa0");
    shmt_plot_add_escaped(out, row->title + indent);
    if (row->unit[0] != '\0') {
        shmt_text_add(out, ", ");
        shmt_plot_add_escaped(out, row->unit);
    }
    shmt_text_add(out, "</th>");
}

static bool is_known(double number)
{
    return isfinite(number) && number >= 0;
}

/* Counts have no decimals; what was counted may be a mean all the same. */
static int decimals_of(const struct shmt_report_counter *row, double usual,
                       double winner)
{
    const bool whole = (!is_known(usual) || usual == floor(usual)) &&
                       (!is_known(winner) || winner == floor(winner));

    return !row->raw ? row->decimals : whole ? 0 : 2;
}

/* The rows that are raw, or those that are not; where neither side has a
 * number there is none. */
static void add_rows(const struct shmt_report_run *run, bool raw,
                     struct shmt_text *out)
{
    const struct shmt_report_counters *const counters = run->counters;

    for (size_t k = 0; k < counters->row_count; k++) {
        const struct shmt_report_counter *const row = &counters->rows[k];
        const double usual = counters->configurations[0].values[k];
        const double winner = run->counted->values[k];
        const int decimals = decimals_of(row, usual, winner);

        if (row->raw != raw || (!is_known(usual) && !is_known(winner)))
            continue;
        add_title(row, out);
        shmt_report_add_cell(out, usual, decimals, NULL);
        shmt_report_add_cell(out, winner, decimals, NULL);
        shmt_report_add_cell(out, usual > 0 && is_known(winner)
                                      ? winner / usual : -1, 2, "\xc3\x97");
        shmt_text_add(out, "</tr>\n");
    }
}

static void add_table(const struct shmt_report_run *run, bool raw,
                      struct shmt_text *out)
{
    shmt_text_addf(out, "<div class=\"w\" tabindex=\"0\"><table><thead><tr>"
                        "<th scope=\"col\">counter</th>"
                        "<th class=\"x\" scope=\"col\">default</th>"
                        "<th class=\"x\" scope=\"col\">%s</th>"
                        "<th class=\"x\" scope=\"col\">ratio</th>"
                        "</tr></thead>\n<tbody>\n",
                   run->tuned != NULL ? "winner" : "fastest");
    add_rows(run, raw, out);
    shmt_text_add(out, "</tbody></table></div>\n");
}

static void add_remarks(const struct shmt_report_counted *counted,
                        const char *label, struct shmt_text *out)
{
    for (size_t k = 0; k < counted->remark_count; k++) {
        shmt_text_addf(out, "<li><b>%s</b>: ", label);
        shmt_plot_add_escaped(out, counted->remarks[k]);
        shmt_text_add(out, "</li>\n");
    }
}

static void add_sentences(const struct shmt_report_run *run,
                          struct shmt_text *out)
{
    const struct shmt_report_counted *const usual =
        &run->counters->configurations[0];

    if (usual->remark_count + run->counted->remark_count > 0) {
        shmt_text_add(out, "<ul>\n");
        add_remarks(usual, "default", out);
        add_remarks(run->counted, run->tuned != NULL ? "winner" : "fastest",
                    out);
        shmt_text_add(out, "</ul>\n");
    }
    shmt_text_add(out, "<p class=\"s\">");
    shmt_plot_add_escaped(out, run->counters->legend);
    shmt_text_add(out, "</p>\n");
}

static bool has_raw(const struct shmt_report_counters *counters)
{
    for (size_t k = 0; k < counters->row_count; k++)
        if (counters->rows[k].raw)
            return true;
    return false;
}

void shmt_report_add_counted(const struct shmt_report_run *run,
                             struct shmt_text *out)
{
    if (run->counters == NULL)
        return;
    shmt_text_add(out, "<h5>What the hardware counted</h5>\n"
                       "<p class=\"s\">In one launch of each on a cold L2. "
                       "From ");
    shmt_plot_add_escaped(out, run->counters->path);
    shmt_text_add(out, ".</p>\n");
    add_table(run, false, out);
    add_sentences(run, out);
    if (!has_raw(run->counters))
        return;
    shmt_text_add(out, "<details class=\"u\"><summary>Every counter by its "
                       "name</summary>\n");
    add_table(run, true, out);
    shmt_text_add(out, "</details>\n");
}
