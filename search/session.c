/* SPDX-License-Identifier: MIT */
/*
 * session: a strategy at work.  It remembers what was let out, so that no
 * candidate is tried twice whatever the strategy says, and when a strategy
 * gives nothing new it draws from a shuffle of its own: every session that is
 * asked long enough has let out every configuration.
 */
#include <stdlib.h>

#include "search/engine/engine.h"
#include "search/options.h"

/* So many answers in a row that were seen before, and the session draws. */
enum { PATIENCE = 64 };

enum { IN_FLIGHT, TOLD };

struct shmt_session {
    const struct shmt_strategy *strategy;
    const struct shmt_space *space;
    void *state;
    double options[SHMT_OPTIONS_ROOM];
    struct shmt_random random;
    struct shmt_search_view view;
    struct shmt_map out;            /* index -> IN_FLIGHT or TOLD */
    struct shmt_shuffle shuffle;    /* what is drawn when all else fails */
    size_t in_flight;
};

static bool seen(const void *opaque, uint64_t index)
{
    const struct shmt_session *const session = opaque;

    return shmt_map_find(&session->out, index) != SHMT_MAP_NONE;
}

enum shmtune_status shmt_session_open(const char *text,
                                      const struct shmt_space *space,
                                      uint64_t start, uint64_t seed,
                                      struct shmt_session **out,
                                      struct shmt_error *err)
{
    struct shmt_session *session = calloc(1, sizeof *session);
    struct shmt_random drawn;
    enum shmtune_status status;

    if (session == NULL)
        return shmt_error_memory(err);
    status = shmt_options_parse(text, &session->strategy, session->options,
                                err);
    if (status != SHMTUNE_OK)
        goto fail;
    session->space = space;
    shmt_random_seed(&session->random, seed);
    /* The shuffle has a generator of its own: what it draws must not depend
     * on what the strategy takes. */
    shmt_random_seed(&drawn, ~seed);
    shmt_shuffle_begin(&session->shuffle, shmt_space_count(space), &drawn);
    session->view = (struct shmt_search_view){
        .space = space,
        .options = session->options,
        .random = &session->random,
        .start = start < shmt_space_count(space) ? start : UINT64_MAX,
        .seen = seen,
        .session = session,
    };
    session->state = session->strategy->create(&session->view);
    if (session->state == NULL) {
        status = shmt_error_memory(err);
        goto fail;
    }
    *out = session;
    return SHMTUNE_OK;
fail:
    free(session);
    return status;
}

void shmt_session_close(struct shmt_session *session)
{
    if (session == NULL)
        return;
    session->strategy->destroy(session->state);
    shmt_map_free(&session->out);
    free(session);
}

const struct shmt_strategy *
shmt_session_strategy(const struct shmt_session *session)
{
    return session->strategy;
}

static enum shmt_ask draw(struct shmt_session *session, uint64_t *index)
{
    do {
        if (!shmt_shuffle_next(&session->shuffle, index))
            return session->in_flight > 0 ? SHMT_ASK_WAIT : SHMT_ASK_DONE;
    } while (seen(session, *index));
    return SHMT_ASK_CANDIDATE;
}

enum shmt_ask shmt_session_ask(struct shmt_session *session, uint64_t *index)
{
    enum shmt_ask answer = SHMT_ASK_CANDIDATE;
    uint64_t found = UINT64_MAX;

    if (session->out.count >= shmt_space_count(session->space))
        return SHMT_ASK_DONE;
    for (int k = 0; k < PATIENCE && answer == SHMT_ASK_CANDIDATE; k++) {
        answer = session->strategy->ask(session->state, &found);
        if (answer == SHMT_ASK_CANDIDATE && !seen(session, found))
            break;
        found = UINT64_MAX;
    }
    if (answer == SHMT_ASK_DONE)
        return answer;
    if (answer == SHMT_ASK_WAIT && session->in_flight > 0)
        return answer;
    if (found == UINT64_MAX) {
        answer = draw(session, &found);
        if (answer != SHMT_ASK_CANDIDATE)
            return answer;
    }
    /* Without memory for who was let out, nothing more is let out. */
    if (!shmt_map_add(&session->out, found, IN_FLIGHT))
        return SHMT_ASK_DONE;
    session->in_flight++;
    *index = found;
    return SHMT_ASK_CANDIDATE;
}

bool shmt_session_claim(struct shmt_session *session, uint64_t index)
{
    if (index >= shmt_space_count(session->space) || seen(session, index)
        || !shmt_map_add(&session->out, index, IN_FLIGHT))
        return false;
    session->in_flight++;
    return true;
}

void shmt_session_tell(struct shmt_session *session, uint64_t index,
                       const struct shmt_outcome *outcome)
{
    if (shmt_map_find(&session->out, index) != IN_FLIGHT)
        return;
    (void)shmt_map_set(&session->out, index, TOLD);   /* it is there */
    session->in_flight--;
    session->strategy->tell(session->state, index, outcome);
}

void shmt_session_learn(struct shmt_session *session, uint64_t index,
                        const struct shmt_result *compiled)
{
    if (session->strategy->learn != NULL)
        session->strategy->learn(session->state, index, compiled);
}

size_t shmt_session_pick(struct shmt_session *session,
                         const uint64_t *indices, size_t count)
{
    size_t picked = 0;

    if (session->strategy->pick != NULL && count > 1)
        picked = session->strategy->pick(session->state, indices, count);
    return picked < count ? picked : 0;
}

size_t shmt_session_in_flight(const struct shmt_session *session)
{
    return session->in_flight;
}
