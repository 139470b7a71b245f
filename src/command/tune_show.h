/* SPDX-License-Identifier: MIT */
/*
 * tune_show: the output of `shmtune tune`: a progress line and notices on
 * standard error, results on standard output.
 */
#ifndef SHMT_COMMAND_TUNE_SHOW_H
#define SHMT_COMMAND_TUNE_SHOW_H

#include "command/command.h"
#include "tune/tune.h"

/* -- standard error ------------------------------------------------------ */

/* On a terminal one line a run that is rewritten, as many as it has room
 * for; elsewhere a new line every four seconds. */
enum { SHMT_DISPLAY_LANES = 64 };

struct shmt_display {
    const struct shmt_command_call *call;
    bool terminal;
    bool is_json;           /* --progress: each line is an object */
    bool shown;             /* a line that is not ended */
    size_t lanes;           /* of the campaign, at most; 0: one */
    bool names_devices;     /* because there are several */
    size_t rows;            /* shown of them */
    char *lines[SHMT_DISPLAY_LANES];    /* the last of each; NULL: none */
    double lane_s[SHMT_DISPLAY_LANES];  /* and when that was shown */
    double last_s;          /* when something was shown; real seconds */
    size_t problem, problems;   /* which of them it is; 0: not known */
};

void shmt_display_begin(struct shmt_display *display,
                        const struct shmt_command_call *call);
/* The progress of a lane's run, until that is done; `mark` comes before it,
 * where there is room. */
void shmt_display_progress(struct shmt_display *display, size_t lane,
                           const char *mark,
                           const struct shmt_tune_progress *now);
void shmt_display_done(struct shmt_display *display, size_t lane);
/* For struct shmt_tune_observer; `context` is the display. */
void shmt_display_notice(void *context, const char *text);
/* An error that does not end the run.  It is printed even with -q, which
 * silences notices. */
void shmt_display_failure(struct shmt_display *display,
                          const struct shmt_error *why);
/* One line for what a run came to. */
void shmt_display_result(struct shmt_display *display,
                         const struct shmt_target *target,
                         const struct shmt_tune_outcome *outcome,
                         const struct shmt_output_paths *place);
struct shmt_sheet;

/* The last line: what became of all of them, where it is, and what may be typed
 * next.  Nothing where nothing was tuned. */
void shmt_display_summary(struct shmt_display *display,
                          const struct shmt_sheet *sheet, const char *output);
/* Before anything else is written to standard error. */
void shmt_display_clear(struct shmt_display *display);

/* The message after an interrupt: what was kept, and how to resume.
 * SHMTUNE_INTERRUPTED. */
enum shmtune_status
shmt_display_interrupt(const struct shmt_target *target,
                       const struct shmt_tune_outcome *outcome,
                       const struct shmt_output_paths *place,
                       bool resume, struct shmt_error *err);

/* -- standard output ----------------------------------------------------- */

struct json_t;

/* By what a result is put in order. */
struct shmt_sheet_place {
    const char *kernel, *tuning;
    size_t dimensions, row;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
};

/* The results of one use of the command. */
struct shmt_sheet {
    const struct shmt_command_call *call;
    bool json;
    bool names_models;      /* because there are several */
    struct json_t *results;
    struct json_t *failures;
    struct shmt_table table;
    struct shmt_text titles, fronts;    /* of the table; Pareto sets, below */
    size_t count, failed;
    size_t unrecorded;      /* of the count: the recording failed */
    size_t spent;           /* nothing new was tried for so many, */
    uint64_t spent_known;   /* of which so many candidates are known */
    size_t gain_count, room;
    double *gains;          /* of those whose default was timed */
    const struct shmt_kernel **kernels;   /* of each result */
    struct shmt_tune_ends *ends;          /* of each result */
    size_t end_room;
    struct shmt_sheet_place *places;      /* of each result */
    size_t kernel_room, place_count, place_room;
    const char *last;       /* the tuning that was written last */
};

void shmt_sheet_begin(struct shmt_sheet *sheet,
                      const struct shmt_command_call *call, bool json);
/* `figures` has the metrics, or is NULL. */
void shmt_sheet_add(struct shmt_sheet *sheet,
                    const struct shmt_target *target,
                    const struct shmt_tune_outcome *outcome,
                    const struct shmt_output_paths *place,
                    const struct shmt_figures *figures);
/* Whether result k is the first one of its kernel. */
bool shmt_sheet_is_first(const struct shmt_sheet *sheet, size_t k);
/* `problem` is NULL when no problem of the kernel could be begun, `kernel` when
 * it is of none. */
void shmt_sheet_fail(struct shmt_sheet *sheet,
                     const struct shmt_kernel *kernel,
                     const int64_t *problem,
                     const struct shmt_error *why);
/* The same of a problem that is tuned. */
void shmt_sheet_fail_recording(struct shmt_sheet *sheet,
                               const struct shmt_kernel *kernel,
                               const int64_t *problem,
                               const struct shmt_error *why);
/* Prints the sheet: results by kernel and size, as they ended in any order. */
enum shmtune_status shmt_sheet_end(struct shmt_sheet *sheet,
                                   struct shmt_error *err);
/* Frees what the sheet has counted. */
void shmt_sheet_free(struct shmt_sheet *sheet);

#endif
