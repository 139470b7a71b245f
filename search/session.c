/* SPDX-License-Identifier: MIT */
/*
 * session: a running strategy.  It remembers which candidates were handed out,
 * so that none is tried twice, whatever the strategy proposes.  If a strategy
 * repeatedly proposes nothing new, the session draws from a random permutation
 * of the space, so a session that is asked often enough hands out every
 * configuration.
 * The options of a strategy are read by its table, with messages that name the
 * option and its range.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/engine/engine.h"
#include "search/search.h"

/* After this many known proposals in a row the session draws by itself. */
enum { PATIENCE = 64 };

enum { HANDED_OUT, TOLD };

struct shmt_session {
    const struct shmt_strategy *strategy;
    const struct shmt_space *space;
    void *state;
    double options[SHMT_STRATEGY_OPTIONS];
    struct shmt_random random;
    struct shmt_search_view view;
    struct shmt_map state_of;       /* index -> IN_FLIGHT or TOLD */
    struct shmt_shuffle shuffle;    /* the order in which the session draws */
    size_t in_flight;
    bool failed;                    /* no memory for state_of */
};

static size_t option_count(const struct shmt_strategy *strategy)
{
    size_t count = 0;

    if (strategy->options != NULL)
        while (strategy->options[count].name != NULL)
            count++;
    return count;
}

static enum shmtune_status unknown_strategy(const char *name, size_t length,
                                            struct shmt_error *err)
{
    struct shmt_text names = {0};
    enum shmtune_status status;

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++)
        shmt_text_addf(&names, "%s%s", k == 0 ? "" : ", ",
                       shmt_strategy_at(k)->name);
    status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                            "no strategy is called \"%.*s\"; there are %s",
                            (int)length, name, shmt_text_string(&names));
    shmt_text_free(&names);
    return status;
}

static enum shmtune_status unknown_option(
    const struct shmt_strategy *strategy, const char *name, size_t length,
    struct shmt_error *err)
{
    struct shmt_text names = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < option_count(strategy); k++)
        shmt_text_addf(&names, "%s%s", k == 0 ? "it has " : ", ",
                       strategy->options[k].name);
    if (option_count(strategy) == 0)
        shmt_text_add(&names, "it has none");
    status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                            "strategy %s has no option \"%.*s\"; %s",
                            strategy->name, (int)length, name,
                            shmt_text_string(&names));
    shmt_text_free(&names);
    return status;
}

struct parse {
    const struct shmt_strategy *strategy;
    double *values;
    bool given[SHMT_STRATEGY_OPTIONS];
};

/* One "option=value" of `length` characters. */
static enum shmtune_status parse_one(struct parse *parse, const char *item,
                                     size_t length, struct shmt_error *err)
{
    const struct shmt_strategy *const strategy = parse->strategy;
    const char *const equals = memchr(item, '=', length);
    const size_t name = equals == NULL ? length : (size_t)(equals - item);
    const struct shmt_strategy_option *option = NULL;
    char number[64], *end;
    size_t digits, k;
    double value;

    for (k = 0; k < option_count(strategy) && option == NULL; k++)
        if (strlen(strategy->options[k].name) == name
            && memcmp(strategy->options[k].name, item, name) == 0)
            option = &strategy->options[k];
    if (option == NULL)
        return unknown_option(strategy, item, name, err);
    k = (size_t)(option - strategy->options);
    digits = equals == NULL ? 0 : length - name - 1;
    if (digits == 0 || digits >= sizeof number)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s needs a value from %g "
                              "to %g, as in %s=%g", strategy->name,
                              option->name, option->low, option->high,
                              option->name, option->default_value);
    memcpy(number, equals + 1, digits);
    number[digits] = '\0';
    value = strtod(number, &end);
    if (*end != '\0' || !(value >= option->low && value <= option->high))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s is \"%s\", expected a "
                              "number from %g to %g", strategy->name,
                              option->name, number, option->low,
                              option->high);
    if (parse->given[k])
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s is given twice",
                              strategy->name, option->name);
    parse->given[k] = true;
    parse->values[k] = value;
    return SHMTUNE_OK;
}

/* SHMTUNE_INVALID_ARGUMENT: no such strategy or option, a value that is no
 * number, outside of its range, or given twice.  `values` holds the options in
 * the order of the table, SHMT_STRATEGY_OPTIONS of them. */
static enum shmtune_status
parse_options(const char *text, const struct shmt_strategy **strategy,
              double *values, struct shmt_error *err)
{
    const size_t length = strcspn(text, ":");
    const char *item = text + length;
    const struct shmt_strategy *const found =
        shmt_strategy_find(text, length);
    struct parse parse = {.values = values};
    enum shmtune_status status = SHMTUNE_OK;

    if (found == NULL)
        return unknown_strategy(text, length, err);
    parse.strategy = found;
    for (size_t k = 0; k < option_count(found); k++)
        values[k] = found->options[k].default_value;
    if (*item == ':')
        item++;
    while (*item != '\0' && status == SHMTUNE_OK) {
        const size_t part = strcspn(item, ",");

        status = parse_one(&parse, item, part, err);
        item += part;
        if (*item == ',')
            item++;
    }
    if (status == SHMTUNE_OK)
        *strategy = found;
    return status;
}

enum shmtune_status shmt_session_check(const char *strategy,
                                       struct shmt_error *err)
{
    const struct shmt_strategy *found;
    double options[SHMT_STRATEGY_OPTIONS];

    return parse_options(strategy, &found, options, err);
}

static bool seen(const void *opaque, uint64_t index)
{
    const struct shmt_session *const session = opaque;

    return shmt_map_find(&session->state_of, index) != SHMT_MAP_NONE;
}

enum shmtune_status
shmt_session_open(const struct shmt_session_options *options,
                  const struct shmt_space *space, struct shmt_session **out,
                  struct shmt_error *err)
{
    struct shmt_session *session = calloc(1, sizeof *session);
    struct shmt_random drawn;
    enum shmtune_status status;

    if (session == NULL)
        return shmt_error_memory(err);
    status = parse_options(options->strategy, &session->strategy,
                           session->options, err);
    if (status != SHMTUNE_OK)
        goto fail;
    session->space = space;
    shmt_random_seed(&session->random, options->seed);
    /* The shuffle has its own generator, so that what it draws does not depend
     * on how many numbers the strategy uses. */
    shmt_random_seed(&drawn, ~options->seed);
    shmt_shuffle_begin(&session->shuffle, shmt_space_count(space), &drawn);
    session->view = (struct shmt_search_view){
        .space = space,
        .options = session->options,
        .random = &session->random,
        .start = options->start < shmt_space_count(space) ? options->start
                                                          : UINT64_MAX,
        .budget = options->budget,
        .prior = options->prior,
        .sizes = options->sizes,
        .launches = options->launches,
        .compiled_s = options->compiled_s,
        .context = options->context,
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
    shmt_map_free(&session->state_of);
    free(session);
}

const struct shmt_strategy *
shmt_session_strategy(const struct shmt_session *session)
{
    return session->strategy;
}

static enum shmt_search_ask draw(struct shmt_session *session, uint64_t *index)
{
    do {
        if (!shmt_shuffle_next(&session->shuffle, index))
            return session->in_flight > 0 ? SHMT_SEARCH_WAIT : SHMT_SEARCH_DONE;
    } while (seen(session, *index));
    return SHMT_SEARCH_CANDIDATE;
}

/* A candidate that cannot be remembered must not be handed out. */
static bool remember(struct shmt_session *session, uint64_t index)
{
    const bool added = shmt_map_add(&session->state_of, index, HANDED_OUT);

    session->failed |= !added;
    return added;
}

enum shmt_search_ask shmt_session_ask(struct shmt_session *session,
                                      uint64_t *index)
{
    enum shmt_search_ask answer = SHMT_SEARCH_CANDIDATE;
    uint64_t found = UINT64_MAX;

    if (session->state_of.count >= shmt_space_count(session->space))
        return SHMT_SEARCH_DONE;
    for (int k = 0; k < PATIENCE && answer == SHMT_SEARCH_CANDIDATE; k++) {
        answer = session->strategy->ask(session->state, &found);
        if (answer == SHMT_SEARCH_CANDIDATE && !seen(session, found))
            break;
        found = UINT64_MAX;
    }
    if (answer == SHMT_SEARCH_DONE)
        return answer;
    if (answer == SHMT_SEARCH_WAIT && session->in_flight > 0)
        return answer;
    if (found == UINT64_MAX) {
        answer = draw(session, &found);
        if (answer != SHMT_SEARCH_CANDIDATE)
            return answer;
    }
    if (!remember(session, found))
        return SHMT_SEARCH_DONE;
    session->in_flight++;
    *index = found;
    return SHMT_SEARCH_CANDIDATE;
}

bool shmt_session_claim(struct shmt_session *session, uint64_t index)
{
    if (index >= shmt_space_count(session->space) || seen(session, index)
        || !remember(session, index))
        return false;
    session->in_flight++;
    return true;
}

void shmt_session_took(struct shmt_session *session, uint64_t index,
                       double seconds)
{
    if (session->strategy->took != NULL && seconds > 0 && isfinite(seconds) &&
        shmt_map_find(&session->state_of, index) == HANDED_OUT)
        session->strategy->took(session->state, index, seconds);
}

void shmt_session_tell(struct shmt_session *session, uint64_t index,
                       double cost)
{
    if (shmt_map_find(&session->state_of, index) != HANDED_OUT)
        return;
    (void)shmt_map_set(&session->state_of, index, TOLD); /* it is there */
    session->in_flight--;
    session->strategy->tell(session->state, index, cost);
}

void shmt_session_hear(struct shmt_session *session, uint64_t index,
                       size_t size, double cost)
{
    if (session->strategy->hear != NULL)
        session->strategy->hear(session->state, index, size, cost);
}

double shmt_session_worth(struct shmt_session *session, uint64_t index)
{
    return session->strategy->worth == NULL
               ? 0 : session->strategy->worth(session->state, index);
}

size_t shmt_session_pick(struct shmt_session *session,
                         const uint64_t *indices, size_t count)
{
    size_t picked = 0;

    if (session->strategy->pick != NULL && count > 1)
        picked = session->strategy->pick(session->state, indices, count);
    return picked < count ? picked : 0;
}

bool shmt_session_failed(const struct shmt_session *session)
{
    return session->failed;
}

size_t shmt_session_in_flight(const struct shmt_session *session)
{
    return session->in_flight;
}
