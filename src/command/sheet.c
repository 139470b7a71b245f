/* SPDX-License-Identifier: MIT */
/*
 * sheet: see sheet.h.  Called by command/tune_show.c and command/show.c.
 */
#include "config.h"

#include "command/sheet.h"

#include <math.h>

double shmt_sheet_gain(double time_us, double default_us)
{
    return default_us > 0 && time_us > 0 ? default_us / time_us : -1;
}

struct shmt_table shmt_sheet_table(bool wide,
                                   const struct shmt_figures *figures,
                                   struct shmt_text *titles)
{
    const char *const *names;
    const size_t count = shmt_figures_metrics(figures, &names);

    shmt_text_add(titles,
                  wide ? "?kernel|problem|?device|>time us|?>default us|?>rate|"
                         "?>x default|?>floor|?>ties|?>regs|?>spill|?>static|"
                         "?>dynamic|?>occ|?>measured|?>rejected|?>of|"
                         "?>cand/s|?>GPU busy|"
                       : "?kernel|problem|?device|>time us|?>rate|?>x default|"
                         "?>floor|?>ties|");
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(titles, ">=%s|", names[k]);
    shmt_text_add(titles, wide ? "configuration" : "_configuration");
    return (struct shmt_table){.titles = shmt_text_string(titles),
                               .failed = titles->failed};
}

static void add_metrics(struct shmt_table *table,
                        const struct shmt_sheet_row *row)
{
    const char *const *names;
    const size_t count = shmt_figures_metrics(row->figures, &names);

    for (size_t k = 0; k < count; k++) {
        struct shmt_text number = {0};

        shmt_figure_add(&number,
                        row->candidate.config == NULL
                            ? (double)NAN
                            : shmt_figures_metric(row->figures, k,
                                                  &row->candidate));
        shmt_table_add_text(table, &number);
    }
}

/* By the work that says more of the kernel. */
static void add_rate(struct shmt_table *table,
                     const struct shmt_kernel_work *work, double time_us)
{
    const bool arithmetic = shmt_kernel_work_is_arithmetic(work);
    const double rate = shmt_kernel_work_rate(
        arithmetic ? work->flops : work->bytes, time_us);

    if (rate < 0)
        shmt_table_paint(table, SHMT_PAINT_DIM, "-");
    else
        shmt_table_add(table, rate < 100 ? "%.3g %s" : "%.0f %s", rate,
                       arithmetic ? "GFLOP/s" : "GB/s");
}

static void add_effort(struct shmt_table *table,
                       const struct shmt_sheet_row *row)
{
    const struct shmt_result *const result = row->result;

    shmt_table_add_known(table, result->resources.registers);
    if (result->resources.spill_store_bytes > 0)
        shmt_table_paint(table, SHMT_PAINT_BAD, "%lld",
                         (long long)result->resources.spill_store_bytes);
    else
        shmt_table_add_known(table, result->resources.spill_store_bytes);
    shmt_table_add_known(table, result->resources.shared_static_bytes);
    shmt_table_add_known(table, result->shared_dynamic_bytes);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.0f %%",
                        result->occupancy_percent);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.0f", row->measured);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.0f", row->rejected);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.0f", row->space);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.1f", row->rate);
    shmt_table_add_real(table, SHMT_PAINT_NONE, "%.0f %%", 100 * row->busy);
}

void shmt_sheet_add_row(struct shmt_table *table, bool wide,
                        const struct shmt_sheet_row *row)
{
    const double time_us = row->result->time_us;
    const double gain = shmt_sheet_gain(time_us, row->default_us);
    const double share = shmt_sheet_gain(time_us, row->floor_us);

    shmt_table_add(table, "%s", row->kernel);
    shmt_table_add(table, "%s", row->problem);
    shmt_table_add(table, "%s", row->device);
    shmt_table_add_real(table, SHMT_PAINT_BOLD, "%.4g", time_us);
    if (wide)
        shmt_table_add_real(table, SHMT_PAINT_NONE, "%.4g", row->default_us);
    add_rate(table, &row->work, time_us);
    shmt_table_add_real(table, gain > 1.01 ? SHMT_PAINT_GOOD : SHMT_PAINT_NONE,
                        "%.2f", gain);
    shmt_table_add_real(table, SHMT_PAINT_NONE,
                        share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    shmt_table_add_known(table, row->ties == 0 ? -1 : (int64_t)row->ties);
    if (wide)
        add_effort(table, row);
    add_metrics(table, row);
    shmt_table_add(table, "%s", row->config);
}
