/* SPDX-License-Identifier: MIT */
/*
 * report: tunings, journals and counters as one page of HTML that needs
 * nothing else, or one run as a drawing.  It computes and writes text; files
 * are read, and kernels found, by its caller.
 */
#ifndef SHMT_REPORT_H
#define SHMT_REPORT_H

#include "figure/figure.h"
#include "kernel/kernel.h"
#include "record/record.h"

struct shmt_report;

/* NULL when there is no memory. */
struct shmt_report *shmt_report_new(void);
void shmt_report_free(struct shmt_report *report);

/* Before anything is added: metrics and a Pareto set that the page is to have,
 * which must outlive the report.  Those of no kernel are left out. */
void shmt_report_ask(struct shmt_report *report,
                     const struct shmt_figure_ask *ask);

/* The page says that it is rewritten, and has a browser look again after so
 * many seconds. */
void shmt_report_refresh(struct shmt_report *report, int seconds);

/* Adds what a file holds.  All that is handed in must outlive the report; the
 * kernel of a tuning may be NULL: the work is not known then. */
enum shmtune_status
shmt_report_add_tuning(struct shmt_report *report, const char *path,
                       const struct shmt_tuning *tuning,
                       const struct shmt_kernel *kernel,
                       struct shmt_error *err);
enum shmtune_status
shmt_report_add_journal(struct shmt_report *report, const char *path,
                        const struct shmt_journal *journal,
                        const struct shmt_kernel *kernel,
                        struct shmt_error *err);

/* What the hardware counted of a problem: of the default and of what was set
 * against it. */
struct shmt_report_counter {
    const char *title, *unit;
    int decimals;
    bool raw;                      /* as it was counted; else what follows */
};
struct shmt_report_counted {       /* one configuration */
    size_t setting_count;
    const struct shmt_setting *settings;
    const double *values;          /* [row_count]; NAN: not known */
    size_t remark_count;
    const char *const *remarks;    /* what they say, a sentence each */
};
struct shmt_report_counters {
    const char *path, *kernel;
    const char *digest;            /* of its sources; NULL: not known */
    struct shmtune_device device;  /* a limit of 0 is not known */
    size_t size_count;
    const struct shmt_setting *size;
    const char *missing;           /* why nothing was counted, or NULL */
    const char *legend;            /* what the words of the remarks mean */
    size_t row_count;
    const struct shmt_report_counter *rows;
    size_t count;
    const struct shmt_report_counted *configurations;  /* the default first */
};
/* Must outlive the report.  The end finds the runs that they belong to; where
 * there is none they are left out. */
enum shmtune_status
shmt_report_add_counters(struct shmt_report *report,
                         const struct shmt_report_counters *counters,
                         struct shmt_error *err);

/* A file that was found and cannot be shown, and why. */
enum shmtune_status shmt_report_leave_out(struct shmt_report *report,
                                          const char *path, const char *why,
                                          struct shmt_error *err);

/* What was added last is in order and counted. */
struct shmt_report_counts {
    size_t kernels, problems, devices, runs, journals, counted, files,
        left_out;
};
enum shmtune_status shmt_report_end(struct shmt_report *report,
                                    struct shmt_report_counts *counts,
                                    struct shmt_error *err);

/* After the end: what was left out; how many. */
struct shmt_report_left_out {
    const char *path, *why;
};
size_t shmt_report_list_left_out(const struct shmt_report *report,
                                 const struct shmt_report_left_out **out);

/* The page, after the end; `made` says when, "2026-11-21 22:14 UTC". */
enum shmtune_status shmt_report_write_page(const struct shmt_report *report,
                                           const char *made,
                                           struct shmt_text *out,
                                           struct shmt_error *err);

/* The run of the only journal: convergence, and time against each parameter,
 * as SVG. */
enum shmtune_status shmt_report_write_plot(const struct shmt_report *report,
                                           struct shmt_text *out,
                                           struct shmt_error *err);

#endif
