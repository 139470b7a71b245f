/* SPDX-License-Identifier: MIT */
/*
 * figure: the numbers of a candidate by their names: those that a run knows
 * (time, rates, registers, shared bytes, ...) and those that a user defines of
 * them.  They are shown as metrics, judged by requirements, and two or more of
 * them span a Pareto set.  Pure functions: what is asked is compiled for one
 * kernel, is immutable then, and may be shared by threads.
 */
#ifndef SHMT_FIGURE_H
#define SHMT_FIGURE_H

#include "kernel/kernel.h"
#include "record/record.h"

/* What a user asks for, as texts; nothing: {0}. */
struct shmt_figure_ask {
    size_t metric_count, require_count;
    const char *const *metrics;    /* "registers", or "NAME = EXPRESSION" */
    const char *const *requires;   /* EXPRESSION */
    const char *pareto;            /* "time_us,occupancy_percent:max"; NULL */
};

/* When a requirement can be judged. */
enum shmt_figure_stage {
    SHMT_FIGURE_CHOSEN,      /* by the configuration alone, */
    SHMT_FIGURE_COMPILED,    /* by what the compiler reports, */
    SHMT_FIGURE_MEASURED     /* by what was measured */
};

enum {
    SHMT_FIGURE_METRICS = 16,      /* that are asked for, at most */
    SHMT_FIGURE_AXES = SHMT_TUNED_AXES
};

/* A candidate: a configuration at a problem, and what is known of it. */
struct shmt_figure_candidate {
    const int64_t *problem;
    const shmt_config *config;
    const struct shmt_result *result;
};

struct shmt_figures;

/* SHMTUNE_INVALID_ARGUMENT with the option, what was found in it, and what it
 * may be. */
enum shmtune_status shmt_figures_new(const struct shmt_kernel *kernel,
                                     const struct shmt_figure_ask *ask,
                                     struct shmt_figures **out,
                                     struct shmt_error *err);
/* NULL is allowed. */
void shmt_figures_free(struct shmt_figures *figures);

const struct shmt_kernel *
shmt_figures_kernel(const struct shmt_figures *figures);

/* The names of the metrics, in the order of the command line; NULL figures have
 * none. */
size_t shmt_figures_metrics(const struct shmt_figures *figures,
                            const char *const **out);
/* The axes of the Pareto set, in order; 0: none was asked for. */
size_t shmt_figures_axes(const struct shmt_figures *figures,
                         const struct shmt_tuned_axis **out);
/* The requirements with "; " between them; "" where there are none. */
const char *shmt_figures_required(const struct shmt_figures *figures);

/* The value of a metric or of an axis; NAN: not known. */
double shmt_figures_metric(const struct shmt_figures *figures, size_t k,
                           const struct shmt_figure_candidate *candidate);
double shmt_figures_axis(const struct shmt_figures *figures, size_t k,
                         const struct shmt_figure_candidate *candidate);

/* Whether the candidate meets the requirements of a stage and of those before;
 * else the verdict UNMET, with its reason, is in `result`, which may be that
 * of the candidate.  What is not known meets nothing. */
bool shmt_figures_judge(const struct shmt_figures *figures,
                        enum shmt_figure_stage stage,
                        const struct shmt_figure_candidate *candidate,
                        struct shmt_result *result);

/* Appends a number as people read it: "-" for NAN. */
void shmt_figure_add(struct shmt_text *text, double number);

/* -- front.c --------------------------------------------------------------- */

/* The candidates that no other one dominates, sorted by the first axis, the
 * best first; no axes where none were asked for.  One is dominated by another
 * that is at least as good on each axis and better on one; of those that are
 * equal the first stays.  One of which a number is not known is left out.  Of
 * more than SHMT_TUNED_FRONT the first, the last, and others evenly between.
 * What it points to is in `arena`, or the figures'. */
enum shmtune_status
shmt_figures_front(const struct shmt_figures *figures,
                   struct shmt_arena *arena,
                   const struct shmt_figure_candidate *candidates,
                   size_t count, struct shmt_tuned_front *out,
                   struct shmt_error *err);

#endif
