/* SPDX-License-Identifier: MIT */
/*
 * score: how well a strategy does on a recorded run, where every cost is
 * known.  After the methodology of Willemsen, Schoonhoven, Filipovic,
 * Torring, van Nieuwpoort and van Werkhoven, "A Methodology for Comparing
 * Auto-Tuning Optimization Algorithms" (2024):
 *
 *   budget   the time in which random search is expected to close 95 % of
 *            the way from the median to the optimum
 *   score    improvement over random search, (random - held) / (random -
 *            optimum), averaged over the time from the first evaluations to
 *            the budget: 1 is the optimum at once, 0 is no better than
 *            random; below 0 is worse
 *
 * Trying a candidate costs what the recording says, failures included.  For
 * command/score.c and tests.
 */
#ifndef SHMT_SCORE_H
#define SHMT_SCORE_H

#include "record/record.h"
#include "search/search.h"
#include "space/space.h"

/* What a recording knows: arrays of shmt_space_count(space) entries. */
struct shmt_score_table {
    const struct shmt_space *space;
    uint64_t start;          /* the default configuration, or UINT64_MAX */
    const double *cost;      /* microseconds; INFINITY: failed */
    const double *seconds;   /* time of trying it: compile and measure */
    const struct shmt_search_launches *launches;   /* NULL: not known */
};

enum { SHMT_SCORE_POINTS = 1000 };   /* of time, evenly spaced */

/* What a score is computed against: the distribution of one recording. */
struct shmt_score_scale {
    const struct shmt_score_table *table;
    uint64_t valid;                  /* configurations that have a time */
    double *costs;                   /* theirs, ascending */
    double optimum, median;          /* microseconds */
    uint64_t budget_evaluations;
    double start_s, budget_s;        /* the curve begins and ends there */
    double mean_s;                   /* of one evaluation */
    double random[SHMT_SCORE_POINTS];/* what random search is expected to
                                        hold, microseconds */
};

/* SHMTUNE_NO_CONFIGURATION when fewer than two different times are there:
 * nothing can be compared.  `table` must outlive the scale. */
enum shmtune_status shmt_score_scale_new(const struct shmt_score_table *table,
                                         struct shmt_score_scale **out,
                                         struct shmt_error *err);
void shmt_score_scale_free(struct shmt_score_scale *scale);

struct shmt_score_plan {
    const char *strategy;    /* as for shmt_session_open */
    size_t repeats;
    uint64_t seed;           /* repeat r takes seed + r */
    bool start;              /* tell it the default configuration */
    size_t ahead;            /* candidates compiled, and waiting, at a time;
                                the strategy picks among them.  1: none */
    size_t jobs;             /* threads */
};

enum { SHMT_SCORE_TARGETS = 3 };
extern const double shmt_score_targets[SHMT_SCORE_TARGETS];  /* .10 .05 .01 */

/* The effort to find a configuration within a target of the optimum: what all
 * repeats spent before, divided by the number of repeats that reached it
 * within the budget.  INFINITY: none did. */
struct shmt_score_effort {
    double evaluations, seconds;
    size_t reached;          /* repeats */
};

struct shmt_score {
    double score;
    double spread;           /* standard deviation over repeats */
    double evaluations;      /* within the budget, mean over repeats */
    double thinking_s;       /* the strategy's own time for one evaluation */
    struct shmt_score_effort efforts[SHMT_SCORE_TARGETS];
    double curve[SHMT_SCORE_POINTS];  /* improvement over random */
    double held[SHMT_SCORE_POINTS];   /* microseconds, at the mean rank */
};

enum shmtune_status shmt_score_run(const struct shmt_score_scale *scale,
                                   const struct shmt_score_plan *plan,
                                   struct shmt_score *out,
                                   struct shmt_error *err);

/* -- within.c: evaluations until a good one ------------------------------ */

struct shmt_score_within_plan {
    const char *strategy;    /* as for shmt_session_open */
    size_t repeats, jobs;
    uint64_t seed;           /* repeat r takes seed + r */
    bool start;              /* tell it the default configuration */
    double part;             /* 0.05: within 5 % of the optimum */
    /* NULL, or what it may learn from.  In each repeat the costs are others
     * by a deviation of 1 %, as if they had been measured once more. */
    const struct shmt_search_prior *prior;
};

/* How many evaluations it took, over the repeats. */
struct shmt_score_within {
    double median, error;    /* of the median: half of the distance between
                                the order statistics one deviation below and
                                above it */
    double low, high;        /* quartiles */
    double worst;
};

enum shmtune_status
shmt_score_within(const struct shmt_score_table *table,
                  const struct shmt_score_within_plan *plan,
                  struct shmt_score_within *out, struct shmt_error *err);

/* How many evaluations it takes to try what the sources know in the order of
 * its cost there, of the first source first; INFINITY: all of it does not
 * come so near.  *best_of_20: what the first 20 are over the optimum, 1 and
 * more. */
enum shmtune_status shmt_score_copy(const struct shmt_score_table *table,
                                    const struct shmt_search_prior *prior,
                                    double part, double *evaluations,
                                    double *best_of_20,
                                    struct shmt_error *err);

/* -- load.c: a complete recording as a table of costs ------------------- */

struct shmt_score_recording {
    struct shmt_score_table table;
    struct shmt_search_launches launches;
    struct shmt_journal *journal;
    const struct shmt_kernel *kernel;
    struct shmt_space *space;
    double *compile_ms;             /* of the journal's records */
    double *cost, *seconds;
};

/* A journal of `kernel`, which must outlive the recording.
 * SHMTUNE_NO_CONFIGURATION when a configuration of its space is not in it:
 * a strategy that asked for that one could not be answered.  With `recorded`
 * the space is what is in the journal, be it a sample of the whole. */
enum shmtune_status shmt_score_load(const char *path,
                                    const struct shmt_kernel *kernel,
                                    bool recorded,
                                    struct shmt_score_recording **out,
                                    struct shmt_error *err);
void shmt_score_unload(struct shmt_score_recording *recording);

#endif
