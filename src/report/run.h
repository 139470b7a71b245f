/* SPDX-License-Identifier: MIT */
/*
 * run: what files say of one problem of one kernel on one device.  For the
 * files of report/.
 */
#ifndef SHMT_REPORT_RUN_H
#define SHMT_REPORT_RUN_H

#include "report/report.h"
#include "report/trail.h"

/* Of the tuning, of the journal, or of both. */
struct shmt_report_run {
    const char *kernel;            /* its name */
    const struct shmt_kernel *spec;    /* NULL: not known */
    const char *digest;
    const struct shmtune_device *device;
    size_t size_count;
    const struct shmt_setting *size;
    const char *problem;           /* "rows=4096 cols=4096" */
    const char *tuning_path, *journal_path;    /* NULL: no such file */
    const char *protocol, *created;    /* "" where nobody says */
    const struct shmt_figures *figures;    /* that are asked for; NULL: none,
                                              or no spec is known */
    const struct shmt_tuned *tuned;    /* NULL: no tuning has it */
    const struct shmt_journal *journal;    /* NULL: no journal has it */
    struct shmt_report_trail *trail;   /* of the journal */
    const struct shmt_report_counters *counters;   /* NULL: nobody counted */
    const struct shmt_report_counted *counted;     /* of them the winner's */

    /* What both can say; the tuning's where it does.  Below 0, or NULL: not
     * known. */
    const struct shmt_result *best;    /* the winner's; of a journal alone
                                          that of its fastest */
    const struct shmt_result *usual;   /* the default's, of the journal */
    double time_us, default_us, floor_us;
    struct shmt_kernel_work work;
    uint64_t tried, space_count;
    uint64_t not_recorded;         /* not among those tried */
    const uint64_t *verdicts;      /* [SHMT_VERDICT_COUNT] */
};

/* A kernel that has not the names of what is asked for. */
struct shmt_report_refused {
    const struct shmt_kernel *kernel;
    struct shmt_error error;
};

struct shmt_report {
    struct shmt_arena *arena;
    size_t count, room;
    struct shmt_report_run *runs;      /* after the end sorted: by kernel,
                                          problem, device */
    size_t left_out_count, left_out_room;
    struct shmt_report_left_out *left_out;
    size_t counters_count, counters_room;
    const struct shmt_report_counters **counters;
    size_t file_count;
    int refresh_s;                     /* 0: never */
    struct shmt_figure_ask ask;
    size_t figure_count, figure_room;
    struct shmt_figures **figures;     /* one a kernel */
    size_t refused_count, refused_room;
    struct shmt_report_refused *refused;
    struct shmt_report_counts counts;
};

/* How many runs from the first on are of its kernel; of its problem. */
size_t shmt_report_kernel_runs(const struct shmt_report_run *runs,
                               size_t count);
size_t shmt_report_problem_runs(const struct shmt_report_run *runs,
                                size_t count);
/* The devices of so many runs, each once, in order; returns how many.  `out`
 * has room for all. */
size_t shmt_report_devices(const struct shmt_report_run *runs, size_t count,
                           const struct shmtune_device **out);

/* Below, at or above 0: the order of two devices; 0: the same. */
int shmt_report_compare_devices(const struct shmtune_device *a,
                                const struct shmtune_device *b);

/* Times the default takes longer, share of the floor, GB/s, GFLOP/s; below 0:
 * not known. */
double shmt_report_gain(const struct shmt_report_run *run);
double shmt_report_floor_share(const struct shmt_report_run *run);
double shmt_report_bandwidth(const struct shmt_report_run *run);
double shmt_report_arithmetic(const struct shmt_report_run *run);

/* -- counters.c ------------------------------------------------------------ */

/* Gives the runs the counters that are theirs; what is nobody's is left out. */
enum shmtune_status shmt_report_match_counters(struct shmt_report *report,
                                               struct shmt_error *err);

#endif
