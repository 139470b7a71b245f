/* SPDX-License-Identifier: MIT */
/*
 * launch: the model predicts from what a configuration launches, where that is
 * known.
 */
#include <math.h>

#include "search/search.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

enum { PARAMETERS = 5 };

static const char *const texts[] = {
    "a=1,2,3,4,5,6,7,8,9,10,11,12", "b=1,2,3,4,5,6,7,8,9", "c=1,2,3,4,5,6,7,8",
    "d=1,2", "e=row,column,tile", NULL, NULL};

static struct shmt_space *space;

/* What no parameter tells of, in 64 steps, and costs that follow from it. */
static double octaves_of(const shmt_config *config)
{
    const int mixed = 37 * config[0] + 11 * config[1] + 53 * config[2] +
                      29 * config[3] + 17 * config[4];

    return mixed % 64 / 8.0;
}

/* Shared memory, from nothing to 255 KiB. */
static bool shared_of(const void *context, const shmt_config *config,
                      size_t size, double *threads, double *shared_bytes)
{
    (void)context;
    *threads = 4096;
    *shared_bytes = 1024 * (exp2(octaves_of(config)) - 1);
    return size == 0;
}

/* Threads, from one to 2^31.5. */
static bool threads_of(const void *context, const shmt_config *config,
                       size_t size, double *threads, double *shared_bytes)
{
    (void)context;
    *threads = exp2(4 * octaves_of(config));
    *shared_bytes = 4096;
    return size == 0;
}

static double cost_of(uint64_t index)
{
    shmt_config config[PARAMETERS];

    shmt_space_configuration(space, index, config);
    return 10 * (1 + fabs(octaves_of(config) - 2.5));
}

/* Candidates until one is within 5 % of the best. */
static size_t tries_of(uint64_t seed,
                       const struct shmt_search_launches *launches)
{
    struct shmt_session *session = NULL;
    double best = INFINITY, least = INFINITY;
    uint64_t index = 0;
    size_t tries = 0;

    for (uint64_t k = 0; k < shmt_space_count(space); k++)
        least = fmin(least, cost_of(k));
    CHECK_INT(shmt_session_open(&(struct shmt_session_options){
                  .strategy = "model", .start = UINT64_MAX,
                  .budget = UINT64_MAX, .seed = seed, .launches = launches},
                  space, &session, &err), SHMTUNE_OK);
    while (best > 1.05 * least &&
           shmt_session_ask(session, &index) == SHMT_SEARCH_CANDIDATE) {
        best = fmin(best, cost_of(index));
        shmt_session_tell(session, index, cost_of(index));
        tries++;
    }
    shmt_session_close(session);
    return tries;
}

static bool says_nothing(const void *context, const shmt_config *config,
                         size_t size, double *threads, double *shared_bytes)
{
    (void)context;
    (void)config;
    (void)size;
    (void)threads;
    (void)shared_bytes;
    return false;
}

static void what_is_launched_counts(void)
{
    enum { SEEDS = 24 };
    static const struct shmt_search_launches shared = {shared_of, NULL},
                                             threads = {threads_of, NULL},
                                             silent = {says_nothing, NULL};
    size_t by_shared = 0, by_threads = 0, without = 0, unknown = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        by_shared += tries_of(seed, &shared);
        by_threads += tries_of(seed, &threads);
        without += tries_of(seed, NULL);
        unknown += tries_of(seed, &silent);
    }
    printf("# %zu candidates by shared memory, %zu by threads, %zu without the "
           "launch, %zu where it is not known\n", by_shared / SEEDS,
           by_threads / SEEDS, without / SEEDS, unknown / SEEDS);
    CHECK(by_shared * 4 < without);
    CHECK(by_threads * 4 < without);
    CHECK(unknown < 2 * without);
}

int main(void)
{
    struct made made;

    arena = shmt_arena_new();
    make(&made, texts);
    if (shmt_space_build(&made.definition, &space, &err) != SHMTUNE_OK)
        return 1;
    CHECK_RUN(what_is_launched_counts);
    shmt_space_free(space);
    shmt_arena_free(arena);
    return CHECK_END();
}
