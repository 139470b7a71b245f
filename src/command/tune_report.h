/* SPDX-License-Identifier: MIT */
/*
 * tune_report: the page and the drawing of `shmtune tune --report FILE --plot
 * FILE.svg`, made of the journals and tunings that the runs write.
 */
#ifndef SHMT_COMMAND_TUNE_REPORT_H
#define SHMT_COMMAND_TUNE_REPORT_H

#include "command/command.h"
#include "figure/figure.h"

/* What was in the place of a file before. */
struct shmt_command_page_before {
    bool absent, known;             /* there was nothing; `data` is that */
    struct shmt_text data;
};

/* Starts as {.path, .plot, .ask}; a path that is NULL asks for nothing. */
struct shmt_command_page {
    const char *path, *plot;
    struct shmt_figure_ask ask;     /* metrics and Pareto set of the page */
    struct shmt_command_page_before page_before, plot_before;
    struct shmt_command_page_run *runs;
    size_t count, room;
    double due_s;                   /* when it is written next, */
    double spent_s;                 /* and what that took so far, */
    size_t written;                 /* so many times */
    bool failed;                    /* that was said */
};

/* Writes a page without runs, so that what cannot be written is known before
 * anything is measured. */
enum shmtune_status shmt_command_page_begin(struct shmt_command_page *page,
                                            struct shmt_error *err);

/* A run begins, or ends.  The kernel and the paths have to stay. */
enum shmtune_status shmt_command_page_add(struct shmt_command_page *page,
                                          const struct shmt_kernel *kernel,
                                          const char *journal,
                                          const char *tuning,
                                          struct shmt_error *err);
void shmt_command_page_done(struct shmt_command_page *page,
                            const char *journal);

/* Called often: writes the page anew where that is due, every two seconds but
 * never for more than a hundredth of the time.  What it fails with is in
 * `err`, once. */
enum shmtune_status shmt_command_page_go_on(struct shmt_command_page *page,
                                            struct shmt_error *err);

/* The last page and the drawing, when all is over.  Where no run began, what
 * was in their places is there again. */
enum shmtune_status shmt_command_page_end(struct shmt_command_page *page,
                                          struct shmt_error *err);
void shmt_command_page_free(struct shmt_command_page *page);

#endif
