/* SPDX-License-Identifier: MIT */
/*
 * state: the state of a run, shared by run.c (the run and its phases),
 * pipeline.c (candidates in flight), finals.c, resume.c and budget.c alone.
 */
#ifndef SHMT_TUNE_STATE_H
#define SHMT_TUNE_STATE_H

#include "tune/run.h"

enum { SHMT_TUNE_IN_FLIGHT = 64, SHMT_TUNE_SAMPLES = 7 };

/* Of the finals when there is time.  The passes are split into blocks, each
 * with a process of its own. */
enum { SHMT_TUNE_FINALS_PASSES = 7, SHMT_TUNE_FINALS_BLOCKS = 3 };

/* Slower than the best by more, and it is no finalist. */
#define SHMT_TUNE_NEAR_FACTOR 1.05

enum shmt_tune_stage { SHMT_TUNE_COMPILING, SHMT_TUNE_READY,
                       SHMT_TUNE_MEASURING };

/* Where a candidate comes from. */
enum shmt_tune_origin {
    SHMT_TUNE_FROM_RUN,      /* the run itself */
    SHMT_TUNE_FROM_STRATEGY,
    SHMT_TUNE_FROM_WARM_START /* options->warm_start, or another size */
};

/* A candidate in flight: between the strategy's ask and tell. */
struct shmt_tune_candidate {
    uint64_t index;
    enum shmt_tune_stage stage;
    enum shmt_tune_origin origin;
    double since_s;          /* of the request it waits for */
    const struct shmt_target *helper;    /* that measures it; NULL: the run's
                                            own */
    struct shmt_result result;
};

/* A device that measures for the run beside its own. */
struct shmt_tune_helper {
    struct shmt_target *target;
    double scale;            /* of its times; < 0: the default is measured */
    bool busy, useless;
};
enum { SHMT_TUNE_HELPERS = 15 };

/* What was compiled for another size and may be good here. */
struct shmt_tune_offer {
    uint64_t index;
    double cost;             /* the least over that of a default */
    bool leads;              /* it was the fastest at a size */
};
enum { SHMT_TUNE_OFFERS = 256 };

/* In this order. */
enum shmt_tune_phase {
    SHMT_TUNE_DEFAULT,       /* the default is tried */
    SHMT_TUNE_ALSO,          /* options->last are */
    SHMT_TUNE_SEARCH,
    SHMT_TUNE_FINALS,
    SHMT_TUNE_DONE
};

struct shmt_tune {
    enum shmt_tune_phase phase;
    struct shmt_target *target;
    const struct shmt_tune_options *options;
    const int64_t *problem;
    struct shmt_tune_outcome *outcome;
    struct shmt_filter filter;
    struct shmt_session *session;
    struct shmt_journal_writer *journal;   /* NULL: none */
    uint64_t start;                        /* the default, or UINT64_MAX */
    uint64_t handed_out;                   /* candidates handed out by the
                                              session, and the default; on a
                                              GPU also what is known from the
                                              journal, from the beginning; */
    uint64_t known;                        /* those of the journal that are not
                                              counted yet */
    bool exhausted;                        /* nothing more is asked for */
    bool holding;                          /* until the default has its result
                                              the others are compiled alone */
    bool held;                             /* `holding` ends this phase */
    bool feeding;                          /* what was started of
                                              options->last is in flight */
    bool on_time;                          /* the budget ends this phase, */
    bool ending;                           /* and has: at the latest at */
    double end_s;                          /* so many elapsed seconds */
    double search_since_s;                 /* of this run, when it began */
    size_t last_next;                      /* position in options->last */
    size_t warm_next;                      /* position in options->warm_start */
    struct shmt_sizes *sizes;              /* offers.c; NULL: it is alone */
    struct shmt_search_sizes search_sizes;
    struct shmt_search_launches launches;
    size_t heard;                          /* findings that were read */
    size_t patience;                       /* no offer was worth it: they are
                                              judged again after so many more
                                              results, here or elsewhere */
    double gained_us;                      /* the best that was better than
                                              the one before by enough, */
    uint64_t gained_at;                    /* the candidates by then, */
    double gained_s;                       /* and the time */
    double share_s;                        /* the budget that it began with */
    size_t offer_count;
    struct shmt_tune_offer offers[SHMT_TUNE_OFFERS];
    size_t in_flight;
    size_t warm_in_flight;                 /* of those, from the warm start */
    struct shmt_tune_candidate candidates[SHMT_TUNE_IN_FLIGHT];
    size_t helper_count;
    struct shmt_tune_helper helpers[SHMT_TUNE_HELPERS];
    size_t in_stage[3];
    double compile_ms, measure_ms;         /* sums of this run, */
    uint64_t compiled, measured;           /* over so many */
    double setup_ms;                       /* the first of those, which sets
                                              the problem up */
    double timed_ms;                       /* of those measured, the ones that
                                              have a time, */
    uint64_t timed;                        /* so many; */
    double first_ms;                       /* the first set the problem up */
    bool used;                             /* the worker has: another one has
                                              to set it up anew, as behind a
                                              candidate that killed it */
    double least_ms;                       /* of those that set it up, */
    double anew_ms;                        /* but for the first, all of them, */
    uint64_t anew;                         /* so many, */
    double timed_anew_ms;                  /* and the ones that have a time, */
    uint64_t timed_anew;                   /* so many */
    uint64_t finalists;                    /* so many if the finals were now */
    double began_s;                        /* on the target's clock */
    double left_out_s;                     /* of programs that say what is
                                              right; not in what elapsed */
    double more_s;                         /* of options->more_s, so far */
    double earlier_s;                      /* seconds of the runs that this
                                              one resumes, */
    double spent_s;                        /* and what they have spent of its
                                              budget */
    double together;                       /* runs that spend their budgets
                                              together, with this one, when it
                                              began */
    struct shmt_tune_finals *finals;       /* of finals.c; NULL before them */
    char size[256];
    char what[336];                        /* "KERNEL, SIZE"; "KERNEL" where it
                                              has no dimensions */
};

/* Seconds of this run alone. */
static inline double shmt_tune_since(const struct shmt_tune *tune)
{
    return tune->target->operations->now(tune->target) - tune->began_s -
           tune->left_out_s;
}

/* Of the budget. */
static inline double shmt_tune_elapsed(const struct shmt_tune *tune)
{
    return tune->spent_s + shmt_tune_since(tune);
}

/* For the journal. */
static inline double shmt_tune_at(const struct shmt_tune *tune)
{
    return tune->earlier_s + shmt_tune_since(tune);
}

static inline bool shmt_tune_stopped(const struct shmt_tune *tune)
{
    return tune->options->stop != NULL && *tune->options->stop != 0;
}

/* run.c */
__attribute__((format(printf, 2, 3)))
void shmt_tune_notice(const struct shmt_tune *tune, const char *format, ...);
void shmt_tune_report(const struct shmt_tune *tune, const char *phase,
                      uint64_t done, uint64_t total);
enum shmtune_status shmt_tune_journal(struct shmt_tune *tune,
                                      enum shmt_journal_kind kind,
                                      uint64_t index,
                                      const struct shmt_result *result,
                                      struct shmt_error *err);
/* The entry has its result: counts it and writes it to the journal. */
enum shmtune_status shmt_tune_record_result(struct shmt_tune *tune,
                                            struct shmt_ledger_entry *entry,
                                            struct shmt_error *err);

void shmt_tune_report_search(const struct shmt_tune *tune);

/* resume.c: opens the journal and takes over what it knows. */
enum shmtune_status shmt_tune_resume(struct shmt_tune *tune,
                                     struct shmt_error *err);
/* Tells the strategy, and other sizes, what is known and was not told. */
enum shmtune_status shmt_tune_tell_known(struct shmt_tune *tune,
                                         struct shmt_error *err);
/* Counts what is known and was not counted. */
enum shmtune_status shmt_tune_record_known(struct shmt_tune *tune,
                                           struct shmt_error *err);
/* Candidates with a result, of this run or of one that it resumes. */
size_t shmt_tune_count_known(const struct shmt_tune *tune);

/* pipeline.c: starts a candidate, and claims it in the session unless it is
 * FROM_RUN. */
enum shmtune_status shmt_tune_start_candidate(struct shmt_tune *tune,
                                              uint64_t index,
                                              enum shmt_tune_origin origin,
                                              struct shmt_error *err);
/* Keeps the device and the compilers busy.  *over when no candidate is in
 * flight and the strategy has no more, when time is up, or, where the phase
 * holds for the default, when that has its result; else *wait_s says how long
 * a reply can be waited for. */
enum shmtune_status shmt_tune_feed(struct shmt_tune *tune, bool *over,
                                   double *wait_s, struct shmt_error *err);
enum shmtune_status shmt_tune_search_reply(
    struct shmt_tune *tune, struct shmt_target_reply *reply,
    struct shmt_error *err);
/* Cancels the candidates in flight, when the run is interrupted or the search
 * has to end: they get no verdict. */
void shmt_tune_cancel(struct shmt_tune *tune);

/* offers.c: what the runs of several sizes of a kernel do for each other.  The
 * results of one are told to the others, and told to the strategy of each. */
void shmt_tune_tell_sizes(struct shmt_tune *tune,
                          const struct shmt_ledger_entry *entry);
void shmt_tune_hear_sizes(struct shmt_tune *tune);
/* Whether the time that is left is of more use to other kernels. */
bool shmt_tune_has_settled(const struct shmt_tune *tune);
/* Claims what was compiled for another size and is worth measuring here. */
bool shmt_tune_next_offer(struct shmt_tune *tune, uint64_t *index);
/* Of a request, for the target. */
double shmt_tune_worth(struct shmt_tune *tune,
                       const struct shmt_tune_candidate *candidate,
                       enum shmt_target_verb verb);
/* For the strategy: `context` is the run. */
double shmt_tune_compiled_s(const void *context, uint64_t index);

/* lend.c.  shmt_tune_helper_reply: the reply of a helper is put on the scale
 * of the run's own device; true: it was the default's, and is done with. */
struct shmt_tune_helper *shmt_tune_helper_of(struct shmt_tune *tune,
                                             const struct shmt_target *target);
struct shmt_tune_helper *shmt_tune_idle_helper(struct shmt_tune *tune);
bool shmt_tune_helper_reply(struct shmt_tune *tune,
                            struct shmt_target_reply *reply);

/* budget.c: a candidate has a time: how many finalists are to be expected. */
void shmt_tune_expect_finalists(struct shmt_tune *tune);

/* Which option would give it more time. */
const char *shmt_tune_longer(const struct shmt_tune *tune);
/* With what it has gone on for. */
double shmt_tune_budget_s(const struct shmt_tune *tune);
/* Past the search's end with few candidates: the search goes on. */
void shmt_tune_go_on(struct shmt_tune *tune);
/* At how many elapsed seconds the search has to end, so that there is
 * time for the finals, and when those have to; INFINITY: any time. */
double shmt_tune_search_end(const struct shmt_tune *tune);
double shmt_tune_finals_end(const struct shmt_tune *tune);

/* What there is time for: two finalists and one pass, or more; or no pass. */
struct shmt_tune_finals_plan {
    size_t finalists, passes, blocks;
};
void shmt_tune_plan_finals(const struct shmt_tune *tune,
                           struct shmt_tune_finals_plan *plan);

/* finals.c: chooses the finalists and asks for their binaries; then measures
 * them.  *over when the finals of the outcome are there, else *wait_s. */
enum shmtune_status shmt_tune_begin_finals(struct shmt_tune *tune,
                                           struct shmt_error *err);
enum shmtune_status shmt_tune_feed_finals(struct shmt_tune *tune, bool *over,
                                          double *wait_s,
                                          struct shmt_error *err);
enum shmtune_status shmt_tune_finals_reply(
    struct shmt_tune *tune, const struct shmt_target_reply *reply,
    struct shmt_error *err);
void shmt_tune_free_finals(struct shmt_tune *tune);

/* pareto.c: fills in what the outcome has of the Pareto set. */
enum shmtune_status shmt_tune_find_front(struct shmt_tune *tune,
                                         struct shmt_error *err);

#endif
