/* SPDX-License-Identifier: MIT */
/*
 * run: the tuner.  A run tunes one kernel for one problem on one target.  It
 * tries the default first, then the candidates of the strategy beside the warm
 * start, and ends with finals among the best.  The journal is written before
 * what it describes happens.
 *
 * Called by commands and tests.  Knows nothing of terminals, processes or
 * CUDA; on a recorded target it is a function of its arguments.
 */
#ifndef SHMT_TUNE_RUN_H
#define SHMT_TUNE_RUN_H

#include <signal.h>

#include "record/record.h"
#include "search/search.h"
#include "target/target.h"
#include "tune/tie_rule.h"
#include "tune/filter.h"
#include "tune/winners.h"

struct shmt_tune_progress {
    const char *kernel;
    const struct shmtune_device *device;
    const char *size;            /* "rows=1024 cols=1024" */
    const char *phase;           /* "search" or "finals" */
    uint64_t done, total;        /* candidates, or passes of the finals;
                                    total UINT64_MAX: not known */
    double elapsed_s, budget_s;  /* budget INFINITY: none */
    double best_us, default_us;  /* < 0: none yet */
    const uint64_t *verdicts;    /* [SHMT_VERDICT_COUNT] */
    bool recorded;               /* seconds are not real ones */
    bool several;                /* shown among lines of other runs */
};

struct shmt_tune_observer {
    void *context;
    /* Called often. */
    void (*progress)(void *context, const struct shmt_tune_progress *now);
    /* A text for the user about something that does not end the run. */
    void (*notice)(void *context, const char *text);
    /* Whether to call `notice` for every rejected candidate. */
    bool rejections;
};

struct shmt_sizes;

/* Of so many candidates a search that learns has made something, whatever the
 * kernel. */
enum { SHMT_TUNE_FEW = 64 };

struct shmt_tune_options {
    const char *strategy;        /* NULL: shmt_strategy_default */
    uint64_t seed;               /* of the strategy and of the finals */
    double budget_s;             /* of the target's clock, from the run's begin
                                    to the end of its finals; INFINITY */
    double more_s;               /* beside it, at most so long a search goes on
                                    that has tried fewer than SHMT_TUNE_FEW
                                    candidates by its end */
    double most_s;               /* what the budget may become where nobody
                                    waits for the time (campaign.c) */
    double spare_s;              /* beside it, at most so long programs may
                                    take to say what is right; what they take
                                    beyond is the run's, and where the default
                                    has no result by then there is none.
                                    INFINITY */
    uint64_t budget_count;       /* candidates; UINT64_MAX */
    struct shmt_filter_policy policy;
    /* Configurations of other runs, or NULL.  Those of `warm_start` are tried
     * beside the strategy's first candidates; the strategy is told their
     * results.  Those of `last` are tried before the search.
     * Where a winner in `last` may not run, those tied with it are tried
     * instead, as the library would choose.  A winner in `last` of this very
     * problem takes part in the finals, whatever its time in the search. */
    const struct shmt_winners *warm_start, *last;
    const struct shmt_search_prior *prior;   /* what the strategy begins with,
                                                or NULL; */
    const char *from, *from_digest;          /* what that is, for the journal;
                                                NULL: nothing */
    const char *journal;         /* NULL: none is kept */
    bool resume;                 /* from that journal, when it fits */
    struct shmt_sizes *sizes;    /* sizes.h: what other sizes tell, and are
                                    told; NULL: nothing.  For strategies that
                                    learn */
    size_t size;                 /* the position of this one */
    size_t together;             /* runs that may be in their finals on the
                                    target's device by the end of the search,
                                    with this one; 0: one */
    bool yields;                 /* others can use the time of a search that
                                    has settled, and the device */
    const volatile sig_atomic_t *stop;          /* NULL, or != 0: stop */
    const struct shmt_tune_observer *observer;  /* NULL: nobody */
    const struct shmt_space_limits *limits;     /* of building the space, or
                                                   NULL: the defaults */
};

enum { SHMT_TUNE_FINALISTS = 33 };   /* 32 and the default */

struct shmt_tune_final {
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_tune_finalist figures;
    struct shmt_result result;   /* samples of all passes */
};

struct shmt_tune_outcome {
    struct shmt_journal_header header;
    struct shmt_space *space;
    struct shmt_ledger *ledger;
    const char *strategy;        /* a constant */
    uint64_t tried;
    uint64_t resumed;            /* of those, read from the journal */
    uint64_t taken;              /* candidates that this run compiled or
                                    measured. On a recorded device known ones
                                    count too, because they take their
                                    recorded time again; not_recorded ones do
                                    not */
    bool spent;                  /* nothing new was tried, since those runs had
                                    spent the budget */
    uint64_t verdicts[SHMT_VERDICT_COUNT];
    double elapsed_s;            /* seconds with the finals; on a GPU with
                                    those of the runs that it resumed */
    double search_s;             /* of this run, without the finals */
    double busy_s;               /* of those, the device measured */
    double best_us;              /* of the search; < 0: none */
    double default_us;           /* from the finals, else from the search; <
                                    0: it was not timed */
    double floor_us;             /* bytes over bandwidth; < 0: not known */
    double spread;
    size_t final_count;          /* 0 when interrupted */
    struct shmt_tune_final *finals;   /* the winner first, then the tied */
    size_t tie_count;
    struct shmt_arena *arena;    /* NULL, or of this: */
    struct shmt_tuned_front pareto;   /* of the candidates that have a time, in
                                    the finals that of these */
};

/* SHMTUNE_WRONG_RESULT: the reference or the default configuration is wrong,
 * so nothing can be verified.  SHMTUNE_NO_CONFIGURATION: no candidate worked.
 * SHMTUNE_INTERRUPTED: `stop` was set.  *out is set on SHMTUNE_OK and on
 * SHMTUNE_INTERRUPTED; it then says how far the run came. */
enum shmtune_status shmt_tune_run(struct shmt_target *target,
                                  const int64_t *problem,
                                  const struct shmt_tune_options *options,
                                  struct shmt_tune_outcome **out,
                                  struct shmt_error *err);
void shmt_tune_free(struct shmt_tune_outcome *outcome);

#endif
