/* SPDX-License-Identifier: MIT */
/*
 * sheet: the table of winners, which `tune` and `show` print: a row for each
 * problem, with its time, rate, gain and share of the floor.
 */
#ifndef SHMT_COMMAND_SHEET_H
#define SHMT_COMMAND_SHEET_H

#include "command/command.h"
#include "figure/figure.h"
#include "record/record.h"

/* What is not known is below 0, or "" of a text. */
struct shmt_sheet_row {
    const char *kernel, *problem, *config;
    const char *device;                  /* where there are several models */
    double default_us, floor_us;
    struct shmt_kernel_work work;
    size_t ties;
    const struct shmt_result *result;    /* of the winner */
    double measured, rejected, space;    /* candidates */
    double rate, busy;                   /* candidates a second, share */
    const struct shmt_figures *figures;  /* NULL: no metrics; else those of */
    struct shmt_figure_candidate candidate;    /* config NULL: not known */
};

/* Starts the table; with `wide` it has all columns.  The metrics stand before
 * the configuration; `titles` has to stay until the table has ended. */
struct shmt_table shmt_sheet_table(bool wide,
                                   const struct shmt_figures *figures,
                                   struct shmt_text *titles);
void shmt_sheet_add_row(struct shmt_table *table, bool wide,
                        const struct shmt_sheet_row *row);

/* How many times longer the default takes; below 0: not known. */
double shmt_sheet_gain(double time_us, double default_us);

#endif
