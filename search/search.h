/* SPDX-License-Identifier: MIT */
/*
 * search: search strategies, which propose the next candidate.
 *
 * A strategy sees indices of a space (space/space.h) and costs.  It does no
 * I/O, reads no clock, and takes randomness from the generator it is given; so
 * on a recorded device the same seed gives the same run.  A session wraps a
 * strategy: it never hands out a candidate twice, and allows several in flight.
 */
#ifndef SHMT_SEARCH_H
#define SHMT_SEARCH_H

#include "base/base.h"
#include "space/space.h"

/* Most options one strategy may have. */
enum { SHMT_STRATEGY_OPTIONS = 24 };

/* An option of a strategy, given as name:option=value. */
struct shmt_strategy_option {
    const char *name;
    double default_value, low, high;
    const char *help;
};

/* What is known of a configuration from elsewhere: from another device, another
 * problem, another tuner. */
struct shmt_search_example {
    size_t source;               /* whence, below source_count; */
    double cost;                 /* to be compared with those of the same
                                    source alone; INFINITY: it failed there */
    const shmt_config *config;   /* it need not be in the space */
};

enum { SHMT_SEARCH_SOURCES = 16 };

/* Where to look first.  A strategy may take notice of it; it is never taken
 * for a result. */
struct shmt_search_prior {
    size_t source_count, count;
    /* Its examples are what was best there: of the rest it knows nothing. */
    bool winners[SHMT_SEARCH_SOURCES];
    const struct shmt_search_example *examples;
};

enum { SHMT_SEARCH_SIZES = 64, SHMT_SEARCH_DIMENSIONS = 8 };

/* The sizes of a kernel that are searched together: a feature of what is heard
 * of the others. */
struct shmt_search_sizes {
    size_t count, dimensions;    /* count at most SHMT_SEARCH_SIZES */
    size_t own;                  /* position of the one that is searched for */
    const int64_t (*list)[SHMT_SEARCH_DIMENSIONS];
};

/* What launching a configuration comes to at a size: the threads of all blocks,
 * and the bytes of shared memory of a block.  False: it is not known. */
struct shmt_search_launches {
    bool (*of)(const void *context, const shmt_config *config, size_t size,
               double *threads, double *shared_bytes);
    const void *context;
};

/* What a strategy may read. */
struct shmt_search_view {
    const struct shmt_space *space;
    const double *options;           /* in the order of its table */
    struct shmt_random *random;
    uint64_t start;                  /* index of the default configuration,
                                        or UINT64_MAX when not in the space */
    uint64_t budget;                 /* evaluations to come; UINT64_MAX when
                                        that is not known */
    const struct shmt_search_prior *prior;   /* NULL: none */
    const struct shmt_search_sizes *sizes;   /* NULL: this one alone */
    const struct shmt_search_launches *launches;   /* NULL: not known */
    /* NULL, or what measuring a configuration takes that is compiled; < 0: it
     * is not. */
    double (*compiled_s)(const void *context, uint64_t index);
    const void *context;
    /* Whether the session has handed out `index`. */
    bool (*seen)(const void *session, uint64_t index);
    const void *session;
};

enum shmt_search_ask {
    SHMT_SEARCH_CANDIDATE, /* *index is set */
    SHMT_SEARCH_WAIT,     /* it needs results before it can go on */
    SHMT_SEARCH_DONE      /* nothing more to try */
};

struct shmt_strategy {
    const char *name;
    const char *summary;
    bool learns;                 /* from the view's prior */
    const struct shmt_strategy_option *options; /* ends with name NULL; or
                                                   NULL */
    /* NULL when there is no memory. */
    void *(*create)(const struct shmt_search_view *view);
    void (*destroy)(void *state);
    /* May return an index that was handed out before: the session then asks
     * again, and after many such answers draws a new candidate at random, of
     * which the strategy is told like of any other. */
    enum shmt_search_ask (*ask)(void *state, uint64_t *index);
    /* Called exactly once for every candidate that was handed out, in any
     * order.  cost: microseconds, or INFINITY when it failed. */
    void (*tell)(void *state, uint64_t index, double cost);
    /* Optional.  Called before tell for a candidate whose trying took
     * `seconds` of the search, which is more than 0. */
    void (*took)(void *state, uint64_t index, double seconds);
    /* Optional.  What a configuration costs at another of the sizes: over the
     * default's cost there; INFINITY: it fails at any size. */
    void (*hear)(void *state, uint64_t index, size_t size, double cost);
    /* Optional.  The improvement, as a share of the best cost, that is expected
     * of trying a configuration. */
    double (*worth)(void *state, uint64_t index);
    /* Optional.  Chooses which of `count` compiled candidates to measure
     * first; returns its position in `indices`. */
    size_t (*pick)(void *state, const uint64_t *indices, size_t count);
};

/* registry.c: in the order they are listed; NULL after the last. */
const struct shmt_strategy *shmt_strategy_at(size_t k);
const struct shmt_strategy *shmt_strategy_find(const char *name,
                                               size_t length);
extern const char shmt_strategy_default[];

/* session.c: a running strategy. */
struct shmt_session;

struct shmt_session_options {
    const char *strategy;       /* "name" or "name:option=value,option=value" */
    uint64_t start, budget;     /* as in the view */
    uint64_t seed;
    const struct shmt_search_prior *prior;   /* NULL, or it must outlive the
                                                session */
    const struct shmt_search_sizes *sizes;   /* the same */
    const struct shmt_search_launches *launches;   /* the same */
    double (*compiled_s)(const void *context, uint64_t index);
    const void *context;        /* as in the view */
};

/* Refusals name the option of the strategy and its range. */
enum shmtune_status shmt_session_check(const char *strategy,
                                       struct shmt_error *err);
enum shmtune_status
shmt_session_open(const struct shmt_session_options *options,
                  const struct shmt_space *space, struct shmt_session **out,
                  struct shmt_error *err);
void shmt_session_close(struct shmt_session *session);
const struct shmt_strategy *
shmt_session_strategy(const struct shmt_session *session);

/* Asks for a candidate that was not handed out before. */
enum shmt_search_ask shmt_session_ask(struct shmt_session *session,
                                      uint64_t *index);
/* Marks a candidate that the strategy did not propose as handed out; from then
 * on it is treated like any other.  False: it was handed out before. */
bool shmt_session_claim(struct shmt_session *session, uint64_t index);
/* What trying a candidate that is in flight took of the time of the search;
 * before it is told.  Nothing need be known of it: seconds <= 0. */
void shmt_session_took(struct shmt_session *session, uint64_t index,
                       double seconds);
void shmt_session_tell(struct shmt_session *session, uint64_t index,
                       double cost);
/* What is known of another size (shmt_strategy). */
void shmt_session_hear(struct shmt_session *session, uint64_t index,
                       size_t size, double cost);
/* Of a configuration that was handed out or not; 0: it is not known. */
double shmt_session_worth(struct shmt_session *session, uint64_t index);
size_t shmt_session_pick(struct shmt_session *session,
                         const uint64_t *indices, size_t count);
size_t shmt_session_in_flight(const struct shmt_session *session);
/* Whether there was no memory to remember a candidate, so that it was not
 * handed out although it was not handed out before. */
bool shmt_session_failed(const struct shmt_session *session);

#endif
