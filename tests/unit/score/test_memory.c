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
    const struct shmt_session_options options = {strategy->name, 0,
                                                 UINT64_MAX, 3};
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

static void strategies_search_or_memory_is_missed(void)
{
    struct shmt_score_recording *loaded = NULL;

    CHECK_INT(shmt_score_load(recording, toy, true, &loaded, &err),
              SHMTUNE_OK);
    for (size_t k = 0; loaded != NULL &&
                       (strategy = shmt_strategy_at(k)) != NULL; k++) {
        uint64_t asked;
        long n = 0;

        for (;; n++) {
            enum shmtune_status status;

            allocations_failing = n + 1;
            status = search(loaded->space, &asked);
            if (allocations_failing != 0 || check_failed)
                break;
            CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_OK);
        }
        allocations_failing = 0;
        printf("# %s: %ld allocations\n", strategy->name, n);
        CHECK_INT(search(loaded->space, &asked), SHMTUNE_OK);
        CHECK_INT(asked, (shmt_space_count(loaded->space) + 1) / 2);
    }
    shmt_score_unload(loaded);
}

int main(void)
{
    toy = fixture_kernel("toy");
    recording = fixture_recording(toy);
    CHECK_RUN(a_recording_is_loaded_or_memory_is_missed);
    CHECK_RUN(strategies_search_or_memory_is_missed);
    shmt_kernel_free(toy);
    return CHECK_END();
}
