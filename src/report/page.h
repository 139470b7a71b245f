/* SPDX-License-Identifier: MIT */
/*
 * page: what the files that write the page share.  For the files of report/.
 */
#ifndef SHMT_REPORT_PAGE_H
#define SHMT_REPORT_PAGE_H

#include "report/run.h"

/* -- page_files.c: the style and the script that the page holds ------------ */

void shmt_report_add_style(struct shmt_text *out);
void shmt_report_add_script(struct shmt_text *out);
/* "'sha256-...'": by which a policy knows a style or a script. */
void shmt_report_add_hash(struct shmt_text *out, const struct shmt_text *file);

/* -- problem.c ------------------------------------------------------------- */

/* One problem with its devices; `number` is that of the problem. */
enum shmtune_status shmt_report_add_problem(const struct shmt_report_run *runs,
                                            size_t count, size_t number,
                                            struct shmt_text *out,
                                            struct shmt_error *err);

/* The winner's value of a parameter; false: it has none of that name. */
bool shmt_report_winner_value(const struct shmt_report_run *run,
                              const char *name, struct shmt_value *out);

/* -- counters.c ------------------------------------------------------------ */

/* What was counted, if anybody did. */
void shmt_report_add_counted(const struct shmt_report_run *run,
                             struct shmt_text *out);

/* -- pareto.c -------------------------------------------------------------- */

/* Rows of the table of the default against the winner. */
void shmt_report_add_metrics(const struct shmt_report_run *runs, size_t count,
                             struct shmt_text *out);
/* Nothing where there is no set. */
enum shmtune_status shmt_report_add_front(const struct shmt_report_run *run,
                                          struct shmt_text *out,
                                          struct shmt_error *err);

/* -- page.c ---------------------------------------------------------------- */

/* A number with `decimals`; two digits of one below 10 that has none, and
 * none, but commas, of one from 100,000 on. */
void shmt_report_add_number(struct shmt_text *out, double number,
                            int decimals);
/* A cell of a table with such a number, or "-" below 0. */
void shmt_report_add_cell(struct shmt_text *out, double number, int decimals,
                          const char *unit);
/* A cell with a text. */
void shmt_report_add_word(struct shmt_text *out, const char *word);

#endif
