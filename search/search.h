/* SPDX-License-Identifier: MIT */
/*
 * search: strategies, which say what to try next.
 *
 * A strategy sees indices of a space (space/space.h), costs and what the
 * compiler reported.  It does no I/O, reads no clock, and takes randomness
 * from the generator it is given; so on a recorded device a seed repeats a
 * run exactly.  A session wraps one: it never lets a candidate out twice, and
 * keeps several in flight.
 */
#ifndef SHMT_SEARCH_H
#define SHMT_SEARCH_H

#include "record/record.h"
#include "space/space.h"

/* An option of a strategy, given as name:option=value. */
struct shmt_option {
    const char *name;
    double fallback, low, high;
    const char *help;
};

/* What a strategy may look at while it lives. */
struct shmt_search_view {
    const struct shmt_space *space;
    const double *options;           /* in the order of its table */
    struct shmt_random *random;
    uint64_t start;                  /* index of the default configuration,
                                        or UINT64_MAX when not in the space */
    /* True once the session has let `index` out. */
    bool (*seen)(const void *session, uint64_t index);
    const void *session;
};

/* What came of a candidate.  cost: microseconds, or INFINITY when it failed
 * (the verdict says how). */
struct shmt_outcome {
    double cost;
    const struct shmt_result *result;   /* resources known from COMPILE on */
};

enum shmt_ask {
    SHMT_ASK_CANDIDATE,   /* *index is set */
    SHMT_ASK_WAIT,        /* tell me something first */
    SHMT_ASK_DONE         /* nothing more to try */
};

struct shmt_strategy {
    const char *name;
    const char *summary;
    const struct shmt_option *options;    /* ends with name NULL; or NULL */
    /* NULL when there is no memory. */
    void *(*create)(const struct shmt_search_view *view);
    void (*destroy)(void *state);
    /* May give an index that was seen: the session asks again, and after
     * many such answers in a row draws a fresh candidate at random, which it
     * tells like any other. */
    enum shmt_ask (*ask)(void *state, uint64_t *index);
    /* Every candidate that was let out is told exactly once, in any order. */
    void (*tell)(void *state, uint64_t index,
                 const struct shmt_outcome *outcome);
    /* Optional.  Resources became known ahead of the measurement. */
    void (*learn)(void *state, uint64_t index,
                  const struct shmt_result *compiled);
    /* Optional.  Of `count` compiled candidates waiting for the GPU, which to
     * measure first: position in `indices`. */
    size_t (*pick)(void *state, const uint64_t *indices, size_t count);
};

/* registry.c: in the order they are listed; NULL after the last. */
const struct shmt_strategy *shmt_strategy_at(size_t k);
const struct shmt_strategy *shmt_strategy_find(const char *name,
                                               size_t length);
extern const char shmt_strategy_default[];

/* session.c: a strategy at work. */
struct shmt_session;

/* `text` is "name" or "name:option=value,option=value"; refusals name the
 * option and its range. */
enum shmtune_status shmt_session_open(const char *text,
                                      const struct shmt_space *space,
                                      uint64_t start, uint64_t seed,
                                      struct shmt_session **out,
                                      struct shmt_error *err);
void shmt_session_close(struct shmt_session *session);
const struct shmt_strategy *
shmt_session_strategy(const struct shmt_session *session);

/* A candidate that was never let out before. */
enum shmt_ask shmt_session_ask(struct shmt_session *session, uint64_t *index);
/* One that somebody else has thought of: from here on as if it had been asked
 * for.  False: it was let out before. */
bool shmt_session_claim(struct shmt_session *session, uint64_t index);
void shmt_session_tell(struct shmt_session *session, uint64_t index,
                       const struct shmt_outcome *outcome);
void shmt_session_learn(struct shmt_session *session, uint64_t index,
                        const struct shmt_result *compiled);
size_t shmt_session_pick(struct shmt_session *session,
                         const uint64_t *indices, size_t count);
size_t shmt_session_in_flight(const struct shmt_session *session);

#endif
