/* SPDX-License-Identifier: MIT */
/*
 * run: the tuner.  One kernel, one problem, one target: the default first,
 * then what did well elsewhere beside whatever the strategy asks for, the
 * journal always ahead of what it describes, and finals among the best.
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
#include "tune/choose.h"
#include "tune/filter.h"
#include "tune/winners.h"

struct shmt_tune_progress {
    const char *kernel;
    const char *size;            /* "rows=1024 cols=1024" */
    const char *phase;           /* "search" or "finals" */
    uint64_t done, total;        /* candidates, or passes of the finals;
                                    total UINT64_MAX: not known */
    double elapsed_s, budget_s;  /* budget INFINITY: none */
    double best_us, default_us;  /* < 0: none yet */
    const uint64_t *verdicts;    /* [SHMT_VERDICT_COUNT] */
    bool recorded;               /* seconds are not real ones */
};

struct shmt_tune_observer {
    void *context;
    /* Often; cheap to ignore. */
    void (*progress)(void *context, const struct shmt_tune_progress *now);
    /* Something to know that stops nobody. */
    void (*notice)(void *context, const char *text);
    /* Notice every candidate that is rejected, and why. */
    bool rejections;
};

struct shmt_tune_options {
    const char *strategy;        /* NULL: shmt_strategy_default */
    uint64_t seed;               /* of the strategy and of the finals */
    double budget_s;             /* of the target's clock; INFINITY */
    uint64_t budget_count;       /* candidates; UINT64_MAX */
    struct shmt_policy policy;
    /* Configurations to try beside the strategy's first ones, of which it is
     * told, and after the search, just before the finals.  Of the latter,
     * those as good as a winner are tried where it may not run, as the
     * library would choose, and those that won this very problem take part in
     * the finals whatever they took in the search.  NULL: none. */
    const struct shmt_winners *first, *last;
    const char *journal;         /* NULL: none is kept */
    bool resume;                 /* from that journal, when it fits */
    const volatile sig_atomic_t *stop;          /* NULL, or != 0: stop */
    const struct shmt_tune_observer *observer;  /* NULL: nobody */
};

enum { SHMT_TUNE_FINALISTS = 33 };   /* 32 and the default */

struct shmt_tune_final {
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    struct shmt_finalist figures;
    struct shmt_result result;   /* samples of all passes */
};

struct shmt_tune_outcome {
    struct shmt_journal_header header;
    struct shmt_space *space;
    struct shmt_ledger *ledger;
    const char *strategy;        /* a constant */
    uint64_t tried;
    uint64_t resumed;            /* of those, known from the journal */
    uint64_t taken;              /* through compiler and device by this run:
                                    what its time went into.  On a recorded
                                    device also known ones, as they take their
                                    time there once more, and none that it
                                    does not hold */
    uint64_t verdicts[SHMT_VERDICT_COUNT];
    double elapsed_s;            /* with the finals; on a GPU with the runs
                                    that this one goes on from */
    double search_s;             /* of this run, without the finals */
    double busy_s;               /* of those, the device measured */
    double best_us;              /* of the search; < 0: none */
    double default_us;           /* in the finals, else in the search; < 0:
                                    it did not come so far */
    double floor_us;             /* bytes over bandwidth; < 0: not known */
    double spread;
    size_t final_count;          /* 0 when interrupted */
    struct shmt_tune_final *finals;   /* the winner first, then the tied */
    size_t tie_count;
};

/* SHMTUNE_WRONG_RESULT: the reference, or the default configuration, which
 * has to be right for anything to be.  SHMTUNE_NO_CONFIGURATION: nothing
 * worked.  SHMTUNE_INTERRUPTED: `stop`; then, and only then beside OK, *out is
 * set too and says how far it came. */
enum shmtune_status shmt_tune_run(struct shmt_target *target,
                                  const int64_t *problem,
                                  const struct shmt_tune_options *options,
                                  struct shmt_tune_outcome **out,
                                  struct shmt_error *err);
void shmt_tune_free(struct shmt_tune_outcome *outcome);

#endif
