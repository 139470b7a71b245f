/* SPDX-License-Identifier: MIT */
/*
 * charts: the charts of a run, as figures of the page or as a drawing of
 * their own.  For the files of report/.
 */
#ifndef SHMT_REPORT_CHARTS_H
#define SHMT_REPORT_CHARTS_H

#include "report/run.h"

/* Of a run that has a trail with a timed candidate. */
void shmt_report_add_search(const struct shmt_report_run *run,
                            struct shmt_text *out);
void shmt_report_add_resources(const struct shmt_report_run *run,
                               struct shmt_text *out);
void shmt_report_add_spreads(const struct shmt_report_run *run,
                             struct shmt_text *out);
enum shmtune_status shmt_report_add_pairs(const struct shmt_report_run *run,
                                          struct shmt_text *out,
                                          struct shmt_error *err);

/* All runs, a row a kernel. */
void shmt_report_add_overviews(const struct shmt_report *report,
                               struct shmt_text *out);

enum shmtune_status shmt_report_add_plot(const struct shmt_report_run *run,
                                         struct shmt_text *out,
                                         struct shmt_error *err);

/* What the clouds of a run leave out, as a sentence; nothing where all is
 * drawn. */
void shmt_report_add_thinned(const struct shmt_report_run *run,
                             struct shmt_text *out);

#endif
