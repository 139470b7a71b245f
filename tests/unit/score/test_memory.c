/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while a recording is loaded, and while a strategy
 * searches it: the n-th allocation fails, for every n until the work is done
 * without meeting it.
 */
#include <math.h>

#include "score/score.h"
#include "search/search.h"
#include "tests/support/allocations.h"
#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *toy;
static const char *recording;
static const struct shmt_strategy *strategy;
static const struct shmt_search_prior *prior;
static struct shmt_error err;

static enum shmtune_status load(void)
{
    struct shmt_score_recording *loaded = NULL;
    const enum shmtune_status status =
        shmt_score_load(recording, toy, true, &loaded, &err);

    CHECK((status == SHMTUNE_OK) == (loaded != NULL));
    shmt_score_unload(loaded);
    return status;
}

/* A session of half of the space, which ends early when it cannot remember what
 * it handed out. */
static enum shmtune_status search(const struct shmt_space *space,
                                  uint64_t *asked)
{
    static const int64_t list[2][SHMT_SEARCH_DIMENSIONS] = {{1}, {2}};
    static const struct shmt_search_sizes sizes = {
        .count = 2, .dimensions = 1, .list = list};
    const struct shmt_session_options options = {
        .strategy = strategy->name, .budget = UINT64_MAX, .seed = 3,
        .prior = prior, .sizes = &sizes};
    struct shmt_session *session = NULL;
    const enum shmtune_status status =
        shmt_session_open(&options, space, &session, &err);
    uint64_t index;

    CHECK((status == SHMTUNE_OK) == (session != NULL));
    for (*asked = 0; session != NULL && 2 * *asked < shmt_space_count(space) &&
                     shmt_session_ask(session, &index) ==
                         SHMT_SEARCH_CANDIDATE; ++*asked)
        shmt_session_tell(session, index, (double)(index * 7 % 11) + 1);
    shmt_session_close(session);
    return status;
}

static void a_recording_is_loaded_or_memory_is_missed(void)
{
    enum shmtune_status status;
    long n = 0;

    for (;; n++) {
        allocations_failing = n + 1;
        status = load();
        if (allocations_failing != 0 || check_failed)
            break;          /* it did not come to that */
        CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_OK);
    }
    allocations_failing = 0;
    printf("# %ld allocations: %s\n", n, err.text);
    CHECK(n > 10);
    CHECK_INT(load(), SHMTUNE_OK);
}

static void search_or_miss_memory(const struct shmt_space *space)
{
    uint64_t asked;
    long n = 0;

    for (;; n++) {
        enum shmtune_status status;

        allocations_failing = n + 1;
        status = search(space, &asked);
        if (allocations_failing != 0 || check_failed)
            break;
        CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_OK);
    }
    allocations_failing = 0;
    printf("# %s%s: %ld allocations\n", strategy->name,
           prior != NULL ? " with a prior" : "", n);
    CHECK_INT(search(space, &asked), SHMTUNE_OK);
    CHECK_INT(asked, (shmt_space_count(space) + 1) / 2);
}

static void strategies_search_or_memory_is_missed(void)
{
    struct shmt_score_recording *loaded = NULL;

    CHECK_INT(shmt_score_load(recording, toy, true, &loaded, &err),
              SHMTUNE_OK);
    for (size_t k = 0; loaded != NULL &&
                       (strategy = shmt_strategy_at(k)) != NULL; k++)
        search_or_miss_memory(loaded->space);
    shmt_score_unload(loaded);
}

/* Two thirds of the recording are known from elsewhere. */
static void with_a_prior_too(void)
{
    struct shmt_score_recording *loaded = NULL;
    struct shmt_search_example examples[512];
    struct shmt_search_prior known = {.source_count = 1,
                                      .examples = examples};

    CHECK_INT(shmt_score_load(recording, toy, true, &loaded, &err),
              SHMTUNE_OK);
    for (size_t k = 0; loaded != NULL && k < loaded->journal->count &&
                       known.count < 512; k++)
        if (k % 3 > 0)
            examples[known.count++] = (struct shmt_search_example){
                .cost = 1 + (double)k,
                .config = loaded->journal->records[k].config};
    CHECK(known.count > 48);
    strategy = shmt_strategy_find("model", 5);
    prior = &known;
    if (loaded != NULL && strategy != NULL)
        search_or_miss_memory(loaded->space);
    prior = NULL;
    shmt_score_unload(loaded);
}

int main(void)
{
    toy = fixture_kernel("toy");
    recording = fixture_recording(toy);
    CHECK_RUN(a_recording_is_loaded_or_memory_is_missed);
    CHECK_RUN(strategies_search_or_memory_is_missed);
    CHECK_RUN(with_a_prior_too);
    shmt_kernel_free(toy);
    return CHECK_END();
}
