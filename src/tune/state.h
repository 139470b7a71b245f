/* SPDX-License-Identifier: MIT */
/*
 * state: a run at work: what run.c (a run), flight.c (candidates in
 * the air), resume.c (the journal) and finals.c share.  Nobody else's business.
 */
#ifndef SHMT_TUNE_STATE_H
#define SHMT_TUNE_STATE_H

#include "tune/run.h"

enum { SHMT_TUNE_FLYING = 64, SHMT_TUNE_SAMPLES = 7 };

enum shmt_tune_stage { SHMT_TUNE_COMPILING, SHMT_TUNE_READY,
                       SHMT_TUNE_MEASURING };

/* Who wants a candidate to be tried. */
enum shmt_tune_asker {
    SHMT_TUNE_UNASKED,       /* the run itself */
    SHMT_TUNE_STRATEGY,
    SHMT_TUNE_ELSEWHERE      /* it did well there: options->first */
};

/* A candidate between ask and tell. */
struct shmt_tune_candidate {
    uint64_t index;
    enum shmt_tune_stage stage;
    enum shmt_tune_asker asker;
    double since_s;          /* of the request it waits for */
    struct shmt_result result;
};

struct shmt_tune {
    struct shmt_target *target;
    const struct shmt_tune_options *options;
    const int64_t *problem;
    struct shmt_tune_outcome *outcome;
    struct shmt_filter filter;
    struct shmt_session *session;
    struct shmt_journal_writer *journal;   /* NULL: none */
    uint64_t start;                        /* the default, or UINT64_MAX */
    uint64_t let_out;                      /* by the session, or the default */
    bool exhausted;                        /* nothing more is asked for */
    size_t carried;                        /* of options->first, let out or
                                              left out */
    size_t flying;
    size_t flying_carried;                 /* of those, from elsewhere */
    struct shmt_tune_candidate candidates[SHMT_TUNE_FLYING];
    size_t in_stage[3];
    double compile_ms, measure_ms;         /* sums of this run, */
    uint64_t compiled, measured;           /* over so many */
    double began_s;                        /* on the target's clock */
    double earlier_s;                      /* spent by the runs before */
    char size[256];
};

static inline double shmt_tune_elapsed(const struct shmt_tune *tune)
{
    return tune->earlier_s + tune->target->operations->now(tune->target) -
           tune->began_s;
}

static inline bool shmt_tune_stopped(const struct shmt_tune *tune)
{
    return tune->options->stop != NULL && *tune->options->stop != 0;
}

/* tune.c */
void shmt_tune_notice(const struct shmt_tune *tune, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void shmt_tune_report(const struct shmt_tune *tune, const char *phase,
                      uint64_t done, uint64_t total);
enum shmtune_status shmt_tune_journal(struct shmt_tune *tune,
                                      enum shmt_journal_kind kind,
                                      uint64_t index,
                                      const struct shmt_result *result,
                                      struct shmt_error *err);
/* The entry has its result: count it, and put it on record. */
enum shmtune_status shmt_tune_settle(struct shmt_tune *tune,
                                     struct shmt_ledger_entry *entry,
                                     struct shmt_error *err);

void shmt_tune_report_search(const struct shmt_tune *tune);

/* flight.c: a new candidate, of which the session is told unless it is
 * UNASKED; and until nothing is in the air and nothing more is asked for. */
enum shmtune_status shmt_flight_admit(struct shmt_tune *tune, uint64_t index,
                                      enum shmt_tune_asker asker,
                                      struct shmt_error *err);
enum shmtune_status shmt_flight_run(struct shmt_tune *tune,
                                    struct shmt_error *err);
/* What was on the device when the run was interrupted: nobody's fault. */
void shmt_flight_call_off(struct shmt_tune *tune);

/* resume.c: opens the journal and fills the ledger from it. */
enum shmtune_status shmt_tune_resume(struct shmt_tune *tune,
                                     struct shmt_error *err);

/* finals.c: fills in the finals of the outcome. */
enum shmtune_status shmt_tune_finals(struct shmt_tune *tune,
                                     struct shmt_error *err);

#endif
